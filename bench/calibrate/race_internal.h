/*
 * What the files of the race share: race.c keeps the rounds, race_judge.c looks at them.
 *
 *     race ---- contender    one for each choice
 *                 `-- us, rounds    its samples without gaps, and the round of each: slices of two arrays of the race
 */
#ifndef SW_RACE_INTERNAL_H
#define SW_RACE_INTERNAL_H

#include "calibrate/race.h"
#include "calibrate/statistics.h"

enum { AUTO = 0 };

struct contender {
  struct series seen;
  float* us; /* seen.us and seen.rounds, to write */
  uint16_t* rounds;
  size_t beaten_by; /* while it is neither in nor excluded */
  enum race_fate fate;
};

struct race {
  struct race_rules rules;
  struct contender* all;
  size_t choices;
  size_t rounds;     /* run, the broken ones too */
  size_t limit;      /* of rounds for all: most_rounds, more after an exclusion */
  size_t capacity;   /* of rounds */
  double cost_us[2]; /* of the samples: in the rounds for all, and in the proof */
  double outside;    /* what a bound may err with at one look */
  enum race_stop stop;
  size_t* named; /* what race_next named last */
  size_t named_count;
  double* scratch; /* capacity values */
  float* us;
  uint16_t* round_numbers;
};

/* A choice's own times, and the ratios a/b of two choices; each bound errs with the chance `outside`. */
struct middle race_own(const struct race* race, size_t choice, double outside);
struct middle race_ratio(const struct race* race, size_t a, size_t b, double outside);

/* Drops who is surely behind, and tells whether the race goes on. */
void race_judge(struct race* race);

bool race_is_in(const struct race* race, size_t choice);

/* The round by which the proof ends at the latest, as far as is known now. */
size_t race_proof_end(const struct race* race);

/* Whether it is among those measured once the rounds for all are run: more of them can change the decision. */
bool race_is_open(const struct race* race, size_t choice);

#endif
