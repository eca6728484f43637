#include "decide/plan.h"

#include <stdlib.h>
#include <string.h>

enum { SUB_BITS = 6, BUCKETS = 64 << SUB_BITS };

/* Sizes of one bucket have their top bit and the SUB_BITS bits behind it in common; buckets ascend with sizes. */
static inline uint32_t bucket_of(uint64_t bytes) {
  uint64_t least_one = bytes ? bytes : 1;
  uint32_t zeros = (uint32_t)__builtin_clzll(least_one);
  uint32_t below = (uint32_t)((least_one << zeros << 1) >> (64 - SUB_BITS));
  return (63 - zeros) << SUB_BITS | below;
}

/* The smallest size of a bucket; 0 belongs to the first. */
static uint64_t bucket_start(uint32_t bucket) {
  uint32_t top = bucket >> SUB_BITS;
  uint64_t below = (uint64_t)(bucket & ((1 << SUB_BITS) - 1)) << (64 - SUB_BITS) >> 1;
  if (bucket == 0) return 0;
  return (UINT64_C(1) << 63 | below) >> (63 - top);
}

struct sw_decision sw_plan_decide(const struct sw_plan* plan, int collective, uint64_t bytes) {
  const struct sw_curve* curve = &plan->curves[collective];
  if (!curve->index) return (struct sw_decision){NULL, 0};
  uint32_t bucket = bucket_of(bytes);
  uint32_t low = curve->index[bucket];
  uint32_t high = curve->index[bucket + 1];
  while (low < high) {
    uint32_t middle = (low + high + 1) / 2;
    bool below = curve->from[middle] > bytes; /* no branch: sizes come in any order */
    low = below ? low : middle;
    high = below ? middle - 1 : high;
  }
  return curve->decisions[low];
}

static bool decides_anything(const struct sw_pieces* pieces) {
  for (size_t i = 0; i < pieces->count; i++)
    if (pieces->items[i].count) return true;
  return false;
}

/* For each bucket, the last piece that begins at or below the bucket's smallest size. */
static void fill_index(const uint64_t* from, size_t count, uint32_t* index) {
  uint32_t piece = 0;
  for (uint32_t bucket = 0; bucket < BUCKETS; bucket++) {
    while (piece + 1 < count && from[piece + 1] <= bucket_start(bucket)) piece++;
    index[bucket] = piece;
  }
  index[BUCKETS] = (uint32_t)count - 1;
}

static bool compile_curve(struct sw_arena* arena, const struct sw_pieces* pieces, struct sw_curve* curve) {
  if (!decides_anything(pieces)) return true;
  uint64_t* from = sw_arena_allocate(arena, pieces->count, sizeof *from);
  struct sw_decision* decisions = sw_arena_allocate(arena, pieces->count, sizeof *decisions);
  uint32_t* index = sw_arena_allocate(arena, BUCKETS + 1, sizeof *index);
  if (!from || !decisions || !index) return false;
  size_t count = 0;
  for (size_t i = 0; i < pieces->count; i++) {
    const struct sw_piece* piece = &pieces->items[i];
    if (count && !piece->count && !decisions[count - 1].count) continue; /* auto goes on */
    from[count] = piece->from;
    decisions[count++] = (struct sw_decision){piece->ranked, piece->count};
  }
  fill_index(from, count, index);
  *curve = (struct sw_curve){from, decisions, index};
  return true;
}

struct sw_plan* sw_plan_compile(const struct sw_profile* profile, uint32_t nodes, uint32_t ranks) {
  return sw_plan_compile_for(profile, SW_MODE_BY_SIZE, nodes, ranks);
}

struct sw_plan* sw_plan_compile_for(const struct sw_profile* profile, enum sw_mode mode, uint32_t nodes,
                                    uint32_t ranks) {
  struct sw_shape shape;
  return sw_shape_compile(profile, mode, nodes, ranks, &shape) ? sw_plan_make(&shape) : NULL;
}

struct sw_plan* sw_plan_make(struct sw_shape* shape) {
  struct sw_plan* plan = calloc(1, sizeof *plan);
  if (!plan) {
    sw_shape_free(shape);
    return NULL;
  }
  plan->arena = shape->arena;
  plan->nodes = shape->nodes;
  plan->ranks = shape->ranks;
  memcpy(plan->pieces, shape->pieces, sizeof plan->pieces);
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) {
    if (compile_curve(&plan->arena, &plan->pieces[c], &plan->curves[c])) continue;
    sw_plan_free(plan);
    return NULL;
  }
  return plan;
}

void sw_plan_free(struct sw_plan* plan) {
  if (!plan) return;
  sw_arena_free(&plan->arena);
  free(plan);
}

bool sw_profile_has_shape(const struct sw_profile* profile, uint32_t nodes, uint32_t ranks) {
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++)
    if (sw_profile_table(profile, c, nodes, ranks)) return true;
  for (size_t i = 0; i < profile->rule_count; i++) {
    const struct sw_rule* rule = &profile->rules[i];
    if ((!rule->nodes || rule->nodes == nodes) && (!rule->ranks || rule->ranks == ranks)) return true;
  }
  return false;
}
