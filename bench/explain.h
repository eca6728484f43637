/* What `sizewise explain` shows, apart from how: explain.c chooses, explain_text.c and explain_json.c print. */
#ifndef SW_EXPLAIN_H
#define SW_EXPLAIN_H

#include "decide/plan.h"
#include "decide/segments.h"
#include "decide/uniform.h"
#include "open.h"
#include "options.h"

/* One collective on one shape. */
struct part {
  int collective;
  const struct sw_plan* plan;   /* nodes or ranks 0: any */
  const struct sw_table* table; /* NULL: only rules speak, or nothing does */
  const struct sw_segment* segments;
  size_t count;
};

struct explanation {
  const struct opened* opened;
  const struct part* parts;
  size_t count;
  bool deterministic;            /* what NCCL_SIZEWISE_DETERMINISTIC=1 chooses, and what that costs */
  const struct size_list* sizes; /* none: all segments; else those that hold one of them, and each of them by itself */
};

void explain_as_text(const struct explanation* explanation, struct sw_text* out);

/* False when memory runs out. */
bool explain_as_json(const struct explanation* explanation, struct sw_text* out);

/* What the deterministic mode takes at one size, beside auto and what the profile decides by size. */
struct uniform_row {
  uint64_t bytes;
  double auto_ps; /* 0: not known; so the others */
  double time_ps;
  struct sw_choice by_size;
  double by_size_ps;
};
struct uniform_row explain_uniform_row(const struct explanation* explanation, const struct part* part,
                                       const struct sw_uniform* uniform, uint64_t bytes);

/* The sizes to show: those that were asked for, or those that were measured; `index` from 0. False at the end. */
bool explain_uniform_size(const struct explanation* explanation, const struct part* part, size_t index,
                          uint64_t* bytes);

/* One collective on one shape in the deterministic mode. */
void explain_uniform_as_text(const struct explanation* explanation, const struct part* part, struct sw_text* out);

/* Whether a segment is to be shown: it holds one of the sizes, or there are none. */
bool explain_shows(const struct explanation* explanation, const struct sw_segment* segment);

/* A choice that beats what the profile decides at a point, but was measured under settings that a tuner cannot set;
   NULL when there is none. The fastest of them. */
const struct sw_time* explain_foreign(const struct explanation* explanation, const struct part* part,
                                      const struct sw_point* point);

#endif
