/*
 * One run of `sizewise calibrate`, from what an earlier run left to the last line: the study and all that listens to
 * it.
 *
 *     study --samples--> raw file, sums          before a choice is tried --> in-flight file
 *           --points---> profile (keep)          resume --> points and bans of an earlier run
 *           --both-----> progress                exhaustive --> the oracle beside the finished profile
 */
#ifndef SW_SESSION_H
#define SW_SESSION_H

#include "calibrate/arguments.h"
#include "calibrate/exhaustive.h"
#include "calibrate/in_flight.h"
#include "calibrate/keep.h"
#include "calibrate/passthrough.h"
#include "calibrate/progress.h"
#include "calibrate/raw.h"
#include "calibrate/resume.h"

struct session {
  const struct calibrate_arguments* arguments;
  struct crew* crew;
  struct study_plan plan; /* what fits into memory */
  struct study study;
  struct measure_watch watch;
  struct passthrough passthrough;
  struct resumed resumed;
  struct in_flight in_flight;
  size_t in_flight_bans; /* the first of study.bans: what earlier runs ended with */
  struct raw raw;
  struct keeper keeper;
  struct progress progress;
  struct exhaustive exhaustive;
};

/* Opens the files that the arguments name, before any rank is started. False with what is wrong in `fault`. */
bool session_open(struct session* session, const struct calibrate_arguments* arguments, const struct study_plan* plan,
                  struct sw_text* fault);

/* With the workers started: says where it runs, and whether this can go on from the earlier run's profile and any size
   fits into memory. False with what is wrong in `fault`. */
bool session_begin(struct session* session, struct crew* crew, struct sw_text* fault);

/* Measures, verifies, sweeps: all that was asked for, as far as it goes. session->study.end tells how it ended. */
void session_run(struct session* session);

/* The last words, on stdout; where the crew was lost also on stderr. */
void session_report(const struct session* session);

/* Whether the profile is where it should be; and whether all that was asked for was measured, up to the budget. */
bool session_is_written(const struct session* session);
bool session_is_good(const struct session* session);

void session_close(struct session* session);

#endif
