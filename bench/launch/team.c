#include "launch/team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "launch/address.h"
#include "launch/member.h"
#include "launch/words.h"

/* --- opening */

static bool allocate(struct team* team) {
  size_t ranks = team->job.ranks;
  team->most_strangers = 2 * ranks + 16;
  team->members = calloc(ranks, sizeof *team->members);
  team->strangers = calloc(team->most_strangers, sizeof *team->strangers);
  team->polls = calloc(1 + team->most_strangers + 2 * ranks, sizeof *team->polls);
  team->marks = calloc(ranks, sizeof *team->marks);
  if (!team->members || !team->strangers || !team->polls || !team->marks) return false;
  for (size_t rank = 0; rank < ranks; rank++) team->members[rank].supervisor = team->members[rank].worker = WIRE_NONE;
  return true;
}

/* A supervisor, a worker and some strangers for each rank. Where the limit stays lower, ranks are missed and named. */
static void raise_limit(rlim_t wanted) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static bool is_loopback(const char* host) {
  return strncmp(host, "127.", 4) == 0 || strcmp(host, "localhost") == 0;
}

static bool open_door(struct team* team, char* fault) {
  const struct job* job = &team->job;
  raise_limit(256 + 4 * (rlim_t)job->ranks);
  team->listener = address_listen(job_is_local(job) || is_loopback(job->master), &team->job.port, fault, TEAM_TEXT);
  if (team->listener < 0) return false;
  return local_fork(&team->local, job, job_is_local(job) ? job->ranks : 1, team->settings.work, team->settings.context,
                    fault, TEAM_TEXT);
}

/* What may be the reason that ranks stayed away. */
static void explain_absence(struct team* team, char* fault) {
  char ranks[128], here[PROTOCOL_HOST] = "", away[256] = "";
  uint32_t missing = wait_mark(team, wait_has_joined);
  wait_marked(team, ranks, sizeof ranks);
  (void)gethostname(here, sizeof here - 1);
  if (team->turned_away)
    snprintf(away, sizeof away, "; turned away: %u (%s)", team->turned_away, team->turned_away_last);
  snprintf(fault, TEAM_TEXT, "%s %s of %u did not come to %s port %u on %s within %u s%s", words_rank(missing), ranks,
           team->job.ranks, team->job.master, team->job.port, here, team->job.wait_ms / 1000, away);
}

static bool assemble(struct team* team, char* fault) {
  int64_t deadline = wire_clock() + team->job.wait_ms;
  uint32_t missing = wait_for(team, wait_has_joined, deadline, true);
  if (team->failure.kind != TEAM_FINE)
    snprintf(fault, TEAM_TEXT, "%s", team->failure.text);
  else if (missing > 0)
    explain_absence(team, fault);
  else
    return true;
  return false;
}

struct team* team_open(const struct job* job, const struct team_settings* settings, char fault[TEAM_TEXT]) {
  struct team* team = calloc(1, sizeof *team);
  if (!team) {
    snprintf(fault, TEAM_TEXT, "no memory");
    return NULL;
  }
  *team = (struct team){.job = *job, .settings = *settings, .listener = -1};
  if (!allocate(team))
    snprintf(fault, TEAM_TEXT, "no memory for %u ranks", job->ranks);
  else if (open_door(team, fault) && assemble(team, fault)) {
    team->phase = PHASE_STOPPED;
    return team;
  }
  team_close(team);
  return NULL;
}

uint32_t team_attempt(const struct team* team) {
  return team->attempt;
}

const char* team_host(const struct team* team, uint32_t rank) {
  return team->members[rank].host;
}

/* --- closing */

/* Workers that are well end by themselves; those of an attempt that failed are killed. */
static void dismiss(struct team* team) {
  bool well = team->failure.kind == TEAM_FINE && team->phase == PHASE_RUNNING;
  team->phase = PHASE_CLOSING;
  team->failure.kind = TEAM_FINE; /* nothing is a failure any more, so that the wait goes on */
  for (uint32_t rank = 0; rank < team->job.ranks; rank++) {
    struct member* member = &team->members[rank];
    int64_t soon = wire_clock() + PATIENCE_RETRY;
    wire_close(&member->worker); /* for a worker that listens: the end */
    if (!well) (void)wire_send(&member->supervisor, MESSAGE_KILL, NULL, 0, soon);
    (void)wire_send(&member->supervisor, MESSAGE_QUIT, NULL, 0, soon);
  }
  (void)wait_for(team, wait_has_left, wire_clock() + PATIENCE_GOODBYE + PATIENCE_DEATH, false);
}

static void release(struct team* team) {
  for (uint32_t rank = 0; rank < team->job.ranks; rank++) wire_close(&team->members[rank].supervisor);
  for (size_t i = 0; i < team->stranger_count; i++) wire_close(&team->strangers[i].wire);
  if (team->listener >= 0) close(team->listener);
  local_end(&team->local, wire_clock() + PATIENCE_GOODBYE);
}

void team_close(struct team* team) {
  if (!team) return;
  if (team->members && team->strangers && team->polls && team->marks) {
    dismiss(team);
    release(team);
  }
  free(team->members);
  free(team->strangers);
  free(team->polls);
  free(team->marks);
  free(team);
}
