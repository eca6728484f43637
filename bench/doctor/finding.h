/* What the doctor says: findings with a code, and notes without one. */
#ifndef SW_FINDING_H
#define SW_FINDING_H

#include "ground/diag.h"
#include "ground/text.h"

enum finding_section { SECTION_SETTINGS, SECTION_TUNER, SECTION_PROFILE, SECTION_COUNT };

/* In the place of a code: information, which is no finding and leaves the exit status at 0. */
enum { FINDING_NOTE = 0 };

struct finding {
  enum finding_section section;
  int code;            /* of codes.def, or FINDING_NOTE */
  double weight;       /* within a severity: the worst first; a ratio of times where one is known */
  struct sw_text what; /* one line */
  struct sw_text from; /* "start.sh:2", "environment"; "" where it belongs to no setting */
  struct sw_text says; /* what follows from it, in figures where they are known: lines, each with its newline */
  struct sw_text cure; /* what to do; "" for most notes */
};

struct findings {
  struct finding* items;
  size_t count;
  struct finding spare; /* takes what there is no memory for */
  bool failed;
};

#define FINDINGS_NONE ((struct findings){0})

/* Adds one and returns it, to be filled in; valid until the next is added. */
__attribute__((format(printf, 4, 5))) struct finding* findings_add(struct findings* findings,
                                                                   enum finding_section section, int code,
                                                                   const char* what, ...);

/* "error", "warning" or "note". */
const char* finding_severity(const struct finding* finding);

/* How many are errors and warnings. */
unsigned findings_errors(const struct findings* findings);
unsigned findings_warnings(const struct findings* findings);

/* The worst first: errors, warnings by weight, notes. Also looks at all texts for memory that ran out. */
void findings_sort(struct findings* findings);
void findings_free(struct findings* findings);

#endif
