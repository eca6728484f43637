/*
 * Whether a tuner that passes everything through equals no tuner: what calibrate calls auto is measured with our plugin
 * loaded, and deployments are compared with NCCL that never loaded one. NCCL decides once per process, so it takes two
 * sets of processes, which take turns so that drift hits both alike:
 *
 *     turn        1      2         3         4      5         6
 *                 with   without   without   with   without   with      pair 1: 1 and 2, pair 2: 3 and 4, ...
 *
 * A turn costs a start of all processes, which is most of it. So the first takes those that run already, and the last
 * leaves those that what follows needs: three pairs cost four starts more than none.
 */
#ifndef SW_PASSTHROUGH_H
#define SW_PASSTHROUGH_H

#include "calibrate/study.h"
#include "ground/text.h"

enum {
  PASSTHROUGH_SIZES = 2, /* the plan's smallest and largest */
  PASSTHROUGH_LEAST_PAIRS = 3,
  PASSTHROUGH_MOST_PAIRS = 6,
  PASSTHROUGH_LEAST_BUDGET_S = 20 /* a shorter one has better uses */
};

/* A smaller difference is none that matters. */
#define PASSTHROUGH_ALLOWED 0.02

enum passthrough_verdict {
  PASSTHROUGH_EQUAL,  /* the interval lies within PASSTHROUGH_ALLOWED to both sides */
  PASSTHROUGH_OPEN,   /* it does not, nor wholly outside: not shown equal */
  PASSTHROUGH_DIFFERS /* it lies wholly beyond PASSTHROUGH_ALLOWED */
};

struct passthrough_size {
  struct fabric_call call;
  double with_us[PASSTHROUGH_MOST_PAIRS]; /* each turn's median */
  double without_us[PASSTHROUGH_MOST_PAIRS];
  double difference; /* of with from without, relative: 0.01 is 1% slower with the plugin */
  double low;        /* 95% interval */
  double high;
};

struct passthrough {
  struct passthrough_size sizes[PASSTHROUGH_SIZES];
  size_t count; /* of sizes */
  size_t pairs; /* of turns; 0: nothing was compared, and `why` says why not */
  bool with;    /* the workers run with the plugin, and are well */
  char why[256];
};

/* Says which turn runs, "comparing with no tuner: turn 2"; NULL: silent. */
typedef void (*passthrough_progress)(void* context, const char* text);

/*
 * Compares auto of the plan's first collective on all ranks, with at most a tenth of the plan's budget. The crew's
 * workers run with the plugin, as crew_start(crew, NULL) left them. They are started several times, and unless
 * passthrough_leaves_workers they have to be started anew after it.
 */
void passthrough_measure(struct crew* crew, const struct study_plan* plan, passthrough_progress progress,
                         struct passthrough* out);

/* Whether the workers are as they were: well, with the plugin. */
bool passthrough_leaves_workers(const struct passthrough* passthrough);

/*
 * The difference and its interval from the first `pairs` (2 to 6) pairs of turns: Student's t on the pairs' logarithms,
 * as each is a ratio of medians of many rounds, and there are too few for an interval by order statistics. The
 * intervals of all of `sizes` (1 or 2) sizes hold together with 95% (Bonferroni).
 */
void passthrough_judge(struct passthrough_size* size, size_t pairs, size_t sizes);

enum passthrough_verdict passthrough_verdict(const struct passthrough_size* size);

/* Of all sizes the worst. */
enum passthrough_verdict passthrough_worst(const struct passthrough* passthrough);

/* In a sentence or two, without a newline: the differences with their intervals, or why there are none. */
void passthrough_add_words(const struct passthrough* passthrough, struct sw_text* out);

#endif
