#include "calibrate/exhaustive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/exhaustive_sweep.h"
#include "calibrate/statistics.h"
#include "decide/plan.h"

/* --- afresh ------------------------------------------------------------------------------------------------------ */

/* Which of the two are twins: of each other, or of auto. */
struct twins {
  bool of_each_other;
  bool best_is_auto;
  bool decided_is_auto;
};

static bool find_twins(struct crew* crew, const struct exhaustive_point* point, struct twins* out) {
  struct fabric_probe own, best, decided;
  if (!crew_probe(crew, &point->call, SW_AUTO, &own) || !crew_probe(crew, &point->call, point->best, &best) ||
      !crew_probe(crew, &point->call, point->decided, &decided))
    return false;
  *out =
      (struct twins){candidates_same(&best, &decided), candidates_same(&best, &own), candidates_same(&decided, &own)};
  return true;
}

/* The same thing is as fast as itself: noise between two of its samples is no difference. */
static void settle(struct exhaustive_point* point, struct twins twins) {
  static const struct fresh_gain none = {0, 0, 0};
  if (twins.of_each_other) point->best_fresh = point->decided_fresh;
  if (twins.best_is_auto) point->best_fresh = none;
  if (twins.decided_is_auto) point->decided_fresh = none;
}

static struct fresh_gain gain_of(const float* us, size_t rounds, size_t choice) {
  double ratios[EXHAUSTIVE_MOST_FRESH_ROUNDS];
  for (size_t round = 0; round < rounds; round++)
    ratios[round] = (double)us[3 * round + choice] / (double)us[3 * round];
  struct middle ratio = middle_of(ratios, rounds, OUTSIDE_95);
  return (struct fresh_gain){1 - ratio.median, 1 - ratio.high, 1 - ratio.low};
}

/* Short calls are cheap and noisy: as many rounds as fit into a while. */
static size_t rounds_that_fit(const float* us) {
  double sum = 0;
  for (size_t i = 0; i < (size_t)3 * EXHAUSTIVE_FRESH_ROUNDS; i++) sum += (double)us[i];
  double rounds = EXHAUSTIVE_FRESH_US / sum * EXHAUSTIVE_FRESH_ROUNDS;
  return rounds > EXHAUSTIVE_MOST_FRESH_ROUNDS ? EXHAUSTIVE_MOST_FRESH_ROUNDS
         : rounds > EXHAUSTIVE_FRESH_ROUNDS    ? (size_t)rounds
                                               : EXHAUSTIVE_FRESH_ROUNDS;
}

static bool compare_afresh(struct crew* crew, struct exhaustive_point* point) {
  struct sw_choice choices[] = {SW_AUTO, point->best, FABRIC_BY_PROFILE};
  float us[3 * EXHAUSTIVE_MOST_FRESH_ROUNDS];
  struct twins twins;
  if (!find_twins(crew, point, &twins) || !crew_prepare(crew, &point->call, choices, 3) ||
      !crew_rounds(crew, EXHAUSTIVE_FRESH_ROUNDS, us))
    return false;
  point->fresh_rounds = rounds_that_fit(us);
  size_t more = point->fresh_rounds - EXHAUSTIVE_FRESH_ROUNDS;
  if (more && !crew_rounds(crew, more, us + (size_t)3 * EXHAUSTIVE_FRESH_ROUNDS)) return false;
  point->best_fresh = gain_of(us, point->fresh_rounds, 1);
  point->decided_fresh = gain_of(us, point->fresh_rounds, 2);
  settle(point, twins);
  return true;
}

static double profile_gain(const struct measured* point, struct sw_choice choice) {
  for (size_t i = 1; i < point->count; i++)
    if (sw_choice_same(point->choices[i].candidate.choice, choice))
      return 1 - point->choices[i].result.median_us / point->choices[0].result.median_us;
  for (size_t i = 0; i < point->twin_count; i++)
    if (sw_choice_same(point->twins[i].choice, choice))
      return profile_gain(point, point->choices[point->twins[i].of].candidate.choice);
  return 0;
}

static void enter(const struct exhaustive_watch* watch, enum phase phase) {
  if (watch->entered) watch->entered(watch->context, phase);
}

static bool run_point(struct study* study, const struct sw_plan* plan, const struct measured* measured,
                      const struct exhaustive_watch* watch, struct exhaustive_point* out) {
  struct sw_decision decision = sw_plan_decide(plan, measured->call.collective, measured->call.bytes);
  enter(watch, PHASE_EXHAUSTIVE);
  if (!exhaustive_sweep(study, measured, watch, out)) return false;
  out->decided = decision.count ? decision.ranked[0].choice : SW_AUTO;
  out->decided_gain = profile_gain(measured, out->decided);
  enter(watch, PHASE_FRESH);
  return compare_afresh(study->crew, out);
}

/* --- all sizes --------------------------------------------------------------------------------------------------- */

/* Verifying adds points of its own: no race was run there. */
static bool is_swept(const struct measured* point) {
  return point->kept || point->measuring_us > 0;
}

static bool is_wanted(const struct study* study, const struct study_table* table, uint32_t ranks) {
  for (size_t c = 0; c < study->plan->collective_count; c++)
    if (table->ranks == ranks && table->collective == study->plan->collectives[c]) return true;
  return false;
}

static size_t sizes_of_group(const struct study* study, uint32_t ranks) {
  size_t count = 0;
  for (size_t i = 0; i < study->count; i++)
    for (size_t k = 0; k < study->tables[i].count; k++)
      count += is_wanted(study, &study->tables[i], ranks) && is_swept(study->tables[i].points[k]);
  return count;
}

size_t exhaustive_sizes(const struct study* study) {
  size_t count = 0;
  for (size_t g = 0; g < study->plan->group_count; g++) count += sizes_of_group(study, study->plan->groups[g]);
  return count;
}

static bool run_table(struct study* study, const struct study_table* table, const struct sw_plan* plan,
                      const struct exhaustive_watch* watch, struct exhaustive* out) {
  for (size_t i = 0; i < table->count; i++) {
    struct exhaustive_point* point = &out->points[out->count];
    if (!is_swept(table->points[i]) || out->count == out->wanted) continue;
    if (!run_point(study, plan, table->points[i], watch, point)) return false;
    out->count++;
    out->sweep_us += point->sweep_us;
    out->kept += table->points[i]->kept;
    if (watch->finished) watch->finished(watch->context, point);
  }
  return true;
}

/* Ranks that could not be joined have no sizes, and are not joined again. */
static bool run_group(struct study* study, const struct sw_profile* profile, uint32_t ranks,
                      const struct exhaustive_watch* watch, struct exhaustive* out) {
  if (!sizes_of_group(study, ranks)) return true;
  bool good = crew_connect(study->crew, ranks);
  for (size_t i = 0; i < study->count && good; i++) {
    const struct study_table* table = &study->tables[i];
    if (!table->count || !is_wanted(study, table, ranks)) continue;
    struct sw_plan* plan = sw_plan_compile(profile, table->nodes, table->ranks);
    good = plan && run_table(study, table, plan, watch, out);
    sw_plan_free(plan);
  }
  return good;
}

bool exhaustive_run(struct study* study, const char* profile, const struct exhaustive_watch* watch,
                    struct exhaustive* out) {
  static struct sw_diags diags;
  *out = (struct exhaustive){.wanted = exhaustive_sizes(study)};
  out->points = calloc(out->wanted ? out->wanted : 1, sizeof *out->points);
  sw_diags_start(&diags, "profile");
  struct sw_profile* read = sw_profile_read(profile, strlen(profile), &diags);
  bool good = out->points && read && crew_start(study->crew, profile);
  for (size_t g = 0; g < study->plan->group_count && good; g++)
    good = run_group(study, read, study->plan->groups[g], watch, out);
  sw_profile_free(read);
  return good;
}

void exhaustive_free(struct exhaustive* exhaustive) {
  free(exhaustive->points);
  *exhaustive = (struct exhaustive){0};
}

struct speedups exhaustive_speedups(const struct exhaustive* exhaustive) {
  double best = 0;
  double decided = 0;
  for (size_t i = 0; i < exhaustive->count; i++) {
    best -= log(1 - exhaustive->points[i].best_fresh.gain);
    decided -= log(1 - exhaustive->points[i].decided_fresh.gain);
  }
  double count = exhaustive->count ? (double)exhaustive->count : 1;
  return (struct speedups){exp(best / count), exp(decided / count)};
}
