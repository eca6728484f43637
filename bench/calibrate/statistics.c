#include "calibrate/statistics.h"

#include <math.h>
#include <stdlib.h>

/*
 * The chance of exactly i heads, i from 0 on: kept as a logarithm, as 2^-count vanishes from 1,075 coins on. After
 * `count` heads it is that of 0.
 */
struct walk {
  size_t count;
  size_t i;
  double logarithm;
};

static struct walk walk_start(size_t count) {
  return (struct walk){.count = count, .logarithm = -(double)count * log(2)};
}

static double walk_next(struct walk* walk) {
  double chance = exp(walk->logarithm);
  walk->logarithm += log((double)(walk->count - walk->i)) - log((double)(walk->i + 1));
  walk->i++;
  return chance;
}

double binomial_below(size_t count, size_t below) {
  struct walk walk = walk_start(count);
  double sum = 0;
  while (walk.i < below) sum += walk_next(&walk);
  return sum;
}

size_t median_rank(size_t count, double outside) {
  struct walk walk = walk_start(count);
  double limit = outside * (1 + 1e-9); /* the sum's rounding must not decide: 1/64 is allowed where 1/64 is asked for */
  double sum = 0;
  size_t rank = 0;
  while (rank < (count + 1) / 2 && (sum += walk_next(&walk)) <= limit) rank++;
  return rank;
}

static int compare(const void* a, const void* b) {
  double x = *(const double*)a;
  double y = *(const double*)b;
  return (x > y) - (x < y);
}

struct middle middle_of(double* values, size_t count, double outside) {
  if (count == 0) return (struct middle){0};
  qsort(values, count, sizeof *values, compare);
  size_t rank = median_rank(count, outside);
  size_t in = rank ? rank - 1 : 0;
  return (struct middle){.count = count,
                         .least = values[0],
                         .median = (values[(count - 1) / 2] + values[count / 2]) / 2,
                         .low = values[in],
                         .high = values[count - 1 - in],
                         .sure = rank > 0};
}

size_t paired_ratios(struct series a, struct series b, double* ratios) {
  size_t count = 0;
  for (size_t i = 0, j = 0; i < a.count && j < b.count;) {
    if (a.rounds[i] == b.rounds[j])
      ratios[count++] = (double)a.us[i++] / (double)b.us[j++];
    else if (a.rounds[i] < b.rounds[j])
      i++;
    else
      j++;
  }
  return count;
}
