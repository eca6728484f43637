#include "import/report.h"

#include <stdlib.h>

#include "ground/file.h"

const char* import_report_kind(enum import_kind kind) {
  static const char* const words[] = {NULL, "profile", "rules", "workload"};
  return words[kind];
}

static void add_file(const struct import_file* file, struct sw_text* out) {
  enum { LARGEST_SHOWN = 16 * 1024 * 1024 };
  struct sw_diags diags = file->diags;
  char* source = NULL;
  if (diags.count && sw_file_read(file->name, LARGEST_SHOWN, &source, &diags.source_length) == 0) diags.source = source;
  sw_add_diags(out, &diags);
  free(source);
}

void import_report_findings(const struct import_report* report, struct sw_text* out) {
  for (size_t i = 0; i < report->gathered->file_count; i++) add_file(&report->gathered->files[i], out);
  if (report->about) sw_add_diags(out, report->about);
}
