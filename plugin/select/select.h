/*
 * Which profile applies to a communicator, and why the others do not.
 *
 * A profile that was named, or pinned by its digest, is taken at the user's word on all ranks alike. One that was
 * only found applies by itself when it was measured, on one node, where hardware and shape match: a file that is
 * missing or half copied on one of several nodes would make ranks choose differently, and that hangs a job.
 */
#ifndef SW_SELECT_H
#define SW_SELECT_H

#include "select/library.h"

enum sw_outcome {
  SW_APPLIES,
  SW_LEFT_TO_NCCL,
  SW_REFUSED /* the communicator must not start */
};

struct sw_selection {
  enum sw_outcome outcome;
  const struct sw_entry* entry; /* where one applies */
  struct sw_text why;           /* one line: what applies, or why nothing does, or why it was refused */
  struct sw_text warning;       /* one line, or "" */
};

/* Selects for a communicator; `facts` are the library's machine with the communicator's part added. */
struct sw_selection sw_select(const struct sw_library* library, const struct sw_facts* facts);
void sw_selection_free(struct sw_selection* selection);

/*
 * Whether a profile that was only found would apply to a communicator on one node; what speaks against it is appended
 * to `why`. `specificity` is written where its `match` was looked at.
 */
bool sw_fits_by_itself(const struct sw_entry* entry, const struct sw_facts* facts, int* specificity,
                       struct sw_text* why);

#endif
