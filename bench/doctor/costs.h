/* What forced settings cost, in a profile's figures: one cost for each collective, shape and measured size. */
#ifndef SW_COSTS_H
#define SW_COSTS_H

#include "doctor/env_set.h"
#include "profile/profile.h"
#include "select/price.h"

struct cost {
  int collective;
  uint32_t nodes;
  uint32_t ranks;
  uint64_t bytes;
  struct sw_choice forced; /* what the settings leave; auto where they leave several */
  struct sw_price price;
  bool limits;                              /* channel limits are set beside an algorithm or a protocol */
  bool hurts;                               /* by more than the profile's min_gain */
  const struct sw_settings* measured_under; /* it was measured under these very settings; NULL: under none */
  const struct env_set* set;                /* what is in force */
};

struct costs {
  struct cost* items; /* known ones first, the dearest first; then those that were not measured */
  size_t count;
  bool failed;
};

/* A shape that is asked for; 0: any. */
struct shape_filter {
  uint32_t nodes;
  uint32_t ranks;
};

/*
 * The costs of what `set` forces by NCCL_ALGO, NCCL_PROTO and channel limits, for the collectives that it restricts.
 * A choice with the same algorithm and protocol counts (select/price.h); else one that was measured under the very
 * settings. Refers to the profile and the set. Free it with costs_free.
 */
struct costs costs_of(const struct env_set* set, const struct sw_profile* profile, struct shape_filter filter);
void costs_free(struct costs* costs);

/* t_forced / t_own; 0 where it is not known. */
double cost_ratio(const struct cost* cost);

/* "9.6x", "1.04x" */
void cost_add_ratio(struct sw_text* text, double ratio);

/* "at 96 MiB: 140.7 ms against 14.7 ms, 9.6x (published)" or "at 6 MiB: not measured" */
void cost_add(struct sw_text* text, const struct cost* cost, const struct sw_profile* profile);

#endif
