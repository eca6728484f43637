/*
 * One collective operation as a communicator asks about it.
 */
#ifndef STANDIN_OPERATION_H
#define STANDIN_OPERATION_H

#include <stdbool.h>
#include <stddef.h>

#include "nccl_tuner.h"

struct standin_operation {
  nccl_collective collective;
  size_t bytes;       /* allreduce, broadcast, reduce: count x element size; allgather: the whole receive buffer;
                         reducescatter: the whole send buffer */
  int pipe_ops;       /* numPipeOps as the tuner gets it; 0: as NCCL works it out */
  int reg_buff;       /* regBuff: 1 when both buffers are registered, or while a CUDA graph is captured */
  bool fp8;           /* an 8-bit float; the tuner is not told */
  bool symmetric;     /* both windows are registered as symmetric */
  float symmetric_us; /* what a symmetric kernel would take, microseconds; 0: the stand-in's own estimate */
  const float* table; /* float[algorithms][3], microseconds, in the place of the estimate; NULL: the estimate.
                         Used exactly as it is: no setting and no fp8 factor is worked into it. */
};

#endif
