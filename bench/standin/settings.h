/*
 * The user's own settings that reach into the cost table: NCCL_ALGO, NCCL_PROTO and the channel limits.
 *
 *     value = group {";" group}        group = [collective ":"] ["^"] name {"," name}
 *
 * Only the first group may lack its collective; it then holds for all collectives, and a later group replaces it for
 * one. "^" means all but these. Words are matched without regard to case. Blanks belong to no word.
 */
#ifndef STANDIN_SETTINGS_H
#define STANDIN_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "ground/names.h"
#include "nccl_tuner.h"

/* Indexed by NCCL's numbers for collectives and algorithms or protocols; `named`: listed, and not behind "^". */
struct standin_mask {
  bool allowed[NCCL_NUM_COLLECTIVES][NCCL_NUM_ALGORITHMS];
  bool named[NCCL_NUM_COLLECTIVES][NCCL_NUM_ALGORITHMS];
};

/* What the environment says. NULL or "" and 0 stand for unset. Borrowed: nothing is kept. */
struct standin_environment {
  const char* algo;  /* NCCL_ALGO */
  const char* proto; /* NCCL_PROTO */
  int min_channels;  /* NCCL_MIN_NCHANNELS, alias NCCL_MIN_CTAS */
  int max_channels;  /* NCCL_MAX_NCHANNELS, alias NCCL_MAX_CTAS */
};

struct standin_settings {
  struct standin_mask algorithms;
  struct standin_mask protocols;
  int min_channels;
  int max_channels;
};

struct standin_problem {
  const char* variable;
  const char* what;
  size_t offset; /* bytes from the start of the value */
};

/* One value of NCCL_ALGO or NCCL_PROTO; NULL or "" allows everything. On a grammar error or an unknown word: false,
 * `problem` says where (its variable is left to the caller), and the mask is not written. */
bool standin_mask_parse(const char* value, const struct sw_vocabulary* names, struct standin_mask* mask,
                        struct standin_problem* problem);

/* All four settings. False as above, and for a negative limit. */
bool standin_settings_parse(const struct standin_environment* environment, struct standin_settings* settings,
                            struct standin_problem* problem);

/* A communicator's channel count within the limits; the upper one wins, and NCCL has 64 at most. */
int standin_settings_bound(const struct standin_settings* settings, int channels);

#endif
