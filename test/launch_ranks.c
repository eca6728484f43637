/*
 * A driver and its workers, started by a launcher or by itself: for test/cli/mpirun.sh.
 *
 *     launch_ranks RANKS [hang|crash|stay]      RANKS counts where no launcher started it
 *
 * Three times every worker is asked to send back what it gets. With `hang` or `crash` the last rank does that in the
 * first attempt; with `stay` it is waited for until somebody ends the program. The driver prints one line for each
 * attempt; status 0: all went as it should.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ground/number.h"
#include "launch/team.h"
#include "launch/worker.h"

enum { ECHO = 1, MISBEHAVE = 2, IN_TIME = 60000, TOO_LATE = 500 };

static int work(struct wire* to_driver, uint32_t rank, uint32_t attempt, void* mode) {
  struct wire_message message;
  (void)rank, (void)attempt;
  while (worker_next(to_driver, &message)) {
    if (message.type == ECHO && !worker_reply(to_driver, message.data, message.bytes)) break;
    if (message.type == MISBEHAVE && strcmp(mode, "crash") == 0) abort();
    while (message.type == MISBEHAVE) pause();
  }
  return 0;
}

static bool echo(struct team* team, uint32_t ranks, struct team_failure* failure) {
  uint32_t* replies = calloc(ranks, sizeof *replies);
  bool good = replies != NULL;
  for (uint32_t call = 1; good && call <= 3; call++) {
    struct team_task task = {.type = ECHO,
                             .request = &call,
                             .request_bytes = sizeof call,
                             .reply = replies,
                             .reply_bytes = sizeof *replies,
                             .timeout_ms = IN_TIME};
    good = team_call(team, &task, failure);
    for (uint32_t rank = 0; good && rank < ranks; rank++) good = replies[rank] == call;
  }
  free(replies);
  return good;
}

static bool misbehave(struct team* team, uint32_t ranks, const char* mode, struct team_failure* failure) {
  uint32_t last = ranks - 1;
  struct team_task task = {.type = MISBEHAVE, .ranks = &last, .count = 1, .timeout_ms = TOO_LATE};
  if (strcmp(mode, "stay") == 0) task.timeout_ms = UINT32_MAX;
  if (team_call(team, &task, failure)) return false;
  printf("attempt %u: %s\n", team_attempt(team), failure->text);
  return team_start(team, failure);
}

static bool drive(const struct job* job, const char* mode) {
  char fault[TEAM_TEXT];
  struct team_failure failure = {.text = "a wrong answer"};
  struct team_settings settings = {.work = work};
  memcpy(&settings.context, &mode, sizeof mode);
  struct team* team = team_open(job, &settings, fault);
  if (!team) {
    fprintf(stderr, "%s\n", fault);
    return false;
  }
  bool good = team_start(team, &failure) && echo(team, job->ranks, &failure);
  if (good && *mode) good = misbehave(team, job->ranks, mode, &failure) && echo(team, job->ranks, &failure);
  if (good)
    printf("attempt %u: %u ranks by %s are well\n", team_attempt(team), job->ranks, job->launcher);
  else
    fprintf(stderr, "%s\n", failure.text);
  team_close(team);
  return good;
}

int main(int argc, char** argv) {
  char fault[JOB_FAULT_BYTES];
  struct job job;
  uint64_t ranks;
  const char* mode = argc > 2 ? argv[2] : "";
  if (argc < 2 || sw_read_whole(argv[1], strlen(argv[1]), 4096, &ranks) != SW_NUMBER_OK) return 2;
  if (!job_read(NULL, NULL, &job, fault)) {
    fprintf(stderr, "%s\n", fault);
    return 2;
  }
  if (job_is_local(&job)) job.ranks = job.local_ranks = (uint32_t)ranks;
  if (job.rank == 0) return drive(&job, mode) ? 0 : 1;
  return supervisor_run(&job, job.rank, work, argc > 2 ? argv[2] : NULL);
}
