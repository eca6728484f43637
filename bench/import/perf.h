/*
 * What nccl-tests prints (all_reduce_perf and its sisters), one run or several in a file, whatever else is printed in
 * between and whatever mpirun puts in front:
 *
 *     # nccl-tests version 2.18.3 nccl-headers=22809 nccl-library=22809
 *     # Collective test starting: all_gather_perf
 *     #  Rank  0 Group  0 Pid   5101 on     node-a device  0 [000f:01:00] NVIDIA GB10
 *     #       size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong
 *     1073741824  134217728  float  none  -1  27211.0  39.46  19.73  0  25806.7  41.61  20.80  0
 *     # Out of bounds values : 0 OK
 *
 * Old releases lack the first two lines (NCCL's own version line tells its version), "Group" and the column "root", and
 * have "error" where "#wrong" is now; -I (times of each iteration) adds columns. So columns are found by their names.
 */
#ifndef SW_IMPORT_PERF_H
#define SW_IMPORT_PERF_H

#include "ground/diag.h"
#include "import/lines.h"
#include "import/samples.h"
#include "import/wanted.h"

enum { PERF_TEXT = 128, PERF_MOST_HOSTS = 1024 };
enum { PERF_NOT_SAID = -1, PERF_NOT_TUNED = -2 }; /* instead of a collective */

/* What the logs say of what was measured; "" while not said. Of all files together. */
struct perf_facts {
  char gpu[PERF_TEXT];
  char nccl[PERF_TEXT]; /* "2.28.9" */
  char tool[PERF_TEXT]; /* "2.18.3" */
  uint64_t calls;       /* a row's time is the mean over so many; 0: not said, or not the same everywhere */
  bool calls_differ;
  bool gpus_differ;
  bool nccls_differ;
};

/* Where the columns stand, counted from the size; 0: there is none. */
struct perf_columns {
  size_t count;
  size_t time;
  size_t algbw;
  size_t busbw;
  size_t wrong;
};

struct perf_host {
  const char* name;
  const char* gpu; /* "[000f:01:00]", of its first rank */
};

/* Who took part in a run: its "Rank" lines. With several groups (NCCL_TESTS_SPLIT) the first one's. */
struct perf_devices {
  uint64_t group;
  uint32_t ranks;
  uint32_t nodes; /* different host names */
  struct perf_host hosts[PERF_MOST_HOSTS];
  const char* doubt; /* why `nodes` may be wrong; NULL: it is not */
};

struct perf {
  const struct import_wanted* wanted;
  struct sw_arena* arena; /* of host names */
  struct sw_diags* diags;
  struct perf_facts* facts;
  struct samples* samples;
  const struct import_setting* setting; /* of this file; NULL: not said */
  struct perf_devices devices;
  char test[PERF_TEXT]; /* "all_reduce_perf" */
  int said;             /* the collective that the log names, or PERF_NOT_SAID, or PERF_NOT_TUNED */
  int collective;       /* of the table */
  struct perf_columns columns;
  bool in_table;
  bool skipping;   /* rows of a table that nothing can be made of */
  unsigned tables; /* in this file; 0: it is no nccl-tests output */
  size_t rows;     /* that were used */
};

/* Begins a file; what belongs to all files stays. */
void perf_start_file(struct perf* perf, struct sw_diags* diags, const struct import_setting* setting);

void perf_line(struct perf* perf, const struct line* line);

/* Where another run begins: is the table before it complete? */
void perf_end_table(struct perf* perf, const struct line* line);

/* After the last line. */
void perf_finish_file(struct perf* perf, const struct line* last);

/* Everything but rows; false: the line is none of it. (perf_head.c) */
bool perf_head_line(struct perf* perf, const struct line* line);

#endif
