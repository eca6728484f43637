/*
 * The race: which of many choices is fastest for one call, in as little time as the noise allows. Pure: samples go in,
 * what to measure next comes out. It knows no clock, no NCCL and no rank.
 *
 * Rounds are interleaved: each round gives every choice that is still in one sample (the maximum over ranks), auto
 * among them, so that drift hits all alike and two choices can be compared round by round.
 */
#ifndef SW_RACE_H
#define SW_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum race_fate {
  RACE_IN,
  RACE_SLOW,    /* three times slower than the fastest at the first look, or as clearly over the first rounds */
  RACE_BEATEN,  /* slower than the leader by confidence */
  RACE_CROWDED, /* of more than are worth telling apart, one of the slower half */
  RACE_NO_GAIN, /* gains less than min_gain over auto by confidence */
  RACE_EXCLUDED /* taken out from outside: wrong data, a hang, a crash */
};

enum race_stop {
  RACE_GOES_ON,
  RACE_SETTLED, /* one choice gains min_gain over auto, and all others left are its equals, by confidence */
  RACE_NOTHING, /* nothing left beside auto can gain min_gain */
  RACE_ENOUGH,  /* the most rounds were run: those left differ by less than the noise */
  RACE_BUDGET   /* the time given was spent */
};

struct race_rules {
  double min_gain;     /* a gain below this is none, 0.03 */
  double equal;        /* choices this near to the fastest are equal, 0.02 */
  double slow;         /* dropped after one look when slower than the fastest by this factor, 3 */
  double confidence;   /* of each comparison over the whole race, 0.95 */
  size_t crowd;        /* while more than these are left beside auto, each look by confidence halves them, 6 */
  size_t least_rounds; /* before anything but `slow` drops a choice, 6; at least 1 */
  size_t sound_rounds; /* that auto and the winner have at least when it settles: their times go on record, 15 */
  size_t most_rounds;  /* for all, 40; at least least_rounds */
  size_t proof_rounds; /* further ones, for auto and what may or may not gain, or equal the fastest, 10 */
  double proof_share;  /* and more of these while they take less than this share of the time before, 0.5 */
  size_t most_proof;   /* of these at all, 400 */
};
extern const struct race_rules race_rules_default;

struct race; /* choice 0 is auto */

/* NULL when memory runs out. `choices` counts auto. */
struct race* race_start(const struct race_rules* rules, size_t choices);
void race_free(struct race* race);

/* How many rounds to run next (0: it stopped), and which choices are in each: their indices, ascending, auto first. */
size_t race_next(struct race* race, size_t* in, size_t* count);

/*
 * The samples of those rounds: us[round * count + i] belongs to the i-th choice that race_next named. Microseconds.
 * A round with a sample that is no number above 0 is broken: it counts as run, and its samples are left out for all.
 * After this the race has judged; race_stopped tells whether it goes on.
 */
void race_take(struct race* race, size_t rounds, const float* us);

/*
 * Takes a choice out (never auto), for good. What dropped out because of it comes back, and a race that it had decided
 * goes on.
 */
void race_exclude(struct race* race, size_t choice);

/* Ends it from outside, for good: the budget is spent. Nothing happens to a race that has stopped. */
void race_end(struct race* race);

enum race_stop race_stopped(const struct race* race);
enum race_fate race_fate(const struct race* race, size_t choice);

/*
 * What was seen of a choice. Who dropped out had other rounds than those who stayed, so its time is stated as theirs
 * times the median of the paired ratios: drift since then must not make it the winner.
 */
struct race_result {
  size_t samples;
  double median_us;
  double low_us; /* 95% interval of the median, by order statistics; equal to the extremes where there are too few */
  double high_us;
  double spread; /* half the interval's width, relative to the median; -1 with fewer than 6 samples */
};
void race_result(const struct race* race, size_t choice, struct race_result* out);

/* All samples of a choice in the order of the rounds; NULL for none. They belong to the race. */
const float* race_samples(const struct race* race, size_t choice, size_t* count);

/* The choice with the smallest median among those still in, and auto. */
size_t race_leader(const struct race* race);

/* In words, for logs and raw files: "settled", "slower than the leader", ... */
const char* race_stop_words(enum race_stop stop);
const char* race_fate_words(enum race_fate fate);

#endif
