#include "decide/compete.h"

#include <stdlib.h>

#include "nccl_tuner.h"

/*
 * Bounds are inclusive. Times between measured sizes carry the rounding of a logarithm and its inverse, about 1e-14, so
 * what differs by less than this part is equal: else a time that lies on a bound all along would fall now on one side,
 * now on the other. No measurement is as fine.
 */
#define ROUNDING 1e-11

/* gain >= min_gain, as time * 1 <= auto * (1 - min_gain) in units of 1 / SW_ONE. */
static bool clears_min_gain(const struct sw_policy* policy, double auto_ps, double time_ps) {
  return time_ps * (double)SW_ONE <= auto_ps * (double)(SW_ONE - policy->min_gain) * (1 + ROUNDING);
}

/* gain >= sqrt(a^2 + b^2), squared on both sides to need no root. */
static bool clears_spread(double auto_ps, int64_t auto_spread, double time_ps, int64_t spread) {
  double saved = (auto_ps - time_ps) * (double)SW_ONE;
  double a = (double)auto_spread;
  double b = (double)spread;
  return saved * saved * (1 + ROUNDING) >= (a * a + b * b) * (auto_ps * auto_ps);
}

bool sw_as_fast(double time, double fastest) {
  return time * 100 <= fastest * 102 * (1 + ROUNDING);
}

static enum sw_verdict judge(const struct sw_policy* policy, double auto_ps, int64_t auto_spread,
                             const struct sw_contender* contender) {
  if (!(contender->time_ps < auto_ps)) return SW_NOT_FASTER;
  if (!clears_min_gain(policy, auto_ps, contender->time_ps)) return SW_UNDER_MIN_GAIN;
  if (!clears_spread(auto_ps, auto_spread, contender->time_ps, contender->spread)) return SW_WITHIN_SPREAD;
  if (contender->excluded) return SW_EXCLUDED;
  if (contender->memory > policy->max_extra_memory) return SW_NEEDS_MEMORY;
  return contender->foreign ? SW_NEEDS_SETTINGS : SW_COMPETES;
}

/* Competing ones first, then by time; equal times in the order of their choices, so that no order is left open. */
static int compare(const void* a, const void* b) {
  const struct sw_contender* x = a;
  const struct sw_contender* y = b;
  bool x_out = x->verdict != SW_COMPETES;
  bool y_out = y->verdict != SW_COMPETES;
  if (x_out != y_out) return x_out - y_out;
  if (x->time_ps != y->time_ps) return x->time_ps < y->time_ps ? -1 : 1;
  return sw_choice_compare(x->choice, y->choice);
}

/* A size has a few choices, mostly; a file can give it thousands. Both ways keep equals in their order. */
static void sort(struct sw_contender* contenders, size_t count) {
  enum { FEW = 16 };
  if (count > FEW) {
    qsort(contenders, count, sizeof *contenders, compare);
    return;
  }
  for (size_t i = 1; i < count; i++) {
    struct sw_contender moved = contenders[i];
    size_t at = i;
    for (; at > 0 && compare(&contenders[at - 1], &moved) > 0; at--) contenders[at] = contenders[at - 1];
    contenders[at] = moved;
  }
}

static int channels_to_compare(struct sw_choice choice) {
  return choice.channels ? choice.channels : NCCL_MAX_CHANNELS + 1;
}

/* Of contenders in ascending time, the index of the best one. */
static size_t best_of(const struct sw_contender* contenders, size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count && sw_as_fast(contenders[i].time_ps, contenders[0].time_ps); i++)
    if (channels_to_compare(contenders[i].choice) < channels_to_compare(contenders[best].choice)) best = i;
  return best;
}

/* Moves one contender to the front and keeps the order of those that it passes. */
static void bring_forward(struct sw_contender* contenders, size_t index) {
  struct sw_contender moved = contenders[index];
  for (; index > 0; index--) contenders[index] = contenders[index - 1];
  contenders[0] = moved;
}

size_t sw_compete(const struct sw_policy* policy, double auto_ps, int64_t auto_spread, struct sw_contender* contenders,
                  size_t count) {
  size_t competing = 0;
  for (size_t i = 0; i < count; i++) {
    contenders[i].verdict = judge(policy, auto_ps, auto_spread, &contenders[i]);
    competing += contenders[i].verdict == SW_COMPETES;
  }
  sort(contenders, count);
  size_t ranked = competing < SW_MOST_RANKED ? competing : SW_MOST_RANKED;
  for (size_t i = 0; i < ranked; i++) bring_forward(contenders + i, best_of(contenders + i, competing - i));
  return ranked;
}

int64_t sw_combined_spread(int64_t a, int64_t b) {
  uint64_t square = (uint64_t)(a * a) + (uint64_t)(b * b);
  uint64_t root = 0;
  for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
    if ((root + bit) * (root + bit) <= square) root += bit;
  return (int64_t)root;
}
