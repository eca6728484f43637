#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/study_internal.h"
#include "decide/plan.h"

/* A pass over all tables. */
struct pass {
  struct study* study;
  const char* profile;
  bool last;
  bool changed; /* the tables are no longer what the profile says */
};

/* Comparing has what measuring left, and a tenth of the budget at least: it proves what is deployed. */
static void set_limit(struct study* study) {
  double budget_us = study->plan->budget_us;
  double least_us = crew_clock(study->crew) + budget_us / 10;
  if (study->verify_until_us > 0 || budget_us <= 0) return;
  study->verify_until_us = budget_us > least_us ? budget_us : least_us;
}

static bool is_over(const struct study* study) {
  return study->verify_until_us > 0 && crew_clock(study->crew) > study->verify_until_us;
}

static bool is_lost(const struct study* study) {
  return study->end == STUDY_LOST || study->end == STUDY_INTERRUPTED;
}

/* --- what does not hold ------------------------------------------------------------------------------------------ */

static void words_of(const struct verified* v, char why[160]) {
  snprintf(why, 160, "did not hold when measured afresh: gain %.1f%% (95%%: %.1f%% to %.1f%%)", v->pair.gain * 100,
           v->pair.low * 100, v->pair.high * 100);
}

/* In the last pass nothing takes its place, as it would not be compared any more. */
static void exclude_others(struct pass* pass, struct measured* point) {
  for (size_t i = study_winner(pass->study, point); i; i = study_winner(pass->study, point))
    snprintf(point->choices[i].candidate.excluded, sizeof point->choices[i].candidate.excluded,
             "not compared afresh: what was faster did not hold, and the comparing ended");
}

/* At a measured size: the next best choice is what the next pass compares. */
static void withdraw_at(struct pass* pass, struct measured* point, struct sw_choice choice, const char* why) {
  struct candidate* candidate = &point->choices[study_index_of(point, choice)].candidate;
  if (!sw_choice_is_auto(candidate->choice)) study_exclude(pass->study, &point->call, candidate, why);
  if (pass->last) exclude_others(pass, point);
}

/* Left to auto: the fresh comparison becomes a point of auto, and the choice, excluded there. */
static void add_withdrawn(struct study_table* table, const struct fabric_call* call, const struct verified* v,
                          const char* why) {
  struct measured* point = table->count < STUDY_MOST_POINTS ? calloc(1, sizeof *point) : NULL;
  if (!point) return;
  point->call = *call;
  point->ranks = table->ranks;
  point->nodes = table->nodes;
  point->count = 2;
  for (size_t i = 0; i < 2; i++) point->choices[i].candidate.probe.algo = -1;
  point->choices[0].result = v->pair.own;
  point->choices[0].candidate.choice = SW_AUTO;
  point->choices[1].result = v->pair.other;
  point->choices[1].candidate.choice = v->choice;
  snprintf(point->choices[1].candidate.excluded, sizeof point->choices[1].candidate.excluded, "%s", why);
  study_insert(table, point);
}

/* A size between: a race of its own shows what is best there, where the budget has room for one. */
static bool measure_between(struct pass* pass, struct study_table* table, uint64_t bytes) {
  struct study* study = pass->study;
  double left_us = study->verify_until_us - crew_clock(study->crew);
  bool has_room = study->verify_until_us <= 0 || left_us > 0;
  if (pass->last || !has_room) return false;
  return study_point(study, table, bytes, study->verify_until_us > 0 ? left_us / 4 : 0) == POINT_KNOWN;
}

static void withdraw(struct pass* pass, struct study_table* table, const struct fabric_call* call,
                     const struct verified* v, const char* why) {
  struct measured* point = study_point_at(table, v->bytes);
  pass->changed = true;
  if (point)
    withdraw_at(pass, point, v->choice, why);
  else if (!measure_between(pass, table, v->bytes) && !is_lost(pass->study))
    add_withdrawn(table, call, v, why);
}

/* --- what fails -------------------------------------------------------------------------------------------------- */

/* The workers failed while the choice and auto were timed. False: they cannot go on. */
static bool take_failure(struct pass* pass, struct study_table* table, const struct fabric_call* call,
                         struct verified* v) {
  struct study* study = pass->study;
  struct study_trouble trouble = {
      .collective = call->collective, .ranks = table->ranks, .bytes = call->bytes, .comparing = true};
  enum failed_by by = failed_by_which(study->crew, call, &v->pair.own, trouble.why);
  if (by == FAILED_LOST) return false;
  if (by == FAILED_AUTO) {
    study_note_trouble(study, &trouble);
    return true;
  }
  v->pair.other = (struct race_result){.spread = -1};
  table->verified_count++;
  ban(&study->bans, call->collective, table->ranks, v->choice, trouble.why);
  withdraw(pass, table, call, v, trouble.why);
  return !is_lost(study);
}

/* --- one size, one table, all of them ---------------------------------------------------------------------------- */

static const struct verified* latest_at(const struct study_table* table, uint64_t bytes) {
  for (size_t i = table->verified_count; i-- > 0;)
    if (table->verified[i].bytes == bytes) return &table->verified[i];
  return NULL;
}

/* A machine that freezes while a choice is compared: the next run leaves it out. */
static void say_in_flight(const struct study* study, const struct fabric_call* call, struct sw_choice choice) {
  if (study->watch->in_flight) study->watch->in_flight(study->watch->context, call, choice);
}

static bool verify_size(struct pass* pass, struct study_table* table, const struct sw_plan* plan, uint64_t bytes) {
  struct study* study = pass->study;
  struct sw_decision decision = sw_plan_decide(plan, table->collective, bytes);
  struct fabric_call call = {table->collective, FABRIC_BF16, study_mode(bytes), bytes};
  struct compare_rules rules = {study->plan->min_gain, COMPARE_MORE_ROUNDS, COMPARE_CHEAP_US};
  const struct verified* before = latest_at(table, bytes);
  if (!decision.count || table->verified_count == STUDY_MOST_VERIFIED) return true;
  if (before && before->holds && sw_choice_same(before->choice, decision.ranked[0].choice)) return true;
  if (study_trouble_at(study, table->collective, table->ranks, bytes)) return true;
  study->verify_spent = is_over(study);
  if (study->verify_spent) return true;
  struct verified* v = &table->verified[table->verified_count];
  *v = (struct verified){.bytes = bytes, .choice = decision.ranked[0].choice};
  say_in_flight(study, &call, v->choice);
  bool good = compare_call(study->crew, &call, &rules, v);
  if (good || !failed_for_good(study->crew)) say_in_flight(study, &call, SW_AUTO);
  if (!good) return take_failure(pass, table, &call, v);
  table->verified_count++;
  if (v->holds) return true;
  char why[160];
  words_of(v, why);
  withdraw(pass, table, &call, v, why);
  return !is_lost(study);
}

static bool verify_table(struct pass* pass, struct study_table* table, const struct sw_plan* plan) {
  uint64_t sizes[STUDY_MOST_DECISIONS];
  size_t count = study_sizes_to_verify(table, sizes);
  for (size_t i = 0; i < count; i++)
    if (!verify_size(pass, table, plan, sizes[i])) return false;
  return true;
}

static bool has_tables(const struct study* study, uint32_t ranks) {
  for (size_t i = 0; i < study->count; i++)
    if (study->tables[i].ranks == ranks && study->tables[i].count) return true;
  return false;
}

/* The ranks could be joined so before, and now they cannot: its tables are not compared. */
static bool take_join_failure(struct pass* pass, uint32_t ranks) {
  struct study* study = pass->study;
  struct study_trouble trouble = {.collective = study->plan->collectives[0], .ranks = ranks, .comparing = true};
  if (failed_for_good(study->crew)) return false;
  failed_words(study->crew, trouble.why, sizeof trouble.why);
  study_note_trouble(study, &trouble);
  return crew_start(study->crew, pass->profile);
}

static bool verify_group(struct pass* pass, const struct sw_profile* profile, uint32_t ranks) {
  struct study* study = pass->study;
  bool good = true;
  if (!has_tables(study, ranks) || study_trouble_at(study, -1, ranks, 0)) return true;
  if (!crew_connect(study->crew, ranks)) return take_join_failure(pass, ranks);
  for (size_t i = 0; i < study->count && good; i++) {
    struct study_table* table = &study->tables[i];
    if (table->ranks != ranks || !table->count) continue;
    struct sw_plan* plan = sw_plan_compile(profile, table->nodes, table->ranks);
    good = plan && verify_table(pass, table, plan);
    sw_plan_free(plan);
  }
  return good;
}

bool study_verify(struct study* study, const char* profile, bool last) {
  static struct sw_diags diags;
  struct pass pass = {study, profile, last, false};
  sw_diags_start(&diags, "profile");
  struct sw_profile* read = sw_profile_read(profile, strlen(profile), &diags);
  bool good = read && crew_start(study->crew, profile);
  double started_us = good ? crew_clock(study->crew) : 0;
  if (good) set_limit(study);
  for (size_t g = 0; g < study->plan->group_count && good; g++)
    good = verify_group(&pass, read, study->plan->groups[g]);
  if (good)
    study->verifying_us += crew_clock(study->crew) - started_us;
  else
    study_end_by_failure(study);
  sw_profile_free(read);
  return pass.changed;
}
