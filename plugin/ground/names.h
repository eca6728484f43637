/*
 * Names and numbers: one table per vocabulary. Parsing, printing, help and "did you mean" all read these tables.
 * Words are matched without regard to case, as NCCL matches them; they are printed as they stand here.
 */
#ifndef SW_NAMES_H
#define SW_NAMES_H

#include <stddef.h>

struct sw_word {
  const char* word;
  int value;
};

struct sw_vocabulary {
  const char* what; /* what one word is, for messages: "algorithm" */
  const struct sw_word* words;
  size_t count;
};

/* Values of these three are NCCL's numbers (include/nccl_tuner.h). */
extern const struct sw_vocabulary sw_collectives;
extern const struct sw_vocabulary sw_algorithms;
extern const struct sw_vocabulary sw_protocols;

/* Where a profile's figures come from. */
enum sw_kind { SW_KIND_MEASURED, SW_KIND_PUBLISHED, SW_KIND_SIMULATED };
extern const struct sw_vocabulary sw_kinds;

/* What carries traffic between nodes. SW_NET_OTHER: a net plugin that is none of the others. */
enum sw_net { SW_NET_UNKNOWN = -1, SW_NET_IB, SW_NET_ROCE, SW_NET_SOCKET, SW_NET_OTHER };
extern const struct sw_vocabulary sw_nets;

/* The value of a word of `length` bytes; -1 when the vocabulary lacks it. */
int sw_word_value(const struct sw_vocabulary* vocabulary, const char* word, size_t length);

/* The word of a value; "?" when the vocabulary lacks it. */
const char* sw_value_word(const struct sw_vocabulary* vocabulary, int value);

/* The vocabulary's word nearest to a misspelt one, or NULL when none is near. */
const char* sw_nearest_word(const struct sw_vocabulary* vocabulary, const char* word, size_t length);

#endif
