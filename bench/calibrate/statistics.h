/*
 * Medians, and how sure they are, without a word about how the noise is distributed. Pure.
 *
 * The median's interval lies between two order statistics: of n independent values each is below the median with chance
 * 1/2, so how many are below is Binomial(n, 1/2), whatever the values' distribution (Conover, Practical Nonparametric
 * Statistics, 3rd ed., 3.2; Le Boudec, Performance Evaluation, 2.2). A bound of the interval above 1 is thus a sign
 * test that the median is. Of 6 values the extremes hold it with 96.9%, of 9 the 2nd and the 8th with 96.1%.
 */
#ifndef SW_STATISTICS_H
#define SW_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The chance to miss on each side of a 95% interval. */
#define OUTSIDE_95 0.025

enum { LEAST_FOR_SPREAD = 6 }; /* fewer values have no 95% interval of the median */

/* A median and the interval around it. */
struct middle {
  size_t count;
  double least;
  double median;
  double low;
  double high;
  bool sure; /* there were values enough: else low and high are the extremes, and say less than was asked for */
};

/* The chance that fewer than `below` of `count` fair coins show heads; exact up to the rounding of doubles. */
double binomial_below(size_t count, size_t below);

/*
 * The greatest rank r (from 1) so that the median of what `count` values come from is below the r-th smallest with a
 * chance of at most `outside`; by symmetry neither is it above the r-th greatest. 0: too few values.
 */
size_t median_rank(size_t count, double outside);

/*
 * The middle of `count` values, which it sorts; `outside` is the chance to miss on each side. At most SIZE_MAX / 8
 * values; none give a middle of zeros.
 */
struct middle middle_of(double* values, size_t count, double outside);

/* One choice's samples, and the round of each, ascending. */
struct series {
  const float* us;
  const uint16_t* rounds;
  size_t count;
};

/* a/b of each round in which both have a sample, so that what slows a whole round down cancels. Returns their number.
 */
size_t paired_ratios(struct series a, struct series b, double* ratios);

#endif
