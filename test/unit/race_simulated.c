/*
 * Thousands of seeded races among random candidates under noise: their medians and spreads, judged by the rule that the
 * plugin decides with, against the decision of the times without noise; and what they cost beside an exhaustive sweep.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/race.h"
#include "decide/compete.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

enum {
  CHOICES = 26, /* auto, and what differs of 42 candidates */
  SWEPT = 42,
  SWEEPS = 9, /* exhaustive: all candidates, nine times each */
  MOST_BATCH = 40,
  LEAST_TO_COMPETE = 6
};

/* How the candidates lie; the fastest takes 1, most of the others 1.2 to 10. */
enum layout {
  SCATTERED, /* three are within 5% of some other, be it the fastest or not; for a third, nothing gains over auto */
  CROWDED,   /* up to three are within 5% of the fastest, and so at the edge of being its equal */
  TIED,      /* up to three take as long as auto, up to three others are within 5%; none is faster */
  EQUAL      /* all take as long as auto */
};

struct setting {
  const char* name;
  enum layout layout;
  double noise;    /* of the logarithm */
  double drift;    /* by which all has become slower, or faster, 40 rounds later */
  double outliers; /* the share of samples that take ten times as long */
  size_t races;
  /* limits */
  double wrong; /* the share decided otherwise than without noise, and more than 2% slower than the fastest */
  double luck;  /* of the races without a gain, the share that see one */
  double cost;  /* beside the exhaustive sweep */
};

struct candidates {
  double times[CHOICES];
  uint8_t channels[CHOICES];
};

/* --- chance ------------------------------------------------------------------------------------------------------- */

static uint64_t seed;

/* SplitMix64 (Steele, Lea, Flood, 2014), above 0 and below 1. */
static double chance(void) {
  uint64_t z = (seed += UINT64_C(0x9E3779B97F4A7C15));
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return ((double)((z ^ (z >> 31)) >> 12) + 0.5) * 0x1p-52;
}

static size_t chance_of(size_t count) {
  return (size_t)(chance() * (double)count);
}

/* Box and Muller. */
static double normal(void) {
  return sqrt(-2 * log(chance())) * cos(6.283185307179586 * chance());
}

/* --- candidates --------------------------------------------------------------------------------------------------- */

static double near(double time) {
  return time * (1 + 0.05 * chance());
}

static double auto_time(enum layout layout) {
  if (layout == TIED || layout == EQUAL) return 1;
  return chance() < 0.3 ? 1 - 0.3 * chance() : pow(2, chance());
}

static struct candidates draw(enum layout layout) {
  static const uint8_t channels[] = {0, 1, 2, 4, 8, 16, 24, 32};
  struct candidates c = {.times = {auto_time(layout), 1}};
  size_t ties = layout == TIED ? chance_of(4) : layout == EQUAL ? CHOICES : 0;
  size_t neighbours = layout == TIED || layout == CROWDED ? chance_of(4) : 0;
  for (size_t i = 1; i < CHOICES; i++) {
    bool scattered = layout == SCATTERED && i > CHOICES - 4;
    bool fastest = i == 1 && layout != TIED;
    if (fastest || i <= ties)
      c.times[i] = 1;
    else if (i <= 1 + ties + neighbours)
      c.times[i] = near(1);
    else
      c.times[i] = scattered ? near(c.times[1 + chance_of(i - 1)]) : 1.2 * pow(10 / 1.2, chance());
    c.channels[i] = channels[chance_of(COUNT(channels))];
  }
  return c;
}

static double fastest_of(const struct candidates* c, size_t from) {
  double fastest = c->times[from];
  for (size_t i = from + 1; i < CHOICES; i++) fastest = fmin(fastest, c->times[i]);
  return fastest;
}

/* --- races and decisions ------------------------------------------------------------------------------------------ */

/* Runs a race to its end and returns what it cost, in times of the fastest. */
static double run(struct race* race, const struct setting* setting, const struct candidates* c) {
  size_t in[CHOICES];
  size_t count;
  float us[MOST_BATCH * CHOICES];
  double cost = 0;
  for (size_t rounds, round = 0; (rounds = race_next(race, in, &count)) > 0; race_take(race, rounds, us)) {
    assert_true(rounds <= MOST_BATCH);
    for (size_t i = 0; i < rounds; i++, round++)
      for (size_t j = 0; j < count; j++) {
        double time = c->times[in[j]] * exp(setting->drift * (double)round / 40 + setting->noise * normal());
        us[i * count + j] = (float)(time * (chance() < setting->outliers ? 1000 : 100));
        cost += c->times[in[j]];
      }
  }
  return cost;
}

/* The rule's choice; what cannot compete has a median of 0. */
static size_t decide(const struct candidates* c, const struct race_result* results) {
  static const struct sw_policy policy = {.min_gain = 3 * SW_ONE / 100};
  struct sw_contender contenders[CHOICES];
  size_t count = 0;
  for (size_t i = 1; i < CHOICES; i++)
    if (results[i].median_us > 0)
      contenders[count++] = (struct sw_contender){.choice = {(int8_t)i, -1, c->channels[i]},
                                                  .time_ps = results[i].median_us * 1e6,
                                                  .spread = (int64_t)(results[i].spread * (double)SW_ONE)};
  int64_t spread = (int64_t)(results[0].spread * (double)SW_ONE);
  size_t ranked = sw_compete(&policy, results[0].median_us * 1e6, spread, contenders, count);
  return ranked ? (size_t)contenders[0].choice.algo : 0;
}

static size_t decide_without_noise(const struct candidates* c) {
  struct race_result results[CHOICES] = {0};
  for (size_t i = 0; i < CHOICES; i++) results[i].median_us = c->times[i];
  return decide(c, results);
}

static size_t decide_after(const struct race* race, const struct candidates* c) {
  struct race_result results[CHOICES];
  for (size_t i = 0; i < CHOICES; i++) {
    race_result(race, i, &results[i]);
    if (results[i].samples < LEAST_TO_COMPETE) results[i].median_us = 0;
  }
  return decide(c, results);
}

/* --- settings ----------------------------------------------------------------------------------------------------- */

struct tally {
  size_t races, wrong, without_gain, luck, samples;
  double cost, exhaustive, loss;
};

static void add_race(struct tally* tally, const struct setting* setting) {
  struct candidates c = draw(setting->layout);
  struct race* race = race_start(&race_rules_default, CHOICES);
  assert_non_null(race);
  tally->cost += run(race, setting, &c);
  double sum = 0;
  for (size_t i = 0; i < CHOICES; i++) sum += c.times[i];
  tally->exhaustive += sum / CHOICES * SWEPT * SWEEPS;
  size_t want = decide_without_noise(&c);
  size_t have = decide_after(race, &c);
  tally->races++;
  tally->wrong += have != want && c.times[have] > 1.02 * fastest_of(&c, 0);
  tally->loss += c.times[have] / c.times[want] - 1;
  if (1 - fastest_of(&c, 1) / c.times[0] < 0.001) {
    tally->without_gain++;
    tally->luck += have != 0;
  }
  size_t samples;
  race_samples(race, 0, &samples);
  tally->samples += samples;
  race_free(race);
}

static double share(size_t part, size_t all) {
  return all ? (double)part / (double)all : 0;
}

/* Sanitizers make it five times slower, so they see a part of the races; the limits are for all of them. */
static bool is_sanitized(void) {
  const char* sanitize = getenv("SW_SANITIZE");
  return sanitize && *sanitize;
}

static void assert_setting(const struct setting* setting) {
  struct tally tally = {0};
  size_t races = is_sanitized() ? setting->races / 5 : setting->races;
  for (size_t i = 0; i < races; i++) {
    seed = i * 7919 + 1;
    add_race(&tally, setting);
  }
  double wrong = share(tally.wrong, races);
  double luck = share(tally.luck, tally.without_gain);
  double cost = tally.cost / tally.exhaustive;
  print_message("%-28s %4.1f%% wrong, %4.2f%% lucky of %4zu, loss %5.2f%%, cost %4.1f%%, %2.0f samples of auto\n",
                setting->name, 100 * wrong, 100 * luck, tally.without_gain, 100 * tally.loss / (double)races,
                100 * cost, share(tally.samples, races));
  if (is_sanitized()) return;
  if (wrong > setting->wrong) fail_msg("%s: %.2f%% are wrong", setting->name, 100 * wrong);
  if (luck > setting->luck) fail_msg("%s: %.2f%% are luck", setting->name, 100 * luck);
  if (cost > setting->cost) fail_msg("%s: cost %.1f%%", setting->name, 100 * cost);
}

static void all_settings(void** state) {
  (void)state;
  static const struct setting settings[] = {
      {"5% noise", SCATTERED, 0.05, 0, 0, 2000, 0.01, 0.01, 0.15},
      {"1% noise", SCATTERED, 0.01, 0, 0, 600, 0.01, 0.01, 0.13},
      {"20% noise", SCATTERED, 0.20, 0, 0, 600, 0.06, 0.01, 0.2},
      {"10% slower in 40 rounds", SCATTERED, 0.05, 0.1, 0, 600, 0.03, 0.01, 0.15},
      {"30% faster in 40 rounds", SCATTERED, 0.05, -0.3, 0, 600, 0.06, 0.01, 0.15},
      {"1% outliers", SCATTERED, 0.05, 0, 0.01, 600, 0.03, 0.01, 0.15},
      {"crowded", CROWDED, 0.05, 0, 0, 1000, 0.04, 0.01, 0.22},
      {"crowded, 1% noise", CROWDED, 0.01, 0, 0, 600, 0.01, 0.01, 0.15},
      {"tied", TIED, 0.05, 0, 0, 1500, 0, 0.01, 0.21},
      {"tied, 1% noise", TIED, 0.01, 0, 0, 500, 0, 0.005, 0.13},
      {"tied, 20% noise", TIED, 0.20, 0, 0, 600, 0, 0.04, 0.31}, /* what is luck fails the fresh comparison */
      {"tied, drift", TIED, 0.05, 0.3, 0, 500, 0, 0.01, 0.21},
      {"tied, 1% outliers", TIED, 0.05, 0, 0.01, 500, 0, 0.01, 0.21},
      {"all equal", EQUAL, 0.05, 0, 0, 150, 0, 0.02, 1.25},
  };
  for (size_t i = 0; i < COUNT(settings); i++) assert_setting(&settings[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_settings)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
