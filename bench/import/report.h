/* What `sizewise import` says: findings as text, or everything as JSON. */
#ifndef SW_IMPORT_REPORT_H
#define SW_IMPORT_REPORT_H

#include "ground/text.h"
#include "import/gather.h"

struct import_report {
  const struct gathered* gathered;
  const struct sw_diags* about; /* findings in what was made; NULL: nothing was */
  const char* text;             /* what was made; NULL: nothing */
  const char* output;           /* the file it went to; NULL: none */
};

/* All findings, each with its source line where the file can be read a second time. */
void import_report_findings(const struct import_report* report, struct sw_text* out);

/* Layout: see `sizewise help import`. False when memory runs out. */
bool import_report_as_json(const struct import_report* report, struct sw_text* out);

/* "profile", "rules", "workload", or NULL. */
const char* import_report_kind(enum import_kind kind);

#endif
