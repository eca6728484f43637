/* The profile of a study that goes on, kept in its file: what ends the run later leaves a valid one there. */
#ifndef SW_KEEP_H
#define SW_KEEP_H

#include "calibrate/arguments.h"
#include "calibrate/profile_out.h"

struct keeper {
  const struct calibrate_arguments* arguments;
  struct profile_head head;
  struct sw_text source;
  struct sw_facts facts;
  struct sw_arena arena; /* of the settings */
  struct sw_settings settings;
  struct sw_text text; /* the profile as of now */
  bool failed;         /* the file could not be written, last time */
};

/* Gathers what the profile says of the machine and the run. keeper_free frees what is in it. */
void keeper_start(struct keeper* keeper, const struct calibrate_arguments* arguments, const struct crew* crew);
void keeper_free(struct keeper* keeper);

/* Makes the profile anew and, where there is a file for it, puts it there in one step. `keeper` is a struct keeper. */
void keeper_keep(void* keeper, const struct study* study);

#endif
