/* What there is to choose from for one call, each distinct thing once. */
#ifndef SW_CANDIDATES_H
#define SW_CANDIDATES_H

#include "calibrate/crew.h"

/* A choice and what it really is. Candidate 0 is auto. */
struct candidate {
  struct sw_choice choice;
  struct fabric_probe probe;
  char excluded[160]; /* why it must not be used; "": it may */
};

/* A choice that runs the very same thing as a candidate: a channel count is a budget, and many budgets come to one. */
struct twin {
  struct sw_choice choice;
  size_t of; /* the candidate */
};

enum { MOST_TWINS = 4 * FABRIC_MOST_CHOICES };

struct candidates {
  struct candidate items[FABRIC_MOST_CHOICES];
  size_t count;
  struct twin twins[MOST_TWINS];
  size_t twin_count;
};

/* What the words of an exclusion amount to. */
enum why {
  WHY_NOT,    /* "": it is not excluded */
  WHY_NO_USE, /* it works, and what it gains does not hold */
  WHY_DATA,   /* its data are wrong at this size */
  WHY_FAILED  /* it hung, crashed or failed, or a run ended while it was tried: not to be tried at any size */
};
enum why why_excluded(const char* words);

/* A choice that is not to be tried for a collective on this shape: it hung or crashed before. */
struct banned {
  int collective;
  uint32_t ranks;
  struct sw_choice choice;
  uint64_t bytes; /* of the call that an earlier run ended with; 0: none did */
  char why[160];
};

/* Where so many fail, nothing that is measured is worth anything. */
enum { MOST_BANS = 1024 };

struct ban_list {
  struct banned items[MOST_BANS];
  size_t count;
};

/* Adds a ban; false: the list is full, and the choice must not be met again. */
bool ban(struct ban_list* list, int collective, uint32_t ranks, struct sw_choice choice, const char* why);

/* Why a choice is banned, or NULL. A ban of a pair holds for all its channel counts. */
const char* ban_of(const struct ban_list* list, int collective, uint32_t ranks, struct sw_choice choice);

/* Told of each choice before it is tried. */
struct candidates_watch {
  void (*before)(void* context, struct sw_choice choice);
  void* context;
};

/*
 * Finds the candidates of a call: auto, auto with fewer channels, and every algorithm and protocol that NCCL offers for
 * it, with NCCL's own channel count and with 1, 2, 4, ... as far as more of them run. Banned ones are candidates with a
 * reason, and are not probed. False: the crew has failed; `culprit` is the choice that was being probed.
 */
bool candidates_find(struct crew* crew, const struct fabric_call* call, const struct ban_list* bans,
                     const struct candidates_watch* watch, struct candidates* out, struct sw_choice* culprit);

/* Whether two choices are twins: the same kernel on the same channels, with the same threads. */
bool candidates_same(const struct fabric_probe* a, const struct fabric_probe* b);

/* Whether NCCL offers a pair for a call, by what a probe of auto for it shows. */
bool candidates_offered(const struct fabric_probe* own, int algo, int proto);

#endif
