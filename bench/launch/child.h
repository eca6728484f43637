/* A supervisor's worker as a process: started, killed, reaped, its last words on stderr kept. */
#ifndef SW_CHILD_H
#define SW_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "launch/protocol.h"

struct child {
  pid_t pid;                  /* 0: none */
  int errors;                 /* its stderr; -1: none, or closed */
  char said[PROTOCOL_STDERR]; /* the last of it */
  size_t said_bytes;
};

#define CHILD_NONE ((struct child){.errors = -1})

/*
 * Forks. Returns 0 in the child, which has default signals, a process group of its own, stderr in the supervisor's
 * hands, and dies when the supervisor does; 1 in the supervisor; -1 with errno.
 */
int child_fork(struct child* child);

/* Takes what has come on its stderr. */
void child_listen(struct child* child);

/* Whether it has ended by itself: then it is reaped, what it had started is killed, and `status` is as waitpid gives
   it. Does not wait. */
bool child_reap(struct child* child, int* status);

/* Waits for it to end. */
bool child_wait(struct child* child, int64_t deadline);

/* Kills it and all that it started. false: it is still there at the deadline, which happens inside the kernel alone. */
bool child_kill(struct child* child, int64_t deadline);

#endif
