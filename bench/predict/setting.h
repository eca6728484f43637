/*
 * Environment settings that hold for a whole step: one or several NAME=VALUE separated by blanks. Nothing: NCCL's own
 * choices.
 */
#ifndef SW_PREDICT_SETTING_H
#define SW_PREDICT_SETTING_H

#include "facts/forced.h"
#include "ground/arena.h"
#include "profile/profile.h"

struct predict_setting {
  const char* text;        /* all of it, "NCCL_ALGO=tree NCCL_PROTO=LL"; "": nothing is set */
  struct sw_settings all;  /* by name */
  struct sw_settings rest; /* those of them that are no NCCL_ALGO, NCCL_PROTO or channel limit */
  struct sw_forced forced; /* what the others leave to NCCL */
};

/* The words of a command line, in `arena`. False, with what is wrong and the column in the words, in `fault`. */
bool predict_setting_read(struct sw_arena* arena, const char* words, struct predict_setting* out,
                          struct sw_text* fault);

/* The same from names and values, which have to outlive it. */
bool predict_setting_take(struct sw_arena* arena, const struct sw_setting* items, size_t count,
                          struct predict_setting* out, struct sw_text* fault);

/* The known variable that this name is probably meant to be, or NULL. */
const char* predict_setting_nearest(const char* name);

#endif
