/*
 * A tuner for tests, in many builds (test/unit/standin.c lists them). Switches:
 *
 *     FAKE_V2 ... FAKE_V7    export this symbol; FAKE_ALL: all of them
 *     FAKE_INIT_RESULT=n     what init returns; other than 0, it leaves a context that must not be used
 *     FAKE_ASK_RESULT=n      what getCollInfo returns
 *     FAKE_AT=n              entry (3 * algorithm + protocol) that it writes FAKE_COST into; v2 names it instead
 *     FAKE_COST=x            microseconds
 *     FAKE_HALF              v2 names FAKE_AT's algorithm, but no protocol
 *     FAKE_CHANNELS=n        nChannels
 *     FAKE_CARELESS          overwrites the first constant, and a place past the table's end
 *     FAKE_UNRESOLVED        needs a function that nobody has: loads lazily or not at all (link with -Wl,-z,lazy)
 */
#include "host/fake_tuner.h"

#include <stdlib.h>
#include <string.h>

#ifdef FAKE_ALL
#define FAKE_V2
#define FAKE_V3
#define FAKE_V4
#define FAKE_V5
#define FAKE_V6
#define FAKE_V7
#endif
#ifndef FAKE_INIT_RESULT
#define FAKE_INIT_RESULT 0
#endif
#ifndef FAKE_ASK_RESULT
#define FAKE_ASK_RESULT 0
#endif
#ifndef FAKE_AT
#define FAKE_AT (-1)
#endif
#ifndef FAKE_COST
#define FAKE_COST 1.0f
#endif
#ifndef FAKE_CHANNELS
#define FAKE_CHANNELS 0
#endif
#ifdef FAKE_HALF
enum { HALF = 1 };
#else
enum { HALF = 0 };
#endif
#ifdef FAKE_CARELESS
enum { CARELESS = 1 };
#else
enum { CARELESS = 0 };
#endif

#define EXPORT __attribute__((visibility("default")))
#define MAYBE __attribute__((unused)) /* a build without a version does not use that version's functions */

EXPORT struct fake_counts fake_counts;

MAYBE static nccl_result start(int abi, size_t ranks, size_t nodes, nccl_logger logger, void** context) {
  static struct fake_seen unusable;
  atomic_fetch_add(&fake_counts.inits, 1);
  struct fake_seen* seen = FAKE_INIT_RESULT ? &unusable : calloc(1, sizeof *seen);
  *context = seen;
  if (!seen) return NCCL_SYSTEM_ERROR;
  seen->abi = abi;
  seen->ranks = ranks;
  seen->nodes = nodes;
  seen->has_logger = logger != NULL;
  return (nccl_result)FAKE_INIT_RESULT;
}

MAYBE static nccl_result finish(void* context) {
  atomic_fetch_add(context ? &fake_counts.finalizes : &fake_counts.null_finalizes, 1);
  free(context);
  return NCCL_SUCCESS;
}

MAYBE static nccl_result answer(struct fake_seen* seen, int pipe_ops, float** declared, int algorithms, int protocols,
                                int reg_buff, int* channels) {
  float* table = (float*)(void*)declared;
  seen->asks++;
  seen->pipe_ops = pipe_ops;
  seen->algorithms = algorithms;
  seen->protocols = protocols;
  seen->reg_buff = reg_buff;
  seen->channels = *channels;
  memcpy(seen->table, table, (size_t)(algorithms * protocols) * sizeof *table);
  if (FAKE_AT >= 0) table[FAKE_AT < 0 ? 0 : FAKE_AT] = FAKE_COST;
  if (CARELESS) table[algorithms * protocols] = FAKE_COST;
  if (FAKE_CHANNELS) *channels = FAKE_CHANNELS;
  return (nccl_result)FAKE_ASK_RESULT;
}

MAYBE static void note_call(struct fake_seen* seen, nccl_collective coll, size_t bytes) {
  seen->collective = coll;
  seen->bytes = bytes;
}

#ifdef FAKE_V2
static nccl_result init_v2(size_t ranks, size_t nodes, nccl_logger logger, void** context) {
  return start(2, ranks, nodes, logger, context);
}

static nccl_result ask_v2(void* context, nccl_collective coll, size_t bytes, int collnet, int nvls, int pipe_ops,
                          int* algorithm, int* protocol, int* channels) {
  struct fake_seen* seen = context;
  note_call(seen, coll, bytes);
  seen->asks++;
  seen->collnet = collnet;
  seen->nvls = nvls;
  seen->pipe_ops = pipe_ops;
  seen->algorithm = *algorithm;
  seen->protocol = *protocol;
  seen->channels = *channels;
  if (FAKE_AT >= 0) *algorithm = FAKE_AT / NCCL_NUM_PROTOCOLS;
  if (FAKE_AT >= 0 && !HALF) *protocol = FAKE_AT % NCCL_NUM_PROTOCOLS;
  if (FAKE_CHANNELS) *channels = FAKE_CHANNELS;
  return (nccl_result)FAKE_ASK_RESULT;
}
EXPORT const nccl_tuner_v2 ncclTunerPlugin_v2 = {"fake2", init_v2, ask_v2, finish};
#endif

#ifdef FAKE_V3
static nccl_result init_v3(size_t ranks, size_t nodes, nccl_logger logger, void** context) {
  return start(3, ranks, nodes, logger, context);
}

static nccl_result ask_v3(void* context, nccl_collective coll, size_t bytes, int pipe_ops, float** table,
                          int algorithms, int protocols, int* channels) {
  note_call(context, coll, bytes);
  return answer(context, pipe_ops, table, algorithms, protocols, 0, channels);
}
EXPORT const nccl_tuner_v3 ncclTunerPlugin_v3 = {"fake3", init_v3, ask_v3, finish};
#endif

MAYBE static nccl_result ask_v4(void* context, nccl_collective coll, size_t bytes, int pipe_ops, float** table,
                                int algorithms, int protocols, int reg_buff, int* channels) {
  note_call(context, coll, bytes);
  return answer(context, pipe_ops, table, algorithms, protocols, reg_buff, channels);
}

#ifdef FAKE_V4
static nccl_result init_v4(size_t ranks, size_t nodes, nccl_logger logger, void** context) {
  return start(4, ranks, nodes, logger, context);
}
EXPORT const nccl_tuner_v4 ncclTunerPlugin_v4 = {"fake4", init_v4, ask_v4, finish};
#endif

MAYBE static void note_block(struct fake_seen* seen, uint64_t comm_id, const nccl_nvl_domain_info* nvl_domains,
                             double* constants, size_t bytes) {
  seen->comm_id = comm_id;
  seen->nvl_domains = *nvl_domains;
  seen->first_constant = constants[0];
  seen->last_constant = constants[bytes / sizeof *constants - 1];
  if (CARELESS) constants[0] = 1;
}

#define INIT(abi, block)                                                                                           \
  static nccl_result init_v##abi(void** context, uint64_t comm_id, size_t ranks, size_t nodes, nccl_logger logger, \
                                 nccl_nvl_domain_info* nvl_domains, block* constants) {                            \
    nccl_result result = start(abi, ranks, nodes, logger, context);                                                \
    if (*context) note_block(*context, comm_id, nvl_domains, (double*)(void*)constants, sizeof *constants);        \
    return result;                                                                                                 \
  }

#ifdef FAKE_V5
INIT(5, nccl_tuner_constants_v5)
EXPORT const nccl_tuner_v5 ncclTunerPlugin_v5 = {"fake5", init_v5, ask_v4, finish};
#endif

/* Tells a test that this very function was called: twice the size that came in. */
MAYBE static nccl_result chunk_size(void* context, nccl_collective coll, size_t bytes, int algorithm, int protocol,
                                    int channels, size_t* chunk) {
  (void)context, (void)coll, (void)bytes, (void)algorithm, (void)protocol, (void)channels;
  *chunk *= 2;
  return NCCL_SUCCESS;
}

#ifdef FAKE_V6
INIT(6, nccl_tuner_constants_v5)
EXPORT const nccl_tuner_v6 ncclTunerPlugin_v6 = {"fake6", init_v6, ask_v4, finish, chunk_size};
#endif

#ifdef FAKE_V7
INIT(7, nccl_tuner_constants_v7)
EXPORT const nccl_tuner_v7 ncclTunerPlugin_v7 = {"fake7", init_v7, ask_v4, finish, chunk_size};
#endif

#ifdef FAKE_UNRESOLVED
extern void fake_function_that_nobody_has(void);
EXPORT void fake_needs_it(void);
void fake_needs_it(void) {
  fake_function_that_nobody_has();
}
#endif
