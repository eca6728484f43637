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

/* A node as it is looked at; the tree itself is packed (ground/packed.h). */
struct sw_node {
  enum sw_node_form form;
  struct sw_place place;
  uint32_t length;             /* of a word, in bytes */
  uint32_t values;             /* of a list or map: how many it has */
  const char* word;            /* NUL-terminated; NULL for a list or map */
  const unsigned char* inside; /* where a list's or map's first node is packed */
  const struct sw_node* key;   /* of a map's value; else NULL */
};

/* A text (of 1 GiB at most) as a tree in `arena`, and its outermost node. False after an error, which is in `diags`. */
bool sw_tree_read(struct sw_arena* arena, const char* text, size_t length, struct sw_diags* diags,
                  struct sw_node* root);

/*
 * The values of a list or map, one by one:
 *
 *     struct sw_walk walk = sw_walk_into(node);
 *     while (sw_walk_next(&walk)) ... walk.value
 */
struct sw_walk {
  struct sw_node value; /* refers to `key` in a map */
  struct sw_node key;
  const unsigned char* at;
  size_t left;
  bool in_map;
};
struct sw_walk sw_walk_into(const struct sw_node* node);
bool sw_walk_next(struct sw_walk* walk);

#endif
