/*
 * The choice that is being tried, on disk beside the profile as FILE.in-flight: where a run ends without a word (the
 * machine froze, the job was killed), the next one knows what not to try again. A line for each choice: collective,
 * ranks, bytes, algorithm, protocol (auto: left to NCCL) and channels (0: likewise), separated by tabs. The last is the
 * one in flight; those before it ended earlier runs, and stay until the profile has them.
 */
#ifndef SW_IN_FLIGHT_H
#define SW_IN_FLIGHT_H

#include "calibrate/candidates.h"
#include "ground/text.h"

struct in_flight {
  struct sw_text path;
  struct sw_text earlier; /* lines of those that ended earlier runs */
  bool there;             /* the file is */
  bool trying;            /* its last line is of this run */
  bool failed;            /* it cannot be written: said once */
};

/* For the profile at `output`; NULL: nothing is ever written. */
void in_flight_open(struct in_flight* file, const char* output);

/* What an earlier run left behind is banned. False, with one line in `fault`, when the file is no such file. */
bool in_flight_read(struct in_flight* file, struct ban_list* bans, struct sw_text* fault);

/* This choice is tried next; auto: nothing is tried that was not tried before. */
void in_flight_set(struct in_flight* file, int collective, uint32_t ranks, uint64_t bytes, struct sw_choice choice);

/* The end of a run that ends in good order: what it tried is no longer named, and what ended earlier runs stays. */
void in_flight_end(struct in_flight* file);

/* The same where the profile has all of them: the file goes. */
void in_flight_close(struct in_flight* file);
void in_flight_free(struct in_flight* file);

#endif
