/* What a calibration says: on the way, on stderr and only on a terminal; at the end, on stdout. */
#ifndef SW_REPORT_H
#define SW_REPORT_H

#include "calibrate/study.h"

/* What will be measured, and how much memory it takes. */
void report_start(struct crew* crew, const struct study_plan* plan);

/* "waiting for 3 of 8 ranks: 2, 5, 7" */
void report_waiting(void* context, const char* text);

/* Progress of the calls that are measured. */
struct measure_watch report_watch(void);

/* Takes the progress line off the screen. */
void report_end(void);

/* A table for each collective and communicator size: size, auto, best choice, gain, verified or not. */
void report_print(const struct study* study, bool json);

/* What deploying it takes: the environment lines, with the digest of `profile` (text). */
void report_deployment(const char* path, const char* profile);

#endif
