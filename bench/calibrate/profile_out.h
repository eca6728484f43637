/* A study as a profile. */
#ifndef SW_PROFILE_OUT_H
#define SW_PROFILE_OUT_H

#include "calibrate/study.h"
#include "facts/facts.h"
#include "ground/text.h"

/* What the profile says of itself. */
struct profile_head {
  const char* name;
  bool simulated;
  const char* source;                 /* who measured, on what, with which command */
  const struct fabric_report* report; /* of rank 0 */
  const struct sw_facts* facts;       /* of this machine: network, architecture */
  const struct sw_settings* settings; /* NCCL settings that held */
};

/* The YAML of what is known; the canonical spelling, so that it can be compared and read again. False, with the
   findings in `diags`, when it does not read as a profile: a fault of ours. */
bool profile_out(const struct study* study, const struct profile_head* head, struct sw_diags* diags,
                 struct sw_text* out);

/* A time and a spread as the profile holds them: picoseconds, no finer than nanoseconds; of SW_ONE in steps of 0.1%, -1
   where it is not stated. */
uint64_t profile_ps(double us);
int64_t profile_spread(const struct race_result* result);

#endif
