/* The NCCL_SIZEWISE_* variables, which may also stand in /etc/nccl.conf: NCCL puts that into the environment. */
#ifndef SW_SETTINGS_H
#define SW_SETTINGS_H

#include <stdbool.h>

#include "decide/digest.h"
#include "ground/diag.h"

#ifndef SW_DATA_FOLDER
#define SW_DATA_FOLDER "/usr/local/share/sizewise"
#endif
#define SW_DEFAULT_PATH "/etc/sizewise/profiles:" SW_DATA_FOLDER "/profiles"

struct sw_switches {
  char* profile;           /* path or name; NULL: not set */
  bool off;                /* NCCL_SIZEWISE_PROFILE=off */
  char* path;              /* folders, separated by ':' */
  bool path_set;           /* false: the default */
  struct sw_digest expect; /* "": not set */
  bool strict;
  bool deterministic;
};

/*
 * Reads the variables through `getenv`; NULL and "" mean not set. A value that a variable does not take is reported
 * to `diags` (SW_BAD_SETTING). False when memory runs out. sw_switches_free frees what is in `out`.
 */
bool sw_switches_read(const char* (*getenv)(const char* name), struct sw_diags* diags, struct sw_switches* out);
void sw_switches_free(struct sw_switches* switches);
bool sw_switches_same(const struct sw_switches* a, const struct sw_switches* b);

#endif
