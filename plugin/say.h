/* What the plugin tells NCCL's log about a communicator: one line each. `logger` may be NULL. */
#ifndef SW_SAY_H
#define SW_SAY_H

#include "decide/plan.h"
#include "select/select.h"

/* A line: control characters become blanks, and what NCCL would cut off ends in "...". */
void sw_say(nccl_logger logger, nccl_log_level level, const char* text);

/* Which profile applies, why, and where it differs from NCCL's own choices. `left`: in the deterministic mode the
   collectives that are left to NCCL, else NULL. */
void sw_say_applies(nccl_logger logger, const struct sw_selection* selection, const struct sw_plan* plan,
                    const char* left);

/* NCCL decides everything, and why. */
void sw_say_left_to_nccl(nccl_logger logger, const char* why, uint32_t nodes, uint32_t ranks);

/* Where the deterministic mode does not hold (promise.h), and that it holds nowhere, for no profile applies. */
void sw_say_promise(nccl_logger logger, const char* broken);
void sw_say_no_promise(nccl_logger logger, uint32_t nodes, uint32_t ranks);

#endif
