/*
 * Curves through a profile's times: what a choice takes at any size. Pure. Which table, and which of its times, count:
 * simulator.h says it.
 */
#ifndef SW_SIM_CURVE_H
#define SW_SIM_CURVE_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/* The table that a communicator's times come from: of its own shape, else of the nearest; NULL when there is none. */
const struct sw_table* sim_table_for(const struct sw_profile* profile, int collective, uint32_t nodes, uint32_t ranks);

/* How many sizes of the table count for a choice. */
size_t sim_curve_sizes(const struct sw_table* table, struct sw_choice choice);

/* Goes on to the next choice of the table that has a curve, in the profile's order; auto is the first, and given. */
bool sim_curve_next(const struct sw_table* table, struct sw_choice* choice);

/* Of a choice that has a curve, in microseconds. At the sizes of the table: exactly the table's times. */
double sim_curve_us(const struct sw_table* table, struct sw_choice choice, uint64_t bytes);

/* Of NCCL's own choice where there is no table, in microseconds. */
double sim_plain_us(bool several_nodes, uint64_t bytes);

/* The plain curve's two constants, for people: microseconds, and bytes per microsecond. */
struct sim_plain {
  uint32_t latency_us;
  uint32_t bytes_per_us;
};
struct sim_plain sim_plain(bool several_nodes);

#endif
