/* One attempt after the other: workers are started, asked, and killed. */
#include <stdio.h>
#include <string.h>

#include "launch/member.h"
#include "launch/words.h"

static bool hand_over(struct team* team, struct team_failure* failure) {
  if (team->failure.kind != TEAM_FINE) *failure = team->failure;
  return team->failure.kind == TEAM_FINE;
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
    if (!member->idle && !member->killing) member->killing = tell(team, rank, MESSAGE_KILL, NULL, 0);
  }
  uint32_t left = wait_for(team, wait_is_idle, wire_clock() + 2 * PATIENCE_DEATH, true);
  if (left == 0 || team->failure.kind != TEAM_FINE) return;
  char ranks[128];
  wait_marked(team, ranks, sizeof ranks);
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
  wait_marked(team, ranks, sizeof ranks);
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
  uint32_t missing = wait_for(team, wait_has_worker, wire_clock() + PATIENCE_START, true);
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
  if (team->phase != PHASE_RUNNING)
    events_note(team, TEAM_ERROR, 0, "no workers have been started");
  else if (!take_places(team, task, count))
    events_note(team, TEAM_ERROR, 0, "a request that cannot be sent");
  if (team->failure.kind != TEAM_FINE) return hand_over(team, failure);
  team->task = task;
  send_requests(team, task, count, deadline);
  uint32_t missing = wait_for(team, wait_has_answered, deadline, false);
  team->task = NULL;
  if (missing > 0 && team->failure.kind == TEAM_FINE) note_hung(team, missing, "answer", task->timeout_ms);
  return hand_over(team, failure);
}
