/* The rule at one size: which measured choices beat NCCL's own, and in which order they are tried. Pure. */
#ifndef SW_COMPETE_H
#define SW_COMPETE_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/profile.h"

enum sw_verdict {
  SW_COMPETES,       /* clears min_gain and the spread */
  SW_NOT_FASTER,     /* takes as long as auto, or longer */
  SW_UNDER_MIN_GAIN, /* faster by less than the policy's min_gain */
  SW_WITHIN_SPREAD,  /* faster by less than the combined spread of the two times */
  SW_NEEDS_SETTINGS, /* would compete, but was measured under settings that a tuner cannot set */
  SW_NEEDS_MEMORY,   /* would compete, but takes more memory beyond auto's than the policy's max_extra_memory */
  SW_EXCLUDED        /* would compete, but must not be used */
};

struct sw_contender {
  double time_ps;
  int64_t spread; /* of SW_ONE; 0 where none is stated */
  const struct sw_settings* settings;
  const char* excluded; /* why it must not be used; NULL: it may */
  uint64_t memory;      /* bytes that its connections take beyond auto's */
  struct sw_choice choice;
  bool foreign; /* measured under other settings than auto */
  enum sw_verdict verdict;
};

/* A choice that competes, and its time as a part of auto's: below 1. */
struct sw_ranked {
  struct sw_choice choice;
  double ratio;
};

enum { SW_MOST_RANKED = 64 }; /* fall-backs beyond these are auto */

/*
 * Judges `count` contenders against auto's time and spread. Fills every contender's verdict and orders them: first
 * those that compete, best first, then the others, fastest first. Returns how many compete, at most SW_MOST_RANKED.
 *
 * Best: within 2% of the fastest all are equal, and among equals the fewest channels win, a choice that leaves the
 * channels to NCCL counting last; then the faster one. The second is the best of the rest by the same rule, and so on.
 */
size_t sw_compete(const struct sw_policy* policy, double auto_ps, int64_t auto_spread, struct sw_contender* contenders,
                  size_t count);

/* Within 2% of the fastest: as good as it. Times or ratios. */
bool sw_as_fast(double time, double fastest);

/* Root of the sum of the squares of two spreads of SW_ONE, rounded down. */
int64_t sw_combined_spread(int64_t a, int64_t b);

#endif
