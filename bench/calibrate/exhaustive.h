/*
 * The oracle that a calibration is held against: at every size that it measured, every usable algorithm and protocol,
 * and auto, with NCCL's own channel count and with 1, 2, 4, 8 and 16, the same number of interleaved rounds each.
 * Nothing is dropped early, and no two that run the same thing are taken for one.
 *
 * The best of many noisy medians is better than it is. So both winners, the sweep's best and what the finished profile
 * decides, are measured afresh beside auto, interleaved, and only those gains are compared.
 */
#ifndef SW_EXHAUSTIVE_H
#define SW_EXHAUSTIVE_H

#include "calibrate/phase.h"
#include "calibrate/study.h"

enum { EXHAUSTIVE_ROUNDS = 9 };

/* Afresh: so many rounds, and up to the most of them while their calls take less than this, in microseconds. */
enum { EXHAUSTIVE_FRESH_ROUNDS = 30, EXHAUSTIVE_MOST_FRESH_ROUNDS = 400, EXHAUSTIVE_FRESH_US = 2000000 };

/* A gain over auto, 1 - median of the rounds' ratios, with its 95% interval. */
struct fresh_gain {
  double gain;
  double low;
  double high;
};

struct exhaustive_point {
  struct fabric_call call;
  uint32_t ranks;
  uint32_t nodes;
  size_t choices;           /* swept, auto among them */
  double sweep_us;          /* all samples of the sweep */
  struct sw_choice best;    /* of the sweep */
  double best_gain;         /* over auto, by the sweep's medians */
  struct sw_choice decided; /* by the finished profile */
  double decided_gain;      /* by the profile's medians */
  size_t fresh_rounds;
  struct fresh_gain best_fresh; /* a twin of auto gains 0, and twins of each other have one figure */
  struct fresh_gain decided_fresh;
};

struct exhaustive {
  struct exhaustive_point* points;
  size_t count;
  size_t wanted;       /* how many sizes there are to sweep */
  double sweep_us;     /* of all points */
  double calibrate_us; /* all samples that calibrate took before it verified; the caller's to fill in */
  size_t kept;         /* sizes whose cost is not in that: an earlier run measured them */
};

/* What goes on; any may be NULL. */
struct exhaustive_watch {
  void* context;
  void (*entered)(void* context, enum phase phase); /* what comes next is the sweep's, or afresh */
  void (*excluded)(void* context, const struct fabric_call* call, struct sw_choice choice, const char* why);
  void (*finished)(void* context, const struct exhaustive_point* point);
};

/* How many sizes exhaustive_run would sweep. */
size_t exhaustive_sizes(const struct study* study);

/*
 * Sweeps and compares every size that the study measured; `profile` is the finished profile's text. The workers are
 * started anew with it. False when the crew was lost or interrupted: `out` then has the points finished before.
 */
bool exhaustive_run(struct study* study, const char* profile, const struct exhaustive_watch* watch,
                    struct exhaustive* out);
void exhaustive_free(struct exhaustive* exhaustive);

/* Geometric means over all points of auto's time in times of the choice's, measured afresh: 1.1 is a tenth faster. */
struct speedups {
  double best;    /* of the sweep's best choices */
  double decided; /* of the profile's decisions */
};
struct speedups exhaustive_speedups(const struct exhaustive* exhaustive);

#endif
