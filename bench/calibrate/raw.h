/*
 * Every sample as it was taken: counted, summed up by phase and, where there is a file for them, written down, a line
 * each. Columns are separated by tabs and named in the first line:
 *
 *     phase         passthrough, no-tuner (without any: its other half), calibrate, verify, exhaustive, fresh
 *     collective    allreduce, ...
 *     ranks, nodes  of the communicator
 *     bytes         as NCCL counts them
 *     mode          graph, stream
 *     algo, proto   a word; auto: left to NCCL; profile: what the finished table decides
 *     channels      0: left to NCCL
 *     round         from 1, counted anew for each phase and call; what shares a round was interleaved
 *     microseconds  the maximum over all ranks
 */
#ifndef SW_RAW_H
#define SW_RAW_H

#include <stdio.h>

#include "calibrate/crew.h"
#include "calibrate/phase.h"

struct raw {
  FILE* file; /* NULL: there is none, or it could not be written on */
  const char* path;
  enum phase phase;
  struct fabric_call call; /* that `round` counts for */
  uint32_t ranks;
  size_t round;
  size_t samples;
  double sum_us[PHASE_COUNT];
};

/* `path` NULL: samples are only summed up. An old file is gone on with, or replaced. False with the reason in errno. */
bool raw_open(struct raw* raw, const char* path, bool go_on);

/* What comes next is another phase's. */
void raw_enter(struct raw* raw, enum phase phase);

/* A crew_listener; `raw` is a struct raw. Flushes the file. Where it cannot be written, that is said once on stderr. */
void raw_take(void* raw, const struct crew_samples* samples);

void raw_close(struct raw* raw);

#endif
