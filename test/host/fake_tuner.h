/*
 * What a fake tuner (fake_tuner.c) lets a test see.
 */
#ifndef TEST_FAKE_TUNER_H
#define TEST_FAKE_TUNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nccl_tuner.h"

/* A fake's context points at this: what init and the last question brought. Numbers that its version lacks stay 0. */
struct fake_seen {
  int abi;
  size_t ranks;
  size_t nodes;
  uint64_t comm_id;
  bool has_logger;
  nccl_nvl_domain_info nvl_domains;
  double first_constant;
  double last_constant;
  int asks;
  nccl_collective collective;
  size_t bytes;
  int collnet;
  int nvls;
  int pipe_ops;
  int algorithms;
  int protocols;
  int reg_buff;
  int algorithm; /* as it came in */
  int protocol;
  int channels;
  float table[NCCL_NUM_ALGORITHMS * NCCL_NUM_PROTOCOLS];
};

/* Each fake exports one of these as `fake_counts`. */
struct fake_counts {
  atomic_int inits;
  atomic_int finalizes; /* those with a context */
  atomic_int null_finalizes;
};

#endif
