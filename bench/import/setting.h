/* Under which setting a file was measured: what `--as` says. */
#ifndef SW_IMPORT_SETTING_H
#define SW_IMPORT_SETTING_H

#include "ground/arena.h"
#include "ground/text.h"
#include "profile/profile.h"

struct import_setting {
  struct sw_choice choice;
  struct sw_settings settings; /* environment variables that a tuner cannot set */
};

/*
 * "auto", or algo=, proto=, channels= and NAME=VALUE for environment variables, separated by commas:
 * "algo=tree,proto=ll", "channels=8,NCCL_BUFFSIZE=1048576". A variable's value may hold commas itself. Names and values
 * live in `arena`. False with the reason in `fault`.
 */
bool setting_read(const char* word, struct sw_arena* arena, struct import_setting* out, struct sw_text* fault);

/* A total order: by choice, then by settings. */
int setting_compare(const struct import_setting* a, const struct import_setting* b);

#endif
