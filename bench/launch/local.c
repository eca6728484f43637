#include "launch/local.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ground/number.h"

/* Whatever the driver has open (its listening port, a checkpoint with a lock on it, another team's connections) would
   live on here after the driver's death. */
static void close_descriptors(void) {
  DIR* folder = opendir("/proc/self/fd");
  if (!folder) return;
  for (struct dirent* entry; (entry = readdir(folder));) {
    uint64_t fd;
    if (sw_read_whole(entry->d_name, strlen(entry->d_name), INT32_MAX, &fd) == SW_NUMBER_OK && fd > STDERR_FILENO &&
        (int)fd != dirfd(folder))
      close((int)fd);
  }
  closedir(folder);
}

_Noreturn static void supervise(pid_t driver, const struct job* job, uint32_t rank, worker_function work,
                                void* context) {
  struct job own = *job;
  memcpy(own.master, "127.0.0.1", sizeof "127.0.0.1");
  (void)signal(SIGTERM, SIG_DFL); /* the caller's handler only notes it: we have to end by it */
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != driver) _exit(SUPERVISOR_ALONE);
  close_descriptors();
  int status = supervisor_run(&own, rank, work, context);
  fflush(NULL);
  _exit(status);
}

bool local_fork(struct local* local, const struct job* job, uint32_t count, worker_function work, void* context,
                char* fault, size_t fault_size) {
  pid_t driver = getpid();
  *local = (struct local){.pids = calloc(count, sizeof *local->pids)};
  fflush(NULL); /* or each child would print the rest of it again */
  for (; local->pids && local->count < count; local->count++) {
    pid_t pid = fork();
    if (pid == 0) supervise(driver, job, local->count, work, context);
    if (pid < 0) break;
    local->pids[local->count] = pid;
  }
  if (local->pids && local->count == count) return true;
  snprintf(fault, fault_size, "cannot start the process of rank %u: %s", local->count, strerror(errno));
  local_end(local, 0);
  return false;
}

int64_t local_ended(struct local* local, int* status) {
  for (uint32_t i = 0; i < local->count; i++) {
    if (local->pids[i] == 0) continue;
    pid_t pid = waitpid(local->pids[i], status, WNOHANG);
    if (pid == 0 || (pid < 0 && errno == EINTR)) continue;
    if (pid < 0) *status = 0; /* somebody else reaped it */
    local->pids[i] = 0;
    return i;
  }
  return -1;
}

static uint32_t left(const struct local* local) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < local->count; i++) count += local->pids[i] != 0;
  return count;
}

static void wait_for_all(struct local* local, int64_t deadline) {
  int status;
  for (;;) {
    while (local_ended(local, &status) >= 0) continue;
    if (left(local) == 0 || wire_clock() >= deadline) return;
    (void)poll(NULL, 0, 2);
  }
}

static void signal_all(const struct local* local, int number) {
  for (uint32_t i = 0; i < local->count; i++)
    if (local->pids[i] != 0) (void)kill(local->pids[i], number);
}

void local_end(struct local* local, int64_t deadline) {
  signal_all(local, SIGTERM); /* for those that still try to reach us */
  wait_for_all(local, deadline);
  signal_all(local, SIGKILL);
  wait_for_all(local, INT64_MAX);
  free(local->pids);
  *local = LOCAL_NONE;
}
