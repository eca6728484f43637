#include "standin/estimate.h"

#include <math.h>

/* The model's constants. Index 0: one node; 1: several. */
static const double base_us[NCCL_NUM_PROTOCOLS] = {5, 8, 10};
static const double hop_us[2][NCCL_NUM_PROTOCOLS] = {{1, 1.5, 4}, {5, 6, 12}};
static const double bytes_per_us[2] = {150e3, 20e3}; /* 150 and 20 GB/s */
static const double protocol_share[NCCL_NUM_PROTOCOLS] = {0.25, 0.9, 1};
static const double symmetric_base_us = 6;

/* An fp8 sum loses precision on a deep ring, so NCCL prices it away. */
enum { FP8_RANKS = 8, FP8_FACTOR = 1024 };

static int log2_up(size_t n) {
  int log = 0;
  while (log < 63 && ((size_t)1 << log) < n) log++;
  return log;
}

static bool is_gather_or_scatter(nccl_collective collective) {
  return collective == NCCL_ALLGATHER || collective == NCCL_REDUCESCATTER;
}

/* Latencies on the longest way, in hops. */
static double hops(const struct standin_shape* shape, nccl_collective collective, int algorithm) {
  switch (algorithm) {
    case NCCL_ALGO_TREE:
      return 2.0 * log2_up(shape->ranks);
    case NCCL_ALGO_RING:
      return (collective == NCCL_ALLREDUCE ? 2.0 : 1.0) * (double)(shape->ranks - 1);
    case NCCL_ALGO_COLLNET_CHAIN:
      return 2.0 * floor((double)shape->ranks / (double)shape->nodes);
    case NCCL_ALGO_NVLS_TREE:
      return 2.0 + 2.0 * log2_up(shape->nodes);
    case NCCL_ALGO_PAT:
      return log2_up(shape->ranks);
    default: /* CollNetDirect, NVLS: to the switch and back */
      return 2.0;
  }
}

/* Bytes through the narrowest place, per byte of the operation. */
static double wire_share(const struct standin_shape* shape, nccl_collective collective, int algorithm) {
  double but_one = (double)(shape->ranks - 1) / (double)shape->ranks;
  switch (algorithm) {
    case NCCL_ALGO_TREE:
      return 2.2;
    case NCCL_ALGO_RING:
      if (collective == NCCL_ALLREDUCE) return 2 * but_one;
      return is_gather_or_scatter(collective) ? but_one : 1.0;
    case NCCL_ALGO_PAT:
      return 1.1 * but_one;
    case NCCL_ALGO_NVLS:
      return 1.2;
    default: /* CollNet, NVLSTree */
      return 1.4;
  }
}

static double time_us(const struct standin_communicator* c, const struct standin_operation* operation, int pipe_ops,
                      int algorithm, int protocol) {
  const struct standin_shape* shape = standin_communicator_shape(c);
  int scale = shape->nodes > 1;
  double latency = base_us[protocol] + hops(shape, operation->collective, algorithm) * hop_us[scale][protocol];
  double wire = wire_share(shape, operation->collective, algorithm) * (double)operation->bytes;
  return latency * pipe_ops + wire / (bytes_per_us[scale] * protocol_share[protocol]);
}

/* Whether the collective exists in this algorithm, whatever the machine. */
static bool algorithm_has(nccl_collective collective, int algorithm) {
  switch (algorithm) {
    case NCCL_ALGO_RING:
      return true;
    case NCCL_ALGO_PAT:
      return is_gather_or_scatter(collective);
    case NCCL_ALGO_COLLNET_DIRECT:
    case NCCL_ALGO_NVLS:
      return collective == NCCL_ALLREDUCE || is_gather_or_scatter(collective);
    default: /* Tree, NVLSTree, CollNetChain */
      return collective == NCCL_ALLREDUCE;
  }
}

static bool machine_has(const struct standin_shape* shape, int algorithm) {
  if (algorithm == NCCL_ALGO_NVLS || algorithm == NCCL_ALGO_NVLS_TREE) return shape->nvls;
  if (algorithm == NCCL_ALGO_COLLNET_DIRECT || algorithm == NCCL_ALGO_COLLNET_CHAIN) return shape->collnet;
  return true;
}

static bool usable(const struct standin_communicator* c, nccl_collective collective, int algorithm, int protocol) {
  const struct standin_shape* shape = standin_communicator_shape(c);
  const struct standin_settings* settings = standin_communicator_settings(c);
  if (algorithm >= standin_communicator_rules(c)->algorithms) return false;
  if (!algorithm_has(collective, algorithm) || !machine_has(shape, algorithm)) return false;
  bool any_protocol = algorithm == NCCL_ALGO_RING || algorithm == NCCL_ALGO_TREE;
  if (!any_protocol && protocol != NCCL_PROTO_SIMPLE) return false;
  if (protocol == NCCL_PROTO_LL128 && !shape->ll128 && !settings->protocols.named[collective][protocol]) return false;
  return settings->algorithms.allowed[collective][algorithm] && settings->protocols.allowed[collective][protocol];
}

void standin_estimate(const struct standin_communicator* c, const struct standin_operation* operation, int pipe_ops,
                      float table[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS]) {
  nccl_collective collective = operation->collective;
  bool deep_ring = operation->fp8 && collective == NCCL_ALLREDUCE && standin_communicator_shape(c)->ranks > FP8_RANKS;
  for (int algorithm = 0; algorithm < NCCL_NUM_ALGORITHMS; algorithm++)
    for (int protocol = 0; protocol < NCCL_NUM_PROTOCOLS; protocol++) {
      float cost = STANDIN_UNUSABLE;
      if (usable(c, collective, algorithm, protocol))
        cost = (float)time_us(c, operation, pipe_ops, algorithm, protocol);
      table[algorithm][protocol] = deep_ring && algorithm == NCCL_ALGO_RING ? cost * FP8_FACTOR : cost;
    }
}

float standin_estimate_symmetric(const struct standin_communicator* c, const struct standin_operation* operation) {
  int scale = standin_communicator_shape(c)->nodes > 1;
  return (float)(symmetric_base_us + (double)operation->bytes / bytes_per_us[scale]);
}
