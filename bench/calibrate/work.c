#include "calibrate/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calibrate/protocol.h"
#include "launch/worker.h"

struct worker {
  struct wire* wire;
  const struct work_context* context;
  uint32_t rank;
  struct fabric_simulation simulation;
  struct fabric* fabric;
  size_t prepared; /* choices */
  char* profile;   /* text that the plugin was given; NULL: none */
  float samples[MOST_SAMPLES];
};

/* The plugin reads the profile from memory: no file of this run has to be on every node. */
static bool offer_profile(const char* text, size_t bytes) {
  char path[64];
  unsetenv("NCCL_SIZEWISE_EXPECT");
  unsetenv("NCCL_SIZEWISE_DETERMINISTIC");
  if (!bytes) return setenv("NCCL_SIZEWISE_PROFILE", "off", 1) == 0;
  int file = memfd_create("profile", 0);
  if (file < 0 || write(file, text, bytes) != (ssize_t)bytes) return false;
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  return setenv("NCCL_SIZEWISE_PROFILE", path, 1) == 0;
}

static bool open_fabric(struct worker* w, uint32_t attempt, bool bare, char fault[256]) {
  struct fabric_paths paths = w->context->paths;
  if (bare) paths.plugin = NULL;
  if (w->context->simulation) {
    w->simulation = *w->context->simulation;
    w->simulation.attempt = attempt;
    w->fabric = fabric_open_simulator(&w->simulation, paths.plugin, fault);
  } else {
    const struct job* job = w->context->job;
    uint32_t local_rank = job_is_local(job) ? w->rank : job->local_rank;
    w->fabric = fabric_open_nccl(&paths, (int)local_rank, fault);
  }
  if (w->fabric && w->context->memory > 0) fabric_limit(w->fabric, w->context->memory);
  return w->fabric != NULL;
}

static bool answer_report(struct worker* w) {
  struct fabric_report report;
  fabric_describe(w->fabric, &report);
  return worker_reply(w->wire, &report, sizeof report);
}

static bool answer_open(struct worker* w, const struct wire_message* m, uint32_t attempt) {
  char fault[256] = "cannot hand the profile to the plugin";
  if (m->bytes) w->profile = strndup((const char*)m->data, m->bytes);
  if (!offer_profile((const char*)m->data, m->bytes) || !open_fabric(w, attempt, m->type == ASK_OPEN_BARE, fault))
    return worker_fail(w->wire, fault);
  return answer_report(w);
}

/* After a failure the driver kills this process; until then it waits, so that the driver hears the reason first. */
static bool answer_done(struct worker* w, bool done) {
  uint32_t good = 1;
  return done ? worker_reply(w->wire, &good, sizeof good) : worker_fail(w->wire, fabric_fault(w->fabric));
}

static bool answer_new_id(struct worker* w) {
  unsigned char id[FABRIC_ID_BYTES];
  return fabric_new_id(w->fabric, id) ? worker_reply(w->wire, id, sizeof id) : answer_done(w, false);
}

static bool answer_probe(struct worker* w, const struct wire_message* m) {
  struct ask_choice ask;
  struct fabric_probe probe;
  memcpy(&ask, m->data, sizeof ask);
  bool done = fabric_probe(w->fabric, &ask.call, ask.choice, &probe);
  return done ? worker_reply(w->wire, &probe, sizeof probe) : answer_done(w, false);
}

static bool answer_prepare(struct worker* w, const struct wire_message* m) {
  struct ask_choices ask;
  memcpy(&ask, m->data, sizeof ask);
  w->prepared = ask.count;
  return answer_done(w, fabric_prepare(w->fabric, &ask.call, ask.choices, ask.count));
}

static bool answer_rounds(struct worker* w, const struct wire_message* m) {
  uint32_t rounds;
  memcpy(&rounds, m->data, sizeof rounds);
  bool done = fabric_rounds(w->fabric, rounds, w->samples);
  return done ? worker_reply(w->wire, w->samples, rounds * w->prepared * sizeof(float)) : answer_done(w, false);
}

static bool answer_check(struct worker* w, const struct wire_message* m) {
  struct ask_choice ask;
  bool good = false;
  memcpy(&ask, m->data, sizeof ask);
  if (!fabric_check(w->fabric, &ask.call, ask.choice, &good)) return answer_done(w, false);
  uint32_t answer = good;
  return worker_reply(w->wire, &answer, sizeof answer);
}

static bool answer_prove(struct worker* w, const struct wire_message* m) {
  struct ask_shape shape;
  struct rank_proof proof;
  memcpy(&shape, m->data, sizeof shape);
  proof_make(w->profile, shape.nodes, shape.ranks, w->context->own_digest, &proof);
  return worker_reply(w->wire, &proof, sizeof proof);
}

static bool answer_connect(struct worker* w, const struct wire_message* m) {
  struct fabric_place place;
  memcpy(&place, m->data, sizeof place);
  return answer_done(w, fabric_connect(w->fabric, &place));
}

/* The length that each request has; ASK_OPEN takes any. */
static const size_t lengths[] = {[ASK_CONNECT] = sizeof(struct fabric_place),
                                 [ASK_PROBE] = sizeof(struct ask_choice),
                                 [ASK_PREPARE] = sizeof(struct ask_choices),
                                 [ASK_ROUNDS] = sizeof(uint32_t),
                                 [ASK_CHECK] = sizeof(struct ask_choice),
                                 [ASK_PROVE] = sizeof(struct ask_shape),
                                 [ASK_CLOSE] = 0};

static bool answer(struct worker* w, const struct wire_message* m, uint32_t attempt) {
  if (m->type == ASK_OPEN || (m->type == ASK_OPEN_BARE && !m->bytes)) return answer_open(w, m, attempt);
  bool known = m->type > ASK_OPEN_BARE && m->type <= ASK_CLOSE && m->bytes == lengths[m->type] && w->fabric;
  if (!known) return worker_fail(w->wire, "a request that this release does not know");
  switch (m->type) {
    case ASK_NEW_ID:
      return answer_new_id(w);
    case ASK_CONNECT:
      return answer_connect(w, m);
    case ASK_DISCONNECT:
      return answer_done(w, fabric_disconnect(w->fabric));
    case ASK_PROBE:
      return answer_probe(w, m);
    case ASK_PREPARE:
      return answer_prepare(w, m);
    case ASK_ROUNDS:
      return answer_rounds(w, m);
    case ASK_CHECK:
      return answer_check(w, m);
    case ASK_CLOSE:
      fabric_close(w->fabric);
      w->fabric = NULL;
      return answer_done(w, true);
    case ASK_PROVE:
      return answer_prove(w, m);
    default:
      return answer_report(w);
  }
}

int work(struct wire* to_driver, uint32_t rank, uint32_t attempt, void* context) {
  struct worker* w = calloc(1, sizeof *w);
  struct wire_message message;
  if (!w) return 1;
  w->wire = to_driver;
  w->context = context;
  w->rank = rank;
  while (worker_next(to_driver, &message) && answer(w, &message, attempt)) {
  }
  fabric_close(w->fabric);
  free(w->profile);
  free(w);
  return 0;
}
