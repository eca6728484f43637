/* What explain_json.c and explain_uniform_json.c have in common. */
#ifndef SW_EXPLAIN_JSON_H
#define SW_EXPLAIN_JSON_H

#include <jansson.h>

#include "explain.h"

/* algo, proto, channels; null: NCCL's own. */
void explain_set_choice(json_t* object, struct sw_choice choice);

/* collective, nodes, ranks; null: any. */
void explain_set_place(json_t* object, const struct part* part);

/* Null for 0, which is not known. */
json_t* explain_microseconds(double picoseconds);

/* One collective on one shape in the deterministic mode. */
json_t* explain_uniform_as_json(const struct explanation* explanation, const struct part* part);

#endif
