#include "launch/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "launch/child.h"
#include "launch/reach.h"

struct supervisor {
  const struct job* job;
  uint32_t rank;
  worker_function work;
  void* context;
  struct wire driver;
  int signals; /* SIGCHLD, SIGTERM and SIGHUP */
  struct child worker;
  uint32_t attempt;
  int end; /* enum supervisor_end, -1 while it goes on */
};

static bool tell(struct supervisor* self, uint32_t type, const void* data, size_t bytes) {
  if (wire_send(&self->driver, type, data, bytes, wire_clock() + PATIENCE_SEND) == WIRE_OK) return true;
  self->end = SUPERVISOR_ALONE;
  return false;
}

/* --- the worker */

/* In the worker's process. */
_Noreturn static void work(struct supervisor* self, struct wire* to_driver) {
  close(self->signals);
  wire_close(&self->driver); /* or the driver would take us for our supervisor */
  int status = 1;
  if (reach_greet(to_driver, self->job, self->rank, ROLE_WORKER, self->attempt))
    status = self->work(to_driver, self->rank, self->attempt, self->context);
  fflush(NULL);
  _exit(status);
}

static void trouble(struct supervisor* self, const char* text) {
  tell(self, MESSAGE_TROUBLE, text, strlen(text));
}

static void start(struct supervisor* self, uint32_t attempt) {
  char fault[256];
  struct wire to_driver;
  self->attempt = attempt;
  if (!reach_for_worker(self->job, &to_driver, fault, sizeof fault)) {
    trouble(self, fault);
    return;
  }
  int side = child_fork(&self->worker);
  if (side == 0) work(self, &to_driver);
  if (side < 0) {
    snprintf(fault, sizeof fault, "cannot fork: %s", strerror(errno));
    trouble(self, fault);
  }
  wire_close(&to_driver);
}

static void report_end(struct supervisor* self, int status) {
  unsigned char message[sizeof(struct ended) + PROTOCOL_STDERR];
  struct ended ended = {self->attempt, status};
  memcpy(message, &ended, sizeof ended);
  memcpy(message + sizeof ended, self->worker.said, self->worker.said_bytes);
  tell(self, MESSAGE_ENDED, message, sizeof ended + self->worker.said_bytes);
}

static void kill_worker(struct supervisor* self) {
  if (child_kill(&self->worker, wire_clock() + PATIENCE_DEATH)) {
    tell(self, MESSAGE_IDLE, NULL, 0);
    return;
  }
  char text[128];
  snprintf(text, sizeof text,
           "its worker (process %d) cannot be killed: it hangs inside the kernel, most likely in a driver",
           (int)self->worker.pid);
  tell(self, MESSAGE_STUCK, text, strlen(text));
}

/* --- what comes in */

static void obey(struct supervisor* self, const struct wire_message* message) {
  uint32_t attempt;
  if (message->type == MESSAGE_START && message->bytes == sizeof attempt && self->worker.pid == 0) {
    memcpy(&attempt, message->data, sizeof attempt);
    start(self, attempt);
  } else if (message->type == MESSAGE_KILL) {
    kill_worker(self);
  } else if (message->type == MESSAGE_QUIT) {
    (void)child_wait(&self->worker, wire_clock() + PATIENCE_GOODBYE);
    self->end = SUPERVISOR_DONE;
  } else {
    self->end = SUPERVISOR_ALONE; /* no driver that we know */
  }
}

static void hear_driver(struct supervisor* self) {
  struct wire_message message;
  enum wire_result result = WIRE_OK;
  while (self->end < 0 && (result = wire_take(&self->driver, &message)) == WIRE_OK) obey(self, &message);
  if (self->end < 0 && result != WIRE_LATER) self->end = SUPERVISOR_ALONE;
}

static void hear_signals(struct supervisor* self) {
  struct signalfd_siginfo info;
  while (read(self->signals, &info, sizeof info) == (ssize_t)sizeof info)
    if (info.ssi_signo != SIGCHLD) self->end = SUPERVISOR_SIGNAL;
  int status;
  if (child_reap(&self->worker, &status)) report_end(self, status);
}

/* A message may have come together with the one before it: the wire is asked before the wait. */
static void serve(struct supervisor* self) {
  while (hear_driver(self), self->end < 0) {
    struct pollfd entries[] = {{.fd = self->driver.fd, .events = POLLIN},
                               {.fd = self->signals, .events = POLLIN},
                               {.fd = self->worker.errors, .events = POLLIN}};
    if (poll(entries, 3, -1) < 0) continue;
    if (entries[2].revents) child_listen(&self->worker);
    if (entries[1].revents) hear_signals(self);
  }
}

/* --- signals */

/* The caller's handlers are for the caller's work; what was ignored (nohup) stays so. */
static void forget_handler(int number) {
  struct sigaction action;
  if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN) (void)signal(number, SIG_DFL);
}

static void own_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  forget_handler(SIGTERM);
  forget_handler(SIGHUP);
  (void)signal(SIGCHLD, SIG_DFL);
  (void)signal(SIGINT, SIG_IGN); /* a terminal sends it to all: the driver ends us in good order */
  (void)signal(SIGPIPE, SIG_IGN);
}

static int open_signals(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  sigprocmask(SIG_BLOCK, &set, NULL);
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int fails(const char* fault) {
  fprintf(stderr, "sizewise: %s\n", fault);
  return SUPERVISOR_ALONE;
}

int supervisor_run(const struct job* job, uint32_t rank, worker_function work, void* context) {
  struct supervisor self = {
      .job = job, .rank = rank, .work = work, .context = context, .worker = CHILD_NONE, .end = -1};
  char fault[512];
  own_signals();
  if (!reach_driver(job, rank, &self.driver, fault, sizeof fault)) return fails(fault);
  self.signals = open_signals();
  if (self.signals < 0) return fails("no signalfd");
  serve(&self);
  (void)child_kill(&self.worker, wire_clock() + PATIENCE_DEATH);
  wire_close(&self.driver);
  close(self.signals);
  return self.end;
}
