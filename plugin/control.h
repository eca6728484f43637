/*
 * How a program that shares this library with NCCL steers it, call by call: the bench opens the same file under the
 * same path, so that both see one library, and finds the symbol sizewise_control. Nobody else needs it; a deployment
 * never touches it, and what it costs there is one test of a pointer in each call.
 */
#ifndef SW_CONTROL_H
#define SW_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "nccl_tuner.h"
#include "profile/choice.h"

enum { SW_CONTROL_VERSION = 1 };

/* What one communicator's tuner was asked last. Filled only while it is steered. */
struct sw_control_answer {
  uint32_t ranks; /* of the communicator, as NCCL told the tuner */
  uint32_t nodes;
  uint64_t questions; /* asked since the communicator began to be steered */
  uint64_t obeyed;    /* of these, those in which the forced choice fitted (auto always fits) */
  int collective;
  uint64_t bytes;
  int merged_operations;
  float table[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS];   /* as NCCL passed it, microseconds; -1: it has no entry */
  float written[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS]; /* the same as the forced choice left it */
};

struct sw_control {
  uint32_t version; /* SW_CONTROL_VERSION */
  /* The tuner of the communicator that was initialised last, NULL when there is none. Steering begins with this. */
  void* (*newest)(void);
  /* From the next call on this communicator: this choice, or NCCL's own for SW_AUTO; its profile is not asked. */
  void (*force)(void* tuner, struct sw_choice choice);
  /* Back to the profile. */
  void (*release)(void* tuner);
  void (*last)(void* tuner, struct sw_control_answer* out);
};

#endif
