/*
 * A calibration: every collective, communicator size and message size that was asked for, measured and verified, and
 * what is known of them at any time.
 */
#ifndef SW_STUDY_H
#define SW_STUDY_H

#include "calibrate/compare.h"
#include "ground/text.h"

enum {
  STUDY_MOST_POINTS = 64,
  STUDY_MOST_TABLES = 64,
  STUDY_MOST_SIZES = 48,
  STUDY_MOST_GROUPS = 8,
  STUDY_MOST_VERIFIED = 4 * STUDY_MOST_POINTS,
  STUDY_MOST_TROUBLES = NCCL_NUM_COLLECTIVES * STUDY_MOST_SIZES * STUDY_MOST_GROUPS, /* one for each size of a plan */
  STUDY_MOST_PASSES = 4                                                              /* of verifying */
};

struct study_table {
  int collective;
  uint32_t ranks;
  uint32_t nodes;
  struct measured* points[STUDY_MOST_POINTS]; /* ascending */
  size_t count;
  struct verified verified[STUDY_MOST_VERIFIED]; /* as they were made: a size that changed comes again */
  size_t verified_count;
};

/* Where auto itself fails: such a size is left out, and the others go on. */
struct study_trouble {
  int collective;
  uint32_t ranks;
  uint64_t bytes; /* 0: the communicator cannot be joined */
  bool comparing; /* it was measured, and failed when it was compared afresh */
  char why[512];
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
  double budget_us;          /* of the fabric's clock, for all of it */
  int64_t min_gain;          /* of SW_ONE */
  uint64_t max_extra_memory; /* bytes that a choice's connections may take to win; 0: no limit */
  bool refine;               /* measure between two sizes where the decision changes */
  struct study_workload {    /* that the sizes are from */
    uint32_t ranks;          /* 0: not said, or there is none; likewise the nodes */
    uint32_t nodes;
    char left_out[256]; /* sizes that there is no room for, in words */
  } workload;
};

struct study {
  const struct study_plan* plan;
  struct crew* crew;
  const struct measure_watch* watch;
  const struct passthrough* passthrough; /* NULL: our plugin was not compared with no tuner */
  struct ban_list bans;
  struct study_table tables[STUDY_MOST_TABLES];
  size_t count;
  const struct measured* latest;                      /* the point that was finished last, or found finished */
  struct study_trouble troubles[STUDY_MOST_TROUBLES]; /* the first of them */
  size_t trouble_count;
  double measuring_us;
  double verifying_us;
  double verify_until_us; /* by the crew's clock; set when the first comparison begins */
  bool verify_spent;      /* that was not enough to compare all */
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

/* "allreduce 1 MiB on 4 ranks (hung: ...)" */
void study_add_trouble(struct sw_text* out, const struct study_trouble* trouble);

/* Whether a size of the plan is still to be measured: it neither is, nor was found to fail. */
bool study_is_left(const struct study* study, int collective, uint32_t ranks, uint64_t bytes);

/* What auto failed at there, or for its communicator; NULL: nothing. */
const struct study_trouble* study_trouble_at(const struct study* study, int collective, uint32_t ranks, uint64_t bytes);

/* Whether auto failed at the first sizes of a table, so that the rest is not tried. */
bool study_is_hopeless(const struct study* study, int collective, uint32_t ranks);

/* Whether a point has this choice, and it is excluded there: the profile says so, and a run that goes on from it. */
bool study_has_excluded(const struct study* study, const struct banned* choice);

/* The choice that wins at a point by the profile's own rule (decide/compete.h); 0: auto. */
size_t study_winner(const struct study* study, const struct measured* point);

/* Bytes of device memory that a choice takes beyond auto's: sw_extra_memory of a profile. */
uint64_t study_extra_memory(const struct measured* point, size_t choice);

/* The choice that would win there if memory were no matter. */
size_t study_winner_of_any_memory(const struct study* study, const struct measured* point);

/* Of a choice that was measured at a point, be it as the twin of another one; 0: it was not. */
size_t study_index_of(const struct measured* point, struct sw_choice choice);

/*
 * Measures all of the plan, as far as the budget goes: nine tenths of it, in equal parts for the communicators, and in
 * each of them a size of every collective in turn. `changed` is called whenever a point is finished.
 */
void study_measure(struct study* study, void (*changed)(void* context, const struct study* study), void* context);

/*
 * One pass of verifying: compares what `profile` (its text) decides with auto afresh, through the plugin, at sizes that
 * were measured and at sizes between them. What does not hold is withdrawn: a measured size goes to the next best
 * choice, a size between is measured like any other where the budget has room, else left to auto. Returns whether the
 * tables changed, so that the profile has to be made anew and what is new in it be compared in another pass. In the
 * `last` one nothing takes the place of what is withdrawn.
 */
bool study_verify(struct study* study, const char* profile, bool last);

/* What the finished profile decides at a size, and the comparison that proved it. */
struct study_decision {
  uint64_t bytes;
  const struct measured* point; /* NULL: between two measured sizes */
  struct sw_choice choice;
  const struct verified* verified; /* NULL: this choice was not compared here, or did not hold */
};

/* The decisions of a table, ascending, at the sizes that verifying looks at; returns how many. */
enum { STUDY_MOST_DECISIONS = 2 * STUDY_MOST_POINTS };
struct sw_plan;
size_t study_decisions(const struct study_table* table, const struct sw_plan* plan,
                       struct study_decision out[STUDY_MOST_DECISIONS]);

void study_free(struct study* study);

#endif
