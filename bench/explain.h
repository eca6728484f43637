/* What `sizewise explain` shows, apart from how: explain.c chooses, explain_text.c and explain_json.c print. */
#ifndef SW_EXPLAIN_H
#define SW_EXPLAIN_H

#include "decide/plan.h"
#include "decide/segments.h"
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
  const struct size_list* sizes; /* none: all segments; else those that hold one of them, and each of them by itself */
};

void explain_as_text(const struct explanation* explanation, struct sw_text* out);

/* False when memory runs out. */
bool explain_as_json(const struct explanation* explanation, struct sw_text* out);

/* Whether a segment is to be shown: it holds one of the sizes, or there are none. */
bool explain_shows(const struct explanation* explanation, const struct sw_segment* segment);

/* A choice that beats what the profile decides at a point, but was measured under settings that a tuner cannot set;
   NULL when there is none. The fastest of them. */
const struct sw_time* explain_foreign(const struct explanation* explanation, const struct part* part,
                                      const struct sw_point* point);

#endif
