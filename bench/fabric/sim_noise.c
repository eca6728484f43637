#include "fabric/sim_noise.h"

#include <math.h>

#include "decide/log2.h"

#define LOG2_E 1.4426950408889634
#define LN2 0.6931471805599453

/* The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static uint64_t mix(uint64_t x) {
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

uint64_t sim_hash(const uint64_t* words, size_t count) {
  uint64_t hash = count;
  for (size_t i = 0; i < count; i++) hash = mix(hash ^ words[i]);
  return hash;
}

double sim_uniform(uint64_t hash) {
  return (double)(hash >> 11) / (double)(UINT64_C(1) << 53);
}

/* Marsaglia's polar method, which needs no sine: points of the square until one falls into the circle. */
static double normal(uint64_t hash) {
  for (;;) {
    uint64_t next = mix(hash);
    double x = 2 * sim_uniform(hash) - 1;
    double y = 2 * sim_uniform(next) - 1;
    double square = x * x + y * y;
    if (square > 0 && square < 1) return x * sqrt(-2 * LN2 * sw_log2(square) / square);
    hash = mix(next);
  }
}

double sim_lognormal(uint64_t hash, double sigma) {
  return sw_exp2(sigma * normal(hash) * LOG2_E);
}
