/*
 * Are size, time and bandwidth of a printed row one measurement? Figures are printed rounded, so each stands for an
 * interval of half a unit of its last digit to both sides. Pure.
 *
 *     algbw = bytes / time                  GB/s, 1e9 bytes a second
 *     busbw = algbw x factor(ranks)         NVIDIA/nccl-tests, doc/PERFORMANCE.md
 */
#ifndef SW_IMPORT_FIGURES_H
#define SW_IMPORT_FIGURES_H

#include "import/lines.h"

/* A number as it was printed. */
struct figure {
  double value;
  double half; /* half a unit of the last digit */
};

/* "27211.0", "1284.8", "1.2e+08"; false when the word is none. */
bool figure_read(struct word word, struct figure* out);

/* What busbw is of algbw: 2(n-1)/n for all-reduce, (n-1)/n for all-gather and reduce-scatter, 1 for the others. */
double busbw_factor(int collective, uint32_t ranks);

/* Whether a bandwidth (GB/s) fits `bytes` x factor in `time` (microseconds). */
bool bandwidth_fits(uint64_t bytes, struct figure time, double factor, struct figure bandwidth);

/* The bandwidth that size and time give, GB/s. */
double bandwidth_of(uint64_t bytes, struct figure time, double factor);

/* 2, 4 or 8 where the printed bandwidth is so many times what size and time give: then the size counts elements of so
   many bytes. Else 0. */
unsigned element_bytes(uint64_t bytes, struct figure time, struct figure bandwidth);

#endif
