/* The fingerprint of what a profile says and decides: equal digests mean equal answers, on every machine. */
#ifndef SW_DIGEST_H
#define SW_DIGEST_H

#include <stdbool.h>

#include "decide/shape.h"
#include "profile/profile.h"

/* Goes up whenever the same measurements would lead to another decision than before. */
enum { SW_RULES_VERSION = 1 };

enum { SW_DIGEST_LENGTH = 32 };

struct sw_digest {
  char hex[SW_DIGEST_LENGTH + 1];
};

/*
 * Covers the canonical text, the compiled decisions for every shape to the last bit, and the version of the rules
 * that made them (128-bit XXH3: it finds differences, it is no defence against somebody who makes one on purpose).
 * False when memory runs out.
 */
bool sw_digest_compute(const struct sw_profile* profile, struct sw_digest* out);

/*
 * The same for a mode, whose digest is another one: a rank that was told the mode and one that was not differ in it.
 * Keeps shapes that it compiled; sw_kept_free frees them. `kept` may be NULL.
 */
bool sw_digest_compute_for(const struct sw_profile* profile, enum sw_mode mode, struct sw_digest* out,
                           struct sw_kept* kept);

#endif
