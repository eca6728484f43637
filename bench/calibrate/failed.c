#include "calibrate/failed.h"

#include <stdio.h>
#include <string.h>

#include "calibrate/compare.h"

bool failed_for_good(const struct crew* crew) {
  enum team_failure_kind kind = crew_failure(crew)->kind;
  return kind == TEAM_LOST || kind == TEAM_INTERRUPTED;
}

void failed_words(const struct crew* crew, char* out, size_t size) {
  const struct team_failure* failure = crew_failure(crew);
  const char* kind = failure->kind == TEAM_HUNG ? "hung: " : "";
  snprintf(out, size, "%s%.*s", kind, (int)(size - strlen(kind) - 1), failure->text);
}

enum failed_by failed_by_which(struct crew* crew, const struct fabric_call* call, struct race_result* own,
                               char why[FAILED_WORDS]) {
  struct measured_pair pair;
  failed_words(crew, why, FAILED_WORDS);
  if (failed_for_good(crew) || !crew_restart(crew)) return FAILED_LOST;
  if (measure_pair(crew, call, SW_AUTO, COMPARE_ROUNDS, &pair)) {
    *own = pair.own;
    return FAILED_CHOICE;
  }
  failed_words(crew, why, FAILED_WORDS);
  return failed_for_good(crew) || !crew_restart(crew) ? FAILED_LOST : FAILED_AUTO;
}
