#include <stdlib.h>

#include "decide/pieces_internal.h"

/*
 * Rules are painted in their order, and a size that has been painted stays so: all bounds of all rules cut the sizes
 * into strips; `next` leads from a strip to the first one from it on that no rule owns yet, so that every strip is
 * painted once however many rules overlap.
 *
 *     strips   0 .. a-1 | a .. b-1 | b .. c-1 | c .. no end
 *     owner      none      rule 2     rule 1     none
 */
struct strips {
  uint64_t* from; /* ascending */
  const struct sw_rule** owner;
  size_t* next;
  size_t count;
};

bool sw_rule_holds(const struct sw_rule* rule, int collective, uint32_t nodes, uint32_t ranks) {
  return rule->collective == collective && (!rule->nodes || rule->nodes == nodes) &&
         (!rule->ranks || rule->ranks == ranks);
}

static int compare_sizes(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a;
  uint64_t y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

static void cut(struct strips* strips, const struct sw_rule* rules, size_t count) {
  size_t bounds = 0;
  strips->from[bounds++] = 0;
  for (size_t i = 0; i < count; i++) {
    strips->from[bounds++] = rules[i].from;
    if (rules[i].to != UINT64_MAX) strips->from[bounds++] = rules[i].to + 1;
  }
  qsort(strips->from, bounds, sizeof *strips->from, compare_sizes);
  for (size_t i = 0; i < bounds; i++)
    if (!strips->count || strips->from[strips->count - 1] != strips->from[i])
      strips->from[strips->count++] = strips->from[i];
  for (size_t i = 0; i <= strips->count; i++) strips->next[i] = i;
}

static size_t first_unowned(struct strips* strips, size_t strip) {
  size_t found = strip;
  while (strips->next[found] != found) found = strips->next[found];
  while (strips->next[strip] != found) {
    size_t after = strips->next[strip];
    strips->next[strip] = found;
    strip = after;
  }
  return found;
}

static size_t strip_of(const struct strips* strips, uint64_t bytes) {
  size_t low = 0;
  size_t high = strips->count - 1;
  while (low < high) {
    size_t middle = (low + high + 1) / 2;
    if (strips->from[middle] <= bytes)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

static void paint(struct strips* strips, const struct sw_rule* rule) {
  size_t strip = first_unowned(strips, strip_of(strips, rule->from));
  while (strip < strips->count && strips->from[strip] <= rule->to) {
    strips->owner[strip] = rule;
    strips->next[strip] = strip + 1;
    strip = first_unowned(strips, strip);
  }
}

static void add_rule(struct sw_arena* arena, struct sw_piece_list* list, const struct sw_rule* rule, uint64_t from,
                     uint64_t to) {
  struct sw_piece piece = {.from = from, .to = to, .basis = SW_BASIS_RULE, .rule = rule};
  if (!sw_choice_is_auto(rule->choice)) {
    struct sw_ranked* ranked = sw_arena_allocate(arena, 1, sizeof *ranked);
    list->failed = list->failed || !ranked;
    if (ranked) *ranked = (struct sw_ranked){rule->choice, SW_RULE_RATIO};
    piece.ranked = ranked;
    piece.count = ranked != NULL;
  }
  sw_pieces_add(list, &piece);
}

/* The part of `base` from one size to another; `*at` is the index of the piece to begin with, and moves along. */
static void add_base(struct sw_piece_list* list, const struct sw_piece_list* base, size_t* at, uint64_t from,
                     uint64_t to) {
  while (base->items[*at].to < from) (*at)++;
  for (size_t i = *at; i < base->count && base->items[i].from <= to; i++) {
    struct sw_piece piece = base->items[i];
    if (piece.from < from) piece.from = from;
    if (piece.to > to) piece.to = to;
    sw_pieces_add(list, &piece);
    *at = i;
  }
}

static void lay(struct sw_arena* arena, const struct strips* strips, const struct sw_piece_list* base,
                struct sw_piece_list* list) {
  size_t at = 0;
  for (size_t i = 0; i < strips->count; i++) {
    uint64_t from = strips->from[i];
    uint64_t to = i + 1 < strips->count ? strips->from[i + 1] - 1 : UINT64_MAX;
    if (strips->owner[i])
      add_rule(arena, list, strips->owner[i], from, to);
    else
      add_base(list, base, &at, from, to);
  }
}

void sw_pieces_overlay(struct sw_arena* arena, const struct sw_profile* profile, int collective, uint32_t nodes,
                       uint32_t ranks, const struct sw_piece_list* base, struct sw_piece_list* list) {
  size_t room = 2 * profile->rule_count + 2;
  struct strips strips = {.from = calloc(room, sizeof *strips.from),
                          .owner = calloc(room, sizeof *strips.owner),
                          .next = calloc(room, sizeof *strips.next)};
  if (strips.from && strips.owner && strips.next) {
    cut(&strips, profile->rules, profile->rule_count);
    for (size_t i = 0; i < profile->rule_count; i++)
      if (sw_rule_holds(&profile->rules[i], collective, nodes, ranks)) paint(&strips, &profile->rules[i]);
    lay(arena, &strips, base, list);
  } else {
    list->failed = true;
  }
  free(strips.from);
  free(strips.owner);
  free(strips.next);
}
