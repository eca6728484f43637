/* What the tests of the profile reader and writer share: a text or a file read, and everything said about it. */
#ifndef PROFILE_TEXT_H
#define PROFILE_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/profile.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static inline const char* source_root(void) {
  const char* root = getenv("SW_TEST_SOURCE");
  if (!root) fail_msg("SW_TEST_SOURCE has to name the repository's root");
  return root;
}

/* A profile, or NULL, and the report of all findings, "" when there are none. */
struct outcome {
  struct sw_profile* profile;
  struct sw_diags diags;
  struct sw_text report;
};

/* Reads from memory that ends where the text ends, so that a sanitizer sees a read behind it. */
static inline struct outcome read_text(const char* text, size_t length) {
  struct outcome outcome = {0};
  char* copy = malloc(length ? length : 1);
  assert_non_null(copy);
  memcpy(copy, text, length);
  sw_diags_start(&outcome.diags, "p.yaml");
  outcome.profile = sw_profile_read(copy, length, &outcome.diags);
  sw_add_diags(&outcome.report, &outcome.diags);
  free(copy);
  assert_int_equal(outcome.profile == NULL, outcome.diags.errors > 0);
  return outcome;
}

static inline struct outcome read_file(const char* path, const char* shown) {
  struct outcome outcome = {0};
  char* text;
  sw_diags_start(&outcome.diags, shown);
  outcome.profile = sw_profile_read_file(path, &text, &outcome.diags);
  sw_add_diags(&outcome.report, &outcome.diags);
  free(text);
  assert_int_equal(outcome.profile == NULL, outcome.diags.errors > 0);
  return outcome;
}

static inline void free_outcome(struct outcome* outcome) {
  sw_profile_free(outcome->profile);
  sw_text_free(&outcome->report);
}

static inline void check_report(const char* text, const char* report, const char* expected) {
  if (strcmp(report, expected) != 0) fail_msg("of\n%s\nfound\n%snot\n%s", text, report, expected);
}

/* The text has to give exactly this report. */
static inline void assert_report(const char* text, const char* expected) {
  struct outcome outcome = read_text(text, strlen(text));
  check_report(text, sw_text_string(&outcome.report), expected);
  free_outcome(&outcome);
}

/* A growing text for a test to build its input in. */
#define TEXT(name) __attribute__((cleanup(sw_text_free))) struct sw_text name = SW_TEXT_EMPTY

#endif
