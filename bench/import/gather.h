/* All files of one call: each is read once, line by line, its kind recognised by what it holds. */
#ifndef SW_IMPORT_GATHER_H
#define SW_IMPORT_GATHER_H

#include "import/calls.h"
#include "import/perf.h"
#include "import/rules.h"
#include "import/wanted.h"

enum import_kind {
  IMPORT_UNKNOWN, /* or: of several kinds */
  IMPORT_TESTS,   /* nccl-tests output: a profile's tables */
  IMPORT_RULES,   /* rules of NCCL's example tuner: a profile's rules */
  IMPORT_CALLS    /* NCCL's TUNING lines: a workload */
};

struct import_file {
  const char* name;                     /* a path, or "-" for standard input */
  const struct import_setting* setting; /* what --as says of it; NULL: nothing */
  enum import_kind kind;
  struct sw_diags diags;
};

struct gathered {
  struct import_file* files;
  size_t file_count;
  enum import_kind kind; /* of all files */
  struct sw_arena arena; /* of texts */
  struct perf_facts facts;
  struct samples samples;
  struct rules rules;
  struct calls calls;
};

/* Reads all files into `gathered`, whose `files` are there and all else zeros; what is wrong with a file is in its
   `diags`. False, with errno set and the file's name in `missing`, when one cannot be read. */
bool gather(struct gathered* gathered, const struct import_wanted* wanted, const char** missing);
void gathered_free(struct gathered* gathered);

/* Errors of all files. */
unsigned gathered_errors(const struct gathered* gathered);

#endif
