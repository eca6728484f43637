/* A profile by path or name, found as the plugin finds it, with all that is wrong with it. */
#ifndef SW_OPEN_H
#define SW_OPEN_H

#include "decide/digest.h"
#include "ground/diag.h"
#include "profile/profile.h"

struct opened {
  struct sw_profile* profile; /* NULL: it was found, but is not valid; `diags` says why */
  struct sw_digest digest;
  struct sw_text origin; /* the file's path, or "shipped" */
  struct sw_diags diags;
  char* source; /* the file's text, which `diags` shows */
};

/* False, with one line in `fault`, when there is nothing of that path or name. opened_close frees what is in `out`. */
bool opened_open(const char* name, struct opened* out, struct sw_text* fault);
void opened_close(struct opened* opened);

#endif
