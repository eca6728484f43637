/*
 * How often NCCL was called with which size: its own lines of NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=TUNING, in the
 * spellings of its releases, behind any prefix:
 *
 *     host-a:3984:3984 [0] NCCL INFO AllReduce: 12288 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}
 *     host-b:4978:4978 [0] NCCL INFO 4 Bytes -> Algo 0 proto 0 time 25.200462
 *
 * The bytes of the first are one rank's count x element size: of an all-gather or reduce-scatter one rank's part, where
 * the tuner is asked with the whole buffer (seen under 2.28.9). The second is
 * that of older releases, and names no collective. Only rank 0 of each communicator prints them; where several
 * processes do, each call counts once: as often as the process that made it most often.
 */
#ifndef SW_IMPORT_CALLS_H
#define SW_IMPORT_CALLS_H

#include "ground/arena.h"
#include "ground/diag.h"
#include "import/lines.h"
#include "workload/workload.h"

enum { CALLS_MOST = 100000 }; /* different ones; more is no program's step */

struct calls {
  struct sw_arena arena;
  void* tree;              /* of search.h */
  struct call_entry* last; /* all of them, backwards */
  size_t count;
  bool failed; /* memory ran out */
  /* Of this file. */
  uint64_t lines;
  struct sw_place parts; /* the first line with one rank's part; line 0: none */
  int parts_collective;
  bool full;
};

/* Begins a file; the calls of earlier ones stay. */
void calls_start_file(struct calls* calls);
void calls_line(struct calls* calls, const struct line* line);

/* After the last line of a file that holds such lines. `ranks` 0: not known. */
void calls_finish_file(struct calls* calls, uint32_t ranks, struct sw_diags* diags);

/* The calls, by collective and size, in malloc'ed memory; NULL, or no memory, when there are none. One rank's part
   counts `ranks` times. `processes`: how many wrote such lines. */
struct workload_calls* calls_list(const struct calls* calls, uint32_t ranks, size_t* count, size_t* processes);
void calls_free(struct calls* calls);

#endif
