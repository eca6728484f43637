#include "decide/log2.h"

#include <string.h>

#define LN2 0.6931471805599453
#define SQRT2 1.4142135623730951

static double power_of_two(int exponent) {
  uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/*
 * x = m 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 atanh(s) with s = (m - 1) / (m + 1), |s| < 0.172, whose series
 * s + s^3/3 + s^5/5 ... is below 1e-18 after twelve terms.
 */
double sw_log2(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52) - 1023;
  double m = x / power_of_two(exponent);
  if (m > SQRT2) {
    m = m / 2;
    exponent = exponent + 1;
  }
  double s = (m - 1) / (m + 1);
  double square = s * s;
  double sum = 0;
  for (int n = 23; n >= 1; n -= 2) sum = sum * square + 1.0 / n;
  return exponent + 2 * s * sum / LN2;
}

/* x = n + f with |f| <= 1/2; 2^f = e^(f ln 2), whose Taylor series is below 1e-18 after fifteen terms. */
double sw_exp2(double x) {
  int n = (int)(x < 0 ? x - 0.5 : x + 0.5);
  double y = (x - n) * LN2;
  double sum = 1;
  for (int i = 15; i >= 1; i--) sum = 1 + sum * y / i;
  return sum * power_of_two(n);
}

/* 2^(j/16) in units of 2^-62, rounded down; none but j = 0 is exact, which sw_grid_bytes relies on. */
static const uint64_t roots[SW_GRID_PER_OCTAVE] = {
    UINT64_C(0x4000000000000000), UINT64_C(0x42d561b3e6243d8a), UINT64_C(0x45cae0f1f545eb73),
    UINT64_C(0x48e1e9b9d588e19b), UINT64_C(0x4c1bf828c6dc54b7), UINT64_C(0x4f7a993048d088d6),
    UINT64_C(0x52ff6b54d8a89c75), UINT64_C(0x56ac1f752150a563), UINT64_C(0x5a827999fcef3242),
    UINT64_C(0x5e8451cfac061b5f), UINT64_C(0x62b39508aa836d6e), UINT64_C(0x6712460a8fc24071),
    UINT64_C(0x6ba27e656b4eb57a), UINT64_C(0x70666f76154a7088), UINT64_C(0x75606373ee921c97),
    UINT64_C(0x7a92be8a92436616),
};

uint64_t sw_grid_bytes(int k) {
  int octave = k / SW_GRID_PER_OCTAVE;
  uint64_t root = roots[k % SW_GRID_PER_OCTAVE];
  if (k % SW_GRID_PER_OCTAVE == 0) return UINT64_C(1) << octave;
  return (root >> (62 - octave)) + 1;
}

int sw_grid_cell(uint64_t bytes) {
  int octave = 0;
  while (octave < 61 && bytes >> (octave + 1)) octave++;
  int k = octave * SW_GRID_PER_OCTAVE;
  while (k < SW_GRID_END && sw_grid_bytes(k + 1) <= bytes) k++;
  return k;
}
