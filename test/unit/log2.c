/* plugin/decide/log2: logarithms against values known to 20 digits, and the grid 2^(k/16) against whole numbers. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "decide/log2.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static void powers_are_exact(void** state) {
  (void)state;
  double x = 1;
  double y = 1;
  for (int n = 0; n <= 1000; n++, x *= 2, y /= 2) {
    if (sw_log2(x) != n || sw_log2(y) != -n) fail_msg("log2 of 2^%d", n);
    if (sw_exp2(n) != x || sw_exp2(-n) != y) fail_msg("2^%d", n);
  }
}

/* Known values: log2 3, 5, 7, 10, 1/3 and sqrt 2, to more digits than a double holds. */
static void known_values(void** state) {
  (void)state;
  static const struct {
    double x, log2;
  } known[] = {
      {3, 1.58496250072115618145},         {5, 2.32192809488736234787},         {7, 2.80735492205760410744},
      {10, 3.32192809488736234787},        {1.0 / 3, -1.58496250072115618145},  {1.4142135623730950488, 0.5},
      {12288, 13.58496250072115618145},    {1e6, 19.93156856932417408722},      {3.6e15, 51.67691832986538523309},
      {1.0000000000000002, 3.2034265e-16}, {0.9999999999999999, -1.6017132e-16}};
  for (size_t i = 0; i < COUNT(known); i++) {
    double off = sw_log2(known[i].x) - known[i].log2;
    double off_back = sw_exp2(known[i].log2) / known[i].x - 1;
    if (off > 1e-14 || off < -1e-14) fail_msg("log2 %.17g: %.17g", known[i].x, sw_log2(known[i].x));
    if (off_back > 1e-14 || off_back < -1e-14) fail_msg("2^%.17g: %.17g", known[i].log2, sw_exp2(known[i].log2));
  }
}

/* Bit by bit, in long double: squaring a number doubles its logarithm. */
static long double slow_log2(double x) {
  long double rest = x;
  long double result = 0;
  for (; rest >= 2; rest /= 2) result++;
  for (; rest < 1; rest *= 2) result--;
  for (long double bit = 0.5L; bit > 1e-19L; bit /= 2) {
    rest *= rest;
    if (rest < 2) continue;
    rest /= 2;
    result += bit;
  }
  return result;
}

static long double magnitude(long double x) {
  return x < 0 ? -x : x;
}

/* The distance from a positive double to the next. */
static double unit_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits++;
  double next;
  memcpy(&next, &bits, sizeof next);
  return next - x;
}

static void within_the_promise(void** state) {
  (void)state;
  uint64_t seed = 1;
  for (int i = 0; i < 50000; i++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t bits = (seed >> 12) | (1023 - 60 + (seed >> 3) % 120) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    long double exact = slow_log2(x);
    double unit = unit_of((double)magnitude(exact));
    if (magnitude(sw_log2(x) - exact) > (unit > 1e-15 ? unit : 1e-15)) fail_msg("log2 %.17g", x);
    double y = (double)(seed >> 11) / 9007199254740992.0 * 2000 - 1000;
    if (magnitude(slow_log2(sw_exp2(y)) - y) >= 3e-15L / 0.6931L) fail_msg("2^%.17g", y);
  }
}

/* --- the grid: n is the smallest whole number at least 2^(k/16) when (n - 1)^16 < 2^k <= n^16 */

enum { LIMBS = 36 };

struct big {
  uint32_t limbs[LIMBS]; /* lowest first */
};

static struct big multiply(const struct big* a, const struct big* b) {
  struct big product = {{0}};
  for (int i = 0; i < LIMBS; i++) {
    uint64_t carry = 0;
    for (int j = 0; i + j < LIMBS; j++) {
      uint64_t sum = (uint64_t)a->limbs[i] * b->limbs[j] + product.limbs[i + j] + carry;
      product.limbs[i + j] = (uint32_t)sum;
      carry = sum >> 32;
    }
  }
  return product;
}

static struct big sixteenth_power(uint64_t n) {
  struct big power = {{(uint32_t)n, (uint32_t)(n >> 32)}};
  for (int i = 0; i < 4; i++) power = multiply(&power, &power);
  return power;
}

static int compare_with_power_of_two(const struct big* a, int k) {
  for (int i = LIMBS - 1; i >= 0; i--) {
    uint32_t limb = i == k / 32 ? UINT32_C(1) << (k % 32) : 0;
    if (a->limbs[i] != limb) return a->limbs[i] < limb ? -1 : 1;
  }
  return 0;
}

static void grid_is_exact(void** state) {
  (void)state;
  for (int k = 0; k <= SW_GRID_END; k++) {
    uint64_t n = sw_grid_bytes(k);
    struct big at = sixteenth_power(n);
    struct big below = sixteenth_power(n - 1);
    if (compare_with_power_of_two(&at, k) < 0) fail_msg("2^(%d/16) is above %llu", k, (unsigned long long)n);
    if (compare_with_power_of_two(&below, k) >= 0)
      fail_msg("2^(%d/16) is not above %llu - 1", k, (unsigned long long)n);
  }
}

/* 2^(1/16) = 1.0443 -> 2; 2^(16/16) = 2; 2^(25/16) = 2.954 -> 3; 2^(26/16) = 3.084 -> 4; 2^(177/16) = 2138.7 -> 2139.
 */
static void grid_by_hand(void** state) {
  (void)state;
  static const struct {
    int k;
    uint64_t bytes;
  } lines[] = {{0, 1},
               {1, 2},
               {15, 2},
               {16, 2},
               {17, 3},
               {25, 3},
               {26, 4},
               {32, 4},
               {160, 1024},
               {168, 1449},
               {176, 2048},
               {177, 2139},
               {960, UINT64_C(1) << 60},
               {976, UINT64_C(1) << 61}};
  for (size_t i = 0; i < COUNT(lines); i++) assert_int_equal(sw_grid_bytes(lines[i].k), lines[i].bytes);
}

static void cells_match_lines(void** state) {
  (void)state;
  assert_int_equal(sw_grid_cell(1), 0);
  assert_int_equal(sw_grid_cell(2), 16);
  assert_int_equal(sw_grid_cell(3), 25);
  assert_int_equal(sw_grid_cell(4), 32);
  for (int k = 0; k < SW_GRID_END; k++) {
    uint64_t from = sw_grid_bytes(k);
    uint64_t next = sw_grid_bytes(k + 1);
    if (from == next) continue; /* at small sizes several lines share a byte; the last of them is the cell */
    assert_int_equal(sw_grid_cell(from), k);
    assert_int_equal(sw_grid_cell(next - 1), k);
  }
  assert_int_equal(sw_grid_cell(UINT64_C(1) << 61), SW_GRID_END);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(powers_are_exact), cmocka_unit_test(known_values), cmocka_unit_test(within_the_promise),
      cmocka_unit_test(grid_is_exact),    cmocka_unit_test(grid_by_hand), cmocka_unit_test(cells_match_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
