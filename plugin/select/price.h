/*
 * What NCCL's environment variables cost: they hold at every message size, and where a table knows the forced choice's
 * time, the loss can be said in figures.
 */
#ifndef SW_PRICE_H
#define SW_PRICE_H

#include "decide/plan.h"
#include "facts/forced.h"
#include "ground/text.h"

/* One collective's forced choice at one measured size. */
struct sw_price {
  bool known;                 /* false: no choice with the forced algorithm and protocol was measured there */
  const struct sw_time* time; /* what was measured; its channels can differ from what is forced */
  const struct sw_time* own;  /* NCCL's own choice at the same size */
};

/* The choice that the settings leave: algorithm and protocol where exactly one is left, channels where a limit caps
   them alone. Auto when they leave more. */
struct sw_choice sw_forced_choice(const struct sw_forced* forced, int collective);

/* The price of a forced choice at a point; the measured choice with the same algorithm and protocol counts, one with
   NCCL's own channel count first. */
struct sw_price sw_forced_price(const struct sw_point* point, struct sw_choice choice);

/* Whether a price is known and slower than NCCL's own choice by more than what the policy would count as a gain. */
bool sw_price_hurts(const struct sw_policy* policy, const struct sw_price* price);

/* Whether the settings take a choice of a profile away: its algorithm, its protocol, or more channels than a cap. */
bool sw_forced_switches_off(const struct sw_forced* forced, int collective, struct sw_choice choice);

/*
 * One line for the log: which settings hold at every size, at which sizes the profile's tables for the plan's shape
 * know that they hurt and by how much, and which of the profile's choices they switch off. Adds nothing, and returns
 * false, when nothing is forced.
 */
bool sw_add_forced(struct sw_text* text, const struct sw_forced* forced, const struct sw_profile* profile,
                   const struct sw_plan* plan);

#endif
