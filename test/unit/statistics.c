/* bench/calibrate/statistics: exact binomial tails, the median's interval, ratios paired by round. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/statistics.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static void assert_near(double have, double want) {
  if (!(fabs(have - want) <= 1e-12 * fabs(want))) fail_msg("have %.17g, want %.17g", have, want);
}

/* Sums of Pascal's triangle: 1 + 9 = 10 of 512, 1 + 20 + 190 + 1140 + 4845 + 15504 = 21700 of 2^20. */
static void tails(void** state) {
  (void)state;
  static const struct {
    size_t count, below;
    double chance;
  } cases[] = {
      {0, 0, 0},
      {0, 1, 1},
      {1, 1, 0.5},
      {5, 0, 0},
      {5, 5, 31 / 32.0},
      {5, 6, 1},
      {5, 7, 1},
      {6, 1, 1 / 64.0},
      {6, 2, 7 / 64.0},
      {9, 2, 10 / 512.0},
      {9, 3, 46 / 512.0},
      {12, 3, 79 / 4096.},
      {20, 6, 21700 / 0x1p20},
      {3, 2, 4 / 8.0},
      {1000, 1, 0x1p-1000},
  };
  for (size_t i = 0; i < COUNT(cases); i++)
    assert_near(binomial_below(cases[i].count, cases[i].below), cases[i].chance);
  /* where 2^-count is no double any more: the two halves, with the middle in one of them, make 1 */
  assert_true(fabs(binomial_below(5000, 2500) + binomial_below(5000, 2501) - 1) < 1e-9);
}

static void ranks(void** state) {
  (void)state;
  static const struct {
    size_t count;
    double outside;
    size_t rank;
  } cases[] = {
      /* of a 95% interval: 1/32 is too much, 1/64 is not; 9/256, 67/2048 and 56/1024 are too much */
      {0, 0.025, 0},
      {1, 0.025, 0},
      {5, 0.025, 0},
      {6, 0.025, 1},
      {8, 0.025, 1},
      {9, 0.025, 2},
      {10, 0.025, 2},
      {11, 0.025, 2},
      {12, 0.025, 3},
      {20, 0.025, 6},
      {40, 0.025, 14}, /* the tables: 14th to 27th */
      {100, 0.025, 40},
      /* the chance may be used up to the last bit */
      {6, 1 / 64.0, 1},
      {6, 1 / 65.0, 0},
      {9, 10 / 512.0, 2},
      {9, 9.9 / 512.0, 1},
      {20, 21700 / 0x1p20, 6},
      {20, 21699 / 0x1p20, 5},
      /* half: the median itself, and never beyond it */
      {1, 0.5, 1},
      {2, 0.5, 1},
      {3, 0.5, 2},
      {3, 1, 2},
      {4, 1, 2},
      {5, 0, 0},
  };
  for (size_t i = 0; i < COUNT(cases); i++)
    if (median_rank(cases[i].count, cases[i].outside) != cases[i].rank)
      fail_msg("%zu at %g: have %zu, want %zu", cases[i].count, cases[i].outside,
               median_rank(cases[i].count, cases[i].outside), cases[i].rank);
}

static void middles(void** state) {
  (void)state;
  static const struct {
    size_t count;
    double values[12];
    struct middle want;
  } cases[] = {
      {0, {0}, {0, 0, 0, 0, 0, false}},
      {1, {7}, {1, 7, 7, 7, 7, false}},
      {2, {9, 7}, {2, 7, 8, 7, 9, false}},
      {5, {5, 1, 4, 2, 3}, {5, 1, 3, 1, 5, false}},
      {6, {6, 1, 5, 2, 4, 3}, {6, 1, 3.5, 1, 6, true}},
      {9, {9, 8, 7, 6, 5, 4, 3, 2, 1}, {9, 1, 5, 2, 8, true}},
      {12, {1, 3, 5, 7, 9, 11, 12, 10, 8, 6, 4, 2}, {12, 1, 6.5, 3, 10, true}},
      /* ties, and an outlier that moves nothing but the end it is at */
      {9, {4, 4, 4, 4, 4, 4, 4, 4, 4}, {9, 4, 4, 4, 4, true}},
      {9, {4, 4, 4, 4, 40, 4, 4, 4, 4}, {9, 4, 4, 4, 4, true}},
      {6, {4, 4, 40, 4, 4, 4}, {6, 4, 4, 4, 40, true}},
      {3, {-1, -3, 0.5}, {3, -3, -1, -3, 0.5, false}},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    double values[12];
    memcpy(values, cases[i].values, sizeof values);
    struct middle have = middle_of(values, cases[i].count, 0.025);
    const struct middle* want = &cases[i].want;
    if (have.count != want->count || have.least != want->least || have.median != want->median ||
        have.low != want->low || have.high != want->high || have.sure != want->sure)
      fail_msg("case %zu: have %zu values from %g, %g in %g to %g, %d", i, have.count, have.least, have.median,
               have.low, have.high, have.sure);
  }
}

static double next_chance(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) * 0x1p-53;
}

/* Of 9 values from a skewed distribution with median 1/4, the interval holds it with 1 - 2 * 10/512 = 96.1%. */
static void coverage(void** state) {
  (void)state;
  enum { SETS = 40000 };
  uint64_t seed = 1;
  size_t held = 0;
  for (size_t i = 0; i < SETS; i++) {
    double values[9];
    for (size_t j = 0; j < COUNT(values); j++) {
      double chance = next_chance(&seed);
      values[j] = chance * chance;
    }
    struct middle middle = middle_of(values, COUNT(values), 0.025);
    held += middle.low <= 0.25 && 0.25 <= middle.high;
  }
  double share = (double)held / SETS;
  if (fabs(share - (1 - 20 / 512.0)) > 0.003) fail_msg("%.4f", share); /* three times its own error */
}

/* Rounds in which one of the two has no sample are left out, wherever they are. */
static void paired(void** state) {
  (void)state;
  static const struct {
    size_t count_a, count_b;
    uint16_t rounds_a[5], rounds_b[5];
    float a[5], b[5];
    size_t count;
    double ratios[5];
  } cases[] = {
      {0, 0, {0}, {0}, {0}, {0}, 0, {0}},
      {2, 0, {0, 1}, {0}, {1, 2}, {0}, 0, {0}},
      {0, 2, {0}, {0, 1}, {0}, {1, 2}, 0, {0}},
      {2, 2, {0, 1}, {0, 1}, {1, 3}, {2, 4}, 2, {0.5, 0.75}},
      {2, 3, {0, 1}, {2, 3, 4}, {1, 3}, {2, 4, 1}, 0, {0}},
      {2, 4, {1, 3}, {0, 1, 2, 3}, {6, 9}, {1, 2, 1, 4}, 2, {3, 2.25}},
      {4, 2, {0, 1, 2, 3}, {1, 3}, {1, 2, 1, 4}, {8, 5}, 2, {0.25, 0.8}},
      {3, 3, {0, 2, 65535}, {1, 2, 65535}, {1, 3, 7}, {9, 4, 8}, 2, {0.75, 0.875}},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    double ratios[5];
    struct series a = {cases[i].a, cases[i].rounds_a, cases[i].count_a};
    struct series b = {cases[i].b, cases[i].rounds_b, cases[i].count_b};
    assert_int_equal(paired_ratios(a, b, ratios), cases[i].count);
    for (size_t j = 0; j < cases[i].count; j++) assert_near(ratios[j], cases[i].ratios[j]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tails),    cmocka_unit_test(ranks),  cmocka_unit_test(middles),
      cmocka_unit_test(coverage), cmocka_unit_test(paired),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
