/*
 * One question and what becomes of the answer.
 *
 *     operation -> cost table -> tuner -> smallest usable cost -> channels that run
 */
#ifndef STANDIN_CHOOSE_H
#define STANDIN_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "standin/communicator.h"
#include "standin/operation.h"

enum standin_decider {
  STANDIN_BY_NCCL,     /* nobody was asked, or the tuner changed nothing */
  STANDIN_BY_TUNER,    /* the tuner wrote into the table, named an entry (v2) or set channels */
  STANDIN_BY_SYMMETRY, /* a symmetric kernel runs */
};

struct standin_choice {
  int algorithm;     /* -1 where none runs: one rank, or a symmetric kernel */
  int protocol;      /* -1 likewise */
  int channels;      /* that run; below 1 when the tuner's number wrapped around; 0 where no algorithm runs */
  float estimate_us; /* the winning entry's cost: what ncclGroupSimulateEnd reports */
  float before[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS]; /* the table, microseconds; unused rows hold -1 */
  float after[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS];  /* the same as the tuner left it */
  int tuner_channels;                                    /* nChannels as the tuner left it; 0: left to NCCL */
  int pipe_ops;                                          /* numPipeOps of the question */
  size_t merged;                                         /* operations that share this question */
  bool asked;                                            /* the tuner was asked */
  bool picked_unusable; /* the winner was unusable before the tuner; NCCL would crash, hang or corrupt */
  bool wrote_outside;   /* the tuner wrote past the table's end */
  enum standin_decider decider;
};

/*
 * Asks about one operation. Symmetric windows, where the communicator supports them, run a symmetric kernel: up to 2.28
 * without a question, from 2.29 after one with a table that has no usable entry and numPipeOps 0 (its answer is not
 * used); with the joint search they compete. Errors: NCCL_INVALID_ARGUMENT for a collective that NCCL asks no tuner
 * about; what the tuner returned, because that fails the collective; NCCL_INTERNAL_ERROR for a v2 answer outside the
 * table; NCCL_INVALID_USAGE when no entry is usable. Written only on success.
 */
nccl_result standin_ask(const struct standin_communicator* communicator, const struct standin_operation* operation,
                        struct standin_choice* choice);

#endif
