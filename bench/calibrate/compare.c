#include "calibrate/compare.h"

#include "ground/number.h"

/* Neither proven nor hopeless. */
static bool is_open(const struct measured_pair* pair, int64_t min_gain) {
  return pair->low <= 0 && pair->high >= (double)min_gain / (double)SW_ONE;
}

bool compare_choice(struct crew* crew, const struct fabric_call* call, struct sw_choice choice,
                    const struct compare_rules* rules, struct measured_pair* out) {
  static const size_t rounds[] = {COMPARE_ROUNDS, COMPARE_MORE_ROUNDS, COMPARE_MOST_ROUNDS};
  double started_us = rules->budget_us > 0 ? crew_clock(crew) : 0;
  for (size_t i = 0; i < sizeof rounds / sizeof rounds[0]; i++) {
    if (!measure_pair(crew, call, choice, rounds[i], out)) return false;
    if (!is_open(out, rules->min_gain)) break;
    if (rounds[i] < rules->least_rounds || rules->budget_us <= 0) continue;
    if (crew_clock(crew) - started_us > rules->budget_us) break;
  }
  return true;
}

bool compare_call(struct crew* crew, const struct fabric_call* call, const struct compare_rules* rules,
                  struct verified* out) {
  if (!compare_choice(crew, call, FABRIC_BY_PROFILE, rules, &out->pair)) return false;
  out->holds = out->pair.low > 0;
  return true;
}
