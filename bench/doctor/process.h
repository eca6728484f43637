/* A running process: what it was started with, and which libraries it has loaded. From /proc; nothing is attached. */
#ifndef SW_PROCESS_H
#define SW_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "doctor/env_set.h"
#include "ground/text.h"

struct process {
  uint32_t pid;
  struct env_set set;    /* as the process was started; what it sets later, also NCCL from its files, is not in it */
  struct sw_text root;   /* its file system: "/proc/PID/root" */
  struct sw_text folder; /* where its paths without a '/' in front begin: "/proc/PID/cwd/" */
  char** libraries;      /* each file mapped, once, as the process names it */
  size_t library_count;
  struct sw_text name; /* its command's name */
};

/*
 * Looks at a process below `root` ("": the real /proc). False with one line in `fault` where it is gone, belongs to
 * somebody else, or memory runs out. process_free frees what is in `out` either way.
 */
bool process_read(const char* root, uint32_t pid, struct process* out, struct sw_text* fault);
void process_free(struct process* process);

#endif
