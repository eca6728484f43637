#include "calibrate/crew_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/protocol.h"

static bool allocate(struct crew* crew, uint32_t ranks) {
  crew->ranks = crew->used = ranks;
  crew->reports = calloc(ranks, sizeof *crew->reports);
  crew->all = calloc(ranks, sizeof *crew->all);
  for (uint32_t i = 0; crew->all && i < ranks; i++) crew->all[i] = i;
  return crew->reports && crew->all;
}

struct crew* crew_open(const struct job* job, const struct work_context* context, const struct team_settings* settings,
                       char* fault) {
  struct team_settings own = *settings;
  struct crew* crew = calloc(1, sizeof *crew);
  own.work = work;
  own.context = (void*)context;
  snprintf(fault, TEAM_TEXT, "out of memory");
  if (crew) crew->simulated_nodes = context->simulated_nodes;
  if (crew && allocate(crew, job->ranks)) crew->team = team_open(job, &own, fault);
  if (crew && crew->team) return crew;
  crew_close(crew);
  return NULL;
}

void crew_close(struct crew* crew) {
  if (!crew) return;
  team_close(crew->team);
  free(crew->profile);
  free(crew->reports);
  free(crew->all);
  free(crew);
}

void crew_listen(struct crew* crew, crew_listener listener, void* context) {
  crew->listener = listener;
  crew->listener_context = context;
}

/* Asks the ranks that take part; all of them get the same request. */
bool crew_ask(struct crew* crew, uint32_t type, const void* request, size_t bytes, void* reply, size_t reply_bytes,
              uint32_t timeout_ms) {
  struct team_task task = {.type = type,
                           .ranks = crew->all,
                           .count = crew->used,
                           .request = request,
                           .request_bytes = bytes,
                           .reply = reply,
                           .reply_bytes = reply_bytes,
                           .timeout_ms = timeout_ms};
  bool good = team_call(crew->team, &task, &crew->failure);
  crew->lost = crew->lost || !good;
  return good;
}

static bool ask_all(struct crew* crew, uint32_t type, const void* request, size_t bytes, uint32_t timeout_ms) {
  uint32_t* done = calloc(crew->used, sizeof *done);
  bool good = done && crew_ask(crew, type, request, bytes, done, sizeof *done, timeout_ms);
  free(done);
  return good;
}

/* --- starting and connecting ------------------------------------------------------------------------------------- */

static bool keep_profile(struct crew* crew, const char* profile) {
  char* copy = profile ? strdup(profile) : NULL;
  if (profile && !copy) return false;
  free(crew->profile);
  crew->profile = copy;
  return true;
}

/* Workers that are well give their GPUs back themselves: where ranks share one under MPS, a client that is killed takes
   its server, and so the others, with it. */
static void close_workers(struct crew* crew) {
  if (crew->starts && !crew->lost) ask_all(crew, ASK_CLOSE, NULL, 0, START_MS);
  crew->lost = false;
}

static bool open_workers(struct crew* crew) {
  size_t bytes = crew->profile ? strlen(crew->profile) : 0;
  return team_start(crew->team, &crew->failure) && crew_ask(crew, crew->bare ? ASK_OPEN_BARE : ASK_OPEN, crew->profile,
                                                            bytes, crew->reports, sizeof *crew->reports, START_MS);
}

/* A GPU whose last user was killed can be busy for a while. */
static bool open_patiently(struct crew* crew) {
  enum { TRIES = 4, PAUSE_S = 3 };
  for (int i = 0; i < TRIES; i++) {
    if (open_workers(crew)) return true;
    if (crew->failure.kind != TEAM_ERROR || crew->starts == 1) return false;
    sleep(PAUSE_S);
  }
  return false;
}

static bool start(struct crew* crew) {
  if (crew->starts)
    crew->clock_before = crew_clock(crew);
  else
    crew->started_ms = wire_clock();
  close_workers(crew);
  crew->group = 0;
  crew->used = crew->ranks;
  crew->starts++;
  bool good = open_patiently(crew);
  if (good) crew->clock_start = crew->reports[0].clock_us;
  return good;
}

bool crew_start(struct crew* crew, const char* profile) {
  crew->bare = false;
  return keep_profile(crew, profile) && start(crew);
}

bool crew_start_bare(struct crew* crew) {
  crew->bare = true;
  return keep_profile(crew, NULL) && start(crew);
}

/* A fresh id for each group, from the rank that is the group's first. */
static bool fetch_ids(struct crew* crew, uint32_t group, uint32_t groups, struct fabric_place* places) {
  unsigned char(*ids)[FABRIC_ID_BYTES] = calloc(groups, sizeof *ids);
  uint32_t* first = calloc(groups, sizeof *first);
  for (uint32_t i = 0; first && i < groups; i++) first[i] = i * group;
  struct team_task task = {.type = ASK_NEW_ID,
                           .ranks = first,
                           .count = groups,
                           .reply = ids,
                           .reply_bytes = sizeof *ids,
                           .timeout_ms = START_MS};
  bool good = ids && first && team_call(crew->team, &task, &crew->failure);
  crew->lost = crew->lost || !good;
  for (uint32_t rank = 0; good && rank < groups * group; rank++)
    memcpy(places[rank].id, ids[rank / group], sizeof *ids);
  free(ids);
  free(first);
  return good;
}

/* Nodes of a group, for the simulator: real NCCL counts itself. */
static uint32_t count_nodes(const struct crew* crew, uint32_t from, uint32_t group) {
  if (crew->simulated_nodes) {
    uint32_t a_node = crew->ranks / crew->simulated_nodes;
    return (from + group - 1) / a_node - from / a_node + 1;
  }
  uint32_t hosts = 0;
  for (uint32_t i = from; i < from + group; i++) {
    bool new_one = true;
    for (uint32_t k = from; k < i; k++) new_one = new_one && strcmp(crew->reports[i].host, crew->reports[k].host) != 0;
    hosts += new_one;
  }
  return hosts;
}

static bool connect_places(struct crew* crew, const struct fabric_place* places, uint32_t count) {
  uint32_t* done = calloc(count, sizeof *done);
  struct team_task task = {.type = ASK_CONNECT,
                           .ranks = crew->all,
                           .count = count,
                           .request = places,
                           .request_bytes = sizeof *places,
                           .request_stride = sizeof *places,
                           .reply = done,
                           .reply_bytes = sizeof *done,
                           .timeout_ms = CONNECT_MS};
  bool good = done && team_call(crew->team, &task, &crew->failure);
  crew->lost = crew->lost || !good;
  free(done);
  return good;
}

bool crew_connect(struct crew* crew, uint32_t group) {
  uint32_t groups = crew->ranks / group;
  struct fabric_place* places = calloc((size_t)groups * group, sizeof *places);
  if (!places) return false;
  if (crew->group && !ask_all(crew, ASK_DISCONNECT, NULL, 0, CONNECT_MS)) {
    free(places);
    return false;
  }
  bool good = fetch_ids(crew, group, groups, places);
  for (uint32_t i = 0; i < groups * group; i++) {
    places[i].ranks = group;
    places[i].rank = i % group;
    places[i].nodes = count_nodes(crew, i / group * group, group);
  }
  good = good && connect_places(crew, places, groups * group);
  crew->nodes = places[0].nodes;
  free(places);
  if (good) crew->used = groups * group;
  if (good) crew->group = group;
  return good;
}

bool crew_restart(struct crew* crew) {
  uint32_t group = crew->group;
  return start(crew) && (!group || crew_connect(crew, group));
}

/* --- what is known ----------------------------------------------------------------------------------------------- */

const struct team_failure* crew_failure(const struct crew* crew) {
  return &crew->failure;
}

uint32_t crew_ranks(const struct crew* crew) {
  return crew->ranks;
}

uint32_t crew_used(const struct crew* crew) {
  return crew->used;
}

uint32_t crew_group(const struct crew* crew) {
  return crew->group;
}

uint32_t crew_nodes(const struct crew* crew) {
  return crew->nodes;
}

uint32_t crew_spans(const struct crew* crew, uint32_t group) {
  return count_nodes(crew, 0, group);
}

uint32_t crew_starts(const struct crew* crew) {
  return crew->starts;
}

const struct fabric_report* crew_report(const struct crew* crew, uint32_t rank) {
  return &crew->reports[rank];
}

/* A simulation's clock is in the workers; a real one goes on while they start, and while they hang. */
double crew_clock(struct crew* crew) {
  if (!crew->simulated_nodes) return crew->starts ? (double)(wire_clock() - crew->started_ms) * 1000 : 0;
  struct fabric_report report;
  struct team_failure ignored;
  uint32_t first = 0;
  struct team_task task = {.type = ASK_DESCRIBE,
                           .ranks = &first,
                           .count = 1,
                           .reply = &report,
                           .reply_bytes = sizeof report,
                           .timeout_ms = GRACE_MS};
  if (!team_call(crew->team, &task, &ignored)) return crew->clock_before;
  return crew->clock_before + report.clock_us - crew->clock_start;
}
