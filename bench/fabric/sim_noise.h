/*
 * Chance that all ranks agree on: a pure function of the words that it is made from. From integers, + - * / and square
 * roots alone, so every machine draws the same bits.
 */
#ifndef SW_SIM_NOISE_H
#define SW_SIM_NOISE_H

#include <stddef.h>
#include <stdint.h>

/* What a draw is for: the first word, so that no two uses share their chance. */
enum sim_purpose { SIM_FOR_SAMPLE = 1, SIM_FOR_RANK, SIM_FOR_FACTOR, SIM_FOR_ID };

/* 64 bits, each of them changed by each bit of the words. */
uint64_t sim_hash(const uint64_t* words, size_t count);

/* From a hash: evenly spread from 0 (inclusive) to 1. */
double sim_uniform(uint64_t hash);

/* From a hash: lognormal with median 1; `sigma` is the standard deviation of its logarithm. 0 gives exactly 1. */
double sim_lognormal(uint64_t hash, double sigma);

#endif
