/*
 * NCCL's tuner plugin interface, versions 2 to 7, in our own declarations.
 *
 * NCCL looks for a data symbol ncclTunerPlugin_v<N>, newest first, and uses the first one that it finds:
 *
 *     NCCL 2.21        v2                      NCCL 2.28, 2.29   v5, v4, v3, v2
 *     NCCL 2.22, 2.23  v3, v2                  NCCL 2.30         v6 and down
 *     NCCL 2.24-2.27   v4, v3, v2              later             v7 and down
 *
 * test/unit/abi_layout.c pins every size and offset; nothing here depends on an NCCL header.
 * Sizes are bytes, times in cost tables are microseconds.
 */
#ifndef NCCL_TUNER_H
#define NCCL_TUNER_H

#include <stddef.h>
#include <stdint.h>

/* ncclResult_t: an int-sized enum. */
typedef enum {
  NCCL_SUCCESS = 0,
  NCCL_UNHANDLED_CUDA_ERROR = 1,
  NCCL_SYSTEM_ERROR = 2,
  NCCL_INTERNAL_ERROR = 3,
  NCCL_INVALID_ARGUMENT = 4,
  NCCL_INVALID_USAGE = 5
} nccl_result;

/* Log levels of ncclDebugLogger_t. NCCL drops what is below NCCL_DEBUG itself, after the call was paid for. */
typedef enum {
  NCCL_LOG_NONE = 0,
  NCCL_LOG_VERSION = 1,
  NCCL_LOG_WARN = 2,
  NCCL_LOG_INFO = 3,
  NCCL_LOG_ABORT = 4,
  NCCL_LOG_TRACE = 5
} nccl_log_level;

/* Sub-system bits of the logger's flags. */
enum {
  NCCL_SUBSYS_INIT = 0x1,
  NCCL_SUBSYS_COLL = 0x2,
  NCCL_SUBSYS_P2P = 0x4,
  NCCL_SUBSYS_SHM = 0x8,
  NCCL_SUBSYS_NET = 0x10,
  NCCL_SUBSYS_GRAPH = 0x20,
  NCCL_SUBSYS_TUNING = 0x40,
  NCCL_SUBSYS_ENV = 0x80
};

typedef void (*nccl_logger)(nccl_log_level level, unsigned long flags, const char* file, int line, const char* fmt,
                            ...);

/* The collectives that a tuner is asked about. Higher numbers exist and grow from release to release. */
enum {
  NCCL_BROADCAST = 0,
  NCCL_REDUCE = 1,
  NCCL_ALLGATHER = 2,
  NCCL_REDUCESCATTER = 3,
  NCCL_ALLREDUCE = 4,
  NCCL_NUM_COLLECTIVES = 5
};

/* int-sized, as NCCL's enum is; passed by value, so any int can arrive here. */
typedef int nccl_collective;

/* Algorithms: rows of a cost table. PAT exists from 2.23, so a table has 6 rows under 2.22 and 7 since. */
enum {
  NCCL_ALGO_TREE = 0,
  NCCL_ALGO_RING = 1,
  NCCL_ALGO_COLLNET_DIRECT = 2,
  NCCL_ALGO_COLLNET_CHAIN = 3,
  NCCL_ALGO_NVLS = 4,
  NCCL_ALGO_NVLS_TREE = 5,
  NCCL_ALGO_PAT = 6,
  NCCL_NUM_ALGORITHMS = 7
};

/* Protocols: columns of a cost table. */
enum { NCCL_PROTO_LL = 0, NCCL_PROTO_LL128 = 1, NCCL_PROTO_SIMPLE = 2, NCCL_NUM_PROTOCOLS = 3 };

/* A channel count lands in a signed byte, and NCCL has this many at most. */
enum { NCCL_MAX_CHANNELS = 64 };

/*
 * The cost table's declared type is float**, but what it points at is one flat float[numAlgo][numProto].
 * A negative entry is unusable for this call and has to stay as it is.
 */

typedef struct {
  const char* name;
  nccl_result (*init)(size_t nRanks, size_t nNodes, nccl_logger logger, void** context);
  nccl_result (*getCollInfo)(void* context, nccl_collective coll, size_t nBytes, int collNetSupport, int nvlsSupport,
                             int numPipeOps, int* algorithm, int* protocol, int* nChannels);
  nccl_result (*destroy)(void* context);
} nccl_tuner_v2;

typedef struct {
  const char* name;
  nccl_result (*init)(size_t nRanks, size_t nNodes, nccl_logger logger, void** context);
  nccl_result (*getCollInfo)(void* context, nccl_collective coll, size_t nBytes, int numPipeOps, float** costTable,
                             int numAlgo, int numProto, int* nChannels);
  nccl_result (*destroy)(void* context);
} nccl_tuner_v3;

typedef struct {
  const char* name;
  nccl_result (*init)(size_t nRanks, size_t nNodes, nccl_logger logger, void** context);
  nccl_result (*getCollInfo)(void* context, nccl_collective coll, size_t nBytes, int numPipeOps, float** costTable,
                             int numAlgo, int numProto, int regBuff, int* nChannels);
  nccl_result (*destroy)(void* context);
} nccl_tuner_v4;

/* NVLink domains of a communicator: how many, and the fewest and most ranks in one of them. */
typedef struct {
  int nDomains;
  int minRanksPerDomain;
  int maxRanksPerDomain;
} nccl_nvl_domain_info;

enum { NCCL_NUM_LINKS = 3, NCCL_NUM_SCALES = 3, NCCL_NUM_GENERATIONS_V5 = 4, NCCL_NUM_GENERATIONS_V7 = 5 };

/*
 * The constants of NCCL's own cost model, in and out. Latencies in microseconds, bandwidths in GB/s.
 * Links: NVLink, PCI, network. Scales: one node, two nodes, four or more. Generations: Volta, Ampere, Hopper,
 * Blackwell (and Rubin in v7). A plugin that leaves the block alone is right under every version.
 */
#define NCCL_TUNER_CONSTANTS(GENERATIONS)                                        \
  {                                                                              \
    double baseLatencies[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS];               \
    double hwLatencies[NCCL_NUM_LINKS][NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS]; \
    double llMaxBws[GENERATIONS][NCCL_NUM_SCALES];                               \
    double perChMaxRingLL128Bws[GENERATIONS][NCCL_NUM_SCALES];                   \
    double perChMaxTreeLL128Bws[GENERATIONS][NCCL_NUM_SCALES];                   \
    double perChMaxTreeBws[GENERATIONS][NCCL_NUM_SCALES];                        \
    double perChMaxNVLSTreeBws[GENERATIONS][NCCL_NUM_SCALES];                    \
  }
typedef struct NCCL_TUNER_CONSTANTS(NCCL_NUM_GENERATIONS_V5) nccl_tuner_constants_v5;
typedef struct NCCL_TUNER_CONSTANTS(NCCL_NUM_GENERATIONS_V7) nccl_tuner_constants_v7;

typedef struct {
  const char* name;
  nccl_result (*init)(void** context, uint64_t commId, size_t nRanks, size_t nNodes, nccl_logger logger,
                      nccl_nvl_domain_info* nvlDomainInfo, nccl_tuner_constants_v5* constants);
  nccl_result (*getCollInfo)(void* context, nccl_collective coll, size_t nBytes, int numPipeOps, float** costTable,
                             int numAlgo, int numProto, int regBuff, int* nChannels);
  nccl_result (*finalize)(void* context);
} nccl_tuner_v5;

/* In/out: one channel portion's bytes in, its chunk size out. May be NULL. */
typedef nccl_result (*nccl_get_chunk_size)(void* context, nccl_collective coll, size_t nBytes, int algo, int proto,
                                           int nChannels, size_t* chunkSize);

typedef struct {
  const char* name;
  nccl_result (*init)(void** context, uint64_t commId, size_t nRanks, size_t nNodes, nccl_logger logger,
                      nccl_nvl_domain_info* nvlDomainInfo, nccl_tuner_constants_v5* constants);
  nccl_result (*getCollInfo)(void* context, nccl_collective coll, size_t nBytes, int numPipeOps, float** costTable,
                             int numAlgo, int numProto, int regBuff, int* nChannels);
  nccl_result (*finalize)(void* context);
  nccl_get_chunk_size getChunkSize;
} nccl_tuner_v6;

typedef struct {
  const char* name;
  nccl_result (*init)(void** context, uint64_t commId, size_t nRanks, size_t nNodes, nccl_logger logger,
                      nccl_nvl_domain_info* nvlDomainInfo, nccl_tuner_constants_v7* constants);
  nccl_result (*getCollInfo)(void* context, nccl_collective coll, size_t nBytes, int numPipeOps, float** costTable,
                             int numAlgo, int numProto, int regBuff, int* nChannels);
  nccl_result (*finalize)(void* context);
  nccl_get_chunk_size getChunkSize;
} nccl_tuner_v7;

#endif
