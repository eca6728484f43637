/*
 * The doctor's whole answer about one set of settings. How it is printed is report.h's.
 *
 *     source     -> env_set     environment, start script (env_file) or process, and NCCL's own files (conf)
 *     settings   -> findings    grammar, what is left, what it costs (costs, known)
 *     tuner      -> findings    which library answers NCCL (library_search, elf_exports, nccl_version)
 *     profiles   -> findings    which profile applies, and whether it is stale
 */
#ifndef SW_DIAGNOSIS_H
#define SW_DIAGNOSIS_H

#include "doctor/finding.h"
#include "doctor/nccl_version.h"
#include "doctor/process.h"
#include "doctor/profiles.h"
#include "doctor/subject.h"
#include "doctor/tuner.h"

/* What is asked. */
struct question {
  const struct env_set* set;        /* before NCCL's files are added */
  const struct process* process;    /* NULL: none */
  const char* title;                /* "environment", "start.sh, set 1, lines 2..3", "process 4711 (python3)" */
  const char* root;                 /* the machine's files: "" or a folder */
  const char* home;                 /* the user's folder, for ~/.nccl.conf; NULL: none */
  const char* nccl;                 /* a path or a version; NULL: it is looked for */
  const struct sw_profile* profile; /* --profile; NULL: what applies by the settings */
  const char* origin;               /* of that profile */
  struct shape_filter shape;
};

struct diagnosis {
  const char* title;
  struct env_set set; /* with NCCL's files */
  struct nccl_found nccl;
  struct sw_library* library;
  struct subject subject;
  struct costs costs;
  struct tuner_view tuner;
  struct findings findings;
};

/* False when memory runs out. diagnosis_free frees what is in `out` either way; it refers to the question. */
bool diagnosis_make(const struct question* question, struct diagnosis* out);
void diagnosis_free(struct diagnosis* diagnosis);

/* One line: how bad it is, and what to do first. */
void diagnosis_add_verdict(struct sw_text* text, const struct diagnosis* diagnosis);

/* One line: who decides which choice runs. */
void diagnosis_add_decider(struct sw_text* text, const struct diagnosis* diagnosis);

#endif
