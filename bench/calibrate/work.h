/* A worker: opens its fabric and carries out what the driver asks. */
#ifndef SW_WORK_H
#define SW_WORK_H

#include "fabric/simulator.h"
#include "launch/supervisor.h"

/* The same in every process of the job: all of them read the same command line. */
struct work_context {
  struct fabric_paths paths;
  const struct fabric_simulation* simulation; /* NULL: real NCCL */
  uint32_t simulated_nodes;                   /* that the ranks are spread over, evenly */
  const struct job* job;
  double memory;          /* the share of free memory that buffers may take; 0: fabric_limit is not called */
  const char* own_digest; /* of the profile that this process was called with; NULL: none was named, or found */
};

/* A worker_function; `context` is a struct work_context. */
int work(struct wire* to_driver, uint32_t rank, uint32_t attempt, void* context);

#endif
