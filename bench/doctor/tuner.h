/*
 * Which tuner NCCL would load, or has loaded, and who put it there. NCCL's order:
 *
 *     NCCL_TUNER_PLUGIN not set    libnccl-tuner.so, then a tuner inside the loaded net plugin
 *     NCCL_TUNER_PLUGIN=NAME       NAME itself; if it has no '/' and is not lib*.so, then libnccl-tuner-NAME.so;
 *                                  then the one inside the net plugin
 *     NCCL_TUNER_PLUGIN=none       none
 */
#ifndef SW_TUNER_FINDINGS_H
#define SW_TUNER_FINDINGS_H

#include "doctor/elf_exports.h"
#include "doctor/finding.h"
#include "doctor/process.h"
#include "doctor/subject.h"

struct tuner_view {
  struct sw_text path; /* of the library; "": none */
  struct sw_text who;  /* who put it there: "NCCL_TUNER_PLUGIN (start.sh:3)", "a standard folder" */
  struct elf_exports exports;
  bool loaded;   /* it is in the process; else it is what would be loaded */
  bool asked;    /* NCCL_TUNER_PLUGIN names it */
  bool in_net;   /* it is inside a net plugin */
  int interface; /* the version that this NCCL would use; 0: none, or its version is not known */
};

/* Finds it below `root`, and all that is wrong with it; `process` may be NULL. tuner_free frees what is in `out`. */
void tuner_examine(const struct subject* subject, const char* root, const struct process* process,
                   struct findings* findings, struct tuner_view* out);
void tuner_free(struct tuner_view* tuner);

/* "v2 to v7" or "v5" */
void tuner_add_interfaces(struct sw_text* text, const struct elf_exports* exports);

#endif
