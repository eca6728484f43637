/*
 * What the tests of facts/ share: an environment of their own, and facts gathered below a folder.
 *
 * SW_TEST_SOURCE names the repository's root.
 */
#ifndef TEST_FACTS_SOURCE_H
#define TEST_FACTS_SOURCE_H

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts/facts.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* --- a stand-in environment: NAME=value pairs between bars */

static char environment[1024];

static inline const char* fake_getenv(const char* name) {
  size_t length = strlen(name);
  for (char* pair = environment; *pair; pair += strlen(pair) + 1)
    if (strncmp(pair, name, length) == 0 && pair[length] == '=') return pair + length + 1;
  return NULL;
}

static inline void set_environment(const char* pairs) {
  memset(environment, 0, sizeof environment);
  assert_true(strlen(pairs) + 2 < sizeof environment);
  for (size_t i = 0; pairs[i]; i++) environment[i] = pairs[i] == '|' ? '\0' : pairs[i];
}

/* --- machines */

static inline const char* source_root(void) {
  const char* root = getenv("SW_TEST_SOURCE");
  if (!root) fail_msg("SW_TEST_SOURCE has to name the repository's root");
  return root;
}

static inline struct sw_facts gather(const char* root, const char* settings) {
  struct sw_facts facts;
  memset(&facts, 0x5a, sizeof facts);
  set_environment(settings);
  sw_facts_gather(&(struct sw_facts_source){.root = root, .getenv = fake_getenv, .load_driver = true}, &facts);
  return facts;
}

/* "kind device speed": all that is known of a network. */
static inline void assert_net(const struct sw_facts* facts, const char* expected, const char* what) {
  char text[128];
  snprintf(text, sizeof text, "%s %s %d", sw_value_word(&sw_nets, facts->net), facts->net_device, facts->net_mbps);
  if (strcmp(text, expected) != 0) fail_msg("%s: \"%s\", expected \"%s\"", what, text, expected);
}

#endif
