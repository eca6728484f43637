/*
 * What the deterministic mode promises to one communicator, for the log. Somebody asked for sums that do not depend on
 * the size; wherever that does not hold, it has to be said.
 */
#ifndef SW_PROMISE_H
#define SW_PROMISE_H

#include "decide/pieces.h"
#include "facts/forced.h"

/*
 * Appends to `warning` every collective that adds, was measured for the shape and is not the same at every size, with
 * the reason; and to `others` the names of those that NCCL decides because they were not measured, or only copy, so
 * that nothing qualifies or is left, and nobody has to mind. Either may stay as it was.
 */
void sw_add_promise(const struct sw_profile* profile, const struct sw_forced* forced, uint32_t nodes, uint32_t ranks,
                    struct sw_text* warning, struct sw_text* others);

/* One call of a collective that adds, in which NCCL does not offer the choice: "NCCL does not offer tree + simple, 1
 * channel for allreduce ...".
 */
void sw_add_broken_promise(struct sw_text* text, int collective, uint64_t bytes, struct sw_choice choice);

#endif
