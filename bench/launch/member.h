/*
 * What the driver knows of each rank: shared by the files of the team (team, attempt, wait,
 * events, admit), of no use elsewhere.
 *
 *     strangers: connected, no hello yet  --admit-->  members[rank].supervisor, members[rank].worker
 */
#ifndef SW_MEMBER_H
#define SW_MEMBER_H

#include <poll.h>

#include "launch/local.h"
#include "launch/protocol.h"
#include "launch/team.h"

struct member {
  struct wire supervisor;
  struct wire worker;
  char host[PROTOCOL_HOST];
  uint32_t pid;    /* of the supervisor, on its host */
  bool idle;       /* no worker runs */
  bool killing;    /* KILL was sent and is not answered: never two at once, or answers could be mixed up */
  bool unanswered; /* a request of the task in hand */
  size_t place;    /* in the task's list */
  int64_t gone_at; /* its worker closed its connection then, and its supervisor has not said why yet; 0: not so */
};

struct stranger {
  struct wire wire;
  int64_t since;
};

enum phase {
  PHASE_JOINING, /* supervisors come */
  PHASE_STOPPED, /* no attempt runs, or it is being killed: what workers do is of no interest */
  PHASE_RUNNING,
  PHASE_CLOSING /* nothing that happens is a failure any more */
};

struct team {
  struct job job;
  struct team_settings settings;
  struct local local;
  int listener;
  enum phase phase;
  uint32_t attempt;
  struct member* members;     /* job.ranks */
  struct stranger* strangers; /* most_strangers */
  size_t stranger_count, most_strangers;
  struct pollfd* polls; /* the listener, strangers, two of each member */
  bool* marks;          /* job.ranks, scratch */

  const struct team_task* task; /* in hand */
  struct team_failure failure;  /* TEAM_FINE, or the worst so far */
  int64_t failed_at;

  uint32_t turned_away;
  char turned_away_last[160];
  char progress_last[160];
  int64_t progress_at; /* nothing is said before */
};

/* --- events.c */

/* Waits until something happens, no longer than `deadline`, and takes it in. */
void events_take(struct team* team, int64_t deadline);

/* Notes a failure, unless a worse one or as bad a one is known. */
__attribute__((format(printf, 4, 5))) void events_note(struct team* team, enum team_failure_kind kind, uint32_t rank,
                                                       const char* format, ...);

/* "rank 3", "rank 3 on gb02" */
const char* events_who(const struct team* team, uint32_t rank, char out[PROTOCOL_HOST + 32]);

/* --- wait.c */

typedef bool (*wait_ready)(const struct member* member);
bool wait_has_joined(const struct member* member);
bool wait_is_idle(const struct member* member);
bool wait_has_worker(const struct member* member);
bool wait_has_answered(const struct member* member);
bool wait_has_left(const struct member* member);

/* Waits until all are ready, the deadline has passed or it is decided that it failed; a failure that is known already
   counts. Returns how many are not ready, marked. */
uint32_t wait_for(struct team* team, wait_ready ready, int64_t deadline, bool with_progress);

/* Marks the ranks that are not ready: how many; and names the marked ones. */
uint32_t wait_mark(struct team* team, wait_ready ready);
void wait_marked(const struct team* team, char* out, size_t size);

/* --- admit.c */

/* Takes in who knocks, hears the strangers, and drops those that say nothing. */
void admit_knocking(struct team* team);
void admit_stranger(struct team* team, size_t index);
void admit_drop_silent(struct team* team);

#endif
