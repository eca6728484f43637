/* What it means for the choices that were being tried when the workers failed. */
#ifndef SW_FAILED_H
#define SW_FAILED_H

#include "calibrate/measure.h"

/* Bytes that hold why a choice failed; the words of a candidate's exclusion are cut to fewer. */
enum { FAILED_WORDS = 512 };

/* Whether the run is at its end: a supervisor is gone, or it was interrupted. */
bool failed_for_good(const struct crew* crew);

/* "hung: ranks 0-3 of 4 did not answer within 10 s", for `size` bytes. */
void failed_words(const struct crew* crew, char* out, size_t size);

/*
 * Auto and a choice were timed beside each other, and the workers failed: which of the two it was. The workers are
 * started anew and auto is timed alone, `own` gets its times. Then they are well again, unless it is FAILED_LOST.
 */
enum failed_by {
  FAILED_CHOICE,
  FAILED_AUTO, /* it fails alone as well */
  FAILED_LOST  /* crew_failure tells */
};
enum failed_by failed_by_which(struct crew* crew, const struct fabric_call* call, struct race_result* own,
                               char why[FAILED_WORDS]);

#endif
