#include "cost.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* An entry this many times dearer than the cheapest is NCCL's way of saying no (it multiplies by 1024, for fp8 sums
   over a deep ring). */
#define REFUSED_TIMES 256.0f

/*
 * The bits of floats that are not negative are in the floats' own order; those of negative ones and of NaNs are above
 * all of them. So the cheapest usable entry is the smallest number, which needs no branch for each entry.
 */
typedef uint32_t bits_of_float;
#define USABLE_END UINT32_C(0x7f800000) /* infinity: what costs as much as that cannot be used either */

static inline bits_of_float bits_of(const float* entry) {
  bits_of_float bits;
  memcpy(&bits, entry, sizeof bits);
  return bits;
}

static inline float float_of(bits_of_float bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline bits_of_float smaller(bits_of_float a, bits_of_float b) {
  return a < b ? a : b;
}

/* Three at a time, so that no comparison waits for the one before it. */
static inline bits_of_float cheapest_of_all(const struct sw_cost_table* table) {
  const float* entry = table->entries;
  const float* end = entry + (ptrdiff_t)table->algorithms * table->protocols;
  bits_of_float a = USABLE_END;
  bits_of_float b = USABLE_END;
  bits_of_float c = USABLE_END;
  for (; end - entry >= 3; entry += 3) {
    a = smaller(a, bits_of(entry));
    b = smaller(b, bits_of(entry + 1));
    c = smaller(c, bits_of(entry + 2));
  }
  for (; entry < end; entry++) a = smaller(a, bits_of(entry));
  return smaller(smaller(a, b), c);
}

/* The rows and columns that a choice names. */
struct window {
  int algo_from, algo_to;
  int proto_from, proto_to;
};

static inline bool find_window(const struct sw_cost_table* table, struct sw_choice choice, struct window* out) {
  if (choice.algo >= table->algorithms || choice.proto >= table->protocols) return false;
  out->algo_from = choice.algo < 0 ? 0 : choice.algo;
  out->algo_to = choice.algo < 0 ? table->algorithms : choice.algo + 1;
  out->proto_from = choice.proto < 0 ? 0 : choice.proto;
  out->proto_to = choice.proto < 0 ? table->protocols : choice.proto + 1;
  return true;
}

static inline bits_of_float cheapest_of(const struct sw_cost_table* table, const struct window* window) {
  bits_of_float least = USABLE_END;
  for (int p = window->proto_from; p < window->proto_to; p++) {
    const float* entry = &table->entries[window->algo_from * table->protocols + p];
    for (int a = window->algo_from; a < window->algo_to; a++, entry += table->protocols)
      least = smaller(least, bits_of(entry));
  }
  return least;
}

/*
 * NCCL takes a tuner's channel count as it is, unclamped, for CollNet, and for NVLS over several nodes. Where such an
 * entry could win without having been named, the count of another algorithm must not reach it.
 */
static bool could_be_unclamped(const struct sw_cost_table* table, const struct window* window) {
  int end = table->several_nodes ? NCCL_ALGO_NVLS_TREE + 1 : NCCL_ALGO_COLLNET_CHAIN + 1;
  struct window rows = {NCCL_ALGO_COLLNET_DIRECT, end < table->algorithms ? end : table->algorithms, window->proto_from,
                        window->proto_to};
  return cheapest_of(table, &rows) < USABLE_END;
}

/* M times the ratio, and below M even where the float would round up to it; 0 where there is no such number. */
static inline float target_of(float cheapest, double ratio) {
  float target = (float)((double)cheapest * ratio);
  if (!(target < cheapest)) target = float_of(bits_of(&cheapest) - 1);
  return target;
}

/* Scales all entries of the window that fit, so that the cheapest of them, `least`, costs `target`. */
static void scale(const struct sw_cost_table* table, const struct window* window, float least, float limit,
                  float target) {
  double factor = (double)target / (double)least;
  for (int a = window->algo_from; a < window->algo_to; a++)
    for (int p = window->proto_from; p < window->proto_to; p++) {
      float* entry = &table->entries[a * table->protocols + p];
      if (!(*entry >= least && *entry <= limit)) continue;
      float scaled = (float)((double)*entry * factor);
      *entry = *entry == least || scaled < target ? target : scaled;
    }
}

static inline bool fits(bits_of_float least, float limit) {
  return least < USABLE_END && float_of(least) <= limit;
}

/* A choice that names algorithm and protocol: one entry. False when it does not fit. */
static inline bool write_pair(const struct sw_cost_table* table, struct sw_choice choice, float cheapest,
                              float target) {
  if (choice.algo >= table->algorithms || choice.proto >= table->protocols) return false;
  float* entry = &table->entries[choice.algo * table->protocols + choice.proto];
  if (!fits(bits_of(entry), cheapest * REFUSED_TIMES)) return false;
  *entry = target;
  return true;
}

/* A choice that leaves the algorithm, the protocol or both to NCCL. */
static bool write_window(const struct sw_cost_table* table, struct sw_choice choice, float cheapest, float target,
                         int* channels) {
  struct window window;
  float limit = cheapest * REFUSED_TIMES;
  if (!find_window(table, choice, &window)) return false;
  if (choice.algo >= 0 || choice.proto >= 0) {
    bits_of_float least = cheapest_of(table, &window);
    if (!fits(least, limit)) return false;
    scale(table, &window, float_of(least), limit, target);
  }
  if (choice.channels && (choice.algo >= 0 || !could_be_unclamped(table, &window))) *channels = choice.channels;
  return true;
}

bool sw_cost_apply(const struct sw_cost_table* table, struct sw_decision decision, int* channels) {
  if (!decision.count || !table->entries || table->algorithms <= 0 || table->protocols <= 0) return true;
  bits_of_float least = cheapest_of_all(table);
  if (least == 0 || least >= USABLE_END) return true;
  float cheapest = float_of(least);
  for (const struct sw_ranked* r = decision.ranked; r < decision.ranked + decision.count; r++) {
    float target = target_of(cheapest, r->ratio);
    if (!(target > 0)) continue;
    bool pair = r->choice.algo >= 0 && r->choice.proto >= 0;
    if (!pair && write_window(table, r->choice, cheapest, target, channels)) return true;
    if (!pair || !write_pair(table, r->choice, cheapest, target)) continue;
    if (r->choice.channels) *channels = r->choice.channels;
    return true;
  }
  return false;
}
