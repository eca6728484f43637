/*
 * Races on times that are scripted to the digit. An outcome in words: how it stopped, then the samples
 * of each choice, auto first, with a letter for those that are out: s slow, b beaten, g no gain, x excluded.
 */
#ifndef SW_TEST_RACE_SCRIPT_H
#define SW_TEST_RACE_SCRIPT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/race.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

enum { MOST_CHOICES = 96, MOST_EVENTS = 8, MOST_BATCH = 40 };

/* In one round, counted from 0, a choice takes `factor` times its time. All 0: no event. */
struct event {
  size_t round, choice;
  float factor;
};

/* Once so many rounds were run, a choice is excluded; choice 0: the race is ended. */
struct action {
  size_t after, choice;
};

struct script {
  float times[8];        /* a 0 ends them */
  const char* cycles[4]; /* a choice's factors in one round after the other, over and over: see factor_of */
  struct event events[MOST_EVENTS];
  struct action actions[2];
  const char* outcome; /* expected */
};

static inline size_t count_times(const float* times) {
  size_t count = 0;
  while (count < 8 && times[count] != 0) count++;
  return count;
}

static inline float factor_of(char letter) {
  static const float factors[] = {0.90F, 0.94F, 0.96F, 0.98F, 1.01F, 1.03F, 1.06F, 1.2F};
  return factors[letter - 'a'];
}

static inline float sample(const struct script* script, size_t round, size_t choice) {
  float time = script->times[choice];
  const char* cycle = choice < COUNT(script->cycles) ? script->cycles[choice] : NULL;
  if (cycle) time *= factor_of(cycle[round % strlen(cycle)]);
  for (size_t i = 0; i < MOST_EVENTS; i++) {
    const struct event* event = &script->events[i];
    bool none = event->round == 0 && event->choice == 0 && event->factor == 0;
    if (!none && event->round == round && event->choice == choice) time *= event->factor;
  }
  return time;
}

static inline void act(struct race* race, const struct script* script, size_t before, size_t after) {
  for (size_t i = 0; i < COUNT(script->actions); i++) {
    const struct action* action = &script->actions[i];
    if (action->after <= before || action->after > after) continue;
    if (action->choice)
      race_exclude(race, action->choice);
    else
      race_end(race);
  }
}

static inline size_t run_batch(struct race* race, const struct script* script, size_t run) {
  static float us[MOST_BATCH * MOST_CHOICES];
  size_t in[MOST_CHOICES];
  size_t count;
  size_t rounds = race_next(race, in, &count);
  assert_true(rounds <= MOST_BATCH);
  if (rounds) assert_int_equal(in[0], 0);
  for (size_t i = 0; i < rounds; i++)
    for (size_t j = 0; j < count; j++) us[i * count + j] = sample(script, run + i, in[j]);
  race_take(race, rounds, us);
  act(race, script, run, run + rounds);
  return rounds;
}

/* The proof has 40 rounds in a script, whatever they cost. */
static inline struct race_rules script_rules(void) {
  struct race_rules rules = race_rules_default;
  rules.proof_rounds = 40;
  return rules;
}

static inline struct race* run_script(const struct script* script) {
  struct race_rules rules = script_rules();
  struct race* race = race_start(&rules, count_times(script->times));
  assert_non_null(race);
  size_t run = 0;
  for (size_t rounds = 1; rounds; run += rounds) rounds = run_batch(race, script, run);
  return race;
}

static inline void assert_outcome(const struct race* race, size_t choices, const char* want, size_t number) {
  static const char* const letters[] = {"", "s", "b", "c", "g", "x"};
  char have[1024];
  int at = snprintf(have, sizeof have, "%s:", race_stop_words(race_stopped(race)));
  for (size_t i = 0; i < choices; i++) {
    size_t count;
    race_samples(race, i, &count);
    at += snprintf(have + at, sizeof have - (size_t)at, " %zu%s", count, letters[race_fate(race, i)]);
  }
  if (strcmp(have, want) != 0) fail_msg("case %zu\n  have %s\n  want %s", number, have, want);
}

static inline void assert_outcomes(const struct script* cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct race* race = run_script(&cases[i]);
    assert_outcome(race, count_times(cases[i].times), cases[i].outcome, i);
    race_free(race);
  }
}

#endif
