/* One communicator's tuner, whatever the version of the interface that NCCL speaks. */
#ifndef SW_TUNER_H
#define SW_TUNER_H

#include <stddef.h>
#include <stdint.h>

#include "nccl_tuner.h"

struct sw_tuner;

/*
 * Prepares a communicator: selects its profile, compiles the plan, logs what applies and why. Fails, with one clear
 * line in the log, only where ranks could come to differ: a profile that was named is missing or invalid, or is not
 * the one that was pinned. `domains` may be NULL.
 */
nccl_result sw_tuner_init(size_t ranks, size_t nodes, nccl_logger logger, const nccl_nvl_domain_info* domains,
                          void** context);

/* Answers for one call: writes into the cost table and the channel count, or leaves both. `context` may be NULL. */
void sw_tuner_ask(struct sw_tuner* tuner, nccl_collective collective, size_t bytes, int merged_operations, float* table,
                  int algorithms, int protocols, int* channels);

/*
 * Answers where there is no table (v2): names an algorithm and a protocol together, or neither. `unclamped`: CollNet,
 * or NVLS over several nodes, could run, which would take a channel count as it is.
 */
void sw_tuner_ask_without_table(struct sw_tuner* tuner, nccl_collective collective, size_t bytes, int merged_operations,
                                int unclamped, int* algorithm, int* protocol, int* channels);

/* Frees a context; NULL, which NCCL passes after a failed init, is fine. */
void sw_tuner_finalize(struct sw_tuner* tuner);

/* The tuner that was initialised last and still lives, steered from now on; NULL when there is none, or no memory. */
struct sw_tuner* sw_tuner_steer_newest(void);

/* What steers a tuner; NULL when nothing does. For the thread that issues the communicator's calls. */
struct sw_steering* sw_tuner_steering(const struct sw_tuner* tuner);

/* The tuner answers from its profile again. */
void sw_tuner_release(struct sw_tuner* tuner);

/* Whether the communicator spans several nodes. */
int sw_tuner_has_several_nodes(const struct sw_tuner* tuner);

#endif
