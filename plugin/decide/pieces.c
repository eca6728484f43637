#include "decide/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "decide/pieces_internal.h"

/* Neighbours that say the same and for the same reason are one piece. */
static bool continues(const struct sw_piece* last, const struct sw_piece* next) {
  if (last->basis != next->basis || last->rule != next->rule || last->left != next->left) return false;
  if (next->basis == SW_BASIS_RULE || next->basis == SW_BASIS_REACH) return true;
  return next->basis != SW_BASIS_MEASURED && last->count == 0 && next->count == 0;
}

static bool make_room(struct sw_piece_list* list) {
  if (list->failed) return false;
  if (list->count < list->capacity) return true;
  size_t capacity = list->capacity ? 2 * list->capacity : 64;
  struct sw_piece* items = realloc(list->items, capacity * sizeof *items);
  list->failed = !items;
  if (!items) return false;
  list->items = items;
  list->capacity = capacity;
  return true;
}

void sw_pieces_add(struct sw_piece_list* list, const struct sw_piece* piece) {
  if (list->count && continues(&list->items[list->count - 1], piece))
    list->items[list->count - 1].to = piece->to;
  else if (make_room(list))
    list->items[list->count++] = *piece;
}

static bool keep(struct sw_arena* arena, const struct sw_piece_list* list, struct sw_pieces* out) {
  struct sw_piece* items = list->failed ? NULL : sw_arena_allocate(arena, list->count, sizeof *items);
  if (!items) return false;
  memcpy(items, list->items, list->count * sizeof *items);
  *out = (struct sw_pieces){items, list->count};
  return true;
}

bool sw_pieces_compile(struct sw_arena* arena, const struct sw_profile* profile, int collective, uint32_t nodes,
                       uint32_t ranks, struct sw_pieces* out) {
  const struct sw_table* table = sw_profile_table(profile, collective, nodes, ranks);
  struct sw_piece_list base = {0};
  struct sw_piece_list full = {0};
  struct sw_piece nothing = {.to = UINT64_MAX, .basis = SW_BASIS_NO_TABLE};
  if (table)
    sw_pieces_of_table(arena, &profile->policy, table, &base);
  else
    sw_pieces_add(&base, &nothing);
  if (!base.failed && profile->rule_count) sw_pieces_overlay(arena, profile, collective, nodes, ranks, &base, &full);
  bool good = !base.failed && keep(arena, profile->rule_count ? &full : &base, out);
  free(base.items);
  free(full.items);
  return good;
}

const struct sw_piece* sw_pieces_find(const struct sw_pieces* pieces, uint64_t bytes) {
  size_t low = 0;
  size_t high = pieces->count - 1;
  while (low < high) {
    size_t middle = (low + high + 1) / 2;
    if (pieces->items[middle].from <= bytes)
      low = middle;
    else
      high = middle - 1;
  }
  return &pieces->items[low];
}
