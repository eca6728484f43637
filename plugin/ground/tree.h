/*
 * A YAML text as a tree of words, lists and maps, each with its place. The plain part of YAML only: anchors, aliases,
 * tags and further documents are errors, and so is a depth or a number of values that no file of ours has, which
 * bounds time and memory whatever the text is.
 */
#ifndef SW_TREE_H
#define SW_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "ground/arena.h"
#include "ground/diag.h"

enum sw_node_form { SW_NODE_WORD, SW_NODE_LIST, SW_NODE_MAP };

/*
 *     map --child--> value --next--> value          each value of a map has its key
 *                      |key           |key
 *                      word           word
 */
struct sw_node {
  enum sw_node_form form;
  struct sw_place place;
  const char* word; /* of a word: NUL-terminated, `length` bytes */
  size_t length;
  struct sw_node* key;
  struct sw_node* child;
  struct sw_node* next;
  size_t children;
};

/* The tree of a text, in `arena`; NULL when there is an error, which is then in `diags`. */
struct sw_node* sw_tree_read(struct sw_arena* arena, const char* text, size_t length, struct sw_diags* diags);

#endif
