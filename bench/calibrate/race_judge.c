#include "calibrate/race_internal.h"

#include <math.h>

/* --- comparisons -------------------------------------------------------------------------------------------------- */

struct middle race_own(const struct race* race, size_t choice, double outside) {
  const struct series* seen = &race->all[choice].seen;
  for (size_t i = 0; i < seen->count; i++) race->scratch[i] = (double)seen->us[i];
  return middle_of(race->scratch, seen->count, outside);
}

struct middle race_ratio(const struct race* race, size_t a, size_t b, double outside) {
  size_t count = paired_ratios(race->all[a].seen, race->all[b].seen, race->scratch);
  return middle_of(race->scratch, count, outside);
}

bool race_is_in(const struct race* race, size_t choice) {
  return race->all[choice].fate == RACE_IN;
}

static double stated_median(const struct race* race, size_t choice) {
  struct race_result result;
  race_result(race, choice, &result);
  return result.median_us;
}

size_t race_leader(const struct race* race) {
  size_t leader = AUTO;
  double least = stated_median(race, AUTO);
  for (size_t i = 1; i < race->choices; i++) {
    if (!race_is_in(race, i) || race->all[i].seen.count == 0) continue;
    double median = stated_median(race, i);
    if (median < least) {
      least = median;
      leader = i;
    }
  }
  return leader;
}

/* What plugin/decide/compete.h asks of a choice: it gains min_gain, and more than the spreads of the two times. */
static bool seems_to_gain(const struct race* race, size_t choice) {
  struct race_result a, c;
  race_result(race, AUTO, &a);
  race_result(race, choice, &c);
  double gain = 1 - c.median_us / a.median_us;
  return c.samples >= LEAST_FOR_SPREAD && gain >= race->rules.min_gain &&
         gain * gain >= a.spread * a.spread + c.spread * c.spread;
}

/*
 * A gain that shows but could be luck, as any of the choices could be the lucky one; or one that does not show, though
 * what was seen is nearer to it than to none.
 */
static bool gain_is_open(const struct race* race, size_t choice) {
  if (seems_to_gain(race, choice)) {
    struct middle middle = race_ratio(race, choice, AUTO, race->outside / (double)race->choices);
    return !(middle.sure && middle.high < 1);
  }
  struct middle middle = race_ratio(race, choice, AUTO, OUTSIDE_95);
  return middle.median <= 1 - race->rules.min_gain / 2 && middle.low <= 1 - race->rules.min_gain;
}

static bool is_equal(const struct race* race, size_t choice, size_t leader) {
  struct middle middle = race_ratio(race, choice, leader, race->outside);
  double bound = 1 + race->rules.equal;
  return middle.sure && middle.high <= bound && middle.low >= 1 / bound;
}

/* So near to the leader that more rounds can tell on which side of `equal` it is. */
static bool rank_is_open(const struct race* race, size_t choice, size_t leader) {
  if (leader == AUTO || choice == leader || is_equal(race, choice, leader)) return false;
  double median = race_ratio(race, choice, leader, race->outside).median;
  return median > 1 && median < 1 + 2 * race->rules.equal;
}

bool race_is_open(const struct race* race, size_t choice) {
  if (!race_is_in(race, choice)) return false;
  if (gain_is_open(race, choice)) return true;
  size_t leader = race_leader(race);
  if (!seems_to_gain(race, leader)) return false;
  if (choice != leader) return rank_is_open(race, choice, leader);
  for (size_t i = 1; i < race->choices; i++)
    if (race_is_in(race, i) && rank_is_open(race, i, leader)) return true;
  return false;
}

/* --- judging ------------------------------------------------------------------------------------------------------ */

static bool is_slow(const struct race* race, struct middle ratio) {
  return ratio.count > 0 && ratio.count <= race->rules.least_rounds &&
         pow(ratio.least, (double)ratio.count) > race->rules.slow;
}

/* Beaten is less than slower: equal ones stay, as among them something else than time decides. */
static bool is_beaten(const struct race* race, struct middle ratio) {
  return ratio.count >= race->rules.least_rounds && ratio.sure && ratio.low > 1 && ratio.median > 1 + race->rules.equal;
}

static bool is_no_gain(const struct race* race, struct middle ratio) {
  return ratio.count >= race->rules.least_rounds && ratio.sure && ratio.low > 1 - race->rules.min_gain;
}

static void judge_choice(struct race* race, size_t choice, size_t leader) {
  struct contender* c = &race->all[choice];
  struct middle to_leader = race_ratio(race, choice, leader, race->outside);
  c->beaten_by = leader;
  if (is_slow(race, to_leader))
    c->fate = RACE_SLOW;
  else if (is_beaten(race, to_leader))
    c->fate = RACE_BEATEN;
  else if (is_no_gain(race, race_ratio(race, choice, AUTO, race->outside))) {
    c->fate = RACE_NO_GAIN;
    c->beaten_by = AUTO;
  }
}

static bool is_settled(const struct race* race) {
  size_t leader = race_leader(race);
  if (leader == AUTO || race->all[leader].seen.count < race->rules.sound_rounds) return false;
  struct middle gain = race_ratio(race, leader, AUTO, race->outside);
  if (!gain.sure || gain.high > 1 - race->rules.min_gain || !seems_to_gain(race, leader)) return false;
  for (size_t i = 1; i < race->choices; i++)
    if (i != leader && race_is_in(race, i) && !is_equal(race, i, leader)) return false;
  return true;
}

/* How many of the choices beside auto are as the function says. */
static size_t count_of(const struct race* race, bool (*is)(const struct race*, size_t)) {
  size_t count = 0;
  for (size_t i = 1; i < race->choices; i++) count += is(race, i);
  return count;
}

/* By what a round of the proof took so far. */
size_t race_proof_end(const struct race* race) {
  size_t done = race->rounds - race->limit;
  size_t rounds = race->rules.proof_rounds;
  if (race->rounds > race->limit && done >= rounds && race->cost_us[1] > 0) {
    double fitting = race->rules.proof_share * race->cost_us[0] / race->cost_us[1] * (double)done;
    double most = (double)race->rules.most_proof;
    rounds = fitting > most ? race->rules.most_proof : fitting > (double)rounds ? (size_t)fitting : rounds;
  }
  return race->limit + rounds;
}

static enum race_stop judge_stop(const struct race* race) {
  bool auto_known = race->all[AUTO].seen.count >= LEAST_FOR_SPREAD;
  if (count_of(race, race_is_in) == 0 && auto_known) return RACE_NOTHING;
  if (auto_known && is_settled(race)) return RACE_SETTLED;
  if (race->rounds < race->limit) return RACE_GOES_ON;
  bool proof = race->rounds < race_proof_end(race) && count_of(race, race_is_open) > 0;
  return proof ? RACE_GOES_ON : RACE_ENOUGH;
}

static size_t slowest_in(const struct race* race) {
  size_t slowest = AUTO;
  double most = 0;
  for (size_t i = 1; i < race->choices; i++) {
    if (!race_is_in(race, i)) continue;
    double median = stated_median(race, i);
    if (median < most) continue;
    most = median;
    slowest = i;
  }
  return slowest;
}

/* They are stated by their ratio to the leader, who was faster: none of them seems to gain where the leader does not.
 */
static void thin_crowd(struct race* race, size_t leader) {
  size_t left = count_of(race, race_is_in);
  size_t keep = (left + 1) / 2 > race->rules.crowd ? (left + 1) / 2 : race->rules.crowd;
  for (; left > keep; left--) {
    struct contender* c = &race->all[slowest_in(race)];
    c->fate = RACE_CROWDED;
    c->beaten_by = leader;
  }
}

void race_judge(struct race* race) {
  if (race->rounds <= race->limit) {
    size_t leader = race_leader(race);
    for (size_t i = 1; i < race->choices; i++)
      if (race_is_in(race, i)) judge_choice(race, i, leader);
    if (race->all[AUTO].seen.count >= race->rules.least_rounds) thin_crowd(race, leader);
  }
  race->stop = judge_stop(race);
}
