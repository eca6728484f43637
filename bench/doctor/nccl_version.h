/* Which NCCL it is, without loading it. */
#ifndef SW_NCCL_VERSION_H
#define SW_NCCL_VERSION_H

#include "doctor/process.h"

struct nccl_found {
  int version;         /* 22907 for 2.29.7; 0: not known */
  struct sw_text path; /* the library; "" where a version was named, or nothing was found */
  unsigned others;     /* further NCCLs in the process: each has settings and tuner of its own */
};

/* "2.29.7" as a version code; 0 when the word is none. */
int nccl_version_code(const char* word);

/* "2.29.7" of 22907 */
void nccl_add_version(struct sw_text* text, int version);

/*
 * The version of a library: from the name that its links lead to (libnccl.so.2.29.7), else from the text in it that
 * NCCL prints at its start. 0 where neither tells.
 */
int nccl_version_of(const char* path);

/*
 * The NCCL that a process has loaded; without a process the one that lies below `root` where the calibrator would find
 * it: in the active Python environment, on the loader's path, in another wheel.
 */
void nccl_find(const char* root, const struct env_set* set, const struct process* process, struct nccl_found* out);

#endif
