/*
 * A calibration: every collective, communicator size and message size that was asked for, measured and verified, and
 * what is known of them at any time.
 */
#ifndef SW_STUDY_H
#define SW_STUDY_H

#include "calibrate/compare.h"

enum { STUDY_MOST_POINTS = 64, STUDY_MOST_TABLES = 64, STUDY_MOST_SIZES = 48, STUDY_MOST_GROUPS = 8 };

struct study_table {
  int collective;
  uint32_t ranks;
  uint32_t nodes;
  struct measured* points[STUDY_MOST_POINTS]; /* ascending */
  size_t count;
  struct verified verified[2 * STUDY_MOST_POINTS];
  size_t verified_count;
};

struct passthrough;

/* What is to be measured. */
struct study_plan {
  int collectives[NCCL_NUM_COLLECTIVES];
  size_t collective_count;
  uint64_t sizes[STUDY_MOST_SIZES]; /* ascending */
  size_t size_count;
  uint32_t groups[STUDY_MOST_GROUPS]; /* ranks of the communicators */
  size_t group_count;
  double budget_us; /* of the fabric's clock, for all of it */
  int64_t min_gain; /* of SW_ONE */
  bool refine;      /* measure between two sizes where the decision changes */
};

struct study {
  const struct study_plan* plan;
  struct crew* crew;
  const struct measure_watch* watch;
  const struct passthrough* passthrough; /* NULL: our plugin was not compared with no tuner */
  struct ban_list bans;
  struct study_table tables[STUDY_MOST_TABLES];
  size_t count;
  const struct measured* latest; /* the point that was finished last, or found finished */
  double measuring_us;
  double verifying_us;
  enum study_end {
    STUDY_GOES_ON,
    STUDY_DONE,
    STUDY_SPENT,       /* the budget: what is known is valid, the rest was not measured */
    STUDY_INTERRUPTED, /* likewise */
    STUDY_LOST         /* the crew cannot go on; crew_failure says why */
  } end;
};

/* How calls of a size are issued while they are timed: as decode does up to 1 MiB, as prefill does above. */
enum fabric_mode study_mode(uint64_t bytes);

/* The size nearest to `bytes`, not above it, that splits into equal parts for every rank in every element type. */
uint64_t study_size(uint64_t bytes, uint32_t ranks);

/* How many of the plan's sizes, of all collectives and communicators, are not measured yet. */
size_t study_left(const struct study* study);

/* The choice that would win at a point; 0: auto. */
size_t study_winner(const struct study* study, const struct measured* point);

/* Measures all of the plan, as far as the budget goes. `changed` is called whenever a point is finished. */
void study_measure(struct study* study, void (*changed)(void* context, const struct study* study), void* context);

/* Compares the tables with auto afresh, through the plugin with `profile` loaded, at sizes that were measured and at
   sizes between them; what does not hold is excluded from the tables. `profile` is the profile's text. */
void study_verify(struct study* study, const char* profile);

void study_free(struct study* study);

#endif
