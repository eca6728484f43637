#include "launch/team.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/address.h"
#include "launch/member.h"
#include "launch/words.h"

/* --- waiting */

typedef bool (*is_ready)(const struct member* member);

static bool has_joined(const struct member* member) {
  return member->pid != 0;
}
static bool is_idle(const struct member* member) {
  return member->idle;
}
static bool has_worker(const struct member* member) {
  return member->worker.fd >= 0;
}
static bool has_answered(const struct member* member) {
  return !member->unanswered;
}
static bool has_left(const struct member* member) {
  return member->supervisor.fd < 0;
}

static uint32_t mark(struct team* team, is_ready ready) {
  uint32_t count = 0;
  for (uint32_t rank = 0; rank < team->job.ranks; rank++) count += team->marks[rank] = !ready(&team->members[rank]);
  return count;
}

/* Words for the ranks that mark() has marked. */
static void marked_ranks(const struct team* team, char* out, size_t size) {
  words_ranks(out, size, team->marks, team->job.ranks);
}

/* PROGRESS_PAUSE: short waits are not worth a word, and a screen need not follow each of 64 ranks. */
enum { PROGRESS_PAUSE = 200 };

static void say_progress(struct team* team, uint32_t missing) {
  int64_t now = wire_clock();
  if (!team->settings.progress || now < team->progress_at) return;
  char ranks[100], text[sizeof team->progress_last];
  marked_ranks(team, ranks, sizeof ranks);
  snprintf(text, sizeof text, "waiting for %u of %u ranks: %s", missing, team->job.ranks, ranks);
  if (strcmp(text, team->progress_last) == 0) return;
  memcpy(team->progress_last, text, sizeof text);
  team->progress_at = now + PROGRESS_PAUSE;
  team->settings.progress(team->settings.progress_context, text);
}

static bool reports_are_due(const struct team* team) {
  for (uint32_t rank = 0; rank < team->job.ranks; rank++)
    if (team->members[rank].gone_at != 0) return true;
  return false;
}

/* An error can be the consequence of another rank's death, which is worth more words: it gets a moment to be heard. */
static bool is_decided(struct team* team) {
  if (team->settings.interrupted && *team->settings.interrupted && team->phase != PHASE_CLOSING)
    events_note(team, TEAM_INTERRUPTED, 0, "interrupted");
  if (team->failure.kind != TEAM_ERROR) return team->failure.kind != TEAM_FINE;
  return wire_clock() >= team->failed_at + PATIENCE_LINGER && !reports_are_due(team);
}

/* Waits until all are ready, the deadline has passed or it is decided that it failed. Returns how many are not ready,
   marked. A failure that is known already is decided at once. */
static uint32_t wait_for(struct team* team, is_ready ready, int64_t deadline, bool with_progress) {
  *team->progress_last = '\0';
  team->progress_at = wire_clock() + PROGRESS_PAUSE;
  for (;;) {
    uint32_t missing = mark(team, ready);
    bool failed = team->failure.kind != TEAM_FINE;
    if (is_decided(team) || (missing == 0 && !failed)) return missing;
    if (wire_clock() >= deadline && !failed && !reports_are_due(team)) return missing;
    if (with_progress) say_progress(team, missing);
    events_take(team, failed || deadline < wire_clock() ? wire_clock() + PROGRESS_PAUSE : deadline);
  }
}

static bool hand_over(struct team* team, struct team_failure* failure) {
  *failure = team->failure;
  return failure->kind == TEAM_FINE;
}

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

static bool is_loopback(const char* host) {
  return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 || strcmp(host, "localhost") == 0;
}

static bool open_door(struct team* team, char* fault) {
  const struct job* job = &team->job;
  team->listener = address_listen(job_is_local(job) || is_loopback(job->master), &team->job.port, fault, TEAM_TEXT);
  if (team->listener < 0) return false;
  return local_fork(&team->local, job, job_is_local(job) ? job->ranks : 1, team->settings.work, team->settings.context,
                    fault, TEAM_TEXT);
}

/* What may be the reason that ranks stayed away. */
static void explain_absence(struct team* team, char* fault) {
  char ranks[128], here[PROTOCOL_HOST] = "", away[256] = "";
  uint32_t missing = mark(team, has_joined);
  marked_ranks(team, ranks, sizeof ranks);
  (void)gethostname(here, sizeof here - 1);
  if (team->turned_away)
    snprintf(away, sizeof away, "; turned away: %u (%s)", team->turned_away, team->turned_away_last);
  snprintf(fault, TEAM_TEXT, "%s %s of %u did not come to %s port %u on %s within %u s%s", words_rank(missing), ranks,
           team->job.ranks, team->job.master, team->job.port, here, team->job.wait_ms / 1000, away);
}

static bool assemble(struct team* team, char* fault) {
  int64_t deadline = wire_clock() + team->job.wait_ms;
  uint32_t missing = wait_for(team, has_joined, deadline, true);
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

/* --- starting */

static bool tell(struct team* team, uint32_t rank, uint32_t type, const void* data, size_t bytes) {
  char who[PROTOCOL_HOST + 32];
  if (wire_send(&team->members[rank].supervisor, type, data, bytes, wire_clock() + PATIENCE_SEND) == WIRE_OK)
    return true;
  events_note(team, TEAM_LOST, rank, "%s is lost: its supervisor cannot be reached", events_who(team, rank, who));
  return false;
}

/* Kills what is left of the attempt. */
static void stop_all(struct team* team) {
  team->phase = PHASE_STOPPED;
  for (uint32_t rank = 0; rank < team->job.ranks; rank++) {
    struct member* member = &team->members[rank];
    wire_close(&member->worker);
    member->gone_at = 0;
    if (!member->idle) tell(team, rank, MESSAGE_KILL, NULL, 0);
  }
  uint32_t left = wait_for(team, is_idle, wire_clock() + 2 * PATIENCE_DEATH, true);
  if (left == 0 || team->failure.kind != TEAM_FINE) return;
  char ranks[128];
  marked_ranks(team, ranks, sizeof ranks);
  events_note(team, TEAM_LOST, 0, "the workers of %s %s cannot be killed", words_rank(left), ranks);
}

/* The first rank that is marked. */
static uint32_t first_marked(const struct team* team) {
  uint32_t rank = 0;
  while (rank + 1 < team->job.ranks && !team->marks[rank]) rank++;
  return rank;
}

static void note_hung(struct team* team, uint32_t count, const char* what, uint32_t ms) {
  char ranks[128];
  marked_ranks(team, ranks, sizeof ranks);
  events_note(team, TEAM_HUNG, first_marked(team), "%s %s of %u did not %s within %u.%u s", words_rank(count), ranks,
              team->job.ranks, what, ms / 1000, ms % 1000 / 100);
  team->failure.count = count;
}

static void start_all(struct team* team) {
  team->attempt++;
  team->phase = PHASE_RUNNING;
  for (uint32_t rank = 0; rank < team->job.ranks; rank++) {
    team->members[rank].idle = false;
    tell(team, rank, MESSAGE_START, &team->attempt, sizeof team->attempt);
  }
  uint32_t missing = wait_for(team, has_worker, wire_clock() + PATIENCE_START, true);
  if (missing > 0 && team->failure.kind == TEAM_FINE) note_hung(team, missing, "start", PATIENCE_START);
}

bool team_start(struct team* team, struct team_failure* failure) {
  if (team->failure.kind != TEAM_LOST) team->failure.kind = TEAM_FINE;
  if (team->failure.kind == TEAM_FINE) stop_all(team);
  if (team->failure.kind == TEAM_FINE) start_all(team);
  return hand_over(team, failure);
}

/* --- calling */

static uint32_t rank_at(const struct team_task* task, size_t place) {
  return task->ranks ? task->ranks[place] : (uint32_t)place;
}

/* Hands out places; false: the caller's list makes no sense. */
static bool take_places(struct team* team, const struct team_task* task, size_t count) {
  for (uint32_t rank = 0; rank < team->job.ranks; rank++) team->members[rank].unanswered = false;
  for (size_t place = 0; place < count; place++) {
    uint32_t rank = rank_at(task, place);
    if (rank >= team->job.ranks || team->members[rank].unanswered) return false;
    team->members[rank].unanswered = true;
    team->members[rank].place = place;
  }
  return task->type < WIRE_FIRST_RESERVED && task->request_bytes <= WIRE_LARGEST;
}

static void send_requests(struct team* team, const struct team_task* task, size_t count, int64_t deadline) {
  for (size_t place = 0; place < count; place++) {
    struct member* member = &team->members[rank_at(task, place)];
    const char* request = task->request;
    if (request) request += place * task->request_stride;
    /* one that takes no request gives no answer either: the wait tells */
    (void)wire_send(&member->worker, task->type, request, task->request_bytes, deadline);
  }
}

bool team_call(struct team* team, const struct team_task* task, struct team_failure* failure) {
  size_t count = task->ranks ? task->count : team->job.ranks;
  int64_t deadline = wire_clock() + task->timeout_ms;
  if (team->failure.kind != TEAM_FINE) return hand_over(team, failure);
  if (team->phase != PHASE_RUNNING)
    events_note(team, TEAM_ERROR, 0, "no workers have been started");
  else if (!take_places(team, task, count))
    events_note(team, TEAM_ERROR, 0, "a request that cannot be sent");
  if (team->failure.kind != TEAM_FINE) return hand_over(team, failure);
  team->task = task;
  send_requests(team, task, count, deadline);
  uint32_t missing = wait_for(team, has_answered, deadline, false);
  team->task = NULL;
  if (missing > 0 && team->failure.kind == TEAM_FINE) note_hung(team, missing, "answer", task->timeout_ms);
  return hand_over(team, failure);
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
    if (well) (void)wire_send(&member->worker, MESSAGE_QUIT, NULL, 0, soon);
    wire_close(&member->worker);
    if (!well) (void)wire_send(&member->supervisor, MESSAGE_KILL, NULL, 0, soon);
    (void)wire_send(&member->supervisor, MESSAGE_QUIT, NULL, 0, soon);
  }
  (void)wait_for(team, has_left, wire_clock() + PATIENCE_GOODBYE + PATIENCE_DEATH, false);
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
