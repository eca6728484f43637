/*
 * What the user's own settings leave of NCCL's choices: NCCL_ALGO, NCCL_PROTO and the channel limits.
 *
 *     NCCL_ALGO=allreduce:tree;broadcast:ring     groups between semicolons, each
 *     NCCL_PROTO=^LL128                           [collective:][^]name[,name...]
 *
 * Only the first group may lack the collective; it then holds for every collective that no other group names. A
 * collective named twice goes by the later group, one that no group covers is not restricted (NCCL 2.31 and later
 * switch those off, see what the cost table says). ^ means all but these. Names are matched without regard to case.
 */
#ifndef SW_FORCED_H
#define SW_FORCED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nccl_tuner.h"

/* The first thing wrong in a setting; that variable then restricts nothing in our masks. */
struct sw_forced_error {
  const char* variable; /* "NCCL_ALGO"; NULL: nothing is wrong */
  size_t column;        /* in the variable's value, from 1, counted in bytes */
  char text[160];       /* printable ASCII whatever the value held */
};

struct sw_forced {
  const char* algo_text;  /* NCCL_ALGO as it is set, NULL when not; the environment's own text, so copy it to keep it */
  const char* proto_text; /* NCCL_PROTO likewise */
  uint16_t algorithms[NCCL_NUM_COLLECTIVES]; /* bit a: algorithm a is allowed; all set where nothing is forced */
  uint8_t protocols[NCCL_NUM_COLLECTIVES];   /* bit p: protocol p is allowed */
  bool algo_set[NCCL_NUM_COLLECTIVES];       /* NCCL_ALGO restricts this collective */
  bool proto_set[NCCL_NUM_COLLECTIVES];
  int min_channels;         /* 0: not set; not checked against what NCCL can do */
  int max_channels;         /* 0: not set */
  const char* min_variable; /* "NCCL_MIN_NCHANNELS" or "NCCL_MIN_CTAS", where both are set the tighter; NULL: none */
  const char* max_variable; /* likewise */
  struct sw_forced_error error;
};

/* Reads the settings through `getenv`; an answer of NULL or "" means not set. */
void sw_forced_read(const char* (*getenv)(const char* name), struct sw_forced* out);

/*
 * Whether the settings leave this choice to a collective; -1 for algorithm or protocol asks for any. True for a
 * collective outside 0..NCCL_NUM_COLLECTIVES - 1: nothing is known of it. An algorithm or protocol that we do not
 * know is allowed only where nothing is forced.
 */
bool sw_forced_allows(const struct sw_forced* forced, int collective, int algo, int proto);

#endif
