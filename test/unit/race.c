/*
 * bench/calibrate/race on times that are scripted to the digit. An outcome in words: how it stopped, then the samples
 * of each choice, auto first, with a letter for those that are out: s slow, b beaten, g no gain, x excluded.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/race.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

enum { MOST_CHOICES = 96, MOST_EVENTS = 4, MOST_BATCH = 40 };

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
  float times[8]; /* a 0 ends them */
  struct event events[MOST_EVENTS];
  struct action actions[2];
  const char* outcome; /* expected */
};

static size_t count_times(const float* times) {
  size_t count = 0;
  while (count < 8 && times[count] != 0) count++;
  return count;
}

static float sample(const struct script* script, size_t round, size_t choice) {
  float time = script->times[choice];
  for (size_t i = 0; i < MOST_EVENTS; i++) {
    const struct event* event = &script->events[i];
    bool none = event->round == 0 && event->choice == 0 && event->factor == 0;
    if (!none && event->round == round && event->choice == choice) time *= event->factor;
  }
  return time;
}

static void act(struct race* race, const struct script* script, size_t before, size_t after) {
  for (size_t i = 0; i < COUNT(script->actions); i++) {
    const struct action* action = &script->actions[i];
    if (action->after <= before || action->after > after) continue;
    if (action->choice)
      race_exclude(race, action->choice);
    else
      race_end(race);
  }
}

static size_t run_batch(struct race* race, const struct script* script, size_t run) {
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

static struct race* run_script(const struct script* script) {
  struct race* race = race_start(&race_rules_default, count_times(script->times));
  assert_non_null(race);
  size_t run = 0;
  for (size_t rounds = 1; rounds; run += rounds) rounds = run_batch(race, script, run);
  return race;
}

static void assert_outcome(const struct race* race, size_t choices, const char* want, size_t number) {
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

static void assert_outcomes(const struct script* cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct race* race = run_script(&cases[i]);
    assert_outcome(race, count_times(cases[i].times), cases[i].outcome, i);
    race_free(race);
  }
}

/*
 * Looks after 1 to 6, 8, 11, 15, 20, 27, 36, 40 rounds: 8 of them by confidence, each at 0.05 / 8 = 1/160. All of 8
 * above is 1/256, all of 6 only 1/64. Slow: 1.2^6 = 2.986, 1.22^6 = 3.297, 1.44^3 = 2.986, 1.444^3 = 3.011.
 */
static void constant_times(void** state) {
  (void)state;
  static const struct script cases[] = {
      {.times = {100}, .outcome = "nothing to gain: 6"},
      {.times = {100, 50}, .outcome = "settled: 15 15"},
      {.times = {100, 50, 150, 151}, .outcome = "settled: 15 15 2s 1s"}, /* exactly 3x is not slower than that */
      {.times = {100, 72.2F, 72, 50}, .outcome = "settled: 15 3s 4s 15"},
      {.times = {100, 50, 60, 61}, .outcome = "settled: 15 15 8b 6s"},
      {.times = {100, 50, 50.9F, 51.1F}, .outcome = "settled: 15 15 15 8b"}, /* 1.8% is equal, 2.2% is not */
      {.times = {100, 50, 50, 50}, .outcome = "settled: 15 15 15 15"},
      {.times = {100, 96.8F}, .outcome = "settled: 15 15"},
      {.times = {100, 97.2F}, .outcome = "nothing to gain: 8 8g"},
      {.times = {100, 98, 96.9F},
       .outcome = "settled: 15 8g 15"}, /* within 2% of the fastest, but not 3% faster than auto */
      {.times = {100, 100, 100}, .outcome = "nothing to gain: 8 8g 8g"},
      {.times = {100, 101.9F, 102.1F}, .outcome = "nothing to gain: 8 8g 8b"},
      {.times = {100, 301, 300, 120}, .outcome = "nothing to gain: 8 1s 2s 8b"},
      {.times = {100, 301, 400}, .outcome = "nothing to gain: 6 1s 1s"},
      {.times = {400, 100, 102.5F}, .outcome = "settled: 15 15 8b"}, /* auto stays, however slow */
  };
  assert_outcomes(cases, COUNT(cases));
}

/* One of 11 against is 12/2048 = 1/171, below 1/160; one of 8 is 9/256. Of 15, 2 against are 121/32768. */
static void outliers(void** state) {
  (void)state;
  static const struct script cases[] = {
      {.times = {100, 50, 60, 150}, .events = {{2, 1, 10}}, .outcome = "settled: 15 15 11b 2s"},
      {.times = {100, 50, 60}, .events = {{2, 1, 10}, {12, 1, 10}}, .outcome = "settled: 15 15 11b"},
      {.times = {100, 50, 60}, .events = {{2, 1, 10}, {10, 1, 10}}, .outcome = "settled: 15 15 15b"},
      {.times = {100, 50, 60}, .events = {{2, 1, 10}, {9, 1, 10}, {14, 1, 10}}, .outcome = "settled: 20 20 20b"},
      {.times = {100, 50, 60}, .events = {{0, 0, 10}, {9, 2, 10}}, .outcome = "settled: 15 15 8b"},
      {.times = {100, 97.2F}, .events = {{5, 1, 0.5F}}, .outcome = "nothing to gain: 11 11g"},
      /* the price of dropping after one look */
      {.times = {100, 50, 60}, .events = {{0, 2, 10}}, .outcome = "settled: 15 15 1s"},
      {.times = {100, 50, 60}, .events = {{0, 1, 10}}, .outcome = "settled: 15 1s 15"},
  };
  assert_outcomes(cases, COUNT(cases));
}

/* After 8 rounds 6 are whole, after 11 there are 8, after 15 there are 11, and after 20 there are 16. */
static void broken_rounds(void** state) {
  (void)state;
  static const struct script cases[] = {
      {.times = {100, 50, 60},
       .events = {{1, 0, NAN}, {4, 1, 0}, {9, 2, -1}, {12, 1, INFINITY}},
       .outcome = "settled: 16 16 8b"},
      {.times = {100, 50, 160}, .events = {{0, 2, -1}}, .outcome = "settled: 19 19 1s"}, /* 15 rounds make 14 samples */
      {.times = {NAN, 50}, .outcome = "most rounds run: 0 0"},
      {.times = {100, -50}, .outcome = "most rounds run: 0 0"},
      {.times = {100, 50, INFINITY}, .outcome = "most rounds run: 0 0 0"},
      {.times = {NAN}, .outcome = "most rounds run: 0"},
  };
  assert_outcomes(cases, COUNT(cases));
}

/* What an excluded choice had beaten comes back, with the samples it had: a race of 15 rounds then goes on to 20, ...
 */
static void exclusion(void** state) {
  (void)state;
  static const struct script cases[] = {
      {.times = {100, 50}, .actions = {{15, 1}}, .outcome = "nothing to gain: 15 15x"},
      {.times = {100, 50, 50.9F}, .actions = {{4, 2}}, .outcome = "settled: 15 15 4x"},
      {.times = {100, 50, 60, 70}, .actions = {{15, 2}}, .outcome = "settled: 15 15 8x 4s"},
      {.times = {100, 30, 90, 91}, .actions = {{3, 1}}, .outcome = "settled: 20 3x 19 18"},
      {.times = {100, 30, 90, 91}, .actions = {{15, 1}}, .outcome = "settled: 36 15x 23 22"},
      {.times = {100, 30, 90, 50}, .actions = {{15, 1}}, .outcome = "settled: 27 15x 2s 15"},
      {.times = {100, 30, 99, 98}, .actions = {{15, 1}}, .outcome = "nothing to gain: 27 15x 13g 13g"},
      {.times = {100, 30, 90}, .actions = {{2, 1}, {4, 2}}, .outcome = "nothing to gain: 6 2x 4x"},
      {.times = {100, 30, 90}, .actions = {{15, 1}, {15, 2}}, .outcome = "nothing to gain: 15 15x 2x"},
      /* 90 led the first round and beat 300; it was beaten by 80, which had 120 in that round */
      {.times = {100, 80, 90, 300}, .events = {{0, 1, 1.5F}}, .outcome = "settled: 15 15 11b 1s"},
      {.times = {100, 80, 90, 300}, .events = {{0, 1, 1.5F}}, .actions = {{15, 2}}, .outcome = "settled: 20 20 11x 6s"},
      {.times = {100, 80, 90, 300}, .events = {{0, 1, 1.5F}}, .actions = {{15, 1}}, .outcome = "settled: 20 15x 16 1s"},
      /* the excluded one's 10 is no leader for those that are left */
      {.times = {100, 10, 99, 118}, .actions = {{1, 1}}, .outcome = "nothing to gain: 8 1x 8g 8b"},
  };
  assert_outcomes(cases, COUNT(cases));
}

static void ended(void** state) {
  (void)state;
  static const struct script cases[] = {
      {.times = {100, 50, 160}, .actions = {{1, 0}}, .outcome = "time is up: 1 1 1s"},
      {.times = {100, 50, 60}, .actions = {{8, 0}}, .outcome = "time is up: 8 8 8b"},
      {.times = {100, 50, 60}, .actions = {{15, 0}}, .outcome = "settled: 15 15 8b"}, /* it had stopped by itself */
      {.times = {100, 50, 160}, .actions = {{1, 0}, {1, 1}}, .outcome = "time is up: 1 1x 1"},
  };
  assert_outcomes(cases, COUNT(cases));
  struct race* race = race_start(&race_rules_default, 3);
  size_t in[3];
  size_t count = 7;
  race_end(race);
  assert_int_equal(race_next(race, in, &count), 0);
  assert_int_equal(count, 0);
  race_take(race, 1, (const float[]){1, 2, 3});
  assert_outcome(race, 3, "time is up: 0 0 0", 0);
  race_free(race);
}

/* Between race_next and race_take: the samples are still those that were named, and the excluded one's are nothing. */
static void exclusion_in_flight(void** state) {
  (void)state;
  struct race* race = race_start(&race_rules_default, 3);
  size_t in[3];
  size_t count;
  assert_int_equal(race_next(race, in, &count), 1);
  race_exclude(race, 0); /* never */
  race_exclude(race, 3); /* there is none */
  race_exclude(race, 1);
  race_exclude(race, 1);
  race_take(race, 1, (const float[]){100, NAN, 120});
  assert_outcome(race, 3, "goes on: 1 0x 1", 0);
  assert_null(race_samples(race, 1, &count));
  assert_int_equal(race_next(race, in, &count), 1);
  assert_int_equal(count, 2);
  assert_int_equal(in[1], 2);
  race_take(race, 1, (const float[]){101, 121});
  const float* samples = race_samples(race, 2, &count);
  assert_int_equal(count, 2);
  assert_true(samples[0] == 120 && samples[1] == 121);
  race_free(race);
}

/*
 * Five rounds of eight gain 10%, three lose 6%: a median with a gain that is not sure, however long one looks. The
 * third choice is 1% slower than auto in half of the rounds and 1% faster in the others, and nothing to look at longer.
 */
static void proof(void** state) {
  (void)state;
  static const size_t batches[] = {1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 7, 9, 4, 14, 18, 8};
  struct race* race = race_start(&race_rules_default, 3);
  size_t run = 0;
  for (size_t i = 0; i < COUNT(batches); i++) {
    size_t in[3];
    size_t count;
    float us[MOST_BATCH * 3];
    assert_int_equal(race_next(race, in, &count), batches[i]);
    assert_int_equal(count, run < 40 ? 3 : 2);
    for (size_t j = 0; j < batches[i]; j++, run++) {
      us[j * count] = 100;
      us[j * count + 1] = run % 8 < 5 ? 90 : 106;
      if (count == 3) us[j * count + 2] = run % 2 ? 101 : 96;
    }
    race_take(race, batches[i], us);
  }
  assert_outcome(race, 3, "most rounds run: 80 80 40", 0);
  race_free(race);
}

/*
 * 41 leads, 135 is the last: above 123 is 3x, 71.01 its root of 3 times, 59.13 its cube root of 3 times, then 53.96,
 * 51.08, 49.24. That leaves 41 to 49, of which six stay; those above 2% more, 41.82, are beaten after 8 rounds.
 */
static void many(void** state) {
  (void)state;
  static const struct {
    float above;
    size_t samples;
    enum race_fate fate;
  } bands[] = {{123, 1, RACE_SLOW},      {71.01F, 2, RACE_SLOW},   {59.13F, 3, RACE_SLOW},
               {53.96F, 4, RACE_SLOW},   {51.08F, 5, RACE_SLOW},   {49.24F, 6, RACE_SLOW},
               {46.5F, 6, RACE_CROWDED}, {41.82F, 8, RACE_BEATEN}, {0, 15, RACE_IN}};
  struct race* race = race_start(&race_rules_default, MOST_CHOICES);
  size_t in[MOST_CHOICES];
  size_t count;
  static float us[MOST_BATCH * MOST_CHOICES];
  for (size_t rounds; (rounds = race_next(race, in, &count)) > 0; race_take(race, rounds, us))
    for (size_t i = 0; i < rounds * count; i++) us[i] = in[i % count] ? 40 + (float)in[i % count] : 100;
  assert_int_equal(race_stopped(race), RACE_SETTLED);
  assert_int_equal(race_leader(race), 1);
  for (size_t i = 1; i < MOST_CHOICES; i++) {
    size_t band = 0;
    while (40 + (float)i <= bands[band].above) band++;
    race_samples(race, i, &count);
    assert_int_equal(count, bands[band].samples);
    assert_int_equal(race_fate(race, i), bands[band].fate);
  }
  race_free(race);
}

/* Of 31 equals beside auto 16 stay after 6 rounds, 8 after 8, and 6 after 11. When the leader goes, all come back. */
static void crowd(void** state) {
  (void)state;
  struct race* race = race_start(&race_rules_default, 32);
  size_t in[32];
  size_t count;
  static float us[MOST_BATCH * 32];
  for (size_t run = 0; run < 11;) {
    size_t rounds = race_next(race, in, &count);
    assert_int_equal(count, run < 6 ? 32 : run < 8 ? 17 : 9);
    for (size_t i = 0; i < rounds * count; i++) us[i] = in[i % count] ? 50 + (float)in[i % count] / 100 : 100;
    race_take(race, rounds, us);
    run += rounds;
  }
  for (size_t i = 1; i < 32; i++) assert_int_equal(race_fate(race, i), i <= 6 ? RACE_IN : RACE_CROWDED);
  race_exclude(race, 1);
  race_next(race, in, &count);
  assert_int_equal(count, 1 + 15); /* of the 30 that are left, the slower half went again */
  race_free(race);
}

static void assert_result(const struct race* race, size_t choice, struct race_result want) {
  struct race_result have;
  race_result(race, choice, &have);
  bool same = have.samples == want.samples && fabs(have.median_us - want.median_us) < 1e-4 &&
              fabs(have.low_us - want.low_us) < 1e-4 && fabs(have.high_us - want.high_us) < 1e-4 &&
              fabs(have.spread - want.spread) < 1e-6;
  if (!same)
    fail_msg("choice %zu: %zu samples, %g in %g to %g, %g", choice, have.samples, have.median_us, have.low_us,
             have.high_us, have.spread);
}

/* The 2nd to the 8th of 9, the extremes of 6, and no spread of 5. */
static void results(void** state) {
  (void)state;
  struct race* race = race_start(&race_rules_default, 1);
  static const float us[] = {104, 102, 110, 106, 108, 100};
  static const struct race_result want[] = {
      {0, 0, 0, 0, -1},       {1, 104, 104, 104, -1}, {2, 103, 102, 104, -1},        {3, 104, 102, 110, -1},
      {4, 105, 102, 110, -1}, {5, 106, 102, 110, -1}, {6, 105, 100, 110, 10 / 210.},
  };
  for (size_t i = 0; i <= COUNT(us); i++) {
    size_t in;
    size_t count;
    assert_result(race, 0, want[i]);
    assert_int_equal(race_next(race, &in, &count), i < COUNT(us));
    if (i < COUNT(us)) race_take(race, 1, us + i);
  }
  race_free(race);
}

/*
 * From the fifth round on, all takes twice as long. The 60 was beaten after eight rounds, four of them before; among
 * 15, the median is after. It is stated as 1.2 times what the winner's is, not as the 90 that it had.
 */
static void drift(void** state) {
  (void)state;
  struct race* race = race_start(&race_rules_default, 4);
  size_t in[4];
  size_t count;
  float us[MOST_BATCH * 4];
  static const float times[] = {100, 50, 60, 50.5F};
  for (size_t rounds, run = 0; (rounds = race_next(race, in, &count)) > 0; race_take(race, rounds, us))
    for (size_t i = 0; i < rounds; i++, run++)
      for (size_t j = 0; j < count; j++) us[i * count + j] = times[in[j]] * (run < 4 ? 1 : 2);
  assert_outcome(race, 4, "settled: 15 15 8b 15", 0);
  assert_result(race, 0, (struct race_result){15, 200, 100, 200, 0.25});
  assert_result(race, 1, (struct race_result){15, 100, 50, 100, 0.25});
  assert_result(race, 2, (struct race_result){8, 120, 80, 160, 60 / 180.});
  race_free(race);
}

static void words(void** state) {
  (void)state;
  assert_string_equal(race_stop_words(RACE_GOES_ON), "goes on");
  assert_string_equal(race_stop_words(RACE_BUDGET), "time is up");
  assert_string_equal(race_fate_words(RACE_IN), "in");
  assert_string_equal(race_fate_words(RACE_SLOW), "far slower than the leader");
  assert_string_equal(race_fate_words(RACE_NO_GAIN), "gains too little");
  assert_string_equal(race_fate_words(RACE_EXCLUDED), "excluded");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constant_times), cmocka_unit_test(outliers), cmocka_unit_test(broken_rounds),
      cmocka_unit_test(exclusion),      cmocka_unit_test(ended),    cmocka_unit_test(exclusion_in_flight),
      cmocka_unit_test(proof),          cmocka_unit_test(many),     cmocka_unit_test(crowd),
      cmocka_unit_test(results),        cmocka_unit_test(drift),    cmocka_unit_test(words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
