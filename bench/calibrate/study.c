#include "calibrate/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/plan.h"

/* Samples, as for a spread: fewer prove nothing. */
enum { LEAST_TO_WIN = 6 };

/* From here on both graphs and single calls occur: a choice is timed in graphs there, and has to win call by call, too.
 */
enum { BOTH_FROM = 256 << 10 };

static void end_by_failure(struct study* study) {
  study->end = crew_failure(study->crew)->kind == TEAM_INTERRUPTED ? STUDY_INTERRUPTED : STUDY_LOST;
}

/* --- one point --------------------------------------------------------------------------------------------------- */

static double gain_of(const struct measured* point, size_t choice) {
  return 1 - point->choices[choice].result.median_us / point->choices[0].result.median_us;
}

static bool would_win(const struct study* study, const struct measured* point, size_t i) {
  const struct measured_choice* choice = &point->choices[i];
  return !choice->candidate.excluded[0] && choice->result.samples >= LEAST_TO_WIN &&
         gain_of(point, i) >= (double)study->plan->min_gain / (double)SW_ONE;
}

/* The best few that would win, best first; returns how many of at most `most` there are. */
static size_t find_winners(const struct study* study, const struct measured* point, size_t* winners, size_t most) {
  size_t count = 0;
  for (size_t i = 1; i < point->count; i++) {
    if (!would_win(study, point, i)) continue;
    size_t at = count;
    while (at > 0 && gain_of(point, i) > gain_of(point, winners[at - 1])) at--;
    if (at == most) continue;
    count += count < most;
    for (size_t k = count - 1; k > at; k--) winners[k] = winners[k - 1];
    winners[at] = i;
  }
  return count;
}

/* In the middle, what wins in graphs has to win call by call as well. */
static bool confirm_in_streams(struct study* study, struct measured* point) {
  size_t winners[3];
  if (point->call.mode != FABRIC_GRAPH || point->call.bytes < BOTH_FROM) return true;
  size_t count = find_winners(study, point, winners, 3);
  for (size_t i = 0; i < count; i++) {
    struct measured_choice* choice = &point->choices[winners[i]];
    struct fabric_call call = point->call;
    struct measured_pair pair;
    call.mode = FABRIC_STREAM;
    if (!measure_pair(study->crew, &call, choice->candidate.choice, COMPARE_ROUNDS, &pair)) return false;
    if (pair.gain >= (double)study->plan->min_gain / (double)SW_ONE) continue;
    snprintf(choice->candidate.excluded, sizeof choice->candidate.excluded,
             "gains in CUDA graphs alone: call by call %.1f us against auto's %.1f us (n=%d)", pair.other.median_us,
             pair.own.median_us, COMPARE_ROUNDS);
    if (study->watch->excluded)
      study->watch->excluded(study->watch->context, &call, choice->candidate.choice, choice->candidate.excluded);
  }
  return true;
}

static struct study_table* table_for(struct study* study, int collective, uint32_t ranks) {
  for (size_t i = 0; i < study->count; i++)
    if (study->tables[i].collective == collective && study->tables[i].ranks == ranks) return &study->tables[i];
  if (study->count == STUDY_MOST_TABLES) return NULL;
  struct study_table* table = &study->tables[study->count++];
  *table = (struct study_table){.collective = collective, .ranks = ranks};
  return table;
}

static struct measured* point_at(const struct study_table* table, uint64_t bytes) {
  for (size_t i = 0; i < table->count; i++)
    if (table->points[i]->call.bytes == bytes) return table->points[i];
  return NULL;
}

static void insert_point(struct study_table* table, struct measured* point) {
  size_t at = table->count++;
  for (; at > 0 && table->points[at - 1]->call.bytes > point->call.bytes; at--)
    table->points[at] = table->points[at - 1];
  table->points[at] = point;
  table->nodes = point->nodes;
}

static bool is_spent(struct study* study) {
  return study->plan->budget_us > 0 && crew_clock(study->crew) > study->plan->budget_us;
}

/* A point of an earlier run stays as it is; what its profile cannot tell is found out again. */
static bool complete(struct study* study, struct measured* point) {
  if (!point->kept || point->twin_count || measure_twins(study->crew, &study->bans, study->watch, point)) return true;
  end_by_failure(study);
  return false;
}

/* Where the budget ended the race after a look or two, luck would decide: such a point is none. */
static bool is_known(const struct measured* point) {
  return point->choices[0].result.samples >= LEAST_TO_WIN;
}

/* Measures one size into its table; `share_us` is what it may take. */
static bool measure_size(struct study* study, struct study_table* table, uint64_t bytes, double share_us) {
  uint64_t size = study_size(bytes, table->ranks);
  struct fabric_call call = {table->collective, FABRIC_BF16, study_mode(size), size};
  struct measure_rules rules = {race_rules_default, share_us};
  struct measured* known = point_at(table, size);
  study->latest = known && known->kept ? known : NULL;
  if (known) return complete(study, known);
  if (table->count == STUDY_MOST_POINTS) return true;
  rules.race.min_gain = (double)study->plan->min_gain / (double)SW_ONE;
  struct measured* point = calloc(1, sizeof *point);
  if (!point) return false;
  if (!measure_call(study->crew, &call, &rules, &study->bans, study->watch, point) ||
      !confirm_in_streams(study, point)) {
    free(point);
    end_by_failure(study);
    return false;
  }
  if (!is_known(point)) {
    free(point);
    study->end = STUDY_SPENT;
    return false;
  }
  study->measuring_us += point->measuring_us;
  study->latest = point;
  insert_point(table, point);
  return true;
}

static bool is_measured(const struct study* study, int collective, uint32_t ranks, uint64_t bytes) {
  for (size_t i = 0; i < study->count; i++)
    if (study->tables[i].collective == collective && study->tables[i].ranks == ranks)
      return point_at(&study->tables[i], study_size(bytes, ranks)) != NULL;
  return false;
}

size_t study_left(const struct study* study) {
  const struct study_plan* plan = study->plan;
  size_t left = 0;
  for (size_t g = 0; g < plan->group_count; g++)
    for (size_t c = 0; c < plan->collective_count; c++)
      for (size_t i = 0; i < plan->size_count; i++)
        left += !is_measured(study, plan->collectives[c], plan->groups[g], plan->sizes[i]);
  return left;
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

struct notifier {
  void (*changed)(void* context, const struct study* study);
  void* context;
};

/* What is left of the budget, in equal parts for what is left to do; the last tenth is for verifying. */
static double share(struct study* study, size_t left) {
  if (study->plan->budget_us <= 0) return 0;
  double remaining = study->plan->budget_us * 0.9 - crew_clock(study->crew);
  return remaining > 0 ? remaining / (double)(left ? left : 1) : 1;
}

size_t study_winner(const struct study* study, const struct measured* point) {
  size_t winner[1];
  return find_winners(study, point, winner, 1) ? winner[0] : 0;
}

static bool is_planned(const struct study* study, const struct study_table* table, uint64_t bytes) {
  for (size_t i = 0; i < study->plan->size_count; i++)
    if (study_size(study->plan->sizes[i], table->ranks) == bytes) return true;
  return false;
}

/* Between two sizes of the plan with different decisions, and more than twice apart, the size in the middle. */
static uint64_t middle_to_refine(const struct study* study, const struct study_table* table, size_t right) {
  const struct measured* a = table->points[right - 1];
  const struct measured* b = table->points[right];
  struct sw_choice won_a = a->choices[study_winner(study, a)].candidate.choice;
  struct sw_choice won_b = b->choices[study_winner(study, b)].candidate.choice;
  if (!is_planned(study, table, a->call.bytes) || !is_planned(study, table, b->call.bytes)) return 0;
  if (sw_choice_same(won_a, won_b) || b->call.bytes <= 2 * a->call.bytes) return 0;
  uint64_t middle = a->call.bytes;
  while (middle * middle < a->call.bytes * b->call.bytes && middle < b->call.bytes) middle += a->call.bytes / 8 + 1;
  return middle < b->call.bytes ? middle : 0;
}

static bool refine(struct study* study, struct study_table* table, struct notifier notifier) {
  for (size_t right = 1; right < table->count; right++) {
    uint64_t middle = study->plan->refine && !is_spent(study) ? middle_to_refine(study, table, right) : 0;
    size_t before = table->count;
    if (middle && !measure_size(study, table, middle, share(study, 4))) return false;
    if (table->count == before) continue;
    notifier.changed(notifier.context, study);
    right++;
  }
  return true;
}

static bool measure_table(struct study* study, struct study_table* table, struct notifier notifier) {
  for (size_t i = 0; i < study->plan->size_count; i++) {
    if (is_spent(study)) {
      study->end = STUDY_SPENT;
      return false;
    }
    if (!measure_size(study, table, study->plan->sizes[i], share(study, study_left(study)))) return false;
    notifier.changed(notifier.context, study);
  }
  return refine(study, table, notifier);
}

static bool measure_group(struct study* study, uint32_t ranks, struct notifier notifier) {
  if (!crew_connect(study->crew, ranks)) {
    end_by_failure(study);
    return false;
  }
  for (size_t c = 0; c < study->plan->collective_count; c++) {
    struct study_table* table = table_for(study, study->plan->collectives[c], ranks);
    if (!table || !measure_table(study, table, notifier)) return false;
  }
  return true;
}

void study_measure(struct study* study, void (*changed)(void* context, const struct study* study), void* context) {
  struct notifier notifier = {changed, context};
  for (size_t g = 0; g < study->plan->group_count; g++)
    if (!measure_group(study, study->plan->groups[g], notifier)) return;
  study->end = STUDY_DONE;
}

/* --- verifying --------------------------------------------------------------------------------------------------- */

/* Of a choice that was measured at a point, be it as the twin of another one; 0: it was not. */
static size_t index_of(const struct measured* point, struct sw_choice choice) {
  for (size_t i = 1; i < point->count; i++)
    if (sw_choice_same(point->choices[i].candidate.choice, choice)) return i;
  for (size_t i = 0; i < point->twin_count; i++)
    if (sw_choice_same(point->twins[i].choice, choice)) return point->twins[i].of;
  return 0;
}

/* Excludes the choice at a measured size; true when the size was measured. */
static bool exclude_at(struct study_table* table, const struct verified* v) {
  for (size_t i = 0; i < table->count; i++) {
    if (table->points[i]->call.bytes != v->bytes) continue;
    struct candidate* candidate = &table->points[i]->choices[index_of(table->points[i], v->choice)].candidate;
    if (!sw_choice_is_auto(candidate->choice))
      snprintf(candidate->excluded, sizeof candidate->excluded,
               "did not hold when measured afresh: gain %.1f%% (95%%: %.1f%% to %.1f%%)", v->pair.gain * 100,
               v->pair.low * 100, v->pair.high * 100);
    return true;
  }
  return false;
}

/* At a size that was not measured the fresh comparison becomes a point: auto, and the choice, excluded there. */
static void add_withdrawn(struct study_table* table, const struct fabric_call* call, const struct verified* v) {
  struct measured* point = table->count < STUDY_MOST_POINTS ? calloc(1, sizeof *point) : NULL;
  if (!point) return;
  point->call = *call;
  point->ranks = table->ranks;
  point->nodes = table->nodes;
  point->count = 2;
  point->choices[0] = (struct measured_choice){.candidate.choice = SW_AUTO, .result = v->pair.own};
  point->choices[1] = (struct measured_choice){.candidate.choice = v->choice, .result = v->pair.other};
  insert_point(table, point);
  exclude_at(table, v);
}

static bool verify_size(struct study* study, struct study_table* table, const struct sw_plan* plan, uint64_t bytes) {
  struct sw_decision decision = sw_plan_decide(plan, table->collective, bytes);
  struct fabric_call call = {table->collective, FABRIC_BF16, study_mode(bytes), bytes};
  if (!decision.count || table->verified_count == 2 * STUDY_MOST_POINTS) return true;
  struct verified* v = &table->verified[table->verified_count];
  struct compare_rules rules = {study->plan->min_gain, COMPARE_MORE_ROUNDS, 0};
  *v = (struct verified){.bytes = bytes, .choice = decision.ranked[0].choice};
  if (!compare_call(study->crew, &call, &rules, v)) return false;
  table->verified_count++;
  if (!v->holds && !exclude_at(table, v)) add_withdrawn(table, &call, v);
  return true;
}

/* Each measured size, and the one in the middle between it and the next. */
static bool verify_table(struct study* study, struct study_table* table, const struct sw_plan* plan) {
  uint64_t sizes[2 * STUDY_MOST_POINTS];
  size_t count = 0;
  for (size_t i = 0; i < table->count; i++) {
    uint64_t bytes = table->points[i]->call.bytes;
    sizes[count++] = bytes;
    if (i + 1 < table->count) sizes[count++] = study_size((bytes + table->points[i + 1]->call.bytes) / 2, table->ranks);
  }
  for (size_t i = 0; i < count; i++)
    if (!verify_size(study, table, plan, sizes[i])) return false;
  return true;
}

static bool verify_group(struct study* study, const struct sw_profile* profile, uint32_t ranks) {
  bool good = crew_connect(study->crew, ranks);
  for (size_t i = 0; i < study->count && good; i++) {
    struct study_table* table = &study->tables[i];
    if (table->ranks != ranks || !table->count) continue;
    struct sw_plan* plan = sw_plan_compile(profile, table->nodes, table->ranks);
    good = plan && verify_table(study, table, plan);
    sw_plan_free(plan);
  }
  return good;
}

void study_verify(struct study* study, const char* profile) {
  static struct sw_diags diags;
  sw_diags_start(&diags, "profile");
  struct sw_profile* read = sw_profile_read(profile, strlen(profile), &diags);
  bool good = read && crew_start(study->crew, profile);
  double started_us = good ? crew_clock(study->crew) : 0;
  for (size_t g = 0; g < study->plan->group_count && good; g++)
    good = verify_group(study, read, study->plan->groups[g]);
  if (good)
    study->verifying_us = crew_clock(study->crew) - started_us;
  else
    end_by_failure(study);
  sw_profile_free(read);
}

void study_free(struct study* study) {
  for (size_t i = 0; i < study->count; i++)
    for (size_t k = 0; k < study->tables[i].count; k++) free(study->tables[i].points[k]);
}
