/*
 * The profiles that a process looks at: the one that was named, or all that lie in the searched folders. Loaded once,
 * together with what the machine is, and then shared by all communicators.
 *
 *     NCCL_SIZEWISE_PROFILE=off      nothing
 *     NCCL_SIZEWISE_PROFILE=PATH     that file              a '/' in it, or .yaml at its end
 *     NCCL_SIZEWISE_PROFILE=NAME     NAME.yaml in the first searched folder that has it, then the shipped NAME
 *     NCCL_SIZEWISE_EXPECT alone     every *.yaml of the searched folders, and the shipped ones
 *     nothing set                    every *.yaml of the searched folders
 */
#ifndef SW_LIBRARY_H
#define SW_LIBRARY_H

#include "decide/digest.h"
#include "facts/facts.h"
#include "profile/profile.h"
#include "select/settings.h"

struct sw_entry {
  char* origin;               /* the file's path, or "shipped" */
  struct sw_profile* profile; /* NULL: not valid */
  struct sw_digest digest;
  struct sw_kept kept; /* compiled for the digest, until a plan takes it */
  bool shipped;        /* compiled in, or the same as one that is */
  char* fault;         /* the first finding where it is not valid: "file:line:column: error: ..." */
};

struct sw_library {
  struct sw_switches switches;
  enum sw_mode mode; /* what digests and plans are for */
  struct sw_facts machine;
  struct sw_entry* entries;
  size_t count;
  bool named;               /* entries[0] is the profile that NCCL_SIZEWISE_PROFILE names */
  struct sw_text refusal;   /* why no communicator may start; "" when they may */
  struct sw_text* warnings; /* to be said once */
  size_t warning_count;
};

/* Loads what the settings ask for; NULL when memory runs out. sw_library_free frees it. */
struct sw_library* sw_library_load(const struct sw_facts_source* source);
void sw_library_free(struct sw_library* library);

/* Where a profile is: a file, or compiled in. */
struct sw_location {
  struct sw_text file; /* "" when it is compiled in; free it */
  const struct sw_shipped* shipped;
};

/*
 * Finds a profile by path or name, as NCCL_SIZEWISE_PROFILE does; `path` are the folders. False, with the reason in
 * `fault`, when a name is nowhere. A path is taken as it is: whether there is a file shows when it is read.
 */
bool sw_locate(const char* path, const char* name, struct sw_location* out, struct sw_text* fault);

#endif
