#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "launch/member.h"
#include "launch/words.h"

static void drop(struct team* team, size_t index) {
  wire_close(&team->strangers[index].wire);
  team->strangers[index] = team->strangers[--team->stranger_count];
}

/* The one that has been silent for longest gives its place to who knocks: nobody can keep the ranks out by staying. */
static void make_place(struct team* team) {
  size_t oldest = 0;
  if (team->stranger_count < team->most_strangers) return;
  for (size_t i = 1; i < team->stranger_count; i++)
    if (team->strangers[i].since < team->strangers[oldest].since) oldest = i;
  drop(team, oldest);
}

void admit_knocking(struct team* team) {
  make_place(team);
  while (team->stranger_count < team->most_strangers) {
    int fd = accept4(team->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (fd < 0) return;
    struct stranger stranger = {wire_open(fd), wire_clock()};
    stranger.wire.limit = sizeof(struct hello);
    team->strangers[team->stranger_count++] = stranger;
  }
}

void admit_drop_silent(struct team* team) {
  int64_t oldest = wire_clock() - PATIENCE_HELLO;
  for (size_t i = team->stranger_count; i-- > 0;)
    if (team->strangers[i].since < oldest) drop(team, i);
}

/* Why a supervisor is not wanted, or NULL. */
static const char* objection(const struct team* team, const struct hello* hello) {
  if (hello->rank >= team->job.ranks || hello->ranks != team->job.ranks)
    return "it counts other ranks than rank 0 does";
  if (team->phase == PHASE_CLOSING) return "the run is over";
  if (team->members[hello->rank].pid != 0) return "this rank is here already";
  return NULL;
}

static void turn_away(struct team* team, size_t index, const char* who, const char* why) {
  team->turned_away++;
  snprintf(team->turned_away_last, sizeof team->turned_away_last, "%s: %s", who, why);
  words_clean(team->turned_away_last);
  drop(team, index);
}

static void refuse(struct team* team, size_t index, const struct hello* hello, const char* why) {
  char who[PROTOCOL_HOST + 32];
  snprintf(who, sizeof who, "rank %u on %s", hello->rank, hello->host);
  (void)wire_send(&team->strangers[index].wire, MESSAGE_REFUSED, why, strlen(why), wire_clock());
  turn_away(team, index, who, why);
}

/* Moves a stranger's wire to where it belongs. */
static struct wire adopt(struct team* team, size_t index) {
  struct wire wire = team->strangers[index].wire;
  wire.limit = WIRE_LARGEST;
  team->strangers[index].wire = WIRE_NONE;
  drop(team, index);
  return wire;
}

static void admit_supervisor(struct team* team, size_t index, const struct hello* hello) {
  const char* why = objection(team, hello);
  if (why) {
    refuse(team, index, hello, why);
    return;
  }
  struct member* member = &team->members[hello->rank];
  member->supervisor = adopt(team, index);
  member->pid = hello->pid;
  member->idle = true;
  memcpy(member->host, hello->host, sizeof member->host);
  words_clean(member->host);
  (void)wire_send(&member->supervisor, MESSAGE_WELCOME, NULL, 0, wire_clock() + PATIENCE_SEND);
}

/* A worker of an attempt that is over, or a second one, is none of ours any more: it ends when its connection does. */
static void admit_worker(struct team* team, size_t index, const struct hello* hello) {
  if (hello->rank >= team->job.ranks || team->phase != PHASE_RUNNING || hello->attempt != team->attempt ||
      team->members[hello->rank].worker.fd >= 0)
    drop(team, index);
  else
    team->members[hello->rank].worker = adopt(team, index);
}

static void hear_hello(struct team* team, size_t index, const struct wire_message* message) {
  struct hello hello = {0};
  memcpy(&hello, message->data, message->bytes);
  hello.host[sizeof hello.host - 1] = '\0';
  if (message->type != MESSAGE_HELLO || message->bytes < sizeof hello.version)
    turn_away(team, index, "a connection", "it is not sizewise");
  else if (hello.version != PROTOCOL_VERSION)
    refuse(team, index, &hello, "it is another version of sizewise");
  else if (message->bytes != sizeof hello || hello.key != team->job.key)
    turn_away(team, index, "a process", "it belongs to another job");
  else if (hello.role == ROLE_WORKER)
    admit_worker(team, index, &hello);
  else
    admit_supervisor(team, index, &hello);
}

void admit_stranger(struct team* team, size_t index) {
  struct wire_message message;
  enum wire_result result = wire_take(&team->strangers[index].wire, &message);
  if (result == WIRE_OK)
    hear_hello(team, index, &message);
  else if (result == WIRE_BROKEN)
    turn_away(team, index, "a connection", "it is not sizewise");
  else if (result == WIRE_CLOSED)
    drop(team, index);
}
