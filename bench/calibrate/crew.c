#include "calibrate/crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/protocol.h"

/*
 * How long an answer may take. Opening libraries and connecting many ranks takes a while; a round is given the time
 * that its calls took before, many times over, and never less than a grace for a machine that is busy otherwise.
 */
enum { START_MS = 120000, CONNECT_MS = 120000, FIRST_STEP_MS = 60000, GRACE_MS = 10000, SLOWER_TIMES = 50 };

struct crew {
  struct team* team;
  struct team_failure failure;
  uint32_t ranks; /* of the job */
  uint32_t group; /* of each communicator; 0: not connected */
  uint32_t used;  /* ranks that take part: the largest multiple of group */
  uint32_t nodes;
  uint32_t simulated_nodes; /* 0: real ones */
  uint32_t starts;
  char* profile;
  struct fabric_report* reports;
  double clock_before; /* of the attempts that are over */
  double clock_start;  /* the fabric's clock when this attempt began */
  size_t prepared;
  int64_t slowest_step_ms; /* of probes, preparations and checks; 0: there was none yet */
  double slowest_us;       /* of a round of what is prepared; 0: not known */
  uint32_t* all;           /* 0, 1, 2, ... */
};

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

/* Asks the ranks that take part; all of them get the same request. */
static bool ask(struct crew* crew, uint32_t type, const void* request, size_t bytes, void* reply, size_t reply_bytes,
                uint32_t timeout_ms) {
  struct team_task task = {.type = type,
                           .ranks = crew->all,
                           .count = crew->used,
                           .request = request,
                           .request_bytes = bytes,
                           .reply = reply,
                           .reply_bytes = reply_bytes,
                           .timeout_ms = timeout_ms};
  return team_call(crew->team, &task, &crew->failure);
}

/* A step that takes many times longer than any before it hangs. The first ones connect algorithms. */
static bool ask_step(struct crew* crew, uint32_t type, const void* request, size_t bytes, void* reply,
                     size_t reply_bytes) {
  int64_t patience = crew->slowest_step_ms ? GRACE_MS + SLOWER_TIMES * crew->slowest_step_ms : FIRST_STEP_MS;
  int64_t started = wire_clock();
  if (!ask(crew, type, request, bytes, reply, reply_bytes, (uint32_t)(patience < 600000 ? patience : 600000)))
    return false;
  int64_t took = wire_clock() - started + 1;
  if (took > crew->slowest_step_ms) crew->slowest_step_ms = took;
  return true;
}

static bool ask_all(struct crew* crew, uint32_t type, const void* request, size_t bytes, uint32_t timeout_ms) {
  uint32_t* done = calloc(crew->used, sizeof *done);
  bool good = done && ask(crew, type, request, bytes, done, sizeof *done, timeout_ms);
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

static bool start(struct crew* crew) {
  size_t bytes = crew->profile ? strlen(crew->profile) : 0;
  if (crew->starts) crew->clock_before = crew_clock(crew);
  crew->group = 0;
  crew->used = crew->ranks;
  crew->starts++;
  bool good = team_start(crew->team, &crew->failure) &&
              ask(crew, ASK_OPEN, crew->profile, bytes, crew->reports, sizeof *crew->reports, START_MS);
  if (good) crew->clock_start = crew->reports[0].clock_us;
  return good;
}

bool crew_start(struct crew* crew, const char* profile) {
  return keep_profile(crew, profile) && start(crew);
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

uint32_t crew_group(const struct crew* crew) {
  return crew->group;
}

uint32_t crew_nodes(const struct crew* crew) {
  return crew->nodes;
}

uint32_t crew_starts(const struct crew* crew) {
  return crew->starts;
}

const struct fabric_report* crew_report(const struct crew* crew, uint32_t rank) {
  return &crew->reports[rank];
}

double crew_clock(struct crew* crew) {
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

/* --- steps ------------------------------------------------------------------------------------------------------- */

static bool same_probe(const struct fabric_probe* a, const struct fabric_probe* b) {
  return a->algo == b->algo && a->proto == b->proto && a->channels == b->channels && a->obeyed == b->obeyed &&
         memcmp(a->table, b->table, sizeof a->table) == 0;
}

static bool agree(struct crew* crew, const struct fabric_probe* probes) {
  for (uint32_t rank = 0; rank < crew->used; rank++) {
    if (same_probe(&probes[rank], &probes[rank / crew->group * crew->group])) continue;
    crew->failure = (struct team_failure){.kind = TEAM_ERROR, .rank = rank, .count = 1};
    snprintf(crew->failure.text, sizeof crew->failure.text,
             "rank %u would run another algorithm than rank %u, or NCCL estimates other times there: such ranks hang; "
             "look for different NCCL settings, versions or hardware",
             rank, rank / crew->group * crew->group);
    return false;
  }
  return true;
}

bool crew_probe(struct crew* crew, const struct fabric_call* call, struct sw_choice choice, struct fabric_probe* out) {
  struct ask_choice request;
  memset(&request, 0, sizeof request);
  request.call = *call;
  request.choice = choice;
  struct fabric_probe* probes = calloc(crew->used, sizeof *probes);
  bool good =
      probes && ask_step(crew, ASK_PROBE, &request, sizeof request, probes, sizeof *probes) && agree(crew, probes);
  if (good) *out = probes[0];
  if (good && out->nodes) crew->nodes = out->nodes;
  free(probes);
  return good;
}

bool crew_prepare(struct crew* crew, const struct fabric_call* call, const struct sw_choice* choices, size_t count) {
  struct ask_choices request;
  memset(&request, 0, sizeof request);
  request.call = *call;
  request.count = (uint32_t)count;
  memcpy(request.choices, choices, count * sizeof *choices);
  crew->prepared = count;
  crew->slowest_us = 0;
  uint32_t* done = calloc(crew->used, sizeof *done);
  bool good = done && ask_step(crew, ASK_PREPARE, &request, sizeof request, done, sizeof *done);
  free(done);
  return good;
}

/* A hang is what takes many times longer than the slowest round so far. */
static uint32_t patience_ms(const struct crew* crew, size_t rounds) {
  double expected_ms = crew->slowest_us / 1000 * (double)rounds * SLOWER_TIMES;
  return expected_ms > 100000 ? GRACE_MS + 100000 : GRACE_MS + (uint32_t)expected_ms;
}

static void take_maximum(float* us, const float* answers, size_t samples, uint32_t ranks) {
  memcpy(us, answers, samples * sizeof *us);
  for (uint32_t rank = 1; rank < ranks; rank++)
    for (size_t i = 0; i < samples; i++)
      if (answers[rank * samples + i] > us[i]) us[i] = answers[rank * samples + i];
}

static void remember_slowest(struct crew* crew, const float* us, size_t rounds) {
  for (size_t round = 0; round < rounds; round++) {
    double sum = 0;
    for (size_t i = 0; i < crew->prepared; i++) sum += (double)us[round * crew->prepared + i];
    if (sum > crew->slowest_us) crew->slowest_us = sum;
  }
}

bool crew_rounds(struct crew* crew, size_t rounds, float* us) {
  uint32_t request = (uint32_t)rounds;
  size_t samples = rounds * crew->prepared;
  float* answers = calloc(crew->used * samples, sizeof *answers);
  bool good = answers && ask(crew, ASK_ROUNDS, &request, sizeof request, answers, samples * sizeof *answers,
                             patience_ms(crew, rounds));
  if (good) take_maximum(us, answers, samples, crew->used);
  if (good) remember_slowest(crew, us, rounds);
  free(answers);
  return good;
}

bool crew_check(struct crew* crew, const struct fabric_call* call, struct sw_choice choice, bool* good,
                uint32_t* bad_rank) {
  struct ask_choice request;
  memset(&request, 0, sizeof request);
  request.call = *call;
  request.choice = choice;
  uint32_t* answers = calloc(crew->used, sizeof *answers);
  bool done = answers && ask_step(crew, ASK_CHECK, &request, sizeof request, answers, sizeof *answers);
  *good = true;
  for (uint32_t rank = 0; done && rank < crew->used; rank++) {
    if (answers[rank]) continue;
    *good = false;
    *bad_rank = rank;
  }
  free(answers);
  return done;
}
