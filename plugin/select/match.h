/* Whether a profile's `match` holds for a machine. */
#ifndef SW_MATCH_H
#define SW_MATCH_H

#include "facts/facts.h"
#include "profile/profile.h"

enum sw_fit {
  SW_FITS,    /* every key holds */
  SW_UNKNOWN, /* no key contradicts, but a fact is not known */
  SW_CONTRADICTS
};

struct sw_match {
  enum sw_fit fit;
  int specificity;    /* how much the profile asks for: more keys first, then more letters of the GPU pattern */
  struct sw_text why; /* of the first key that does not hold: "gpu is 'NVIDIA H200', not '*GB10*'"; free it */
};

struct sw_match sw_match_profile(const struct sw_profile* profile, const struct sw_facts* facts);

/* Pattern with * (any run of characters) and ? (one character), without regard to case. Linear in both lengths'
 * product. */
bool sw_match_pattern(const char* pattern, const char* text);

#endif
