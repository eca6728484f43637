/*
 * A finished profile, proven on the machines that it is for: every rank decides the same, and what it decides still
 * beats NCCL's own choice when both are measured afresh. The profile is only read.
 */
#ifndef SW_VERIFY_H
#define SW_VERIFY_H

#include "calibrate/compare.h"
#include "calibrate/proof.h"
#include "calibrate/study.h"
#include "ground/text.h"

enum { VERIFY_MOST_SIZES = 160, VERIFY_MOST_TABLES = 32, VERIFY_MOST_DIFFERING = 16 };

enum verify_outcome {
  VERIFY_NOT_REACHED, /* the budget was spent, or the run ended */
  VERIFY_LEFT,        /* the profile leaves it to NCCL: there is nothing to compare */
  VERIFY_HOLDS,
  VERIFY_FAILS,    /* it is no faster than NCCL's own choice, or not surely */
  VERIFY_UNFIT,    /* NCCL does not offer the choice here, so that its own runs */
  VERIFY_BROKE,    /* it hung, crashed or failed, or auto did beside it: `why` says which */
  VERIFY_TOO_LARGE /* two buffers of it are more than the share of free memory that may be taken */
};

struct verify_size {
  bool measured; /* the profile has times of this size; else its decision comes from neighbours, or from a rule */
  enum verify_outcome outcome;
  struct verified verified; /* bytes and choice always; the rest where it was compared */
  char why[160];            /* of what broke */
};

/* One collective on one shape of communicator. */
struct verify_table {
  int collective;
  uint32_t nodes;
  uint32_t ranks;
  struct verify_size sizes[VERIFY_MOST_SIZES]; /* ascending */
  size_t count;
};

/* A rank that differs, and how. */
struct verify_differing {
  uint32_t rank;
  enum proof_fault fault;
  struct rank_proof proof;
};

struct verify_plan {
  const char* name; /* of the profile, as it was named */
  const struct sw_profile* profile;
  struct sw_digest digest;
  const char* text; /* that all ranks are given */
  bool collectives[NCCL_NUM_COLLECTIVES];
  uint32_t groups[STUDY_MOST_GROUPS]; /* ranks of the communicators */
  size_t group_count;
  double budget_us;                   /* of the crew's clock */
  void (*progress)(const char* text); /* NULL: silent */
};

struct verification {
  const struct verify_plan* plan;
  struct crew* crew;
  struct verify_table tables[VERIFY_MOST_TABLES];
  size_t count;
  struct verify_differing differing[VERIFY_MOST_DIFFERING]; /* the first of them */
  size_t differing_count;
  size_t without_file; /* ranks that have no file of the profile's name */
  uint32_t first_without_file;
  bool lost;         /* the crew has failed: crew_failure says how */
  char at[160];      /* what it was doing then */
  double started_us; /* the crew's clock when comparing began */
};

/* Proves and compares all of the plan. The crew is open; its workers are started here. */
void verify_run(struct verification* v);

/* Whether all that was asked for holds. */
bool verify_is_good(const struct verification* v);

/* How many sizes have an outcome. */
size_t verify_count(const struct verification* v, enum verify_outcome outcome);

/* The communicator sizes, up to `ranks`, that the profile says something about, the largest first. */
size_t verify_groups(const struct sw_profile* profile, uint32_t ranks, uint32_t groups[STUDY_MOST_GROUPS]);

/*
 * The sizes to compare for a collective and shape: those that were measured, those in the middle between two of them,
 * and the ends of rules. Fills bytes and `measured`, ascending, each size once; returns how many.
 */
size_t verify_sizes(const struct sw_profile* profile, int collective, uint32_t nodes, uint32_t ranks,
                    struct verify_size out[VERIFY_MOST_SIZES]);

#endif
