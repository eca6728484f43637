#include "ground/packed.h"

#include <string.h>

enum {
  LINK = 3, /* beside the forms of nodes */
  LINK_BYTES = 1 + sizeof(void*),
  HEAD_BYTES = 1 + 4 * 5,      /* at most: the form and four numbers */
  BLOCK_BYTES = 16 * 1024 - 64 /* four of them fill a chunk of the arena */
};

struct ends {
  const unsigned char* end;
  uint32_t values;
};

/* --- packing */

/* Seven bits a byte, the lowest first; the top bit says that more follow. */
static void put_number(struct sw_packer* packer, uint32_t number) {
  for (; number >= 0x80; number >>= 7) *packer->at++ = (unsigned char)(number | 0x80);
  *packer->at++ = (unsigned char)number;
}

static void put_bytes(struct sw_packer* packer, const void* bytes, size_t length) {
  if (length) memcpy(packer->at, bytes, length);
  packer->at += length;
}

/* Room for `bytes` and a link behind them; a new block when the old one lacks it. */
static bool make_room(struct sw_packer* packer, size_t bytes) {
  if (packer->at && (size_t)(packer->stop - packer->at) >= bytes + LINK_BYTES) return true;
  size_t size = bytes + LINK_BYTES > BLOCK_BYTES ? bytes + LINK_BYTES : BLOCK_BYTES;
  unsigned char* block = sw_arena_allocate(packer->arena, 1, size);
  if (!block) return false;
  if (packer->at) {
    *packer->at++ = LINK;
    put_bytes(packer, &block, sizeof block);
  } else {
    packer->first = block;
  }
  packer->at = block;
  packer->stop = block + size;
  return true;
}

static void put_head(struct sw_packer* packer, enum sw_node_form form, struct sw_place place) {
  *packer->at++ = (unsigned char)form;
  put_number(packer, place.line);
  put_number(packer, place.column);
  put_number(packer, place.width);
}

bool sw_pack_word(struct sw_packer* packer, struct sw_place place, const char* bytes, size_t length) {
  if (!make_room(packer, HEAD_BYTES + length + 1)) return false;
  put_head(packer, SW_NODE_WORD, place);
  put_number(packer, (uint32_t)length);
  put_bytes(packer, bytes, length);
  put_bytes(packer, "", 1);
  return true;
}

unsigned char* sw_pack_open(struct sw_packer* packer, enum sw_node_form form, struct sw_place place) {
  if (!make_room(packer, HEAD_BYTES + sizeof(struct ends))) return NULL;
  put_head(packer, form, place);
  unsigned char* ends = packer->at;
  packer->at += sizeof(struct ends);
  return ends;
}

void sw_pack_close(const struct sw_packer* packer, unsigned char* head, uint32_t values) {
  struct ends ends = {packer->at, values};
  memcpy(head, &ends, sizeof ends);
}

/* --- unpacking */

static const unsigned char* take_number(const unsigned char* at, uint32_t* out) {
  uint32_t number = *at & 0x7f;
  for (unsigned shift = 7; *at++ & 0x80; shift += 7) number |= (uint32_t)(*at & 0x7f) << shift;
  *out = number;
  return at;
}

const unsigned char* sw_unpack(const unsigned char* at, struct sw_node* node) {
  if (*at == LINK) memcpy(&at, at + 1, sizeof at);
  *node = (struct sw_node){.form = (enum sw_node_form) * at++};
  at = take_number(at, &node->place.line);
  at = take_number(at, &node->place.column);
  at = take_number(at, &node->place.width);
  if (node->form == SW_NODE_WORD) {
    at = take_number(at, &node->length);
    node->word = (const char*)at;
    return at + node->length + 1;
  }
  struct ends ends;
  memcpy(&ends, at, sizeof ends);
  node->inside = at + sizeof ends;
  node->values = ends.values;
  return ends.end;
}
