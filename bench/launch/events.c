#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/member.h"
#include "launch/words.h"

/* --- failures */

const char* events_who(const struct team* team, uint32_t rank, char out[PROTOCOL_HOST + 32]) {
  const char* host = team->members[rank].host;
  bool name_host = !job_is_local(&team->job) && *host;
  snprintf(out, PROTOCOL_HOST + 32, "rank %u%s%s", rank, name_host ? " on " : "", name_host ? host : "");
  return out;
}

void events_note(struct team* team, enum team_failure_kind kind, uint32_t rank, const char* format, ...) {
  if (team->phase == PHASE_CLOSING || kind <= team->failure.kind) return;
  if (team->failure.kind == TEAM_FINE) team->failed_at = wire_clock();
  team->failure = (struct team_failure){.kind = kind, .rank = rank, .count = 1};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(team->failure.text, sizeof team->failure.text, format, arguments);
  va_end(arguments);
  words_clean(team->failure.text);
}

/* --- workers */

static void take_answer(struct team* team, uint32_t rank, const struct wire_message* message) {
  struct member* member = &team->members[rank];
  const struct team_task* task = team->task;
  size_t bytes = message->bytes;
  char who[PROTOCOL_HOST + 32];
  if (task->reply_sizes ? bytes > task->reply_bytes : bytes != task->reply_bytes) {
    events_note(team, TEAM_ERROR, rank, "%s answered %zu bytes where %s%zu were expected", events_who(team, rank, who),
                bytes, task->reply_sizes ? "at most " : "", task->reply_bytes);
    return;
  }
  if (bytes > 0) memcpy((char*)task->reply + member->place * task->reply_bytes, message->data, bytes);
  if (task->reply_sizes) task->reply_sizes[member->place] = bytes;
  member->unanswered = false;
}

static void worker_says(struct team* team, uint32_t rank, const struct wire_message* message) {
  char who[PROTOCOL_HOST + 32];
  events_who(team, rank, who);
  if (message->type == MESSAGE_ERROR)
    events_note(team, TEAM_ERROR, rank, "%s: %.*s", who, (int)message->bytes, (const char*)message->data);
  else if (message->type != MESSAGE_ANSWER || !team->task || !team->members[rank].unanswered)
    events_note(team, TEAM_ERROR, rank, "%s answered what it was not asked", who);
  else
    take_answer(team, rank, message);
}

static void hear_worker(struct team* team, uint32_t rank) {
  struct member* member = &team->members[rank];
  struct wire_message message;
  enum wire_result result;
  while ((result = wire_take(&member->worker, &message)) == WIRE_OK) worker_says(team, rank, &message);
  if (result == WIRE_LATER) return;
  wire_close(&member->worker);
  if (!member->idle) member->gone_at = wire_clock(); /* its supervisor will tell how it ended */
}

/* --- supervisors */

static void note_end(struct team* team, uint32_t rank, int status, const char* said, size_t bytes) {
  char who[PROTOCOL_HOST + 32], end[128], last[200];
  if (team->failure.kind >= TEAM_DIED) return;
  char text[TEAM_SAID + 1];
  snprintf(text, sizeof text, "%.*s", (int)bytes, said);
  words_clean(text);
  words_end(end, sizeof end, status);
  words_last_line(last, sizeof last, text);
  events_note(team, TEAM_DIED, rank, "%s %s%s%s", events_who(team, rank, who), end, *last ? "; its last words: " : "",
              last);
  team->failure.status = status;
  memcpy(team->failure.said, text, sizeof text);
}

static void worker_ended(struct team* team, uint32_t rank, const struct wire_message* message) {
  struct ended ended;
  if (message->bytes < sizeof ended) return;
  memcpy(&ended, message->data, sizeof ended);
  if (ended.attempt != team->attempt) return;
  team->members[rank].idle = !team->members[rank].killing; /* else IDLE is on its way */
  team->members[rank].gone_at = 0;
  if (team->phase == PHASE_RUNNING)
    note_end(team, rank, ended.status, (const char*)message->data + sizeof ended, message->bytes - sizeof ended);
}

static void worker_is_killed(struct member* member) {
  member->killing = false;
  member->idle = true;
}

static void supervisor_says(struct team* team, uint32_t rank, const struct wire_message* message) {
  char who[PROTOCOL_HOST + 32];
  events_who(team, rank, who);
  if (message->type == MESSAGE_IDLE)
    worker_is_killed(&team->members[rank]);
  else if (message->type == MESSAGE_ENDED)
    worker_ended(team, rank, message);
  else if (message->type == MESSAGE_STUCK || message->type == MESSAGE_TROUBLE)
    events_note(team, TEAM_LOST, rank, "%s: %.*s", who, (int)message->bytes, (const char*)message->data);
  else
    events_note(team, TEAM_LOST, rank, "%s: its supervisor talks nonsense", who);
}

static void hear_supervisor(struct team* team, uint32_t rank) {
  struct member* member = &team->members[rank];
  struct wire_message message;
  char who[PROTOCOL_HOST + 32];
  enum wire_result result;
  while ((result = wire_take(&member->supervisor, &message)) == WIRE_OK) supervisor_says(team, rank, &message);
  if (result == WIRE_LATER) return;
  wire_close(&member->supervisor);
  events_note(team, TEAM_LOST, rank, "%s is lost: its supervisor (process %u) is gone", events_who(team, rank, who),
              member->pid);
}

/* A worker that closed its connection and lives on. */
static void note_silent(struct team* team) {
  int64_t oldest = wire_clock() - PATIENCE_REPORT;
  char who[PROTOCOL_HOST + 32];
  for (uint32_t rank = 0; rank < team->job.ranks; rank++)
    if (team->members[rank].gone_at != 0 && team->members[rank].gone_at < oldest)
      events_note(team, TEAM_DIED, rank, "%s closed its connection and did not end", events_who(team, rank, who));
}

/* --- all at once */

/* The listener first, then strangers, then two of each member. */
static size_t fill_polls(struct team* team) {
  struct pollfd* next = team->polls;
  *next++ = (struct pollfd){team->listener, POLLIN, 0};
  for (size_t i = 0; i < team->stranger_count; i++) *next++ = (struct pollfd){team->strangers[i].wire.fd, POLLIN, 0};
  for (uint32_t rank = 0; rank < team->job.ranks; rank++) {
    *next++ = (struct pollfd){team->members[rank].supervisor.fd, POLLIN, 0};
    *next++ = (struct pollfd){team->members[rank].worker.fd, POLLIN, 0};
  }
  return (size_t)(next - team->polls);
}

/* From the back to the front: a stranger that leaves its place gives it to the last one, which has been heard. */
static void hear_all(struct team* team, size_t strangers) {
  const struct pollfd* members = team->polls + 1 + strangers;
  for (uint32_t rank = 0; rank < team->job.ranks; rank++) {
    if (members[2 * rank + 1].revents) hear_worker(team, rank);
    if (members[2 * rank].revents) hear_supervisor(team, rank);
  }
  for (size_t i = strangers; i-- > 0;)
    if (team->polls[1 + i].revents) admit_stranger(team, i);
  if (team->polls[0].revents) admit_knocking(team);
}

/* A signal that comes just before the wait does not end it: no wait is longer than this. */
enum { LONGEST_WAIT = 100 };

void events_take(struct team* team, int64_t deadline) {
  size_t strangers = team->stranger_count;
  size_t count = fill_polls(team);
  int64_t left = deadline - wire_clock();
  int ready = poll(team->polls, count, left <= 0 ? 0 : left < LONGEST_WAIT ? (int)left : LONGEST_WAIT);
  if (ready > 0) hear_all(team, strangers);
  admit_drop_silent(team);
  note_silent(team);
}
