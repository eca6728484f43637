/* A worker that does what it is told, good or bad, and where its processes can be found: for the tests of teams. */
#ifndef SW_TEST_LAUNCH_TEAM_H
#define SW_TEST_LAUNCH_TEAM_H

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/address.h"
#include "launch/protocol.h"
#include "launch/team.h"
#include "launch/worker.h"

enum { MOST = 64, IN_TIME = 20000, TOO_LATE = 300 };

enum request {
  ASK_ECHO,      /* the payload back, each byte plus the rank */
  ASK_GROW,      /* as many bytes as its rank */
  ASK_HANG,      /* never an answer */
  ASK_CRASH,     /* SIGSEGV */
  ASK_EXIT,      /* status 3, words on stderr */
  ASK_END,       /* status 0 */
  ASK_FAIL,      /* an error in words */
  ASK_FAIL_LATE, /* the same, after it has heard of nothing for a while */
  ASK_TWICE,     /* two answers */
  ASK_FLOOD,     /* much on stderr, then an answer, then status 4 */
  ASK_CLOSE,     /* closes the connection and lives on */
  ASK_CHILD,     /* starts a process of its own */
  ASK_NOTHING    /* an empty answer */
};

/* Shared by all processes of a test. */
struct board {
  pid_t supervisors[MOST];
  pid_t workers[MOST];
  pid_t groups[MOST];
  pid_t grandchild;
  uint32_t attempts[MOST];
  int left_well[MOST];
};
static struct board* board;

static int make_board(void** state) {
  (void)state;
  board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  alarm(150); /* a test that hangs ends */
  return board == MAP_FAILED;
}

static int drop_board(void** state) {
  (void)state;
  return munmap(board, sizeof *board);
}

static void crash(void) {
  signal(SIGSEGV, SIG_DFL); /* a sanitizer would make it a status */
  raise(SIGSEGV);
}

static void start_child(void) {
  pid_t pid = fork();
  if (pid == 0)
    for (;;) pause();
  board->grandchild = pid;
}

static void flood(void) {
  for (int i = 0; i < 20000; i++) fprintf(stderr, "line %d\n", i);
  fprintf(stderr, "the \x1b[1mend\n\n");
}

static void echo(struct wire* wire, uint32_t rank, const struct wire_message* message) {
  char* data = malloc(message->bytes + 1);
  for (uint32_t i = 0; i < message->bytes; i++) data[i] = (char)(message->data[i] + rank);
  worker_reply(wire, data, message->bytes);
  free(data);
}

static void obey(struct wire* wire, uint32_t rank, const struct wire_message* message) {
  static const char zeros[MOST];
  switch (message->type) {
    case ASK_ECHO:
      echo(wire, rank, message);
      break;
    case ASK_GROW:
      worker_reply(wire, zeros, rank);
      break;
    case ASK_CRASH:
      crash();
      break;
    case ASK_EXIT:
      fprintf(stderr, "first words\nno such device: 7\n");
      exit(3);
    case ASK_END:
      _exit(0);
    case ASK_FAIL:
      worker_fail(wire, "NCCL says \x1bno");
      break;
    case ASK_FAIL_LATE:
      worker_fail(wire, "the other side is gone");
      break;
    case ASK_TWICE:
      worker_reply(wire, NULL, 0), worker_reply(wire, NULL, 0);
      break;
    case ASK_FLOOD:
      flood(), worker_reply(wire, NULL, 0), _exit(4);
    case ASK_CHILD:
      start_child(), worker_reply(wire, NULL, 0);
      break;
    case ASK_NOTHING:
      worker_reply(wire, NULL, 0);
      break;
    case ASK_CLOSE:
      close(wire->fd); /* fall through */
    default:
      for (;;) pause();
  }
}

static int test_worker(struct wire* wire, uint32_t rank, uint32_t attempt, void* context) {
  struct wire_message message;
  if (context) raise(*(int*)context); /* a worker that never gets to its work */
  board->workers[rank] = getpid();
  board->groups[rank] = getpgrp();
  board->supervisors[rank] = getppid();
  board->attempts[rank] = attempt;
  while (worker_next(wire, &message)) obey(wire, rank, &message);
  board->left_well[rank] = 1;
  return 0;
}

static struct job local_job(uint32_t ranks) {
  return (struct job){.ranks = ranks,
                      .local_ranks = ranks,
                      .launcher = "local",
                      .master = "127.0.0.1",
                      .key = (uint64_t)getpid() << 32 | (uint64_t)wire_clock(),
                      .wait_ms = IN_TIME};
}

static struct team* open_team(const struct job* job) {
  char fault[TEAM_TEXT] = "";
  struct team* team = team_open(job, &(struct team_settings){.work = test_worker}, fault);
  if (!team) fail_msg("%s", fault);
  return team;
}

static void start_team(struct team* team) {
  struct team_failure failure;
  if (!team_start(team, &failure)) fail_msg("%s", failure.text);
}

static inline struct team* started_team(uint32_t ranks) {
  struct job job = local_job(ranks);
  struct team* team = open_team(&job);
  start_team(team);
  return team;
}

/* A call without data; `rank` below 0: of all. */
static struct team_failure ask(struct team* team, uint32_t type, int rank, uint32_t timeout_ms) {
  uint32_t one = (uint32_t)rank;
  struct team_task task = {.type = type, .ranks = rank < 0 ? NULL : &one, .count = 1, .timeout_ms = timeout_ms};
  struct team_failure failure = {0};
  bool good = team_call(team, &task, &failure);
  assert_int_equal(good, failure.kind == TEAM_FINE);
  return failure;
}

static void assert_well(struct team* team) {
  struct team_failure failure = ask(team, ASK_NOTHING, -1, IN_TIME);
  if (failure.kind != TEAM_FINE) fail_msg("%s", failure.text);
}

static char process_state(pid_t pid) {
  char path[32], text[256] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE* file = fopen(path, "r");
  if (!file) return 'X';
  size_t got = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  const char* end = got ? strrchr(text, ')') : NULL;
  return end && end[1] ? end[2] : 'X';
}

/* Ended; perhaps not reaped by whom it was left to. */
static bool is_gone(pid_t pid) {
  return (kill(pid, 0) != 0 && errno == ESRCH) || strchr("XZ", process_state(pid));
}

static void assert_gone(pid_t pid, const char* what) {
  assert_true(pid > 0);
  for (int64_t deadline = wire_clock() + IN_TIME; !is_gone(pid); usleep(2000))
    if (wire_clock() > deadline) fail_msg("%s (%d) is still there", what, (int)pid);
}

static void assert_all_gone(uint32_t ranks) {
  for (uint32_t rank = 0; rank < ranks; rank++) {
    assert_gone(board->workers[rank], "a worker");
    assert_gone(board->supervisors[rank], "a supervisor");
  }
}

static inline void assert_words(const char* text, const char* words) {
  if (!strstr(text, words)) fail_msg("\"%s\" lacks \"%s\"", text, words);
}

/* --- ranks that a launcher started: processes of their own */

static inline uint16_t free_port(void) {
  char fault[256];
  uint16_t port = 0;
  close(address_listen(true, &port, fault, sizeof fault));
  return port;
}

static inline struct job launched_job(uint32_t ranks) {
  struct job job = local_job(ranks);
  job.launcher = "mpirun";
  job.port = free_port();
  return job;
}

static inline pid_t launch(struct job job, uint32_t rank, int delay_ms) {
  pid_t pid = fork();
  if (pid != 0) return pid;
  usleep((useconds_t)delay_ms * 1000);
  job.rank = rank;
  _exit(supervisor_run(&job, rank, test_worker, NULL));
}

static inline int status_of(pid_t pid) {
  int status = -1;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#endif
