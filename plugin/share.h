/*
 * What all communicators of a process share: the loaded profiles and the plans compiled from them. Made by the first,
 * freed with the last, so that nothing outlives the library's dlclose.
 */
#ifndef SW_SHARE_H
#define SW_SHARE_H

#include "decide/plan.h"
#include "select/library.h"

struct sw_share;

/*
 * The share for the current settings; a new one is loaded when none has them. `first` tells whether this call loaded
 * it. NULL when memory runs out. Any number of threads may call; sw_share_release gives it back.
 */
struct sw_share* sw_share_acquire(const struct sw_facts_source* source, bool* first);
void sw_share_release(struct sw_share* share);

const struct sw_library* sw_share_library(const struct sw_share* share);

/* A profile's plan for a shape, compiled once; it lives as long as the share. NULL when memory runs out. */
const struct sw_plan* sw_share_plan(struct sw_share* share, const struct sw_profile* profile, uint32_t nodes,
                                    uint32_t ranks);

/* What a process says once, however many communicators it has. */
enum sw_warning { SW_WARNED_FORCED, SW_WARNED_SELECTION, SW_WARNING_COUNT };

/* True for the first caller in this process alone. */
bool sw_share_is_first(enum sw_warning warning);

/* True for the first caller with this shape; false, too, once very many shapes were seen. */
bool sw_share_is_first_shape(uint32_t nodes, uint32_t ranks);

#endif
