/* plugin/ground/tree: the trees that texts make, place by place, and what is refused: everything that is not plain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ground/text.h"
#include "ground/tree.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* --- trees as text: word@line:column+width, [list], {key word, key word} */

static void add_node(struct sw_text* text, const struct sw_node* node) {
  struct sw_place place = node->place;
  static const char* const brackets[] = {[SW_NODE_LIST] = "[]", [SW_NODE_MAP] = "{}"};
  if (node->form == SW_NODE_WORD) {
    sw_text_add_bytes(text, node->word, node->length);
    sw_text_printf(text, "@%u:%u+%u", place.line, place.column, place.width);
    return;
  }
  size_t children = 0;
  sw_text_printf(text, "%u:%u%c", place.line, place.column, brackets[node->form][0]);
  struct sw_walk walk = sw_walk_into(node);
  while (sw_walk_next(&walk)) {
    const struct sw_node* key = walk.value.key;
    if (children++) sw_text_add(text, ", ");
    assert_int_equal(key != NULL, node->form == SW_NODE_MAP);
    if (key) add_node(text, key);
    if (key) sw_text_add(text, " ");
    add_node(text, &walk.value);
  }
  assert_int_equal(children, node->values);
  sw_text_printf(text, "%c", brackets[node->form][1]);
}

static const struct {
  const char *yaml, *tree;
} trees[] = {
    {"word", "word@1:1+4"},
    {"a: 1", "1:1{a@1:1+1 1@1:4+1}"},
    {"a: 1\nbc:  two\n", "1:1{a@1:1+1 1@1:4+1, bc@2:1+2 two@2:6+3}"},
    {"- a\n- [b, c]\n", "1:1[a@1:3+1, 2:3[b@2:4+1, c@2:7+1]]"},
    {"a:\n  - {b: 1, c: 2}\n  - x\n", "1:1{a@1:1+1 2:3[2:5{b@2:6+1 1@2:9+1, c@2:12+1 2@2:15+1}, x@3:5+1]}"},
    {"a:\nb: ''\n", "1:1{a@1:1+1 @1:3+1, b@2:1+1 @2:4+2}"},
    {"[]", "1:1[]"},
    {"{}", "1:1{}"},
    {"? [k]\n: v\n", "1:1{1:3[k@1:4+1] v@2:3+1}"},
    {"? {k: l}\n: {m: n}\n", "1:1{1:3{k@1:4+1 l@1:7+1} 2:3{m@2:4+1 n@2:7+1}}"},
    {"a: 1\na: 2\n", "1:1{a@1:1+1 1@1:4+1, a@2:1+1 2@2:4+1}"},
    {"# comment\n\n  a: 1 # more\n", "3:3{a@3:3+1 1@3:6+1}"},
    {"%YAML 1.1\n---\na: 1\n...\n", "3:1{a@3:1+1 1@3:4+1}"},
    {"a: \"q \\\"\\u00e4\\n\"", "1:1{a@1:1+1 q \"\xc3\xa4\n@1:4+14}"},
    {"\xc3\xa4\xe2\x82\xac: \xf0\x9f\x98\x80x", "1:1{\xc3\xa4\xe2\x82\xac@1:1+2 \xf0\x9f\x98\x80x@1:5+2}"},
    {"a: >-\n  b\n  c\nd: |\n  e\n", "1:1{a@1:1+1 b c@1:4+1, d@4:1+1 e\n@4:4+1}"},
    {"a: yes\nb: ~\nc: 1e3\n", "1:1{a@1:1+1 yes@1:4+3, b@2:1+1 ~@2:4+1, c@3:1+1 1e3@3:4+3}"},
    {"a: 1\r\nb: 2\r\n", "1:1{a@1:1+1 1@1:4+1, b@2:1+1 2@2:4+1}"},
    {"\xef\xbb\xbf"
     "a: 1\n",
     "1:1{a@1:1+1 1@1:4+1}"},
    {"[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]",
     "1:1[1:2[1:3[1:4[1:5[1:6[1:7[1:8[1:9[1:10[1:11[1:12[1:13[1:14[1:15[1:16["
     "x@1:17+1]]]]]]]]]]]]]]]]"},
};

static void each_tree(void** state) {
  (void)state;
  for (size_t i = 0; i < COUNT(trees); i++) {
    struct sw_arena arena = SW_ARENA_EMPTY;
    struct sw_diags diags;
    sw_diags_start(&diags, "t");
    struct sw_node root;
    struct sw_text text = SW_TEXT_EMPTY;
    if (sw_tree_read(&arena, trees[i].yaml, strlen(trees[i].yaml), &diags, &root))
      add_node(&text, &root);
    else
      sw_add_diags(&text, &diags);
    if (strcmp(sw_text_string(&text), trees[i].tree) != 0)
      fail_msg("%s:\nfound %s\nnot   %s", trees[i].yaml, sw_text_string(&text), trees[i].tree);
    assert_int_equal(diags.count, 0);
    sw_text_free(&text);
    sw_arena_free(&arena);
  }
}

/* --- refused */

static void check_refused(const char* what, const char* yaml, size_t length, const char* expected) {
  struct sw_arena arena = SW_ARENA_EMPTY;
  struct sw_diags diags;
  sw_diags_start(&diags, "t");
  struct sw_node root;
  assert_false(sw_tree_read(&arena, yaml, length, &diags, &root));
  assert_int_equal(diags.errors, 1);
  struct sw_text text = SW_TEXT_EMPTY;
  sw_add_diags(&text, &diags);
  if (strcmp(sw_text_string(&text), expected) != 0)
    fail_msg("%s: found\n%snot\n%s", what, sw_text_string(&text), expected);
  sw_text_free(&text);
  sw_arena_free(&arena);
}

static const struct {
  const char *yaml, *report;
} refused[] = {
    {"", "t: error: the file is empty [SW-108]\n"},
    {"# only a comment\n", "t: error: the file is empty [SW-108]\n"},
    {"\xef\xbb\xbf", "t: error: the file is empty [SW-108]\n"},
    {"a: &x 1\n",
     "t:1:4: error: anchors are not part of the format: write the value out, or quote it [SW-105]\n    a: &x 1\n       "
     "^~~~\n"},
    {"a: &x [1]\n",
     "t:1:4: error: anchors are not part of the format: write the value out, or quote it [SW-105]\n    a: &x [1]\n     "
     "  ^~~~\n"},
    {"a: &x {b: 1}\n",
     "t:1:4: error: anchors are not part of the format: write the value out, or quote it [SW-105]\n    a: &x {b: 1}\n  "
     "     ^~~~\n"},
    {"a: *x\n",
     "t:1:4: error: aliases are not part of the format: write the value out, or quote it [SW-105]\n    a: *x\n       "
     "^~\n"},
    {"b: 1\n<<: *x\n",
     "t:2:5: error: aliases are not part of the format: write the value out, or quote it [SW-105]\n    <<: *x\n        "
     "^~\n"},
    {"a: !!str 1\n",
     "t:1:4: error: tags are not part of the format: write the value out, or quote it [SW-105]\n    a: !!str 1\n       "
     "^~~~~~~\n"},
    {"a: !seq [1]\n",
     "t:1:4: error: tags are not part of the format: write the value out, or quote it [SW-105]\n    a: !seq [1]\n      "
     " ^~~~~~\n"},
    {"!map {a: 1}\n",
     "t:1:1: error: tags are not part of the format: write the value out, or quote it [SW-105]\n    !map {a: 1}\n    "
     "^~~~~~\n"},
    {"a: 1\n---\nb: 2\n", "t:2:1: error: a second document begins here; a file holds one [SW-107]\n    ---\n    ^~~\n"},
    {"a: 1\n---\n", "t:2:1: error: a second document begins here; a file holds one [SW-107]\n    ---\n    ^~~\n"},
    {"[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]",
     "t:1:17: error: nested more than 16 deep [SW-106]\n    [[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]\n                    "
     "^\n"},
    {"- - - - - - - - - - - - - - - - - x",
     "t:1:33: error: nested more than 16 deep [SW-106]\n    - - - - - - - - - - - - - - - - - x\n"
     "                                    ^\n"},
    {"a: [1, 2\nb: 3\n",
     "t:2:2: error: not YAML: did not find expected ',' or ']' while parsing a flow sequence that begins in line 1 "
     "[SW-104]\n    b: 3\n     ^\n"},
    {"a: \"b\n",
     "t:2:1: error: not YAML: found unexpected end of stream while scanning a quoted scalar that begins in line 1 "
     "[SW-104]\n    \n    ^\n"},
    {"a: b: c\n",
     "t:1:5: error: not YAML: mapping values are not allowed in this context [SW-104]\n"
     "    a: b: c\n        ^\n"},
    {"a:\n\tb: 1\n", "t:2:1: error: not YAML: a tab stands here; indent with blanks [SW-104]\n     b: 1\n    ^\n"},
    {"a: @b\n", "t:1:4: error: not YAML: a value that begins with @ has to be quoted [SW-104]\n    a: @b\n       ^\n"},
    {"gpu: *GB10*\n",
     "t:1:6: error: not YAML: a value that begins with * has to be quoted [SW-104]\n    gpu: *GB10*\n         ^\n"},
    {"- {gpu: *}\n",
     "t:1:9: error: not YAML: a value that begins with * has to be quoted [SW-104]\n    - {gpu: *}\n            ^\n"},
    {"a:\n  - &\n",
     "t:2:5: error: not YAML: a value that begins with & has to be quoted [SW-104]\n      - &\n        ^\n"},
    {"a: `b\n", "t:1:4: error: not YAML: a value that begins with ` has to be quoted [SW-104]\n    a: `b\n       ^\n"},
    {"a: %b\n", "t:1:4: error: not YAML: a value that begins with % has to be quoted [SW-104]\n    a: %b\n       ^\n"},
    {"%YAML 3.0\n---\na: 1\n",
     "t:1:1: error: not YAML: found incompatible YAML document [SW-104]\n    %YAML 3.0\n    ^\n"},
    {"a: \"\xff\"\n", "t:1:5: error: not a text file: invalid leading UTF-8 octet [SW-103]\n    a: \"?\"\n        ^\n"},
    {"\xc3\xa4\n\xc3\xa4: \x01\n",
     "t:2:4: error: not a text file: control characters are not allowed [SW-103]\n    \xc3\xa4: ?\n       ^\n"},
};

static void each_refused(void** state) {
  (void)state;
  for (size_t i = 0; i < COUNT(refused); i++)
    check_refused(refused[i].yaml, refused[i].yaml, strlen(refused[i].yaml), refused[i].report);
}

static void nul_in_the_text(void** state) {
  (void)state;
  check_refused("NUL", "a: 1\n\0b", 7,
                "t:2:1: error: not a text file: control characters are not allowed [SW-103]\n    ?b\n    ^\n");
}

/* A million values are read, one more is not: the list itself is one of them. */
static void most_values(void** state) {
  (void)state;
  enum { MOST = 1000000 };
  char* text = malloc(2 * MOST + 2);
  assert_non_null(text);
  for (size_t extra = 0; extra < 2; extra++) {
    size_t values = MOST - 1 + extra;
    for (size_t i = 0; i < values; i++) memcpy(text + 2 * i, i ? ",1" : "[1", 2);
    size_t length = 2 * values;
    text[length++] = ']';
    struct sw_arena arena = SW_ARENA_EMPTY;
    struct sw_diags diags;
    sw_diags_start(&diags, "t");
    struct sw_node root;
    assert_int_equal(sw_tree_read(&arena, text, length, &diags, &root), !extra);
    if (!extra) {
      assert_int_equal(root.values, MOST - 1);
    } else {
      assert_int_equal(diags.items[0].code, SW_TOO_DEEP);
      assert_string_equal(diags.items[0].text, "more than 1000000 values");
      assert_int_equal(diags.items[0].place.line, 1);
      assert_int_equal(diags.items[0].place.column, 2 * MOST);
    }
    sw_arena_free(&arena);
  }
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_tree),
      cmocka_unit_test(each_refused),
      cmocka_unit_test(nul_in_the_text),
      cmocka_unit_test(most_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
