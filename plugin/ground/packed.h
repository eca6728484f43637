/*
 * How tree.c keeps a tree in memory: its nodes one behind the other, each in as few bytes as it needs. A large file has
 * tens of thousands of them, and touching new memory is most of the time that reading it would take.
 *
 *     word     form, line, column, width, length, bytes, NUL
 *     list     form, line, column, width, how many values, where it ends, its values
 *     map      the same; each value has its key before it
 *     link     where the next node is, when a block of memory is full
 */
#ifndef SW_PACKED_H
#define SW_PACKED_H

#include "ground/arena.h"
#include "ground/tree.h"

struct sw_packer {
  struct sw_arena* arena;
  const unsigned char* first; /* the first node */
  unsigned char* at;
  unsigned char* stop; /* of the block */
};

/* Packs a word; false when there is no memory. */
bool sw_pack_word(struct sw_packer* packer, struct sw_place place, const char* bytes, size_t length);

/* Packs the head of a list or map, whose nodes are packed next; NULL when there is no memory. */
unsigned char* sw_pack_open(struct sw_packer* packer, enum sw_node_form form, struct sw_place place);

/* Completes the head that sw_pack_open returned. */
void sw_pack_close(const struct sw_packer* packer, unsigned char* head, uint32_t values);

/* The node at a place in memory. Returns the place behind the node and all that is in it. */
const unsigned char* sw_unpack(const unsigned char* at, struct sw_node* node);

#endif
