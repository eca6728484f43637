#include "ground/names.h"

#include <string.h>

#include "ground/letters.h"
#include "ground/nearest.h"
#include "nccl_tuner.h"

#define VOCABULARY(name, what, ...)                           \
  static const struct sw_word name##_words[] = {__VA_ARGS__}; \
  const struct sw_vocabulary name = {what, name##_words, sizeof name##_words / sizeof name##_words[0]}

VOCABULARY(sw_collectives, "collective", {"broadcast", NCCL_BROADCAST}, {"reduce", NCCL_REDUCE},
           {"allgather", NCCL_ALLGATHER}, {"reducescatter", NCCL_REDUCESCATTER}, {"allreduce", NCCL_ALLREDUCE});

VOCABULARY(sw_algorithms, "algorithm", {"tree", NCCL_ALGO_TREE}, {"ring", NCCL_ALGO_RING},
           {"collnetdirect", NCCL_ALGO_COLLNET_DIRECT}, {"collnetchain", NCCL_ALGO_COLLNET_CHAIN},
           {"nvls", NCCL_ALGO_NVLS}, {"nvlstree", NCCL_ALGO_NVLS_TREE}, {"pat", NCCL_ALGO_PAT});

VOCABULARY(sw_protocols, "protocol", {"ll", NCCL_PROTO_LL}, {"ll128", NCCL_PROTO_LL128}, {"simple", NCCL_PROTO_SIMPLE});

VOCABULARY(sw_kinds, "kind of provenance", {"measured", SW_KIND_MEASURED}, {"published", SW_KIND_PUBLISHED},
           {"simulated", SW_KIND_SIMULATED});

VOCABULARY(sw_nets, "network", {"ib", SW_NET_IB}, {"roce", SW_NET_ROCE}, {"socket", SW_NET_SOCKET},
           {"other", SW_NET_OTHER});

int sw_word_value(const struct sw_vocabulary* vocabulary, const char* word, size_t length) {
  for (size_t i = 0; i < vocabulary->count; i++) {
    const char* known = vocabulary->words[i].word;
    if (strlen(known) == length && sw_same_letters(known, word, length)) return vocabulary->words[i].value;
  }
  return -1;
}

const char* sw_value_word(const struct sw_vocabulary* vocabulary, int value) {
  for (size_t i = 0; i < vocabulary->count; i++)
    if (vocabulary->words[i].value == value) return vocabulary->words[i].word;
  return "?";
}

const char* sw_nearest_word(const struct sw_vocabulary* vocabulary, const char* word, size_t length) {
  struct sw_nearest nearest = sw_nearest_start(word, length);
  for (size_t i = 0; i < vocabulary->count; i++) sw_nearest_offer(&nearest, vocabulary->words[i].word);
  return nearest.best;
}
