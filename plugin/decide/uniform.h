/*
 * The deterministic mode (NCCL_SIZEWISE_DETERMINISTIC=1): one algorithm, protocol and channel count for a collective at
 * all sizes, so that the size of a batch does not change what a sum comes to.
 *
 * Which choices qualify. One that names algorithm, protocol and channels, all three (NCCL would vary what is left
 * open), that NCCL offers for the collective, and that was measured at every size of the table that has a time of auto:
 * under auto's settings, not excluded, within max_extra_memory. What ran is what counts: where a time says what NCCL
 * ran, it measures that choice, whatever was asked for, and a choice that was asked for while something else ran does
 * not qualify.
 *
 * Which of them is chosen. First those whose sums cannot depend on the size, called firm:
 *   - one channel. NCCL spreads a message over fewer channels where it is small, whatever is asked for, and the
 *     channels differ in the order in which they add; one is the only count that it cannot lower. (sglang pull request
 *     34159 saw prefill and decode differ under a tree until the channel count was the same.)
 *   - all-reduce: a tree. A ring adds each part of the buffer beginning at another rank, and which part an element lies
 *     in depends on the size (NVIDIA/nccl issue 157; torchtitan pull request 2994 moved from ring to tree for that).
 *     Reduce and reduce-scatter: a ring, whose order follows from the rank that keeps the result.
 *     NVLS and CollNet add in the switch, in an order that NCCL does not control (NVIDIA/nccl issue 1497).
 *   - two ranks: ring or tree, for a + b is b + a.
 *   - broadcast and all-gather add nothing: every choice.
 * Only where no firm choice qualifies the others count, and that is said. Then the one whose worst case is best, so
 * that the mode is ruinous at no size: the smallest of the largest ratios of its time to auto's; within 2% of the
 * smallest all are equal, and of equals the one with the fewest channels is chosen, then the smaller geometric mean of
 * the ratios.
 *
 * A rule written by hand that holds for every size and names all three is taken instead, the first of them; other rules
 * are ignored in this mode. Where nothing qualifies NCCL decides, and the mode does not hold for that collective.
 */
#ifndef SW_UNIFORM_H
#define SW_UNIFORM_H

#include "profile/profile.h"

enum sw_uniform_source {
  SW_UNIFORM_NO_TABLE, /* nothing was measured for this collective and shape */
  SW_UNIFORM_NONE,     /* no choice qualifies */
  SW_UNIFORM_MEASURED,
  SW_UNIFORM_RULE
};

/* What a measured size says of a choice. */
enum sw_uniform_look {
  SW_UNIFORM_TIMED,
  SW_UNIFORM_MISSING,
  SW_UNIFORM_FOREIGN,   /* measured only under other settings than auto */
  SW_UNIFORM_OTHER_RAN, /* NCCL ran something else when it was asked for */
  SW_UNIFORM_EXCLUDED,
  SW_UNIFORM_MEMORY /* over max_extra_memory */
};

struct sw_uniform {
  enum sw_uniform_source source;
  struct sw_choice choice; /* NONE: what came nearest, auto where no choice names all three */
  bool firm;               /* sums cannot depend on the size */
  const struct sw_rule* rule;
  size_t sizes;                 /* how many measured sizes have a time of auto */
  double worst;                 /* MEASURED: the largest ratio of its time to auto's, */
  const struct sw_point* at;    /* and where; NONE: the first size at which the nearest does not qualify, */
  enum sw_uniform_look lacking; /* and why */
  size_t ignored_rules;         /* that hold for the collective and shape, but not in this mode */
};

/* Whether there is one choice for every size. */
bool sw_uniform_is_found(const struct sw_uniform* uniform);

struct sw_uniform sw_uniform_find(const struct sw_profile* profile, int collective, uint32_t nodes, uint32_t ranks);

/* What a choice takes at a measured size that has a time of auto, in picoseconds, written only for SW_UNIFORM_TIMED. */
enum sw_uniform_look sw_uniform_time(const struct sw_policy* policy, const struct sw_point* point,
                                     struct sw_choice choice, uint64_t* time_ps);

/* Whether what a choice adds up to cannot depend on the size. */
bool sw_uniform_is_firm(int collective, uint32_t ranks, struct sw_choice choice);

/* Whether a collective adds at all. */
bool sw_uniform_sums(int collective);

/* Why: "measured at all 7 sizes, at worst 1.3 times auto's time (6 MiB)", "no choice was measured at all 3 sizes; ...".
 */
void sw_add_uniform_reason(struct sw_text* text, const struct sw_policy* policy, const struct sw_uniform* uniform);

/* Where a choice was found that is not firm, why sums can depend on the size all the same; else nothing. */
void sw_add_uniform_doubt(struct sw_text* text, const struct sw_uniform* uniform);

#endif
