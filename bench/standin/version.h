/*
 * What differs between NCCL versions, as far as a tuner can notice. A version is NCCL's own code: 22809 is 2.28.9
 * (major * 10000 + minor * 100 + patch). Known: 2.21 up to any later 2.x, which behaves as the newest known one.
 */
#ifndef STANDIN_VERSION_H
#define STANDIN_VERSION_H

#include <stdbool.h>
#include <stddef.h>

#include "nccl_tuner.h"

enum { STANDIN_OLDEST_ABI = 2, STANDIN_NEWEST_ABI = 7 };

struct standin_rules {
  int since;                /* first version code of which this holds */
  int newest_abi;           /* symbols are looked up from this one down to v2 */
  int open_flags;           /* of dlopen */
  int algorithms;           /* rows of the cost table: PAT, the seventh, came with 2.23 */
  size_t bytes_per_channel; /* traffic that earns one more channel */
  bool asks_symmetric;      /* asks about symmetric kernels with a table that has no usable entry */
  bool last_tie_wins;       /* of equal costs the last wins, not the first */
  bool only_lowers;         /* a tuner's channel count can only lower NCCL's own */
  bool has_joint_search;    /* can search ordinary and symmetric kernels together, without a test for negatives */
};

/* The rules of a version. False, and nothing written, below 2.21 and from 3.0 on. */
bool standin_rules_of(int version, struct standin_rules* rules);

/* Bytes of the constants block that an interface version's init is given: 0 before v5, and v7's is larger. */
size_t standin_constants_bytes(int abi);

#endif
