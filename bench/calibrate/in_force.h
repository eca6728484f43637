/* The NCCL settings in force while a profile is measured: they go into it, and have to hold where it is gone on with.
 */
#ifndef SW_IN_FORCE_H
#define SW_IN_FORCE_H

#include "ground/arena.h"
#include "ground/text.h"
#include "profile/profile.h"

/*
 * Every NCCL_* variable of `environment` (as environ is) that is set, by name, but what this program and the tuner read
 * themselves (NCCL_SIZEWISE_*, NCCL_TUNER_PLUGIN) and what only logs (NCCL_DEBUG*). Values are kept as a profile can
 * hold them: in printable ASCII, other bytes as '?'. The strings lie in `arena`.
 */
struct sw_settings in_force_read(char* const* environment, struct sw_arena* arena);

/* "NCCL_ALGO=ring, NCCL_BUFFSIZE=1048576", or "none". */
void in_force_add(struct sw_text* out, const struct sw_settings* settings);

#endif
