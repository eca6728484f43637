#include <stdio.h>
#include <string.h>

#include "launch/member.h"
#include "launch/words.h"

bool wait_has_joined(const struct member* member) {
  return member->pid != 0;
}
bool wait_is_idle(const struct member* member) {
  return member->idle;
}
bool wait_has_worker(const struct member* member) {
  return member->worker.fd >= 0;
}
bool wait_has_answered(const struct member* member) {
  return !member->unanswered;
}
bool wait_has_left(const struct member* member) {
  return member->supervisor.fd < 0;
}

uint32_t wait_mark(struct team* team, wait_ready ready) {
  uint32_t count = 0;
  for (uint32_t rank = 0; rank < team->job.ranks; rank++) count += team->marks[rank] = !ready(&team->members[rank]);
  return count;
}

void wait_marked(const struct team* team, char* out, size_t size) {
  words_ranks(out, size, team->marks, team->job.ranks);
}

/* PROGRESS_PAUSE: short waits are not worth a word, and a screen need not follow each of 64 ranks. */
enum { PROGRESS_PAUSE = 200 };

static void say_progress(struct team* team, uint32_t missing) {
  int64_t now = wire_clock();
  if (!team->settings.progress || now < team->progress_at) return;
  char ranks[100], text[sizeof team->progress_last];
  wait_marked(team, ranks, sizeof ranks);
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

/* A supervisor of our own that never came: it has said why on stderr. */
static void note_early_end(struct team* team) {
  int status;
  int64_t rank = local_ended(&team->local, &status);
  char end[128];
  if (rank < 0) return;
  words_end(end, sizeof end, status);
  events_note(team, TEAM_LOST, (uint32_t)rank, "rank %u is lost: its supervisor %s", (uint32_t)rank, end);
}

uint32_t wait_for(struct team* team, wait_ready ready, int64_t deadline, bool with_progress) {
  *team->progress_last = '\0';
  team->progress_at = wire_clock() + PROGRESS_PAUSE;
  for (;;) {
    uint32_t missing = wait_mark(team, ready);
    bool failed = team->failure.kind != TEAM_FINE;
    if (is_decided(team) || (missing == 0 && !failed)) return missing;
    if (wire_clock() >= deadline && !failed && !reports_are_due(team)) return missing;
    if (team->phase == PHASE_JOINING) note_early_end(team);
    if (with_progress) say_progress(team, missing);
    events_take(team, failed || deadline < wire_clock() ? wire_clock() + PROGRESS_PAUSE : deadline);
  }
}
