/*
 * Logarithms to base 2 from + - * / alone, so that every machine, compiler and optimisation level computes the same
 * bits (contraction is off; libm differs from machine to machine). And the grid of sizes 2^(k/16) on which
 * change-overs lie.
 */
#ifndef SW_LOG2_H
#define SW_LOG2_H

#include <stdint.h>

/* For normal, positive x; within one unit in the last place of the result, or 1e-15. Powers of two are exact. */
double sw_log2(double x);

/* 2^x for |x| <= 1000; the relative error is below 3e-15. Whole x are exact. */
double sw_exp2(double x);

enum { SW_GRID_PER_OCTAVE = 16, SW_GRID_END = 61 * SW_GRID_PER_OCTAVE };

/* The smallest whole number of bytes that is at least 2^(k/16), for 0 <= k <= SW_GRID_END. Exact. */
uint64_t sw_grid_bytes(int k);

/* The largest k with sw_grid_bytes(k) <= bytes, for bytes from 1 to 2^61. */
int sw_grid_cell(uint64_t bytes);

#endif
