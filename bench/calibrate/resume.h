/* Going on from the profile that an earlier run left: what it measured stays as it is. */
#ifndef SW_RESUME_H
#define SW_RESUME_H

#include "calibrate/study.h"
#include "facts/facts.h"
#include "ground/text.h"
#include "profile/profile.h"

struct resumed {
  const char* path;
  struct sw_profile* profile; /* NULL: there was no such file */
  char* text;
};

/* What this run is; a profile of something else cannot be gone on with. */
struct resume_here {
  const struct sw_settings* settings; /* NCCL's, in force */
  struct sw_facts facts;              /* the machine, with GPU and NCCL as the ranks opened them */
  uint32_t ranks;
  uint32_t nodes;
};

/* Reads the file; it may be missing. False, with what is wrong in `fault`, when it is no profile of calibrate's, or not
   of this name and kind. */
bool resume_read(const char* path, const char* name, enum sw_kind kind, struct resumed* out, struct sw_text* fault);

/* False, with one line in `fault`, when it was measured on something else than this run would. */
bool resume_fits(const struct resumed* resumed, const struct resume_here* here, struct sw_text* fault);

/* Puts its points into the study, and bans what failed. Returns the number of points. */
size_t resume_take(const struct resumed* resumed, struct study* study);

void resume_free(struct resumed* resumed);

#endif
