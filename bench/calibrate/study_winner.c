#include "calibrate/profile_out.h"
#include "calibrate/study_internal.h"
#include "decide/compete.h"

size_t study_index_of(const struct measured* point, struct sw_choice choice) {
  for (size_t i = 1; i < point->count; i++)
    if (sw_choice_same(point->choices[i].candidate.choice, choice)) return i;
  for (size_t i = 0; i < point->twin_count; i++)
    if (sw_choice_same(point->twins[i].choice, choice)) return point->twins[i].of;
  return 0;
}

/* 0 where none is stated, as decide/ takes it. */
static int64_t stated(const struct race_result* result) {
  int64_t spread = profile_spread(result);
  return spread < 0 ? 0 : spread;
}

uint64_t study_extra_memory(const struct measured* point, size_t choice) {
  const struct fabric_probe* own = &point->choices[0].candidate.probe;
  const struct fabric_probe* probe = &point->choices[choice].candidate.probe;
  bool known = own->algo >= 0 && own->channels > 0 && probe->algo >= 0 && probe->channels > 0;
  return known && probe->algo == own->algo ? 0 : probe->memory;
}

static size_t fill_contenders(const struct measured* point, struct sw_contender* out) {
  size_t count = 0;
  for (size_t i = 1; i < point->count; i++) {
    const struct measured_choice* choice = &point->choices[i];
    if (!choice->result.samples) continue;
    out[count++] = (struct sw_contender){.choice = choice->candidate.choice,
                                         .time_ps = (double)profile_ps(choice->result.median_us),
                                         .spread = stated(&choice->result),
                                         .excluded = choice->candidate.excluded[0] ? choice->candidate.excluded : NULL,
                                         .memory = study_extra_memory(point, i)};
  }
  return count;
}

static size_t rank(const struct sw_policy* policy, const struct measured* point, size_t* out, size_t most) {
  struct sw_contender contenders[FABRIC_MOST_CHOICES];
  const struct race_result* own = &point->choices[0].result;
  if (!point->count || !own->samples) return 0;
  size_t count = fill_contenders(point, contenders);
  size_t ranked = sw_compete(policy, (double)profile_ps(own->median_us), stated(own), contenders, count);
  if (ranked > most) ranked = most;
  for (size_t i = 0; i < ranked; i++) out[i] = study_index_of(point, contenders[i].choice);
  return ranked;
}

size_t study_ranking(const struct study* study, const struct measured* point, size_t* out, size_t most) {
  struct sw_policy policy = sw_policy_default;
  policy.min_gain = study->plan->min_gain;
  if (study->plan->max_extra_memory) policy.max_extra_memory = study->plan->max_extra_memory;
  return rank(&policy, point, out, most);
}

size_t study_winner(const struct study* study, const struct measured* point) {
  size_t winner[1];
  return study_ranking(study, point, winner, 1) ? winner[0] : 0;
}

size_t study_winner_of_any_memory(const struct study* study, const struct measured* point) {
  struct sw_policy policy = sw_policy_default;
  size_t winner[1];
  policy.min_gain = study->plan->min_gain;
  return rank(&policy, point, winner, 1) ? winner[0] : 0;
}
