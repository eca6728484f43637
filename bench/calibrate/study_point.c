#include <stdio.h>
#include <stdlib.h>

#include "calibrate/study_internal.h"

/* Samples, as for a spread: where the budget ended the race after a look or two, luck would decide. */
enum { LEAST_TO_KNOW = 6 };

/* From here on both graphs and single calls occur: a choice is timed in graphs there, and has to win call by call, too.
 */
enum { BOTH_FROM = 256 << 10 };

/* --- what is there ----------------------------------------------------------------------------------------------- */

struct measured* study_point_at(const struct study_table* table, uint64_t bytes) {
  for (size_t i = 0; i < table->count; i++)
    if (table->points[i]->call.bytes == bytes) return table->points[i];
  return NULL;
}

static bool has_excluded(const struct study_table* table, struct sw_choice choice) {
  for (size_t p = 0; p < table->count; p++)
    for (size_t i = 1; i < table->points[p]->count; i++) {
      const struct candidate* candidate = &table->points[p]->choices[i].candidate;
      if (candidate->excluded[0] && sw_choice_same(candidate->choice, choice)) return true;
    }
  return false;
}

bool study_has_excluded(const struct study* study, const struct banned* choice) {
  for (size_t i = 0; i < study->count; i++)
    if (study->tables[i].collective == choice->collective && study->tables[i].ranks == choice->ranks)
      return has_excluded(&study->tables[i], choice->choice);
  return false;
}

void study_insert(struct study_table* table, struct measured* point) {
  size_t at = table->count++;
  for (; at > 0 && table->points[at - 1]->call.bytes > point->call.bytes; at--)
    table->points[at] = table->points[at - 1];
  table->points[at] = point;
  table->nodes = point->nodes;
}

void study_exclude(struct study* study, const struct fabric_call* call, struct candidate* candidate, const char* why) {
  enum { LONGEST = sizeof candidate->excluded - 1 };
  snprintf(candidate->excluded, sizeof candidate->excluded, "%.*s", LONGEST, why);
  if (study->watch->excluded)
    study->watch->excluded(study->watch->context, call, candidate->choice, candidate->excluded);
}

void study_end_by_failure(struct study* study) {
  study->end = crew_failure(study->crew)->kind == TEAM_INTERRUPTED ? STUDY_INTERRUPTED : STUDY_LOST;
}

/* --- troubles ---------------------------------------------------------------------------------------------------- */

void study_note_trouble(struct study* study, const struct study_trouble* trouble) {
  if (study->trouble_count < STUDY_MOST_TROUBLES) study->troubles[study->trouble_count++] = *trouble;
  struct fabric_call call = {trouble->collective, FABRIC_BF16, study_mode(trouble->bytes), trouble->bytes};
  if (study->watch->failed) study->watch->failed(study->watch->context, &call, trouble->why);
}

const struct study_trouble* study_trouble_at(const struct study* study, int collective, uint32_t ranks,
                                             uint64_t bytes) {
  for (size_t i = 0; i < study->trouble_count; i++) {
    const struct study_trouble* trouble = &study->troubles[i];
    bool same_size = !trouble->bytes || (trouble->collective == collective && trouble->bytes == bytes);
    if (trouble->ranks == ranks && same_size) return trouble;
  }
  return NULL;
}

/* --- graphs and streams ------------------------------------------------------------------------------------------ */

static const char auto_failed[] = "not compared afresh: NCCL's own choice fails call by call";

/* The pair failed: whose fault it was is found out, and the choice is excluded in any case. */
static enum failed_by confirm_failed(struct study* study, const struct fabric_call* call, struct candidate* candidate) {
  struct study_trouble trouble = {
      .collective = call->collective, .ranks = crew_group(study->crew), .bytes = call->bytes, .comparing = true};
  struct race_result own;
  enum failed_by by = failed_by_which(study->crew, call, &own, trouble.why);
  if (by == FAILED_AUTO) study_note_trouble(study, &trouble);
  if (by == FAILED_AUTO) study_exclude(study, call, candidate, auto_failed);
  if (by != FAILED_CHOICE) return by;
  ban(&study->bans, call->collective, trouble.ranks, candidate->choice, trouble.why);
  study_exclude(study, call, candidate, trouble.why);
  return by;
}

static void try_in_flight(const struct study* study, const struct fabric_call* call, struct sw_choice choice) {
  if (study->watch->in_flight) study->watch->in_flight(study->watch->context, call, choice);
}

/* False, with whose fault it is in `by`, when the pair failed. */
static bool confirm_choice(struct study* study, const struct fabric_call* call, struct candidate* candidate,
                           enum failed_by* by) {
  char why[160];
  struct measured_pair pair;
  struct compare_rules rules = {study->plan->min_gain, COMPARE_MORE_ROUNDS, COMPARE_CHEAP_US};
  try_in_flight(study, call, candidate->choice);
  bool good = compare_choice(study->crew, call, candidate->choice, &rules, &pair);
  if (!good) *by = confirm_failed(study, call, candidate);
  if (good || *by != FAILED_LOST) try_in_flight(study, call, SW_AUTO);
  if (!good || pair.low > 0) return good;
  snprintf(why, sizeof why, "gains in CUDA graphs alone: call by call %.1f us against auto's %.1f us (n=%zu)",
           pair.other.median_us, pair.own.median_us, pair.own.samples);
  study_exclude(study, call, candidate, why);
  return true;
}

/* In the middle, what wins in graphs has to win call by call as well. False: the crew is lost. */
static bool confirm_in_streams(struct study* study, struct measured* point) {
  size_t winners[3];
  struct fabric_call call = point->call;
  enum failed_by by = FAILED_CHOICE;
  if (point->call.mode != FABRIC_GRAPH || point->call.bytes < BOTH_FROM) return true;
  size_t count = study_ranking(study, point, winners, 3);
  call.mode = FABRIC_STREAM;
  for (size_t i = 0; i < count; i++) {
    struct candidate* candidate = &point->choices[winners[i]].candidate;
    if (by == FAILED_AUTO)
      study_exclude(study, &call, candidate, auto_failed);
    else if (!confirm_choice(study, &call, candidate, &by) && by == FAILED_LOST)
      return false;
  }
  return true;
}

/* --- one size ---------------------------------------------------------------------------------------------------- */

/* A point of an earlier run stays as it is; what its profile cannot tell is found out again. */
static enum point_end complete(struct study* study, struct measured* point) {
  if (!point->kept || point->twin_count || measure_twins(study->crew, &study->bans, study->watch, point))
    return POINT_KNOWN;
  study_end_by_failure(study);
  return POINT_LOST;
}

static bool is_known(const struct measured* point) {
  return point->count && point->choices[0].result.samples >= LEAST_TO_KNOW;
}

static enum point_end race(struct study* study, struct measured* point, const struct fabric_call* call,
                           double share_us) {
  struct measure_rules rules = {race_rules_default, share_us, study_measuring_limit(study)};
  rules.race.min_gain = (double)study->plan->min_gain / (double)SW_ONE;
  if (!measure_call(study->crew, call, &rules, &study->bans, study->watch, point) ||
      !confirm_in_streams(study, point)) {
    study_end_by_failure(study);
    return POINT_LOST;
  }
  if (!point->why[0]) return is_known(point) ? POINT_KNOWN : POINT_SPENT;
  struct study_trouble trouble = {.collective = call->collective, .ranks = point->ranks, .bytes = call->bytes};
  snprintf(trouble.why, sizeof trouble.why, "%s", point->why);
  study_note_trouble(study, &trouble);
  return POINT_FAILED;
}

enum point_end study_point(struct study* study, struct study_table* table, uint64_t bytes, double share_us) {
  uint64_t size = study_size(bytes, table->ranks);
  struct fabric_call call = {table->collective, FABRIC_BF16, study_mode(size), size};
  struct measured* known = study_point_at(table, size);
  study->latest = known && known->kept ? known : NULL;
  if (known) return complete(study, known);
  if (table->count == STUDY_MOST_POINTS) return POINT_SPENT;
  struct measured* point = calloc(1, sizeof *point);
  if (!point) return POINT_SPENT;
  enum point_end end = race(study, point, &call, share_us);
  if (end != POINT_KNOWN) {
    free(point);
    return end;
  }
  study->measuring_us += point->measuring_us;
  study->latest = point;
  study_insert(table, point);
  return POINT_KNOWN;
}
