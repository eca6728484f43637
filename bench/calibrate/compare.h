/* What a profile decides for one call, compared with NCCL's own choice afresh. */
#ifndef SW_COMPARE_H
#define SW_COMPARE_H

#include "calibrate/measure.h"

/* Rounds of a fresh comparison; more where the first ones leave it open, and most where that leaves it open still. */
enum { COMPARE_ROUNDS = 20, COMPARE_MORE_ROUNDS = 60, COMPARE_MOST_ROUNDS = MEASURE_MOST_PAIR_ROUNDS };

/* A comparison that took less, in microseconds, is cheap. */
enum { COMPARE_CHEAP_US = 1000000 };

struct compare_rules {
  int64_t min_gain;    /* of SW_ONE: below this a gain is none */
  size_t least_rounds; /* that an open one may have, whatever they take */
  double budget_us;    /* of the crew's clock: past this no more than those are run; 0: no limit */
};

/* A fresh comparison of what a table decides with NCCL's own choice. */
struct verified {
  uint64_t bytes;
  struct sw_choice choice;
  struct measured_pair pair;
  bool holds; /* the gain's interval lies above 0 */
};

/* Compares a choice with auto: fills the pair. False: the crew has failed. */
bool compare_choice(struct crew* crew, const struct fabric_call* call, struct sw_choice choice,
                    const struct compare_rules* rules, struct measured_pair* out);

/* Compares what the profile that the workers were started with decides for the call with auto: fills pair and holds.
   False: the crew has failed. */
bool compare_call(struct crew* crew, const struct fabric_call* call, const struct compare_rules* rules,
                  struct verified* out);

#endif
