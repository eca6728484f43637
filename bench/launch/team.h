/*
 * The driver's side: the workers of all ranks as one team that is asked together, and started anew together.
 *
 *     team_open -> team_start -> team_call, team_call, ... -> team_close
 *                      ^---------- a call failed -------'
 *
 * After a failure every worker may be stuck in the middle of a collective: nothing but team_start (all are killed and
 * started as the next attempt) and team_close does any good then. What has to outlast that is the caller's to keep.
 */
#ifndef SW_TEAM_H
#define SW_TEAM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launch/job.h"
#include "launch/supervisor.h"

struct team;

enum { TEAM_TEXT = 1024, TEAM_SAID = 4096 };

enum team_failure_kind {
  TEAM_FINE,
  TEAM_ERROR, /* a worker answered that it failed, or answered nonsense */
  TEAM_HUNG,  /* no answer by the deadline */
  TEAM_DIED,  /* a worker ended */
  TEAM_LOST,  /* a supervisor is gone or cannot do its work: this team is at its end */
  TEAM_INTERRUPTED
};

struct team_failure {
  enum team_failure_kind kind;
  uint32_t rank;            /* that failed; the first of them */
  uint32_t count;           /* how many hung; else 1 */
  int status;               /* TEAM_DIED: as waitpid gives it */
  char text[TEAM_TEXT];     /* what happened, in one line for people */
  char said[TEAM_SAID + 1]; /* TEAM_DIED: the last of its stderr */
};

struct team_settings {
  worker_function work; /* of the ranks that are started here, with `context` */
  void* context;
  const volatile sig_atomic_t* interrupted; /* not 0: whatever waits returns; NULL: never */
  /* "waiting for 3 of 8 ranks: 2, 5, 7": when it changes, no more often than five times a second. NULL: silent */
  void (*progress)(void* progress_context, const char* text);
  void* progress_context;
};

/*
 * In the driver's process, which has one thread: starts the supervisors that are to be started here (all of a local
 * job, rank 0's alone under a launcher) and waits up to job->wait_ms for all the others. NULL with one line in `fault`.
 */
struct team* team_open(const struct job* job, const struct team_settings* settings, char fault[TEAM_TEXT]);

/* Kills what runs and starts the workers of the next attempt (the first is 1); true when all have said hello. */
bool team_start(struct team* team, struct team_failure* failure);

/* One request to ranks, and their answers. */
struct team_task {
  uint32_t type;         /* below WIRE_FIRST_RESERVED */
  const uint32_t* ranks; /* each once; NULL: all, in order */
  size_t count;          /* of `ranks` */
  const void* request;
  size_t request_bytes;  /* for each rank; at most WIRE_LARGEST */
  size_t request_stride; /* 0: all get the same; else the i-th rank gets what stands i * stride behind `request` */
  void* reply;           /* the i-th rank's answer comes to i * reply_bytes behind this */
  size_t reply_bytes;    /* of each answer: exactly, or with `reply_sizes` at most */
  size_t* reply_sizes;   /* how long each one is; NULL: all are of reply_bytes */
  uint32_t timeout_ms;
};

/* Sends it to each rank and waits for all answers. false: `failure` tells. */
bool team_call(struct team* team, const struct team_task* task, struct team_failure* failure);

/* The attempt that runs, and the host of a rank. */
uint32_t team_attempt(const struct team* team);
const char* team_host(const struct team* team, uint32_t rank);

/* Ends all workers and supervisors, in good order where they let it, and frees. NULL is fine. */
void team_close(struct team* team);

#endif
