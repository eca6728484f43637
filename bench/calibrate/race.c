/*
 * Racing (Maron and Moore, Hoeffding Races, 1994): all run, and who is surely behind drops out, so that time goes to
 * those that are hard to tell apart. What is sure comes from no model of the noise: bounds are order statistics of the
 * ratios paired by round (calibrate/statistics.h), that is, sign tests. As one looks many times at the same growing
 * data, each look may err with its part of 1 - confidence only (Bonferroni).
 *
 *     round 1 ... least_rounds    a look after each: drops whose every ratio to the leader, to the power of their
 *                                 number, is above `slow`. One round shows 3x, two show 1.73x, six 1.2x.
 *     ... most_rounds             a look after every third more: drops who is behind the leader, or gains too little.
 *     ... + proof_rounds          only auto and those of which a question is open. Who is the fastest of many is so by
 *                                 luck in part, and so may seem to beat auto: fresh rounds make the luck fade.
 *     ... + most_proof            more of the same where it costs little beside what the race has cost by then: a few
 *                                 choices left of many.
 *
 * Many equals would cost most and matter least: of more than `crowd` the slower half leaves at each look (successive
 * halving: Karnin, Koren and Somekh, 2013).
 *
 * Each choice that drops out remembers who beat it. The times reported hang on that: see race_result.
 */
#include "calibrate/race.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/race_internal.h"

const struct race_rules race_rules_default = {.min_gain = 0.03,
                                              .equal = 0.02,
                                              .slow = 3,
                                              .confidence = 0.95,
                                              .crowd = 6,
                                              .least_rounds = 6,
                                              .sound_rounds = 15,
                                              .most_rounds = 40,
                                              .proof_rounds = 10,
                                              .proof_share = 0.5,
                                              .most_proof = 400};

/* --- rounds ------------------------------------------------------------------------------------------------------- */

/* A look after each of the first rounds, then whenever a third more is known, and at the limit. */
static size_t rounds_to_look(const struct race_rules* rules, size_t rounds, size_t limit) {
  size_t batch = rounds < rules->least_rounds ? 1 : (rounds + 2) / 3;
  return batch < limit - rounds ? batch : limit - rounds;
}

static size_t looks(const struct race_rules* rules) {
  size_t count = 1;
  for (size_t n = rules->least_rounds; n < rules->most_rounds; count++)
    n += rounds_to_look(rules, n, rules->most_rounds);
  return count;
}

size_t race_next(struct race* race, size_t* in, size_t* count) {
  race->named_count = 0;
  *count = 0;
  if (race->stop != RACE_GOES_ON) return 0;
  bool proof = race->rounds >= race->limit;
  for (size_t i = 0; i < race->choices; i++)
    if (i == AUTO || (proof ? race_is_open(race, i) : race_is_in(race, i))) race->named[race->named_count++] = i;
  memcpy(in, race->named, race->named_count * sizeof *in);
  *count = race->named_count;
  return rounds_to_look(&race->rules, race->rounds, proof ? race_proof_end(race) : race->limit);
}

/* A choice that was excluded since it was named does not count. */
static bool is_broken(const struct race* race, const float* us) {
  for (size_t i = 0; i < race->named_count; i++)
    if (race->all[race->named[i]].fate != RACE_EXCLUDED && !(us[i] > 0 && us[i] < INFINITY)) return true;
  return false;
}

static void take_round(struct race* race, const float* us) {
  for (size_t i = 0; i < race->named_count; i++) {
    struct contender* c = &race->all[race->named[i]];
    if (c->fate == RACE_EXCLUDED) continue;
    c->us[c->seen.count] = us[i];
    c->rounds[c->seen.count++] = (uint16_t)race->rounds;
    race->cost_us[race->rounds >= race->limit] += (double)us[i];
  }
}

void race_take(struct race* race, size_t rounds, const float* us) {
  if (race->stop != RACE_GOES_ON) return;
  for (size_t i = 0; i < rounds && race->rounds < race->capacity; i++, us += race->named_count) {
    if (!is_broken(race, us)) take_round(race, us);
    race->rounds++;
  }
  race_judge(race);
}

/* --- from outside ------------------------------------------------------------------------------------------------- */

static bool revive(struct race* race, size_t because) {
  bool any = false;
  for (size_t i = 1; i < race->choices; i++) {
    struct contender* c = &race->all[i];
    if (c->fate == RACE_IN || c->fate == RACE_EXCLUDED || c->beaten_by != because) continue;
    c->fate = RACE_IN;
    any = true;
  }
  return any;
}

void race_exclude(struct race* race, size_t choice) {
  if (choice == AUTO || choice >= race->choices || race->all[choice].fate == RACE_EXCLUDED) return;
  race->all[choice].fate = RACE_EXCLUDED;
  if (revive(race, choice)) {
    size_t room = race->capacity - race->rules.most_proof;
    size_t limit = race->rounds + race->rules.most_rounds;
    race->limit = limit < room ? limit : room;
    race->cost_us[0] += race->cost_us[1];
    race->cost_us[1] = 0;
  }
  if (race->stop != RACE_BUDGET) race_judge(race);
}

void race_end(struct race* race) {
  if (race->stop == RACE_GOES_ON) race->stop = RACE_BUDGET;
}

void race_free(struct race* race) {
  if (!race) return;
  free(race->all);
  free(race->named);
  free(race->scratch);
  free(race->us);
  free(race->round_numbers);
  free(race);
}

struct race* race_start(const struct race_rules* rules, size_t choices) {
  struct race* race = calloc(1, sizeof *race);
  if (!race) return NULL;
  race->rules = *rules;
  race->choices = choices;
  race->limit = rules->most_rounds;
  race->capacity = 2 * (rules->most_rounds + rules->most_proof); /* all of it again after an exclusion */
  race->outside = (1 - rules->confidence) / (double)looks(rules);
  race->all = calloc(choices, sizeof *race->all);
  race->named = calloc(choices, sizeof *race->named);
  race->scratch = calloc(race->capacity, sizeof *race->scratch);
  race->us = calloc(choices * race->capacity, sizeof *race->us);
  race->round_numbers = calloc(choices * race->capacity, sizeof *race->round_numbers);
  if (!race->all || !race->named || !race->scratch || !race->us || !race->round_numbers) {
    race_free(race);
    return NULL;
  }
  for (size_t i = 0; i < choices; i++) {
    struct contender* c = &race->all[i];
    c->us = race->us + i * race->capacity;
    c->rounds = race->round_numbers + i * race->capacity;
    c->seen = (struct series){.us = c->us, .rounds = c->rounds};
  }
  return race;
}

/* --- what was seen ------------------------------------------------------------------------------------------------ */

enum race_stop race_stopped(const struct race* race) {
  return race->stop;
}

enum race_fate race_fate(const struct race* race, size_t choice) {
  return race->all[choice].fate;
}

const float* race_samples(const struct race* race, size_t choice, size_t* count) {
  *count = race->all[choice].seen.count;
  return *count ? race->all[choice].us : NULL;
}

static double spread_of(struct middle middle) {
  return (middle.high - middle.low) / (2 * middle.median);
}

/* Those that beat others were beaten later or not at all, so the chain ends. */
static double stated_median(const struct race* race, size_t choice) {
  const struct contender* c = &race->all[choice];
  if (c->fate == RACE_EXCLUDED || c->seen.count == race->all[AUTO].seen.count)
    return race_own(race, choice, OUTSIDE_95).median;
  size_t other = c->fate == RACE_IN ? AUTO : c->beaten_by;
  return race_ratio(race, choice, other, OUTSIDE_95).median * stated_median(race, other);
}

void race_result(const struct race* race, size_t choice, struct race_result* out) {
  struct middle middle = race_own(race, choice, OUTSIDE_95);
  *out = (struct race_result){.samples = middle.count, .spread = -1};
  if (middle.count == 0) return;
  double scale = stated_median(race, choice) / middle.median;
  out->median_us = middle.median * scale;
  out->low_us = middle.low * scale;
  out->high_us = middle.high * scale;
  if (middle.count >= LEAST_FOR_SPREAD) out->spread = spread_of(middle);
}

const char* race_stop_words(enum race_stop stop) {
  static const char* const words[] = {"goes on", "settled", "nothing to gain", "most rounds run", "time is up"};
  return words[stop];
}

const char* race_fate_words(enum race_fate fate) {
  static const char* const words[] = {
      "in", "far slower than the leader", "slower than the leader", "one of too many", "gains too little", "excluded"};
  return words[fate];
}
