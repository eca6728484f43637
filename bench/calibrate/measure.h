/*
 * One call measured: its candidates found, their data checked, the race run. What comes out is what goes into a
 * profile's point.
 */
#ifndef SW_MEASURE_H
#define SW_MEASURE_H

#include "calibrate/candidates.h"
#include "calibrate/race.h"

struct measured_choice {
  struct candidate candidate;
  struct race_result result; /* samples 0: it was never timed */
  enum race_fate fate;
};

struct measured {
  struct fabric_call call;
  uint32_t ranks;
  uint32_t nodes;
  struct measured_choice choices[FABRIC_MOST_CHOICES]; /* 0 is auto */
  size_t count;
  struct twin twins[MOST_TWINS];
  size_t twin_count;
  enum race_stop stop;
  double measuring_us; /* of the samples taken, all choices together: what the race cost */
  char why[512];       /* nothing can be measured here, as auto itself fails: how; "" else. `count` is 0 then */
  bool kept;           /* by an earlier run: what it cost is not known */
};

/* What goes on, for the screen. Any may be NULL. */
struct measure_watch {
  void* context;
  void (*in_flight)(void* context, const struct fabric_call* call, struct sw_choice choice); /* before it is tried */
  void (*excluded)(void* context, const struct fabric_call* call, struct sw_choice choice, const char* why);
  void (*looked)(void* context, const struct fabric_call* call, const struct race* race, struct sw_choice leader,
                 size_t left);
  void (*failed)(void* context, const struct fabric_call* call, const char* why); /* auto itself fails; bytes 0: the
                                                                                     ranks cannot be joined */
};

struct measure_rules {
  struct race_rules race;
  double budget_us;   /* of the crew's clock, for this call; 0: none */
  double deadline_us; /* by the crew's clock: past it no choice is looked for again after one failed; 0: none */
};

/*
 * Measures a call on the crew as it is connected. A choice that hangs, crashes, fails or spoils data is excluded and
 * banned from then on, the workers start anew and the rest goes on. Where auto itself fails there is nothing to
 * measure: out->why says how, and the workers are well again. False only when the crew is lost or interrupted
 * (crew_failure).
 */
bool measure_call(struct crew* crew, const struct fabric_call* call, const struct measure_rules* rules,
                  struct ban_list* bans, const struct measure_watch* watch, struct measured* out);

/*
 * The twins of a point that an earlier run measured, which its profile does not tell: every choice is probed, none is
 * timed. As measure_call, it survives what fails; where auto does, there are none.
 */
bool measure_twins(struct crew* crew, struct ban_list* bans, const struct measure_watch* watch, struct measured* point);

/*
 * Measures auto and `choice` alone, beside each other, in `rounds` rounds (240 at most): a fresh comparison. The paired
 * gain of the choice is the median of its rounds' ratios to auto. False: the crew has failed.
 */
enum { MEASURE_MOST_PAIR_ROUNDS = 240 };
struct measured_pair {
  struct race_result own;
  struct race_result other;
  double gain; /* 1 - median ratio */
  double low;  /* 95% interval of the gain */
  double high;
};
bool measure_pair(struct crew* crew, const struct fabric_call* call, struct sw_choice choice, size_t rounds,
                  struct measured_pair* out);

#endif
