#include "calibrate/measure.h"

#include <stdio.h>
#include <string.h>

#include "calibrate/failed.h"

/* Data of every call are checked as integers, and as floats up to this size: there rounding can hide nothing large. */
enum { FLOAT_CHECK_BYTES = 1 << 20 };

struct run {
  struct crew* crew;
  const struct fabric_call* call;
  const struct measure_rules* rules;
  struct ban_list* bans;
  const struct measure_watch* watch;
  struct candidates candidates;
  double measuring_us;
  char why[FAILED_WORDS]; /* the call cannot be measured: how that is; "" else */
  bool late;              /* nor is there time to find out what else fails */
};

static void announce(const struct run* run, struct sw_choice choice) {
  if (run->watch->in_flight) run->watch->in_flight(run->watch->context, run->call, choice);
}

/* Takes a candidate out and says so; of auto the caller hears as of what ends the call. */
static void exclude(struct run* run, size_t index, const char* why) {
  struct candidate* item = &run->candidates.items[index];
  snprintf(item->excluded, sizeof item->excluded, "%s", why);
  if (index && run->watch->excluded) run->watch->excluded(run->watch->context, run->call, item->choice, why);
}

static bool is_late(const struct run* run) {
  return run->rules && run->rules->deadline_us > 0 && crew_clock(run->crew) > run->rules->deadline_us;
}

/* Bans the choice that brought the workers down. False: with so many failing there is nothing to measure. */
static bool ban_choice(struct run* run, struct sw_choice choice) {
  char why[160];
  failed_words(run->crew, why, sizeof why);
  if (!ban(run->bans, run->call->collective, crew_group(run->crew), choice, why)) {
    snprintf(run->why, sizeof run->why, "more than %d choices failed; the last: %.160s", MOST_BANS, why);
    return false;
  }
  if (run->watch->excluded) run->watch->excluded(run->watch->context, run->call, choice, why);
  return true;
}

/* What brought the workers down is remembered, and they start anew. False when this call is at its end by that. */
static bool survive(struct run* run, struct sw_choice choice) {
  if (failed_for_good(run->crew)) return false;
  if (sw_choice_is_auto(choice)) {
    failed_words(run->crew, run->why, sizeof run->why);
    return false;
  }
  if (!ban_choice(run, choice) || !crew_restart(run->crew)) return false;
  run->late = is_late(run);
  return !run->late;
}

/* --- candidates, with right data --------------------------------------------------------------------------------- */

static void announce_to(void* context, struct sw_choice choice) {
  announce(context, choice);
}

static bool find_candidates(struct run* run) {
  struct candidates_watch watch = {announce_to, run};
  struct sw_choice culprit;
  while (!candidates_find(run->crew, run->call, run->bans, &watch, &run->candidates, &culprit))
    if (!survive(run, culprit)) return false;
  return true;
}

static bool check_as(struct run* run, size_t index, int type, bool* good) {
  struct fabric_call call = *run->call;
  uint32_t bad_rank = 0;
  char why[160];
  call.type = type;
  call.mode = FABRIC_STREAM;
  if (!crew_check(run->crew, &call, run->candidates.items[index].choice, good, &bad_rank)) return false;
  if (*good) return true;
  snprintf(why, sizeof why, "wrong data: rank %u received something else than the exact result", bad_rank);
  exclude(run, index, why);
  return true;
}

/* One candidate's data, in the types that its size asks for. */
static bool check(struct run* run, size_t index) {
  static const int types[] = {FABRIC_INT32, FABRIC_BF16, FABRIC_FLOAT};
  size_t count = run->call->bytes <= FLOAT_CHECK_BYTES ? 3 : 1;
  bool good = true;
  announce(run, run->candidates.items[index].choice);
  for (size_t i = 0; i < count && good; i++)
    if (!check_as(run, index, types[i], &good)) return false;
  return true;
}

static bool check_all(struct run* run) {
  char why[160];
  for (size_t i = 0; i < run->candidates.count; i++) {
    if (run->candidates.items[i].excluded[0] || check(run, i)) continue;
    failed_words(run->crew, why, sizeof why);
    if (!survive(run, run->candidates.items[i].choice)) return false;
    snprintf(run->candidates.items[i].excluded, sizeof why, "%s", why);
  }
  return true;
}

/* --- the race ---------------------------------------------------------------------------------------------------- */

/* The race's choices: the candidates that are not excluded; `index` leads back to them. */
struct field {
  struct race* race;
  size_t index[FABRIC_MOST_CHOICES];
  size_t count;
};

static size_t choices_in(const struct run* run, const struct field* field, const size_t* in, size_t count,
                         struct sw_choice* choices) {
  for (size_t i = 0; i < count; i++) choices[i] = run->candidates.items[field->index[in[i]]].choice;
  return count;
}

/* A batch of rounds; graphs are captured anew only when the field has changed. */
static bool run_batch(struct run* run, const struct sw_choice* choices, size_t count, size_t rounds, bool prepare,
                      float* us) {
  if (prepare && !crew_prepare(run->crew, run->call, choices, count)) return false;
  if (!crew_rounds(run->crew, rounds, us)) return false;
  for (size_t i = 0; i < rounds * count; i++) run->measuring_us += (double)us[i];
  return true;
}

/* Whether a choice runs alone. */
static bool runs_alone(struct run* run, struct sw_choice choice) {
  float us[1];
  announce(run, choice);
  return crew_prepare(run->crew, run->call, &choice, 1) && crew_rounds(run->crew, 1, us);
}

/* A round of many choices failed: each alone shows which one it was. Leaves the race without it. */
static bool find_culprit(struct run* run, struct field* field, const size_t* in, size_t count) {
  if (failed_for_good(run->crew) || !crew_restart(run->crew)) return false;
  for (size_t i = 0; i < count; i++) {
    struct candidate* item = &run->candidates.items[field->index[in[i]]];
    char why[160];
    if (runs_alone(run, item->choice)) continue;
    failed_words(run->crew, why, sizeof why);
    if (i > 0) race_exclude(field->race, in[i]);
    if (!survive(run, item->choice)) return false;
    snprintf(item->excluded, sizeof item->excluded, "%s", why);
  }
  return true;
}

/* The call is given up where rounds fail over and over, and no choice does alone. */
static bool may_retry(struct run* run, int* restarts) {
  enum { MOST_RESTARTS = 5 };
  char why[160];
  if (++*restarts <= MOST_RESTARTS || failed_for_good(run->crew)) return true;
  failed_words(run->crew, why, sizeof why);
  snprintf(run->why, sizeof run->why, "choices that run alone fail beside each other, %d times: %.160s", *restarts,
           why);
  return false;
}

static bool is_spent(struct run* run, double started_us) {
  return run->rules->budget_us > 0 && crew_clock(run->crew) - started_us > run->rules->budget_us;
}

/* Rounds that fit one request. */
static size_t batch_of(size_t rounds, size_t count) {
  size_t most = 64;
  (void)count;
  return rounds < most ? rounds : most;
}

static void tell_looked(const struct run* run, const struct field* field, size_t left) {
  size_t leader = field->index[race_leader(field->race)];
  if (run->watch->looked)
    run->watch->looked(run->watch->context, run->call, field->race, run->candidates.items[leader].choice, left);
}

static bool race_once(struct run* run, struct field* field, size_t* last_count, int* restarts) {
  size_t in[FABRIC_MOST_CHOICES];
  struct sw_choice choices[FABRIC_MOST_CHOICES];
  float us[64 * FABRIC_MOST_CHOICES];
  size_t count;
  size_t rounds = race_next(field->race, in, &count);
  if (!rounds) return true;
  rounds = batch_of(rounds, count);
  choices_in(run, field, in, count, choices);
  announce(run, SW_AUTO);
  if (run_batch(run, choices, count, rounds, count != *last_count, us)) {
    *last_count = count;
    race_take(field->race, rounds, us);
    tell_looked(run, field, count);
    return true;
  }
  *last_count = 0;
  return may_retry(run, restarts) && find_culprit(run, field, in, count);
}

static bool race_all(struct run* run, struct field* field) {
  double started_us = crew_clock(run->crew);
  size_t last_count = 0;
  int restarts = 0;
  while (race_stopped(field->race) == RACE_GOES_ON) {
    if (!race_once(run, field, &last_count, &restarts)) return false;
    if (is_spent(run, started_us)) race_end(field->race);
  }
  return true;
}

/* --- what comes out ---------------------------------------------------------------------------------------------- */

static void write_out(const struct run* run, const struct field* field, struct measured* out) {
  out->call = *run->call;
  out->ranks = crew_group(run->crew);
  out->nodes = crew_nodes(run->crew);
  out->count = run->candidates.count;
  out->twin_count = run->candidates.twin_count;
  memcpy(out->twins, run->candidates.twins, sizeof out->twins);
  for (size_t i = 0; i < out->count; i++) {
    out->choices[i] = (struct measured_choice){.candidate = run->candidates.items[i], .fate = RACE_EXCLUDED};
  }
  for (size_t i = 0; i < field->count; i++) {
    struct measured_choice* choice = &out->choices[field->index[i]];
    race_result(field->race, i, &choice->result);
    choice->fate = race_fate(field->race, i);
  }
  out->stop = race_stopped(field->race);
  out->measuring_us = run->measuring_us;
}

static struct field make_field(const struct run* run) {
  struct field field = {.count = 0};
  for (size_t i = 0; i < run->candidates.count; i++)
    if (!run->candidates.items[i].excluded[0]) field.index[field.count++] = i;
  field.race = race_start(&run->rules->race, field.count);
  return field;
}

/* NCCL's own choice is what all others are compared with. */
static bool auto_is_right(struct run* run) {
  const struct candidate* own = &run->candidates.items[0];
  if (own->excluded[0]) snprintf(run->why, sizeof run->why, "%s", own->excluded);
  return !own->excluded[0];
}

static bool measure_candidates(struct run* run, struct measured* out) {
  if (!find_candidates(run) || !check_all(run) || !auto_is_right(run)) return false;
  struct field field = make_field(run);
  bool good = field.race && race_all(run, &field);
  if (good) write_out(run, &field, out);
  race_free(field.race);
  return good;
}

bool measure_call(struct crew* crew, const struct fabric_call* call, const struct measure_rules* rules,
                  struct ban_list* bans, const struct measure_watch* watch, struct measured* out) {
  static struct run run; /* large; one call is measured at a time */
  run = (struct run){.crew = crew, .call = call, .rules = rules, .bans = bans, .watch = watch};
  if (measure_candidates(&run, out)) return true;
  *out = (struct measured){.call = *call, .ranks = crew_group(crew), .nodes = crew_nodes(crew)};
  snprintf(out->why, sizeof out->why, "%s", run.why);
  return run.late || (run.why[0] && crew_restart(crew));
}

/* --- a point of an earlier run ------------------------------------------------------------------------------------ */

static size_t find_choice(const struct measured* point, struct sw_choice choice) {
  size_t i = 0;
  while (i < point->count && !sw_choice_same(point->choices[i].candidate.choice, choice)) i++;
  return i;
}

bool measure_twins(struct crew* crew, struct ban_list* bans, const struct measure_watch* watch,
                   struct measured* point) {
  static struct run run;
  run = (struct run){.crew = crew, .call = &point->call, .bans = bans, .watch = watch};
  if (!find_candidates(&run)) return run.why[0] && crew_restart(crew);
  announce(&run, SW_AUTO);
  for (size_t i = 0; i < run.candidates.twin_count; i++) {
    const struct twin* twin = &run.candidates.twins[i];
    size_t of = find_choice(point, run.candidates.items[twin->of].choice);
    bool known = find_choice(point, twin->choice) < point->count;
    if (of < point->count && !known) point->twins[point->twin_count++] = (struct twin){twin->choice, of};
  }
  return true;
}
