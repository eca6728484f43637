/* The supervisors that the driver forks on its own host: all of a local job, rank 0's alone under a launcher. */
#ifndef SW_LOCAL_H
#define SW_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "launch/supervisor.h"

struct local {
  pid_t* pids; /* 0: reaped */
  uint32_t count;
};

#define LOCAL_NONE ((struct local){0})

/*
 * Forks supervisors of ranks 0 to count - 1, which reach the driver on 127.0.0.1 at job->port and keep no descriptor of
 * the caller's but stdin, stdout and stderr. false: one line in `fault` of `fault_size` bytes, and none is left.
 */
bool local_fork(struct local* local, const struct job* job, uint32_t count, worker_function work, void* context,
                char* fault, size_t fault_size);

/* The number of one that has ended, with its status as waitpid gives it; -1: none has. */
int64_t local_ended(struct local* local, int* status);

/* Waits until all have ended, kills those that have not by the deadline, and frees. */
void local_end(struct local* local, int64_t deadline);

#endif
