/*
 * The only file that sees NCCL's cost table. NCCL declares it float**, but it is one flat float[algorithms][protocols]
 * of microseconds; a negative entry is unusable for this call and is never touched.
 *
 * A choice is written on NCCL's own scale: with M the cheapest usable entry and r the choice's measured time as a part
 * of auto's, the entries that fit the choice are scaled so that the cheapest of them costs M r. NCCL then picks it by
 * its own arithmetic, and kernels outside the table that NCCL compares on the same scale compete fairly.
 */
#ifndef SW_COST_H
#define SW_COST_H

#include <stdbool.h>

#include "decide/plan.h"

struct sw_cost_table {
  float* entries; /* [algorithms][protocols], microseconds */
  int algorithms;
  int protocols;
  bool several_nodes;
};

/*
 * Writes the first of the decision's choices that the table offers, and its channel count into `channels` (which is 0
 * beforehand: NCCL's own). Writes nothing when none fits: then NCCL decides. Never writes a negative number or 0.
 * False when the table has usable entries, but none that fits.
 */
bool sw_cost_apply(const struct sw_cost_table* table, struct sw_decision decision, int* channels);

#endif
