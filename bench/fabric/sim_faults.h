/*
 * What the simulator is told to do wrong, and when. Each fault is one word and its details:
 *
 *     hang:CHOICE[@WHERE]      a call with that choice never returns
 *     crash:CHOICE[@WHERE]     it kills the process (SIGSEGV)
 *     error:CHOICE[@WHERE]     it fails as an NCCL call fails
 *     corrupt:CHOICE[@WHERE]   its data is wrong
 *     drift:PERCENT            all times grow by this much within the first minute of virtual time, and stay so
 *     rank-table:RANK          this rank's NCCL estimates differ, so that left to itself it picks something else
 *     slow-rank:RANK:FACTOR    this rank's times are larger by this factor
 *
 * CHOICE: auto, tree, ll, tree+ll, tree+ll/2 (2 channels), /2 (channels alone), profile (whatever the loaded profile
 * decides). It means exactly that choice: what was left out was left to NCCL, and a twin that runs the same thing under
 * another name is not struck. WHERE: a size as in profiles, 6MiB; graph or stream, how the call is issued; timed: not
 * when it is probed or its data are checked. Several hold together, tree+ll@6MiB@stream; left out: everywhere. RANK: of
 * the communicator.
 */
#ifndef SW_SIM_FAULTS_H
#define SW_SIM_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/fabric.h"

enum sim_fault_kind { SIM_HANG, SIM_CRASH, SIM_ERROR, SIM_CORRUPT, SIM_DRIFT, SIM_RANK_TABLE, SIM_SLOW_RANK };

#define SIM_ANY_SIZE UINT64_MAX
enum { SIM_ANY_MODE = -1 };

/* Members that a kind does not take are not used. */
struct sim_fault {
  enum sim_fault_kind kind;
  struct sw_choice choice;
  uint64_t bytes; /* or SIM_ANY_SIZE */
  uint32_t rank;
  double amount; /* of drift, as a part of 1; of a slow rank, the factor */
  int32_t mode;  /* enum fabric_mode, or SIM_ANY_MODE */
  bool timed;    /* only while it is timed */
};

enum { SIM_MOST_FAULTS = 16 };

struct sim_faults {
  struct sim_fault items[SIM_MOST_FAULTS];
  size_t count;
};

/* Adds the fault that `spec` names. False, with one line in `fault` (of 256 bytes), when it names none. */
bool sim_faults_add(struct sim_faults* faults, const char* spec, char* fault);

/* To be asked before a call, `timed` or not: returns true when it may run. Does not return for a hang or a crash;
   false, with NCCL's kind of words in `fault` (of 256 bytes), for an error. */
bool sim_faults_strike(const struct sim_faults* faults, const struct fabric_call* call, struct sw_choice choice,
                       bool timed, char* fault);

bool sim_faults_corrupt(const struct sim_faults* faults, const struct fabric_call* call, struct sw_choice choice);

/* What all times are multiplied by at this virtual time. */
double sim_faults_drift(const struct sim_faults* faults, double clock_us);

/* Whether this rank's NCCL estimates differ, and how: the cheapest entry is no longer the cheapest. */
bool sim_faults_has_own_table(const struct sim_faults* faults, uint32_t rank);
void sim_faults_twist_table(float table[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS]);

/* What this rank's times are multiplied by. */
double sim_faults_slowness(const struct sim_faults* faults, uint32_t rank);

#endif
