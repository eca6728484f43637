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
struct sw_node { /* small: most of the time that a large file takes goes into touching new memory */
  struct sw_place place;
  unsigned form : 2;    /* enum sw_node_form */
  unsigned length : 30; /* of a word: bytes; of a list or map: how many values it has */
  union {
    const char* word; /* NUL-terminated */
    struct sw_node* child;
  };
  struct sw_node* key;
  struct sw_node* next;
};

/* The tree of a text of 256 MiB at most, in `arena`; NULL when there is an error, which is then in `diags`. */
struct sw_node* sw_tree_read(struct sw_arena* arena, const char* text, size_t length, struct sw_diags* diags);

#endif
