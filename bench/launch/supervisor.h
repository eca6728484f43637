/*
 * The supervisor of a rank: without CUDA, it starts, kills and reports on its worker as the driver says.
 *
 *     driver  <--- one connection --->  supervisor  --- fork --->  worker  <--- one connection --->  driver
 *                                            ^------ stderr, end -----'
 *
 * It ends when the driver does, and its worker ends when it does: nothing is ever left behind.
 */
#ifndef SW_SUPERVISOR_H
#define SW_SUPERVISOR_H

#include <stdint.h>

#include "launch/job.h"
#include "launch/wire.h"

/*
 * A rank's work in one attempt, in a process of its own: default signals, a process group of its own, stderr kept by
 * the supervisor, stdout as it was. `to_driver` brings the requests (worker.h). What it returns is the exit status.
 */
typedef int (*worker_function)(struct wire* to_driver, uint32_t rank, uint32_t attempt, void* context);

enum supervisor_end {
  SUPERVISOR_DONE = 0,  /* the driver said so */
  SUPERVISOR_ALONE = 1, /* the driver is gone, could not be reached in time, or turned this rank away */
  SUPERVISOR_SIGNAL = 3 /* SIGTERM or SIGHUP */
};

/*
 * Serves until the driver ends it: an enum supervisor_end, with a line on stderr where there is something to say. The
 * process has to have one thread. Signals are handled here: SIGINT is left to the driver.
 */
int supervisor_run(const struct job* job, uint32_t rank, worker_function work, void* context);

#endif
