/*
 * What a profile knows to help and a tuner cannot set: times that were measured under other environment settings than
 * auto's, and that beat what the profile decides at their size. Such a setting holds at every size, so what it costs
 * elsewhere belongs beside it.
 */
#ifndef SW_ENV_HELPS_H
#define SW_ENV_HELPS_H

#include "profile/profile.h"

/* The best time under one set of settings at one measured size, against what the profile decides there. */
struct env_help {
  const struct sw_settings* settings;
  const struct sw_table* table;
  const struct sw_point* point;
  const struct sw_time* time; /* NULL: not measured under these settings */
  double decided_ps;
  bool gains; /* by the policy's min_gain */
};

struct env_helps {
  struct env_help* items; /* those of one set of settings follow one another; malloc'ed */
  size_t count;
};

/* Sets of settings that gain at one size or more, with every size of the tables that know them. False when memory runs
   out. */
bool env_find_helps(const struct sw_profile* profile, struct env_helps* out);

/* In words, each set of settings once, with the sizes and figures; nothing when there are none. */
void env_add_helps(struct sw_text* out, const struct env_helps* helps);

#endif
