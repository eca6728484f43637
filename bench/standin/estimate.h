/*
 * Cost tables such as NCCL's, in microseconds. Which entries are usable follows NCCL; the times do not: they are the
 * stand-in's own plain model, latency + bytes / bandwidth, with round constants of no machine in particular.
 */
#ifndef STANDIN_ESTIMATE_H
#define STANDIN_ESTIMATE_H

#include "standin/communicator.h"
#include "standin/operation.h"

/* What stands in an entry that is not usable. */
#define STANDIN_UNUSABLE (-1.0f)

/*
 * Fills the rows that the version has; rows beyond them get STANDIN_UNUSABLE too. Usable entries: Tree, NVLSTree and
 * CollNetChain for allreduce only; Broadcast and Reduce by Ring only; PAT for allgather and reducescatter from 2.23;
 * everything but Ring and Tree with Simple only; NVLS and CollNet if supported; LL128 if the paths allow it or
 * NCCL_PROTO names it; and none that NCCL_ALGO or NCCL_PROTO excludes. NCCL multiplies ring costs of an fp8 allreduce
 * on more than 8 ranks by 1024, unusable ones too, so -1024 occurs. `pipe_ops` is at least 1.
 */
void standin_estimate(const struct standin_communicator* communicator, const struct standin_operation* operation,
                      int pipe_ops, float table[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS]);

/* What a symmetric kernel would take, microseconds. */
float standin_estimate_symmetric(const struct standin_communicator* communicator,
                                 const struct standin_operation* operation);

#endif
