/*
 * All decisions for one communicator's shape, compiled once and then only looked up: a few nanoseconds whatever the
 * number of measured sizes, no lock, no allocation.
 *
 *     bytes --index (position of the top bit, and the six bits behind it)--> the few pieces of that bucket
 *           --binary search among them--> decision --> ranked choices
 */
#ifndef SW_PLAN_H
#define SW_PLAN_H

#include "decide/shape.h"

struct sw_decision {
  const struct sw_ranked* ranked; /* best first; after the last one: auto */
  uint32_t count;                 /* 0: auto */
};

struct sw_curve {
  const uint64_t* from; /* ascending; decisions[i] holds from from[i] to from[i + 1] - 1 */
  const struct sw_decision* decisions;
  const uint32_t* index; /* NULL: auto at every size */
};

struct sw_plan {
  struct sw_arena arena; /* holds everything below */
  uint32_t nodes;
  uint32_t ranks;
  struct sw_pieces pieces[NCCL_NUM_COLLECTIVES]; /* what the curves are made from, for people */
  struct sw_curve curves[NCCL_NUM_COLLECTIVES];
};

/* Compiles a profile for a shape; NULL when memory runs out. The plan refers to the profile, which must outlive it. */
struct sw_plan* sw_plan_compile(const struct sw_profile* profile, uint32_t nodes, uint32_t ranks);

/* The same for a mode. */
struct sw_plan* sw_plan_compile_for(const struct sw_profile* profile, enum sw_mode mode, uint32_t nodes,
                                    uint32_t ranks);

/* The same from pieces that were compiled before; takes them over in any case. */
struct sw_plan* sw_plan_make(struct sw_shape* shape);
void sw_plan_free(struct sw_plan* plan);

/* The decision for a collective (0 <= collective < NCCL_NUM_COLLECTIVES) and size. */
struct sw_decision sw_plan_decide(const struct sw_plan* plan, int collective, uint64_t bytes);

/* Whether a profile says anything about a shape: it has a table of the shape, or a rule that holds for it. */
bool sw_profile_has_shape(const struct sw_profile* profile, uint32_t nodes, uint32_t ranks);

#endif
