#include "doctor/finding.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void free_finding(struct finding* finding) {
  sw_text_free(&finding->what);
  sw_text_free(&finding->from);
  sw_text_free(&finding->says);
  sw_text_free(&finding->cure);
}

static struct finding* new_finding(struct findings* findings) {
  struct finding* items = realloc(findings->items, (findings->count + 1) * sizeof *items);
  if (!items) {
    findings->failed = true;
    free_finding(&findings->spare);
    return &findings->spare;
  }
  findings->items = items;
  return &items[findings->count++];
}

struct finding* findings_add(struct findings* findings, enum finding_section section, int code, const char* what, ...) {
  struct finding* finding = new_finding(findings);
  *finding = (struct finding){.section = section, .code = code};
  va_list arguments;
  va_start(arguments, what);
  sw_text_vprintf(&finding->what, what, arguments);
  va_end(arguments);
  return finding;
}

/* 0 error, 1 warning, 2 note */
static int rank_of(const struct finding* finding) {
  if (finding->code == FINDING_NOTE) return 2;
  return sw_code_entry(finding->code)->severity == SW_SEVERITY_WARNING;
}

const char* finding_severity(const struct finding* finding) {
  static const char* const words[] = {"error", "warning", "note"};
  return words[rank_of(finding)];
}

static unsigned count_rank(const struct findings* findings, int rank) {
  unsigned count = 0;
  for (size_t i = 0; i < findings->count; i++) count += rank_of(&findings->items[i]) == rank;
  return count;
}

unsigned findings_errors(const struct findings* findings) {
  return count_rank(findings, 0);
}

unsigned findings_warnings(const struct findings* findings) {
  return count_rank(findings, 1);
}

static bool is_worse(const struct finding* a, const struct finding* b) {
  if (rank_of(a) != rank_of(b)) return rank_of(a) < rank_of(b);
  return a->weight > b->weight;
}

/* By insertion: there are few, and equals stay in the order they were found. */
void findings_sort(struct findings* findings) {
  for (size_t i = 0; i < findings->count; i++) {
    struct finding finding = findings->items[i];
    findings->failed |= finding.what.failed || finding.from.failed || finding.says.failed || finding.cure.failed;
    size_t place = i;
    for (; place > 0 && is_worse(&finding, &findings->items[place - 1]); place--)
      findings->items[place] = findings->items[place - 1];
    findings->items[place] = finding;
  }
}

void findings_free(struct findings* findings) {
  for (size_t i = 0; i < findings->count; i++) free_finding(&findings->items[i]);
  free(findings->items);
  free_finding(&findings->spare);
  *findings = FINDINGS_NONE;
}
