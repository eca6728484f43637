/*
 * What an application asks of NCCL: the collectives of one step, and where it is known how long that step takes under
 * which settings. `predict` prices it, `calibrate --sizes-from` measures its sizes, `import` writes it from a log.
 *
 *     workload: 1
 *     name: gb10-m3-prefill
 *     provenance: {kind: published, source: "...", note: "..."}
 *     profile: gb10-roce-8x1        # which has its times, a name or a path; may be left out
 *     nodes: 8                      # of the communicator; may be left out, as a log does not tell
 *     ranks: 8
 *     step:                         # may be left out: then only the time in collectives is known
 *       what: "a prefill chunk of 8,192 tokens"
 *       tokens: 8192
 *       rate: 699                   # tokens a second; or `time: 11.72s`
 *       under: {NCCL_ALGO: "allreduce:tree", NCCL_PROTO: "allreduce:LL"}   # {}: NCCL's own choices
 *     collectives:
 *       - {collective: allreduce, bytes: 96MiB, count: 120}
 *
 * Checked like a profile: unknown keys, a key that comes twice and a missing one are errors with a place.
 */
#ifndef SW_WORKLOAD_H
#define SW_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "ground/arena.h"
#include "ground/diag.h"
#include "ground/text.h"

enum { WORKLOAD_ANY_COLLECTIVE = -1 }; /* a log line that does not name it */

struct workload_calls {
  int collective; /* or WORKLOAD_ANY_COLLECTIVE, where the key is left out */
  uint64_t bytes; /* as NCCL's tuner is asked: of an all-gather or reduce-scatter the whole buffer */
  uint64_t count; /* calls a step */
  struct sw_place place;
};

struct workload_setting {
  const char* name; /* "NCCL_ALGO" */
  const char* value;
};

struct workload_step {
  bool known;
  const char* what; /* NULL: not said */
  double seconds;   /* one step under `under`, whole picoseconds; from tokens and rate where no time was given */
  double tokens;    /* 0: not said, then there is no throughput */
  const struct workload_setting* under;
  size_t under_count;
};

struct workload {
  const char* name;
  const char* kind; /* of the provenance, NULL: not said; likewise the next two */
  const char* source;
  const char* note;
  const char* profile; /* that has its times, a name or a path; NULL: not said */
  uint32_t nodes;      /* 0: not said */
  uint32_t ranks;      /* 0: not said */
  struct workload_step step;
  const struct workload_calls* calls;
  size_t call_count;
};

/* A workload's text; everything lives in `arena`. False after an error, which is in `diags` (sw_diags_start has
   prepared it). */
bool workload_read(struct sw_arena* arena, const char* text, size_t length, struct sw_diags* diags,
                   struct workload* out);

/* A workload as text, in the layout above, the step by its time; reading it gives the same workload. */
void workload_write(const struct workload* workload, struct sw_text* out);

/* Whether a text is a workload rather than a profile: YAML, with the key `workload` and without `sizewise`. */
bool workload_recognise(const char* text, size_t length);

/* A workload's file, with all that is wrong with it. */
struct workload_file {
  struct workload workload; /* where it is `valid` */
  bool valid;
  struct sw_text path;
  struct sw_diags diags;
  char* text; /* the file's, which `diags` shows; NULL: it could not be read */
  size_t length;
  struct sw_arena arena;
};

/*
 * A workload by path, or by the name of a shipped one: NAME.yaml in the install's workloads folder. A word with a '/'
 * or with .yaml at its end is a path. False, with one line in `fault`, when a name is nowhere; a path is taken as it
 * is, whether there is a file shows in `diags`. workload_close frees what is in `out`.
 */
bool workload_open(const char* name, struct workload_file* out, struct sw_text* fault);
void workload_close(struct workload_file* file);

#endif
