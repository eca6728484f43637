/* Files for the tests of bench/import: written to a temporary one, gathered, and what was said of them. */
#ifndef SW_TEST_IMPORT_GATHER_H
#define SW_TEST_IMPORT_GATHER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "import/compose.h"
#include "nccl_tuner.h"

static struct import_wanted wanted;
static struct import_setting own = {.choice = {-1, -1, 0}};
static struct import_file file;
static struct gathered gathered;

static int begin(void** state) {
  (void)state;
  wanted = (struct import_wanted){.collective = -1, .name = "a-test"};
  return 0;
}

static int end(void** state) {
  (void)state;
  gathered_free(&gathered);
  return 0;
}

/* Gathers a text as one file, measured as auto. */
static void gather_text(const char* text) {
  char path[] = "/tmp/sizewise-import-XXXXXX";
  const char* missing;
  int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  assert_int_equal(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
  close(descriptor);
  gathered_free(&gathered);
  file = (struct import_file){.name = path, .setting = &own};
  gathered = (struct gathered){.files = &file, .file_count = 1};
  assert_true(gather(&gathered, &wanted, &missing));
  file.name = file.diags.file = "FILE"; /* the path is gone */
  unlink(path);
}

/* All findings, one a line. */
static void assert_findings(const char* expected) {
  struct sw_text text = SW_TEXT_EMPTY;
  for (unsigned i = 0; i < file.diags.count; i++) {
    sw_add_diag(&text, &file.diags, &file.diags.items[i]);
    sw_text_add(&text, "\n");
  }
  assert_string_equal(sw_text_string(&text), expected);
  sw_text_free(&text);
}

#endif
