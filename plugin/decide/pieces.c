#include "decide/pieces.h"

#include <string.h>

#include "decide/pieces_internal.h"
#include "decide/uniform.h"

/* Neighbours that say the same and for the same reason are one piece. */
static bool continues(const struct sw_piece* last, const struct sw_piece* next) {
  if (last->basis != next->basis || last->rule != next->rule || last->left != next->left) return false;
  if (next->basis == SW_BASIS_RULE || next->basis == SW_BASIS_REACH) return true;
  return next->basis != SW_BASIS_MEASURED && last->count == 0 && next->count == 0;
}

static bool make_room(struct sw_piece_list* list) {
  if (list->failed) return false;
  if (list->items && list->count < list->capacity) return true;
  size_t capacity = list->items ? 2 * list->capacity : list->capacity;
  struct sw_piece* items = sw_arena_allocate(list->arena, capacity, sizeof *items);
  list->failed = !items;
  if (!items) return false;
  if (list->count) memcpy(items, list->items, list->count * sizeof *items);
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

bool sw_pieces_compile(struct sw_arena* arena, const struct sw_profile* profile, int collective, uint32_t nodes,
                       uint32_t ranks, struct sw_pieces* out) {
  const struct sw_table* table = sw_profile_table(profile, collective, nodes, ranks);
  struct sw_arena below = SW_ARENA_EMPTY; /* for what rules are laid over */
  struct sw_piece_list list = {.arena = profile->rule_count ? &below : arena,
                               .capacity = table ? 3 * table->count + 8 : 1};
  struct sw_piece nothing = {.to = UINT64_MAX, .basis = SW_BASIS_NO_TABLE};
  if (table)
    sw_pieces_of_table(arena, &profile->policy, table, &list);
  else
    sw_pieces_add(&list, &nothing);
  if (!list.failed && profile->rule_count) {
    struct sw_piece_list base = list;
    list = (struct sw_piece_list){.arena = arena, .capacity = base.count + 8};
    sw_pieces_overlay(arena, profile, collective, nodes, ranks, &base, &list);
  }
  sw_arena_free(&below);
  if (list.failed) return false;
  *out = (struct sw_pieces){list.items, list.count};
  return true;
}

/* The ratio is a rule's: a choice of this mode may be slower than auto, and has to be the cheapest all the same. */
bool sw_pieces_compile_uniform(struct sw_arena* arena, const struct sw_profile* profile, int collective, uint32_t nodes,
                               uint32_t ranks, struct sw_pieces* out) {
  struct sw_uniform uniform = sw_uniform_find(profile, collective, nodes, ranks);
  struct sw_piece* piece = sw_arena_allocate(arena, 1, sizeof *piece);
  struct sw_ranked* ranked = sw_arena_allocate(arena, 1, sizeof *ranked);
  if (!piece || !ranked) return false;
  *ranked = (struct sw_ranked){uniform.choice, SW_RULE_RATIO};
  *piece = (struct sw_piece){.to = UINT64_MAX, .basis = SW_BASIS_UNIFORM, .rule = uniform.rule};
  if (uniform.source == SW_UNIFORM_NO_TABLE) piece->basis = SW_BASIS_NO_TABLE;
  if (sw_uniform_is_found(&uniform)) {
    piece->ranked = ranked;
    piece->count = 1;
  }
  *out = (struct sw_pieces){piece, 1};
  return true;
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
