/*
 * What ncclGroupStart and ncclGroupEnd do to the questions: operations of one kind whose sizes are within a factor of
 * four are asked about once, with the summed size.
 */
#ifndef STANDIN_GROUP_H
#define STANDIN_GROUP_H

#include "standin/choose.h"

/* The largest ratio of two sizes that are merged. */
enum { STANDIN_MERGE_RATIO = 4 };

/*
 * Asks about `count` operations in one group; choices[i] is operation i's, and its `merged` says how many operations
 * shared the question. One kind: the same collective, fp8 and symmetric flags. Operations are taken from the largest
 * down, each merged with the largest of its kind that is no more than four times as large. A merged question has
 * regBuff only if all have it, the largest operation's table and symmetric time, and its pipe_ops where not 0; else
 * numPipeOps is operations / channels, but 2 at least. (NCCL's own is about operations / channels and can be 1 there:
 * set pipe_ops to see that.) Channels are worked out for the summed size.
 * Errors: as standin_ask, at the first question that fails; NCCL_SYSTEM_ERROR without memory. On error the choices are
 * not written; *questions, into how many they were merged, is neither. `questions` may be NULL.
 */
nccl_result standin_ask_group(const struct standin_communicator* communicator,
                              const struct standin_operation* operations, size_t count, struct standin_choice* choices,
                              size_t* questions);

#endif
