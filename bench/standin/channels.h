/*
 * How many channels run, given what a tuner asked for.
 */
#ifndef STANDIN_CHANNELS_H
#define STANDIN_CHANNELS_H

#include "standin/communicator.h"
#include "standin/operation.h"

/*
 * `asked` is nChannels as the tuner left it; 0 leaves the number to NCCL, which starts from the communicator's own.
 * Any other number replaces that one (from 2.31 it can only lower it) and lands in a signed byte, so 300 becomes 44
 * and 200 becomes -56: a result below 1 is what NCCL would go on with. Ring, Tree, PAT, and NVLS on one node are
 * clamped to the communicator's channels and get at most one channel per `bytes_per_channel` of traffic, but one at
 * least. CollNet, and NVLS on several nodes, take the number as it is.
 */
int standin_channels(const struct standin_communicator* communicator, const struct standin_operation* operation,
                     int algorithm, int protocol, int asked);

/* Traffic in bytes: twice the operation's for allreduce, once for the others (whose `bytes` are the whole buffer, all
 * ranks' parts of an allgather or reducescatter included); four times that for LL. SIZE_MAX where it would not fit. */
size_t standin_traffic(nccl_collective collective, size_t bytes, int protocol);

#endif
