#include "profile/choice.h"

#include "ground/names.h"
#include "nccl_tuner.h"

bool sw_choice_is_auto(struct sw_choice choice) {
  return sw_choice_same(choice, SW_AUTO);
}

bool sw_choice_same(struct sw_choice a, struct sw_choice b) {
  return sw_choice_compare(a, b) == 0;
}

int sw_choice_compare(struct sw_choice a, struct sw_choice b) {
  if (a.algo != b.algo) return a.algo - b.algo;
  if (a.proto != b.proto) return a.proto - b.proto;
  return a.channels - b.channels;
}

#define BIT(n) (1u << (n))

/* Which collectives an algorithm serves, and with which protocols, in NCCL 2.21 to 2.32. */
static const struct {
  unsigned collectives;
  unsigned protocols;
} offered[NCCL_NUM_ALGORITHMS] = {
    [NCCL_ALGO_TREE] = {BIT(NCCL_ALLREDUCE), BIT(NCCL_PROTO_LL) | BIT(NCCL_PROTO_LL128) | BIT(NCCL_PROTO_SIMPLE)},
    [NCCL_ALGO_RING] = {BIT(NCCL_NUM_COLLECTIVES) - 1,
                        BIT(NCCL_PROTO_LL) | BIT(NCCL_PROTO_LL128) | BIT(NCCL_PROTO_SIMPLE)},
    [NCCL_ALGO_COLLNET_DIRECT] = {BIT(NCCL_ALLREDUCE) | BIT(NCCL_ALLGATHER) | BIT(NCCL_REDUCESCATTER),
                                  BIT(NCCL_PROTO_SIMPLE)},
    [NCCL_ALGO_COLLNET_CHAIN] = {BIT(NCCL_ALLREDUCE), BIT(NCCL_PROTO_SIMPLE)},
    [NCCL_ALGO_NVLS] = {BIT(NCCL_ALLREDUCE) | BIT(NCCL_ALLGATHER) | BIT(NCCL_REDUCESCATTER), BIT(NCCL_PROTO_SIMPLE)},
    [NCCL_ALGO_NVLS_TREE] = {BIT(NCCL_ALLREDUCE), BIT(NCCL_PROTO_SIMPLE)},
    [NCCL_ALGO_PAT] = {BIT(NCCL_ALLGATHER) | BIT(NCCL_REDUCESCATTER), BIT(NCCL_PROTO_SIMPLE)},
};

bool sw_choice_possible(int collective, int algo, int proto) {
  if (algo < 0) return true; /* Ring serves every collective with every protocol */
  bool protocol_fits = proto < 0 || (offered[algo].protocols & BIT(proto));
  return protocol_fits && (offered[algo].collectives & BIT(collective));
}

void sw_add_choice(struct sw_text* text, struct sw_choice choice) {
  if (sw_choice_is_auto(choice)) sw_text_add(text, "auto");
  if (choice.algo >= 0) sw_text_add(text, sw_value_word(&sw_algorithms, choice.algo));
  if (choice.algo >= 0 && choice.proto >= 0) sw_text_add(text, " + ");
  if (choice.proto >= 0) sw_text_add(text, sw_value_word(&sw_protocols, choice.proto));
  if (!choice.channels) return;
  if (choice.algo >= 0 || choice.proto >= 0) sw_text_add(text, ", ");
  sw_text_printf(text, "%u channel%s", choice.channels, choice.channels == 1 ? "" : "s");
}

void sw_add_shape(struct sw_text* text, uint32_t ranks, uint32_t nodes) {
  sw_text_printf(text, "%u rank%s on %u node%s", ranks, ranks == 1 ? "" : "s", nodes, nodes == 1 ? "" : "s");
}
