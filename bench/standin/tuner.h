/*
 * A loaded tuner, whatever its interface version. Every argument goes through as that version has it; what a version
 * lacks (a commId before v5, regBuff before v4, a table in v2) is simply not passed.
 */
#ifndef STANDIN_TUNER_H
#define STANDIN_TUNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nccl_tuner.h"

struct standin_tuner {
  int version;        /* of the NCCL that loaded it */
  int abi;            /* 2 to 7 */
  const void* symbol; /* its nccl_tuner_v<abi> */
  void* library;      /* dlopen's handle */
};

/* The block that init's constants pointer leads to; `flat` for whoever wants to compare it. */
union standin_constants {
  nccl_tuner_constants_v5 v5;
  nccl_tuner_constants_v7 v7;
  double flat[sizeof(nccl_tuner_constants_v7) / sizeof(double)];
};

struct standin_init {
  size_t ranks;
  size_t nodes;
  uint64_t comm_id;
  nccl_logger logger;
  nccl_nvl_domain_info* nvl_domains;
  union standin_constants* constants;
};

struct standin_question {
  nccl_collective collective;
  size_t bytes;
  int collnet; /* v2 only */
  int nvls;    /* v2 only */
  int pipe_ops;
  int reg_buff;   /* from v4 */
  int algorithms; /* rows of the table */
  float* table;   /* float[algorithms][NCCL_NUM_PROTOCOLS], microseconds, in and out; not shown to v2 */
  int algorithm;  /* v2 only, in and out */
  int protocol;   /* v2 only, in and out */
  int channels;   /* in and out */
};

/* The tuner's own name. */
const char* standin_tuner_name(const struct standin_tuner* tuner);

/* Each forwards the tuner's result as it is. Finalize is v2's to v4's destroy; a NULL context is passed on as NULL. */
nccl_result standin_tuner_init(const struct standin_tuner* tuner, const struct standin_init* init, void** context);
nccl_result standin_tuner_ask(const struct standin_tuner* tuner, void* context, struct standin_question* question);
nccl_result standin_tuner_finalize(const struct standin_tuner* tuner, void* context);

/* getChunkSize of v6 and v7, or NULL where the version or the tuner has none. NCCL then clamps to the buffer and rounds
 * to the protocol's grain; the stand-in has no buffers and does neither. */
nccl_get_chunk_size standin_tuner_chunk_size(const struct standin_tuner* tuner);

#endif
