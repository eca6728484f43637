/*
 * What a calibration says: lines on stderr on the way (report_lines.c; progress.h has the one that changes), tables on
 * stdout at the end.
 */
#ifndef SW_REPORT_H
#define SW_REPORT_H

#include "calibrate/exhaustive.h"
#include "calibrate/passthrough.h"
#include "calibrate/raw.h"
#include "calibrate/resume.h"
#include "calibrate/study.h"

/* --- on the way -------------------------------------------------------------------------------------------------- */

/* Where it runs, with which libraries. */
void report_machine(const struct crew* crew);

/* What will be measured, and the memory that it takes: `share` of what is free at most. */
void report_plan(const struct crew* crew, const struct study_plan* plan, double share);

/* Sizes that are left out ("" : none), as two buffers take more than `buffers` bytes on the rank that has least. */
void report_left_out(const struct sw_text* sizes, uint32_t rank, uint64_t buffers, double share);

/* Where the workload that the sizes are from says something else than this run is, or has more sizes than fit. */
void report_workload(const struct crew* crew, const struct study_plan* plan);

/* What an earlier run left. */
void report_resumed(const struct resumed* resumed, size_t points, size_t bans);

/* An in-flight file is there, and nothing reads it. */
void report_in_flight(const char* path);

/* A warning where the plugin that passes everything through differs from no tuner. */
void report_passthrough(const struct passthrough* passthrough);

/* "waiting for 3 of 8 ranks: 2, 5, 7" */
void report_waiting(void* context, const char* text);

/* Takes the changing line off the screen. */
void report_end(void);

/* Auto itself fails at a size; bytes 0: the ranks cannot be joined. */
void report_failed(const struct fabric_call* call, const char* why);

void report_excluded(const struct fabric_call* call, struct sw_choice choice, const char* why);

/* A size of the exhaustive sweep is done; nothing on a terminal, where progress is shown. */
void report_swept(const struct exhaustive_point* point, const struct exhaustive* exhaustive);

/* --- at the end -------------------------------------------------------------------------------------------------- */

/* What the report has beside the study. */
struct report_extras {
  const char* path;                    /* where the profile goes; NULL: to standard output */
  const char* text;                    /* the profile, where it is in no file; NULL: it is in one, or there is none */
  const struct exhaustive* exhaustive; /* NULL: none was asked for */
  const struct raw* raw;
};

/* A table for each collective and communicator: size, auto, what `profile` (the finished one's text; NULL: there is
   none) decides, its gain, verified or not; then what was left out, and why. */
void report_print(const struct study* study, const char* profile, const struct report_extras* extras, bool json);

/* Nothing could be measured, so that there is no profile: what that means. `path` as above. */
void report_no_profile(const char* path);

/* The profile could not be written; its text is on standard output then. */
void report_not_written(const char* path);

/* What deploying it takes: the environment lines, with the digest of `profile` (text). */
void report_deployment(const char* path, const char* profile);

#endif
