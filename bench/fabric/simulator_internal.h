/*
 * A simulated rank from the inside: simulator.c opens, joins and leaves, sim_calls.c probes, checks and times calls.
 */
#ifndef SW_SIMULATOR_INTERNAL_H
#define SW_SIMULATOR_INTERNAL_H

#include "fabric/sim_plugin.h"
#include "fabric/sim_truth.h"
#include "fabric/simulator.h"

struct simulator {
  struct fabric fabric; /* first */
  struct fabric_simulation simulation;
  struct sim_plugin plugin;
  struct fabric_place place;
  struct sim_truth* truth; /* NULL: not connected */
  unsigned algorithms;     /* connected so far, a bit each */
  double clock_us;         /* the same on all ranks: no rank's own noise is in it */
  uint64_t samples;        /* drawn so far */
  uint64_t ids;
  struct fabric_call call; /* that is made ready, and its choices with their true times; a probe or check ends it */
  struct sw_choice choices[FABRIC_MOST_CHOICES];
  double truth_us[FABRIC_MOST_CHOICES];
  size_t count;
};

struct simulator* simulator_of(struct fabric* fabric);

/* Always false, with the words in the fabric's fault. */
__attribute__((format(printf, 2, 3))) bool simulator_fail(struct simulator* s, const char* format, ...);

/* Device memory that each algorithm's connections take. */
uint64_t simulator_algorithm_bytes(const struct simulator* s);

/* Of the fabric's interface. */
bool sim_probe(struct fabric* fabric, const struct fabric_call* call, struct sw_choice choice,
               struct fabric_probe* out);
bool sim_check(struct fabric* fabric, const struct fabric_call* call, struct sw_choice choice, bool* good);
bool sim_prepare(struct fabric* fabric, const struct fabric_call* call, const struct sw_choice* choices, size_t count);
bool sim_rounds(struct fabric* fabric, size_t rounds, float* us);

#endif
