/* NCCL's words for its functions and results, as its users know them from error messages. */
#ifndef SW_SIM_WORDS_H
#define SW_SIM_WORDS_H

#include "nccl_tuner.h"

/* "ncclAllReduce"; "ncclCollective" for a collective that is none. */
const char* sim_function_name(int collective);

/* "invalid usage" */
const char* sim_result_words(nccl_result result);

#endif
