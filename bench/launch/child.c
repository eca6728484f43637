#include "launch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/wire.h"

static void default_signals(void) {
  struct sigaction action = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) (void)sigaction(number, &action, NULL); /* some refuse: they have it */
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child. A supervisor that died before prctl leaves no signal: then its place as parent is taken already. */
static void settle_in(pid_t supervisor, int errors) {
  setpgid(0, 0);
  default_signals();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != supervisor) _exit(1);
  dup2(errors, STDERR_FILENO);
  if (errors != STDERR_FILENO) close(errors);
}

int child_fork(struct child* child) {
  int ends[2];
  pid_t supervisor = getpid();
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
  fflush(NULL); /* or the child would print the rest of it again */
  pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    settle_in(supervisor, ends[1]);
    return 0;
  }
  int error = errno;
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    errno = error;
    return -1;
  }
  setpgid(pid, pid); /* here and there: whoever comes first */
  *child = (struct child){.pid = pid, .errors = ends[0]};
  return 1;
}

static void keep_last(struct child* child, const char* bytes, size_t count) {
  size_t drop = child->said_bytes + count > sizeof child->said ? child->said_bytes + count - sizeof child->said : 0;
  if (drop > child->said_bytes) drop = child->said_bytes;
  memmove(child->said, child->said + drop, child->said_bytes - drop);
  child->said_bytes -= drop;
  memcpy(child->said + child->said_bytes, bytes, count);
  child->said_bytes += count;
}

void child_listen(struct child* child) {
  char bytes[PROTOCOL_STDERR];
  /* bounded: a process that never stops talking must not keep us from the driver */
  for (int reads = 0; reads < 32 && child->errors >= 0; reads++) {
    ssize_t got = read(child->errors, bytes, sizeof bytes);
    if (got > 0) {
      keep_last(child, bytes, (size_t)got);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      close(child->errors);
      child->errors = -1;
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

/* Reaps a process that has ended. Its group is killed first, while its number cannot be another's yet. */
static void bury(struct child* child, int* status) {
  (void)kill(-child->pid, SIGKILL);
  while (waitpid(child->pid, status, 0) < 0 && errno == EINTR) continue;
  child->pid = 0;
  child_listen(child);
  if (child->errors >= 0) close(child->errors);
  child->errors = -1;
}

bool child_reap(struct child* child, int* status) {
  siginfo_t info = {0};
  if (child->pid == 0) return false;
  *status = 0;
  int failure = waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT);
  if (failure == 0 && info.si_pid == 0) return false;
  if (failure != 0 && errno == EINTR) return false;
  bury(child, status);
  return true;
}

bool child_wait(struct child* child, int64_t deadline) {
  int status;
  while (child->pid != 0 && !child_reap(child, &status)) {
    if (wire_clock() >= deadline) return false;
    child_listen(child); /* one that waits for room in the pipe would never end */
    (void)poll(NULL, 0, 2);
  }
  return true;
}

bool child_kill(struct child* child, int64_t deadline) {
  if (child->pid == 0) return true;
  (void)kill(-child->pid, SIGKILL);
  (void)kill(child->pid, SIGKILL);
  return child_wait(child, deadline);
}
