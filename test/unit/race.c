/* bench/calibrate/race: who drops out when, and how it stops. */
#include "race_script.h"

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
      /* a gain of 5% that thrice is 2%: the 13th of 15 is one of these, the 16th of 20 is not */
      {.times = {100, 95}, .events = {{2, 1, 1.0316F}, {5, 1, 1.0316F}, {9, 1, 1.0316F}}, .outcome = "settled: 20 20"},
      /* sure, and within the spread: of 15 the 4th to the 12th, 50 to 100, half of that 25% each, of 20 nothing */
      {.times = {100, 80},
       .events = {{0, 0, 0.5F},
                  {1, 0, 0.5F},
                  {2, 0, 0.5F},
                  {3, 0, 0.5F},
                  {0, 1, 0.5F},
                  {1, 1, 0.5F},
                  {2, 1, 0.5F},
                  {3, 1, 0.5F}},
       .outcome = "settled: 20 20"},
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

/* Looks after 54, 72 and 80 rounds, at auto and at what is open. */
static void proof(void** state) {
  (void)state;
#define LUCKY "aaaaaggg"                                  /* five of eight gain 10%, three lose 6% */
#define LUCKIER "aaaaadgg"                                /* one of those three gains 2% */
#define BEHIND "ffbffbffbffbffbffbffbffbffbffbffbffbffbf" /* 27 of 40 lose 3%, and 29 would be sure */
  static const struct script cases[] = {
      /* a gain that is never sure, and one that is nearer to 3% than to none: half 4% faster, half 1% slower */
      {.times = {100, 100, 100}, .cycles = {NULL, LUCKY, "ec"}, .outcome = "most rounds run: 80 80 80"},
      /* that gain, and one that is nearer to none: most rounds are 1% slower */
      {.times = {100, 100, 100}, .cycles = {NULL, LUCKY, "eceec"}, .outcome = "most rounds run: 80 80 40"},
      /* 29 of 40 are sure for one choice, p = 1/311, but not for the luckier of two; 39 of 54 are, p = 1/1,300 */
      {.times = {100, 100, 400},
       .cycles = {NULL, LUCKIER LUCKIER LUCKIER LUCKIER LUCKY LUCKY LUCKY},
       .outcome = "most rounds run: 54 54 1s"},
      /* surely faster, by 2%, or now and then 6%: of 40 the 14th is no longer among the 13 of these, or among the 16 */
      {.times = {100, 100}, .cycles = {NULL, "ddb"}, .outcome = "most rounds run: 40 40"},
      {.times = {100, 100}, .cycles = {NULL, "ddbdb"}, .outcome = "most rounds run: 80 80"},
      /* the fastest, one that is its equal or is not, and one that is 5% slower if anything */
      {.times = {100, 80, 80, 80}, .cycles = {NULL, NULL, "cg", "ah"}, .outcome = "most rounds run: 80 80 80 40"},
      /* the last look at all, by which 29 of 40 are behind */
      {.times = {100, 80, 80},
       .cycles = {NULL, NULL, "ffbffbffbffbffbffbffbffbffbffbffbffffffff"},
       .outcome = "settled: 40 40 40b"},
      /* nothing is dropped any more, however sure: there were as many looks as were allowed for */
      {.times = {100, 80, 80},
       .cycles = {NULL, NULL, BEHIND "ffffffffffffffffffffffffffffffffffffffff"},
       .outcome = "most rounds run: 80 80 80"},
  };
  assert_outcomes(cases, COUNT(cases));
}

/* Five looks from 12 rounds on, at 1/100 each: 7 of 7 would be 1/128, but it is too early for that. */
static void other_rules(void** state) {
  (void)state;
  static const struct script script = {.times = {100, 50, 51.1F}};
  struct race_rules rules = race_rules_default;
  rules.least_rounds = 12;
  struct race* race = race_start(&rules, 3);
  for (size_t rounds = 1, run = 0; rounds; run += rounds) rounds = run_batch(race, &script, run);
  assert_outcome(race, 3, "settled: 16 16 12b", 0);
  race_free(race);
}

/* With two choices 40 rounds of the proof cost as much as the 40 for all. */
static void a_cheap_proof_goes_on(void** state) {
  (void)state;
  static const struct script script = {.times = {100, 100}, .cycles = {NULL, "ec"}};
  static const struct {
    double share;
    size_t most;
    const char* outcome;
  } cases[] = {
      {0.5, 400, "most rounds run: 80 80"}, {1.5, 400, "most rounds run: 100 100"}, {2, 50, "most rounds run: 90 90"}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct race_rules rules = script_rules();
    rules.proof_share = cases[i].share;
    rules.most_proof = cases[i].most;
    struct race* race = race_start(&rules, 2);
    for (size_t rounds = 1, run = 0; rounds; run += rounds) rounds = run_batch(race, &script, run);
    assert_outcome(race, 2, cases[i].outcome, i);
    race_free(race);
  }
}

static void batches(void** state) {
  (void)state;
  static const size_t want[] = {1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 7, 9, 4, 14, 18, 8, 0};
  static const struct script script = {.times = {100, 100}, .cycles = {NULL, LUCKY}};
  struct race_rules rules = script_rules();
  struct race* race = race_start(&rules, 2);
  for (size_t i = 0, run = 0; i < COUNT(want); run += want[i++])
    assert_int_equal(run_batch(race, &script, run), want[i]);
  race_free(race);
}

static void leader(void** state) {
  (void)state;
  static const struct {
    struct script script;
    size_t leader;
  } cases[] = {{{.times = {100, 100, 100}}, 0},
               {{.times = {100, 101}}, 0},
               {{.times = {100, 50, 50}}, 1},
               {{.times = {100, 50, 40}}, 2},
               {{.times = {100, 50, 40}, .actions = {{15, 2}}}, 1}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct race* race = run_script(&cases[i].script);
    assert_int_equal(race_leader(race), cases[i].leader);
    race_free(race);
  }
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
  race_exclude(race, 2);
  race_next(race, in, &count);
  assert_int_equal(count, 1 + 5); /* that was not the leader */
  race_exclude(race, 1);
  race_next(race, in, &count);
  assert_int_equal(count, 1 + 15); /* of the 29 that are left, the slower half went again */
  race_free(race);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constant_times), cmocka_unit_test(outliers),    cmocka_unit_test(broken_rounds),
      cmocka_unit_test(proof),          cmocka_unit_test(other_rules), cmocka_unit_test(a_cheap_proof_goes_on),
      cmocka_unit_test(batches),        cmocka_unit_test(leader),      cmocka_unit_test(many),
      cmocka_unit_test(crowd),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
