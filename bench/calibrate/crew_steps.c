#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/crew_internal.h"
#include "calibrate/protocol.h"
#include "ground/text.h"

/* A step that takes many times longer than any before it hangs. The first ones connect algorithms. */
static bool ask_step(struct crew* crew, uint32_t type, const void* request, size_t bytes, void* reply,
                     size_t reply_bytes) {
  int64_t patience = crew->slowest_step_ms ? GRACE_MS + SLOWER_TIMES * crew->slowest_step_ms : FIRST_STEP_MS;
  int64_t started = wire_clock();
  if (!crew_ask(crew, type, request, bytes, reply, reply_bytes, (uint32_t)(patience < 600000 ? patience : 600000)))
    return false;
  int64_t took = wire_clock() - started + 1;
  if (took > crew->slowest_step_ms) crew->slowest_step_ms = took;
  return true;
}

static bool same_probe(const struct fabric_probe* a, const struct fabric_probe* b) {
  return a->algo == b->algo && a->proto == b->proto && a->channels == b->channels && a->obeyed == b->obeyed &&
         memcmp(a->table, b->table, sizeof a->table) == 0;
}

/* FNV-1a of 32 bits (Fowler, Noll, Vo) of what NCCL estimates: a word by which people can tell tables apart. */
static uint32_t digest_of(const struct fabric_probe* probe) {
  const unsigned char* bytes = (const unsigned char*)probe->table;
  uint32_t hash = UINT32_C(0x811c9dc5);
  for (size_t i = 0; i < sizeof probe->table; i++) hash = (hash ^ bytes[i]) * UINT32_C(0x01000193);
  return hash;
}

static uint32_t count_same(const struct fabric_probe* probes, uint32_t ranks, uint32_t rank) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < ranks; i++) count += same_probe(&probes[i], &probes[rank]);
  return count;
}

/* "ring + ll, 16 channels", and the digest of the estimates that it follows from */
static void add_probe(struct sw_text* out, const struct fabric_probe* probe) {
  sw_add_choice(out, (struct sw_choice){(int8_t)probe->algo, (int8_t)probe->proto, (uint8_t)(probe->channels & 0xff)});
  sw_text_printf(out, " (NCCL's estimates: %08x)", digest_of(probe));
}

/* Names the rank that stands against most of its communicator, and what it and they would run. */
static void describe_differing(struct crew* crew, const struct fabric_probe* probes, uint32_t first, uint32_t usual) {
  struct sw_text text = SW_TEXT_EMPTY;
  uint32_t rank = first;
  uint32_t same = count_same(probes + first, crew->group, usual);
  while (same_probe(&probes[rank], &probes[first + usual])) rank++;
  sw_text_printf(&text, "rank %u", rank);
  if (!crew->simulated_nodes) sw_text_printf(&text, " on %s", crew->reports[rank].host);
  sw_text_add(&text, " would run ");
  add_probe(&text, &probes[rank]);
  sw_text_printf(&text, " where %u of %u ranks run ", same, crew->group);
  add_probe(&text, &probes[first + usual]);
  sw_text_add(&text,
              ": ranks that differ hang; give it the same NCCL, NCCL settings (nccl.conf, too) and hardware as the "
              "others, or leave it out");
  crew->failure = (struct team_failure){.kind = TEAM_ERROR, .rank = rank, .count = 1};
  snprintf(crew->failure.text, sizeof crew->failure.text, "%s", sw_text_string(&text));
  sw_text_free(&text);
}

/* The rank whose probe most of the communicator share, from its first on. */
static uint32_t usual_of(const struct fabric_probe* probes, uint32_t ranks) {
  uint32_t usual = 0;
  for (uint32_t i = 1; i < ranks; i++)
    if (count_same(probes, ranks, i) > count_same(probes, ranks, usual)) usual = i;
  return usual;
}

static bool agree(struct crew* crew, const struct fabric_probe* probes) {
  for (uint32_t first = 0; first < crew->used; first += crew->group) {
    if (count_same(probes + first, crew->group, 0) == crew->group) continue;
    describe_differing(crew, probes, first, usual_of(probes + first, crew->group));
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
  for (uint32_t rank = 1; good && rank < crew->used; rank++)
    if (probes[rank].memory > out->memory) out->memory = probes[rank].memory;
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
  crew->call = *call;
  crew->prepared = count;
  memcpy(crew->choices, choices, count * sizeof *choices);
  int64_t started = wire_clock();
  uint32_t* done = calloc(crew->used, sizeof *done);
  bool good = done && ask_step(crew, ASK_PREPARE, &request, sizeof request, done, sizeof *done);
  crew->slowest_us = (double)(wire_clock() - started + 1) * 1000; /* it ran a round or more */
  free(done);
  return good;
}

/* A hang is what takes many times longer than making ready, or the slowest round so far, took. */
static uint32_t patience_ms(const struct crew* crew, size_t rounds) {
  double expected_ms = crew->slowest_us / 1000 * (double)rounds * SLOWER_TIMES;
  return expected_ms > 600000 ? GRACE_MS + 600000 : GRACE_MS + (uint32_t)expected_ms;
}

static void take_maximum(float* us, const float* answers, size_t samples, uint32_t ranks) {
  memcpy(us, answers, samples * sizeof *us);
  for (uint32_t rank = 1; rank < ranks; rank++)
    for (size_t i = 0; i < samples; i++)
      if (answers[rank * samples + i] > us[i]) us[i] = answers[rank * samples + i];
}

static void tell_listener(const struct crew* crew, size_t rounds, const float* us) {
  struct crew_samples samples = {
      &crew->call, crew->group, crew->nodes, crew->choices, crew->prepared, rounds, us, crew->bare,
  };
  if (crew->listener) crew->listener(crew->listener_context, &samples);
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
  bool good = answers && crew_ask(crew, ASK_ROUNDS, &request, sizeof request, answers, samples * sizeof *answers,
                                  patience_ms(crew, rounds));
  if (good) take_maximum(us, answers, samples, crew->used);
  if (good) remember_slowest(crew, us, rounds);
  if (good) tell_listener(crew, rounds, us);
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

bool crew_prove(struct crew* crew, struct rank_proof* out) {
  struct ask_shape shape = {crew->nodes, crew->group};
  return ask_step(crew, ASK_PROVE, &shape, sizeof shape, out, sizeof *out);
}
