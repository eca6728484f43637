#include "cost.h"

#include <stdint.h>
#include <string.h>

/* An entry this many times dearer than the cheapest is NCCL's way of saying no (it multiplies by 1024, for fp8 sums
   over a deep ring). */
#define REFUSED_TIMES 256.0f

static inline bool is_usable(float entry) {
  return entry >= 0; /* false for NaN, too */
}

/* The cheapest usable entry of a part of the table; negative when there is none. */
static float cheapest(const struct sw_cost_table* table, int algo_from, int algo_to, int proto_from, int proto_to,
                      float limit) {
  float least = -1;
  for (int a = algo_from; a < algo_to; a++)
    for (int p = proto_from; p < proto_to; p++) {
      float entry = table->entries[a * table->protocols + p];
      if (is_usable(entry) && entry <= limit && (least < 0 || entry < least)) least = entry;
    }
  return least;
}

/* The float just below a positive one. */
static float just_below(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits--;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The rows and columns that a choice names. */
struct window {
  int algo_from, algo_to;
  int proto_from, proto_to;
};

static bool find_window(const struct sw_cost_table* table, struct sw_choice choice, struct window* out) {
  if (choice.algo >= table->algorithms || choice.proto >= table->protocols) return false;
  out->algo_from = choice.algo < 0 ? 0 : choice.algo;
  out->algo_to = choice.algo < 0 ? table->algorithms : choice.algo + 1;
  out->proto_from = choice.proto < 0 ? 0 : choice.proto;
  out->proto_to = choice.proto < 0 ? table->protocols : choice.proto + 1;
  return true;
}

/*
 * NCCL takes a tuner's channel count as it is, unclamped, for CollNet, and for NVLS over several nodes. Where such an
 * entry could win without having been named, the count of another algorithm must not reach it.
 */
static bool could_be_unclamped(const struct sw_cost_table* table, const struct window* window) {
  for (int a = window->algo_from; a < window->algo_to; a++) {
    bool collnet = a == NCCL_ALGO_COLLNET_DIRECT || a == NCCL_ALGO_COLLNET_CHAIN;
    bool nvls = a == NCCL_ALGO_NVLS || a == NCCL_ALGO_NVLS_TREE;
    if (!collnet && !(nvls && table->several_nodes)) continue;
    for (int p = window->proto_from; p < window->proto_to; p++)
      if (is_usable(table->entries[a * table->protocols + p])) return true;
  }
  return false;
}

static void set_channels(const struct sw_cost_table* table, struct sw_choice choice, const struct window* window,
                         int* channels) {
  if (!choice.channels) return;
  if (choice.algo < 0 && could_be_unclamped(table, window)) return;
  *channels = choice.channels;
}

/* Scales the entries of the window that fit; false when none fits. */
static bool scale(const struct sw_cost_table* table, const struct window* window, float cheapest_of_all, double ratio) {
  float limit = cheapest_of_all * REFUSED_TIMES;
  float least = cheapest(table, window->algo_from, window->algo_to, window->proto_from, window->proto_to, limit);
  if (!(least > 0)) return false;
  float target = (float)((double)cheapest_of_all * ratio);
  if (!(target < cheapest_of_all)) target = just_below(cheapest_of_all);
  if (!(target > 0)) return false;
  double factor = (double)target / (double)least;
  for (int a = window->algo_from; a < window->algo_to; a++)
    for (int p = window->proto_from; p < window->proto_to; p++) {
      float* entry = &table->entries[a * table->protocols + p];
      if (!is_usable(*entry) || *entry > limit) continue;
      float scaled = *entry == least ? target : (float)((double)*entry * factor);
      *entry = scaled < target ? target : scaled;
    }
  return true;
}

void sw_cost_apply(const struct sw_cost_table* table, struct sw_decision decision, int* channels) {
  if (!decision.count || !table->entries || table->algorithms <= 0 || table->protocols <= 0) return;
  float least = cheapest(table, 0, table->algorithms, 0, table->protocols, 3.4e38f);
  if (!(least > 0)) return;
  for (uint32_t i = 0; i < decision.count; i++) {
    struct sw_choice choice = decision.ranked[i].choice;
    struct window window;
    if (!find_window(table, choice, &window)) continue;
    bool pair_named = choice.algo >= 0 || choice.proto >= 0;
    if (pair_named && !scale(table, &window, least, decision.ranked[i].ratio)) continue;
    set_channels(table, choice, &window, channels);
    return;
  }
}
