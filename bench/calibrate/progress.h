/*
 * What a calibration is at, on stderr. On a terminal: one line that changes about five times a second,
 *
 *     [34%, 3:20 left] allreduce 64 KiB: auto 34.2 us, best so far 31.0 us (tree + ll), 12 in the race
 *
 * Anywhere else: a line for each size that is finished.
 */
#ifndef SW_PROGRESS_H
#define SW_PROGRESS_H

#include "calibrate/phase.h"
#include "calibrate/study.h"

struct progress {
  const struct study* study;
  enum phase phase;
  size_t total; /* sizes of this phase; 0: not known */
  size_t done;
  double started_us; /* of the phase, and of the size that it is at, by the crew's clock */
  double size_us;
  double shown_s; /* when the line was drawn last, by the wall's clock */
};

void progress_enter(struct progress* progress, const struct study* study, enum phase phase, size_t total);

/* A choice is tried for the first time; auto is no news. */
void progress_trying(struct progress* progress, const struct fabric_call* call, struct sw_choice choice);

/* The race of a call has judged. `leader` is fastest so far, `left` are still in. */
void progress_looked(struct progress* progress, const struct fabric_call* call, const struct race* race,
                     struct sw_choice leader, size_t left);

/* A call is compared or swept. */
void progress_sampled(struct progress* progress, const struct crew_samples* samples);

/* A size of the phase is done; `point`: what came of it, NULL where the phase has none of its own. */
void progress_finished(struct progress* progress, const struct measured* point);

/* Takes the line off the terminal, for a line that stays. */
void progress_clear(void);

/* How far it is and how long it still takes, from 0 to 1 and in microseconds: `budget_us` (0: none) ends it, or that
   all of `total` are done (`done` so far, the last at `size_us`). */
struct outlook {
  double share;
  double left_us;
};
struct outlook progress_outlook(const struct progress* progress, double now_us, double budget_us);

#endif
