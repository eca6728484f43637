/*
 * A study from the inside:
 *
 *     study.c          all of the plan: which size is next, and how long it may take
 *     study_point.c    one size into its table
 *     study_winner.c   who wins at a point
 *     study_verify.c   passes of fresh comparisons
 *     study_decisions.c  what comes of them
 */
#ifndef SW_STUDY_INTERNAL_H
#define SW_STUDY_INTERNAL_H

#include "calibrate/failed.h"
#include "calibrate/study.h"

enum point_end {
  POINT_KNOWN,
  POINT_FAILED, /* auto fails: a trouble says how */
  POINT_SPENT,  /* the time given was not enough to know anything */
  POINT_LOST    /* the crew cannot go on; study->end is set */
};

/* Measures one size into its table, unless it is there. `share_us` is what it may take, 0: no limit. */
enum point_end study_point(struct study* study, struct study_table* table, uint64_t bytes, double share_us);

struct measured* study_point_at(const struct study_table* table, uint64_t bytes);
void study_insert(struct study_table* table, struct measured* point);

/* The choices that compete at a point by the profile's rule, best first; returns how many of at most `most`. */
size_t study_ranking(const struct study* study, const struct measured* point, size_t* out, size_t most);

void study_exclude(struct study* study, const struct fabric_call* call, struct candidate* candidate, const char* why);

/* Notes what auto fails at; `bytes` 0: the communicator cannot be joined. */
void study_note_trouble(struct study* study, const struct study_trouble* trouble);

/* The run is at its end, or lost: says so in study->end. */
void study_end_by_failure(struct study* study);

/* Up to when sizes are measured, by the crew's clock: the last tenth of the budget is for verifying. 0: no limit. */
double study_measuring_limit(const struct study* study);

/* The sizes that verifying looks at: each measured one and the one in the middle between it and the next. */
size_t study_sizes_to_verify(const struct study_table* table, uint64_t out[STUDY_MOST_DECISIONS]);

#endif
