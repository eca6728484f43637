/* plugin/ground/diag: what a finding looks like, letter by letter, and that no file can spoil a terminal or a bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ground/diag.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* --- codes: for life, so their numbers stand here a second time */

static const struct {
  int number;
  enum sw_code code;
  bool warning;
} codes[] = {
    {101, SW_CANNOT_READ, false},     {102, SW_TOO_LARGE, false},      {103, SW_NOT_TEXT, false},
    {104, SW_SYNTAX, false},          {105, SW_NOT_PLAIN, false},      {106, SW_TOO_DEEP, false},
    {107, SW_SECOND_DOCUMENT, false}, {108, SW_EMPTY, false},          {109, SW_NO_MEMORY, false},
    {201, SW_UNKNOWN_KEY, false},     {202, SW_KEY_TWICE, false},      {203, SW_KEY_MISSING, false},
    {204, SW_WRONG_SHAPE, false},     {205, SW_UNKNOWN_WORD, false},   {206, SW_BAD_NUMBER, false},
    {207, SW_OUT_OF_RANGE, false},    {208, SW_DECIMAL_UNIT, false},   {209, SW_WRONG_VERSION, false},
    {210, SW_NO_CHOICE, false},       {211, SW_TWICE, false},          {212, SW_EMPTY_RANGE, false},
    {213, SW_BAD_NAME, false},        {214, SW_NOTHING_INSIDE, false}, {215, SW_CONFLICT, false},
    {301, SW_NEVER_APPLIES, true},    {302, SW_NO_AUTO, true},
};

static void codes_for_life(void** state) {
  (void)state;
  for (size_t i = 0; i < COUNT(codes); i++) {
    assert_int_equal(codes[i].code, codes[i].number);
    const struct sw_code_entry* entry = sw_code_entry(codes[i].number);
    assert_ptr_equal(entry, &sw_codes[i]);
    assert_int_equal(entry->severity, codes[i].warning ? SW_SEVERITY_WARNING : SW_SEVERITY_ERROR);
  }
  static const int unknown[] = {0, -1, 100, 110, 200, 216, 300, 303, 999};
  for (size_t i = 0; i < COUNT(unknown); i++) assert_null(sw_code_entry(unknown[i]));
}

static void codes_in_order_with_cure(void** state) {
  (void)state;
  size_t count = 0;
  for (; sw_codes[count].cause; count++) {
    assert_int_not_equal(strlen(sw_codes[count].cause), 0);
    assert_int_not_equal(strlen(sw_codes[count].cure), 0);
    if (count) assert_true(sw_codes[count].code > sw_codes[count - 1].code);
  }
  assert_true(count >= COUNT(codes));
}

/* --- one finding */

static void assert_text(struct sw_text* text, const char* expected) {
  assert_false(text->failed);
  assert_string_equal(sw_text_string(text), expected);
  sw_text_free(text);
}

#define TEN "1234567890"
#define FIFTY TEN TEN TEN TEN TEN
#define TEN_UMLAUTS "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
#define TEN_BLANKS "          "
#define FIFTY_BLANKS TEN_BLANKS TEN_BLANKS TEN_BLANKS TEN_BLANKS TEN_BLANKS

static const struct {
  const char* what;
  const char *source, *message;
  struct sw_place place;
  const char* expected;
} findings[] = {
    {"a whole file", "one\n", "words", {0, 0, 0}, "f.yaml: error: words [SW-206]\n"},
    {"one character", "one\n", "words", {1, 1, 1}, "f.yaml:1:1: error: words [SW-206]\n    one\n    ^\n"},
    {"width 0 as 1", "one\n", "words", {1, 2, 0}, "f.yaml:1:2: error: words [SW-206]\n    one\n     ^\n"},
    {"several",
     "a\nkey: word\nb\n",
     "words",
     {2, 6, 4},
     "f.yaml:2:6: error: words [SW-206]\n    key: word\n         ^~~~\n"},
    {"no newline at the end", "a\nlast", "words", {2, 1, 4}, "f.yaml:2:1: error: words [SW-206]\n    last\n    ^~~~\n"},
    {"wider than the line", "abc\nd\n", "words", {1, 2, 900}, "f.yaml:1:2: error: words [SW-206]\n    abc\n     ^~\n"},
    {"behind the line", "abc\nd\n", "words", {1, 9, 3}, "f.yaml:1:9: error: words [SW-206]\n    abc\n       ^\n"},
    {"an empty line", "abc\n\nd\n", "words", {2, 1, 1}, "f.yaml:2:1: error: words [SW-206]\n    \n    ^\n"},
    {"the end of the file", "abc\n", "words", {2, 1, 1}, "f.yaml:2:1: error: words [SW-206]\n    \n    ^\n"},
    {"behind the file", "abc\n", "words", {7, 1, 1}, "f.yaml:7:1: error: words [SW-206]\n"},
    {"no source", NULL, "words", {3, 4, 5}, "f.yaml:3:4: error: words [SW-206]\n"},
    {"a DOS line", "abc\r\ndef\r\n", "words", {1, 3, 4}, "f.yaml:1:3: error: words [SW-206]\n    abc\n      ^\n"},
    {"umlauts count as one",
     "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80: xy\n",
     "words",
     {1, 6, 2},
     "f.yaml:1:6: error: words [SW-206]\n    \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80: xy\n         ^~\n"},
    {"umlauts underlined",
     "x: \xc3\xa4\xc3\xb6\xc3\xbc y\n",
     "words",
     {1, 4, 3},
     "f.yaml:1:4: error: words [SW-206]\n    x: \xc3\xa4\xc3\xb6\xc3\xbc y\n       ^~~\n"},
    {"umlauts underlined to the line's end",
     "\xc3\xa4\xc3\xb6\xc3\xbc\n",
     "words",
     {1, 1, 9},
     "f.yaml:1:1: error: words [SW-206]\n    \xc3\xa4\xc3\xb6\xc3\xbc\n    ^~~\n"},
    {"tabs are one blank",
     "\tx:\ty\n",
     "words",
     {1, 5, 1},
     "f.yaml:1:5: error: words [SW-206]\n     x: y\n        ^\n"},
    {"no escape reaches a terminal",
     "a\x1b[31m: \x7f\xc2\x9b\n",
     "t\x1b[2J\n\xc2\x9bz\xc2\xa0",
     {1, 1, 1},
     "f.yaml:1:1: error: t?[2J??z\xc2\xa0 [SW-206]\n    a?[31m: ??\n    ^\n"},
    {"no broken UTF-8 either",
     "ab\xff\xc3(\xe2\x82\xc0\xaf\xf5\n",
     "x\xc3",
     {1, 3, 1},
     "f.yaml:1:3: error: x? [SW-206]\n    ab?\?(?\?\?\?\?\n      ^\n"},
    {"a line of 110",
     FIFTY FIFTY TEN "\n",
     "words",
     {1, 110, 1},
     "f.yaml:1:110: error: words [SW-206]\n    " FIFTY FIFTY TEN "\n    " FIFTY_BLANKS FIFTY_BLANKS "         ^\n"},
    {"a longer line, from its start",
     FIFTY FIFTY FIFTY "\n",
     "words",
     {1, 61, 2},
     "f.yaml:1:61: error: words [SW-206]\n    " FIFTY FIFTY TEN "\n    " FIFTY_BLANKS TEN_BLANKS "^~\n"},
    {"a longer line, around the place",
     FIFTY FIFTY FIFTY FIFTY "\n",
     "words",
     {1, 71, 12},
     "f.yaml:1:71: error: words [SW-206]\n    " FIFTY FIFTY TEN "\n    " FIFTY_BLANKS TEN_BLANKS "^~~~~~~~~~~~\n"},
    {"a longer line, at its end",
     FIFTY FIFTY FIFTY "xyz\n",
     "words",
     {1, 151, 9},
     "f.yaml:1:151: error: words [SW-206]\n    " FIFTY TEN "xyz\n    " FIFTY_BLANKS TEN_BLANKS "^~~\n"},
    {"never within a character",
     "x" TEN_UMLAUTS TEN_UMLAUTS TEN_UMLAUTS TEN_UMLAUTS TEN_UMLAUTS TEN_UMLAUTS "\n",
     "words",
     {1, 3, 1},
     "f.yaml:1:3: error: words [SW-206]\n    x" TEN_UMLAUTS TEN_UMLAUTS TEN_UMLAUTS TEN_UMLAUTS TEN_UMLAUTS
     "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\n      ^\n"},
    {"nor at a window's start",
     TEN_UMLAUTS TEN_UMLAUTS TEN_UMLAUTS TEN_UMLAUTS "x" TEN_UMLAUTS TEN_UMLAUTS "\n",
     "words",
     {1, 42, 1},
     "f.yaml:1:42: error: words [SW-206]\n    " TEN_UMLAUTS TEN_UMLAUTS
     "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4x" TEN_UMLAUTS TEN_UMLAUTS
     "\n    " TEN_BLANKS TEN_BLANKS TEN_BLANKS "^\n"},
};

static void each_finding(void** state) {
  (void)state;
  for (size_t i = 0; i < COUNT(findings); i++) {
    struct sw_diags diags;
    sw_diags_start(&diags, "f.yaml");
    diags.source = findings[i].source;
    diags.source_length = diags.source ? strlen(diags.source) : 0;
    sw_report(&diags, SW_BAD_NUMBER, findings[i].place, "%s", findings[i].message);
    struct sw_text text = SW_TEXT_EMPTY;
    sw_add_diag_with_source(&text, &diags, &diags.items[0]);
    if (strcmp(sw_text_string(&text), findings[i].expected) != 0)
      fail_msg("%s: found\n%snot\n%s", findings[i].what, sw_text_string(&text), findings[i].expected);
    sw_text_free(&text);
  }
}

static void one_line(void** state) {
  (void)state;
  struct sw_diags diags;
  sw_diags_start(&diags, "a\nb\x1b.yaml");
  diags.source = "x\n";
  diags.source_length = 2;
  sw_report(&diags, SW_NO_AUTO, (struct sw_place){1, 1, 1}, "%d %s", 5, "words");
  struct sw_text text = SW_TEXT_EMPTY;
  sw_add_diag(&text, &diags, &diags.items[0]);
  assert_text(&text, "a?b?.yaml:1:1: warning: 5 words [SW-302]");
}

/* A message is cut at 255 bytes, and the half character at the cut is not printed. */
static void long_message(void** state) {
  (void)state;
  char words[512];
  memset(words, 'x', sizeof words);
  memcpy(words + 254, "\xc3\xa4", 2);
  words[sizeof words - 1] = '\0';
  struct sw_diags diags;
  sw_diags_start(&diags, "f");
  sw_report(&diags, SW_SYNTAX, (struct sw_place){0}, "%s", words);
  char expected[512];
  snprintf(expected, sizeof expected, "f: error: %.254s? [SW-104]", words);
  struct sw_text text = SW_TEXT_EMPTY;
  sw_add_diag(&text, &diags, &diags.items[0]);
  assert_text(&text, expected);
}

/* --- all findings of a file */

static void start(struct sw_diags* diags, unsigned errors, unsigned warnings) {
  sw_diags_start(diags, "f");
  for (unsigned i = 0; i < warnings; i++) sw_report(diags, SW_NO_AUTO, (struct sw_place){0}, "w%u", i);
  for (unsigned i = 0; i < errors; i++) sw_report(diags, SW_SYNTAX, (struct sw_place){0}, "e%u", i);
}

static void bounds(void** state) {
  (void)state;
  static const struct {
    unsigned errors, warnings, kept;
    bool full;
    const char* tail;
  } cases[] = {
      {0, 0, 0, false, ""},
      {1, 1, 2, false, "f: error: e0 [SW-104]\n"},
      {9, 10, 19, false, "f: error: e8 [SW-104]\n"},
      {10, 0, 10, true, "f: error: e9 [SW-104]\nf: stopped after 10 errors\n"},
      {25, 0, 10, true, "f: error: e9 [SW-104]\nf: stopped after 10 errors\n"},
      {0, 10, 10, false, "f: warning: w9 [SW-302]\n"},
      {0, 11, 10, false, "f: warning: w9 [SW-302]\nf: 1 more warning\n"},
      {10, 1000, 20, true, "f: error: e9 [SW-104]\nf: stopped after 10 errors\nf: 990 more warnings\n"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct sw_diags diags;
    start(&diags, cases[i].errors, cases[i].warnings);
    assert_int_equal(diags.count, cases[i].kept);
    assert_int_equal(diags.errors, cases[i].errors < 10 ? cases[i].errors : 10);
    assert_int_equal(diags.warnings, cases[i].warnings);
    assert_int_equal(sw_diags_full(&diags), cases[i].full);
    struct sw_text text = SW_TEXT_EMPTY;
    sw_add_diags(&text, &diags);
    size_t length = strlen(cases[i].tail);
    assert_true(text.length >= length && (length || !text.length));
    assert_string_equal(sw_text_string(&text) + (text.length - length), cases[i].tail);
    sw_text_free(&text);
  }
}

static void in_their_order(void** state) {
  (void)state;
  struct sw_diags diags;
  start(&diags, 2, 2);
  struct sw_text text = SW_TEXT_EMPTY;
  sw_add_diags(&text, &diags);
  assert_text(&text,
              "f: warning: w0 [SW-302]\nf: warning: w1 [SW-302]\nf: error: e0 [SW-104]\nf: error: e1 [SW-104]\n");
  sw_diags_start(&diags, "g");
  sw_add_diags(&text, &diags);
  assert_text(&text, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(codes_for_life), cmocka_unit_test(codes_in_order_with_cure),
      cmocka_unit_test(each_finding),   cmocka_unit_test(one_line),
      cmocka_unit_test(long_message),   cmocka_unit_test(bounds),
      cmocka_unit_test(in_their_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
