/* What can be chosen for a call: an algorithm, a protocol, a channel count, each of them or left to NCCL. */
#ifndef SW_CHOICE_H
#define SW_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "ground/text.h"

struct sw_choice {
  int8_t algo;      /* NCCL_ALGO_*, or -1: left to NCCL */
  int8_t proto;     /* NCCL_PROTO_*, or -1: left to NCCL */
  uint8_t channels; /* 1 to NCCL_MAX_CHANNELS, or 0: left to NCCL */
};

/* Everything left to NCCL. */
#define SW_AUTO ((struct sw_choice){-1, -1, 0})

bool sw_choice_is_auto(struct sw_choice choice);
bool sw_choice_same(struct sw_choice a, struct sw_choice b);

/* A total order, auto first; negative, 0 or positive as a comes before, with or after b. */
int sw_choice_compare(struct sw_choice a, struct sw_choice b);

/* Whether NCCL ever offers this pair for this collective; -1 as algo or proto stands for any. */
bool sw_choice_possible(int collective, int algo, int proto);

/* For people: "tree + ll, 2 channels", "2 channels", "auto". */
void sw_add_choice(struct sw_text* text, struct sw_choice choice);

/* A communicator's shape, for people: "8 ranks on 1 node". */
void sw_add_shape(struct sw_text* text, uint32_t ranks, uint32_t nodes);

#endif
