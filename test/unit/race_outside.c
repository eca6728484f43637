/* bench/calibrate/race: what is done to it from outside, and what it tells. */
#include "race_script.h"

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
      /* and again: 36 rounds and 40 more, 48 and 64 among them */
      {.times = {100, 10, 30, 95}, .actions = {{15, 1}, {36, 2}}, .outcome = "settled: 64 15x 23x 29"},
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
      cmocka_unit_test(exclusion), cmocka_unit_test(ended), cmocka_unit_test(exclusion_in_flight),
      cmocka_unit_test(results),   cmocka_unit_test(drift), cmocka_unit_test(words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
