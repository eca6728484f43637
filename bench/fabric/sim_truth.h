/*
 * What a communicator's calls take when nothing disturbs them: which choice runs as what, and what that takes.
 * simulator.h says by what rules.
 */
#ifndef SW_SIM_TRUTH_H
#define SW_SIM_TRUTH_H

#include "fabric/simulator.h"
#include "standin/standin.h"

/* What runs; all -1, -1, 0 on a single rank. */
struct sim_key {
  int algo;
  int proto;
  int channels;
};

/* The communicator that the stand-in plays. It has what the profile's times need: the channels that they name, NVLS,
   CollNet and LL128. */
struct standin_shape sim_shape(const struct fabric_simulation* simulation, const struct fabric_place* place);

/* As the stand-in asks about it. */
struct standin_operation sim_operation(const struct fabric_call* call);

struct sim_truth;

/* NULL for an impossible place or without memory. `simulation` outlives it. */
struct sim_truth* sim_truth_open(const struct fabric_simulation* simulation, const struct fabric_place* place);
void sim_truth_close(struct sim_truth* truth);

/* What a choice runs as; false where no entry of NCCL's table is usable. */
bool sim_truth_key(const struct sim_truth* truth, const struct fabric_call* call, struct sw_choice choice,
                   struct sim_key* key);

/* What a key takes, in microseconds. */
double sim_truth_us(struct sim_truth* truth, const struct fabric_call* call, struct sim_key key);

/* What it takes the ranks to meet before a call: auto's time at 4 bytes; 10 us where nothing was measured. */
double sim_truth_barrier_us(const struct sim_truth* truth, int collective);

#endif
