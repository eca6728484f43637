/* The parts of the report at the end. */
#ifndef SW_REPORT_INTERNAL_H
#define SW_REPORT_INTERNAL_H

#include <jansson.h>

#include "calibrate/report.h"
#include "decide/plan.h"

/* A study, and what its finished profile decides. */
struct finished {
  const struct study* study;
  struct sw_profile* profile;               /* NULL: nothing was measured */
  struct sw_plan* plans[STUDY_MOST_TABLES]; /* of each table; NULL: it is empty */
};

/* The decisions of a table, as study_decisions. */
size_t report_decisions(const struct finished* finished, size_t table, struct study_decision out[STUDY_MOST_DECISIONS]);

/* What was not measured, and what of the profile was not compared afresh, each with the reason; `path` is where the
   profile goes, NULL: nowhere. */
void report_add_rest(const struct finished* finished, const char* path, struct sw_text* out);

/* Choices that would win and take more memory than the policy lets them. */
void report_add_memory(const struct finished* finished, struct sw_text* out);

/* All of it as JSON; the layout is in `sizewise help calibrate`. */
json_t* report_json(const struct finished* finished, const struct report_extras* extras);

#endif
