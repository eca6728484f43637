/* A tuner that is steered call by call answers with the forced choice instead of its profile, and remembers the call.
 */
#ifndef SW_STEERING_H
#define SW_STEERING_H

#include "control.h"
#include "cost.h"

struct sw_steering {
  struct sw_choice forced; /* SW_AUTO: NCCL's own */
  struct sw_control_answer last;
};

/* Answers one call with the forced choice, where it fits the table. */
void sw_steering_answer(struct sw_steering* steering, int collective, uint64_t bytes, int merged_operations,
                        const struct sw_cost_table* table, int* channels);

#endif
