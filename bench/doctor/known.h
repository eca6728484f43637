/*
 * NCCL's variables that force a choice or change how fast one is, and what NVIDIA's documentation says of each
 * (docs.nvidia.com, NCCL user guide, "Environment Variables"). Others are none of the doctor's business.
 */
#ifndef SW_KNOWN_H
#define SW_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

struct known_variable {
  const char* name;
  const char* says;          /* what it does, in one clause */
  const char* const* values; /* the only values that are documented; ends with NULL; NULL: not checked */
  bool forces;               /* it takes choices from NCCL and tuners alike: priced and found */
  bool changes_times;        /* a profile holds for the value that it was measured under */
};

extern const struct known_variable known_variables[];
extern const size_t known_variable_count;

/* By its exact name; NULL: not known. */
const struct known_variable* known_find(const char* name);

/*
 * The known name that this one was probably meant to be: at most two letters differ, or it goes on with letters behind
 * NCCL_ALGO or NCCL_PROTO (NCCL_PROTOCOL). NULL: none, or the name is known.
 */
const char* known_meant(const char* name);

#endif
