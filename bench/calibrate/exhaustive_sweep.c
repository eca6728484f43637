#include "calibrate/exhaustive_sweep.h"

#include "calibrate/failed.h"
#include "calibrate/statistics.h"

/* NCCL's own count first. */
static const uint8_t channel_counts[] = {0, 1, 2, 4, 8, 16};

enum {
  COUNTS = sizeof channel_counts,
  MOST_SWEPT = (NCCL_NUM_ALGORITHMS * NCCL_NUM_PROTOCOLS + 1) * COUNTS,
  A_CHUNK = FABRIC_MOST_CHOICES - 1, /* beside auto */
  MOST_RETRIES = 5
};

/* One size. */
struct sweep {
  struct study* study;
  const struct measured* point; /* what calibrate found there */
  const struct exhaustive_watch* watch;
  struct sw_choice choices[MOST_SWEPT];
  double gains[MOST_SWEPT]; /* over auto; below -1: not usable */
  size_t count;
  double us; /* all samples */
};

static const double unusable = -1e9;

/* --- what there is to sweep -------------------------------------------------------------------------------------- */

static bool is_broken(const char* excluded) {
  enum why why = why_excluded(excluded);
  return why == WHY_DATA || why == WHY_FAILED;
}

/* Calibrate found that the choice, or the one it is a twin of, hangs, crashes or spoils data. */
static bool is_unsafe(const struct sweep* s, struct sw_choice choice) {
  const struct measured* point = s->point;
  if (ban_of(&s->study->bans, point->call.collective, point->ranks, choice)) return true;
  for (size_t i = 0; i < point->count; i++)
    if (sw_choice_same(point->choices[i].candidate.choice, choice))
      return is_broken(point->choices[i].candidate.excluded);
  for (size_t i = 0; i < point->twin_count; i++)
    if (sw_choice_same(point->twins[i].choice, choice))
      return is_broken(point->choices[point->twins[i].of].candidate.excluded);
  return false;
}

static void add_counts(struct sweep* s, int algo, int proto) {
  for (size_t i = 0; i < COUNTS; i++) {
    struct sw_choice choice = {(int8_t)algo, (int8_t)proto, channel_counts[i]};
    if (!sw_choice_is_auto(choice) && !is_unsafe(s, choice)) s->choices[s->count++] = choice;
  }
}

/* A choice brought the workers down: it is banned, and they start anew. */
static bool survive(struct sweep* s, struct sw_choice choice) {
  char why[160];
  struct crew* crew = s->study->crew;
  if (failed_for_good(crew) || sw_choice_is_auto(choice)) return false;
  failed_words(crew, why, sizeof why);
  ban(&s->study->bans, s->point->call.collective, s->point->ranks, choice, why);
  if (s->watch->excluded) s->watch->excluded(s->watch->context, &s->point->call, choice, why);
  return crew_restart(crew);
}

/* A pair that NCCL offers, and takes when it is told to. */
static bool try_pair(struct sweep* s, int algo, int proto) {
  struct sw_choice choice = {(int8_t)algo, (int8_t)proto, 0};
  struct fabric_probe probe;
  if (is_unsafe(s, choice)) return true;
  if (!crew_probe(s->study->crew, &s->point->call, choice, &probe)) return survive(s, choice);
  if (probe.obeyed && probe.algo == algo && probe.proto == proto) add_counts(s, algo, proto);
  return true;
}

static bool find_choices(struct sweep* s) {
  struct fabric_probe own;
  if (!crew_probe(s->study->crew, &s->point->call, SW_AUTO, &own)) return false;
  s->choices[s->count++] = SW_AUTO;
  add_counts(s, -1, -1);
  for (int algo = 0; own.algo >= 0 && algo < NCCL_NUM_ALGORITHMS; algo++)
    for (int proto = 0; proto < NCCL_NUM_PROTOCOLS; proto++)
      if (candidates_offered(&own, algo, proto) && !try_pair(s, algo, proto)) return false;
  return true;
}

/* --- the sweep --------------------------------------------------------------------------------------------------- */

/* Auto and those of the chunk that are usable; `index` leads back to them. */
struct chunk {
  struct sw_choice choices[FABRIC_MOST_CHOICES];
  size_t index[FABRIC_MOST_CHOICES];
  size_t count;
};

static struct chunk make_chunk(const struct sweep* s, size_t from) {
  struct chunk chunk = {.choices = {SW_AUTO}, .index = {0}, .count = 1};
  for (size_t i = from; i < s->count && i < from + A_CHUNK; i++) {
    if (s->gains[i] <= unusable) continue;
    chunk.index[chunk.count] = i;
    chunk.choices[chunk.count++] = s->choices[i];
  }
  return chunk;
}

static double median_of(const float* us, size_t count, size_t rounds, size_t choice) {
  double values[EXHAUSTIVE_ROUNDS];
  for (size_t round = 0; round < rounds; round++) values[round] = (double)us[round * count + choice];
  return middle_of(values, rounds, OUTSIDE_95).median;
}

static bool time_chunk(struct sweep* s, const struct chunk* chunk) {
  float us[EXHAUSTIVE_ROUNDS * FABRIC_MOST_CHOICES];
  struct crew* crew = s->study->crew;
  if (!crew_prepare(crew, &s->point->call, chunk->choices, chunk->count)) return false;
  if (!crew_rounds(crew, EXHAUSTIVE_ROUNDS, us)) return false;
  double own = median_of(us, chunk->count, EXHAUSTIVE_ROUNDS, 0);
  for (size_t i = 1; i < chunk->count; i++)
    s->gains[chunk->index[i]] = 1 - median_of(us, chunk->count, EXHAUSTIVE_ROUNDS, i) / own;
  for (size_t i = 0; i < EXHAUSTIVE_ROUNDS * chunk->count; i++) s->us += (double)us[i];
  return true;
}

/* Each choice of a chunk that failed alone shows which one it was. */
static bool find_culprits(struct sweep* s, const struct chunk* chunk) {
  float us[1];
  struct crew* crew = s->study->crew;
  if (failed_for_good(crew) || !crew_restart(crew)) return false;
  for (size_t i = 1; i < chunk->count; i++) {
    if (crew_prepare(crew, &s->point->call, &chunk->choices[i], 1) && crew_rounds(crew, 1, us)) continue;
    s->gains[chunk->index[i]] = unusable;
    if (!survive(s, chunk->choices[i])) return false;
  }
  return true;
}

static bool sweep_chunk(struct sweep* s, size_t from) {
  for (int i = 0; i < MOST_RETRIES; i++) {
    struct chunk chunk = make_chunk(s, from);
    if (time_chunk(s, &chunk)) return true;
    if (!find_culprits(s, &chunk)) return false;
  }
  return false;
}

static bool sweep(struct sweep* s) {
  if (!find_choices(s)) return false;
  for (size_t from = 1; from < s->count; from += A_CHUNK)
    if (!sweep_chunk(s, from)) return false;
  return true;
}

/* --- its best ---------------------------------------------------------------------------------------------------- */

/* 0: auto. */
static size_t best_of(const struct sweep* s) {
  size_t best = 0;
  for (size_t i = 1; i < s->count; i++)
    if (s->gains[i] > s->gains[best]) best = i;
  return best;
}

/* Calibrate never looked at some of the choices, and nothing is won by wrong data. */
static bool check_best(struct sweep* s, size_t* best) {
  struct fabric_call call = s->point->call;
  call.type = FABRIC_INT32;
  call.mode = FABRIC_STREAM;
  while ((*best = best_of(s)) != 0) {
    uint32_t bad_rank;
    bool good;
    struct sw_choice choice = s->choices[*best];
    bool done = crew_check(s->study->crew, &call, choice, &good, &bad_rank);
    if (done && good) break;
    if (!done && !survive(s, choice)) return false;
    if (done && s->watch->excluded) s->watch->excluded(s->watch->context, &call, choice, "wrong data");
    s->gains[*best] = unusable;
  }
  return true;
}

bool exhaustive_sweep(struct study* study, const struct measured* point, const struct exhaustive_watch* watch,
                      struct exhaustive_point* out) {
  struct sweep s = {.study = study, .point = point, .watch = watch};
  size_t best;
  if (!sweep(&s) || !check_best(&s, &best)) return false;
  *out = (struct exhaustive_point){.call = point->call, .ranks = point->ranks, .nodes = point->nodes};
  out->choices = s.count;
  out->sweep_us = s.us;
  out->best = s.choices[best];
  out->best_gain = s.gains[best];
  return true;
}
