/* What is examined: one set of settings on one machine, against at most one profile. */
#ifndef SW_SUBJECT_H
#define SW_SUBJECT_H

#include "decide/pieces.h"
#include "doctor/costs.h"
#include "doctor/env_set.h"
#include "facts/facts.h"
#include "profile/profile.h"

struct subject {
  const struct env_set* set;
  const struct sw_profile* profile; /* what settings are priced with; NULL: none */
  enum sw_mode mode;                /* how Sizewise would choose by it */
  struct shape_filter shape;
  const struct sw_facts* machine; /* its `nccl` is the version that the settings hold for; 0: not known */
};

/* The first NCCL release that reads "collective:" in NCCL_ALGO and NCCL_PROTO, by its documentation; and the first that
   switches off collectives which NCCL_ALGO does not name. */
enum { NCCL_READS_COLLECTIVES = 22400, NCCL_SWITCHES_OFF_UNNAMED = 23100 };

#endif
