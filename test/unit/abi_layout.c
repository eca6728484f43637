/* include/nccl_tuner.h: every size, offset, number and signature, as NCCL has them on 64-bit Linux. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "nccl_tuner.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

struct number {
  const char* what;
  size_t is, expected;
};

#define SIZE(type, expected) \
  { "sizeof " #type, sizeof(type), expected }
#define AT(type, member, expected) \
  { #type "." #member, offsetof(type, member), expected }
#define VALUE(name, expected) \
  { #name, (size_t)(name), expected }

static void assert_numbers(const struct number* numbers, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (numbers[i].is != numbers[i].expected)
      fail_msg("%s is %zu, not %zu", numbers[i].what, numbers[i].is, numbers[i].expected);
}

static void structs(void** state) {
  (void)state;
  static const struct number numbers[] = {
      SIZE(nccl_tuner_v2, 32),
      AT(nccl_tuner_v2, name, 0),
      AT(nccl_tuner_v2, init, 8),
      AT(nccl_tuner_v2, getCollInfo, 16),
      AT(nccl_tuner_v2, destroy, 24),

      SIZE(nccl_tuner_v3, 32),
      AT(nccl_tuner_v3, name, 0),
      AT(nccl_tuner_v3, init, 8),
      AT(nccl_tuner_v3, getCollInfo, 16),
      AT(nccl_tuner_v3, destroy, 24),

      SIZE(nccl_tuner_v4, 32),
      AT(nccl_tuner_v4, name, 0),
      AT(nccl_tuner_v4, init, 8),
      AT(nccl_tuner_v4, getCollInfo, 16),
      AT(nccl_tuner_v4, destroy, 24),

      SIZE(nccl_tuner_v5, 32),
      AT(nccl_tuner_v5, name, 0),
      AT(nccl_tuner_v5, init, 8),
      AT(nccl_tuner_v5, getCollInfo, 16),
      AT(nccl_tuner_v5, finalize, 24),

      SIZE(nccl_tuner_v6, 40),
      AT(nccl_tuner_v6, name, 0),
      AT(nccl_tuner_v6, init, 8),
      AT(nccl_tuner_v6, getCollInfo, 16),
      AT(nccl_tuner_v6, finalize, 24),
      AT(nccl_tuner_v6, getChunkSize, 32),

      SIZE(nccl_tuner_v7, 40),
      AT(nccl_tuner_v7, name, 0),
      AT(nccl_tuner_v7, init, 8),
      AT(nccl_tuner_v7, getCollInfo, 16),
      AT(nccl_tuner_v7, finalize, 24),
      AT(nccl_tuner_v7, getChunkSize, 32),

      SIZE(nccl_nvl_domain_info, 12),
      AT(nccl_nvl_domain_info, nDomains, 0),
      AT(nccl_nvl_domain_info, minRanksPerDomain, 4),
      AT(nccl_nvl_domain_info, maxRanksPerDomain, 8),
  };
  assert_numbers(numbers, COUNT(numbers));
}

/*
 * In doubles: 7 x 3 = 21 base latencies, 3 x 21 = 63 hardware latencies, then five tables of 4 x 3 = 12 (v7: 5 x 3 =
 * 15). 21 + 63 + 60 = 144 doubles are 1152 bytes, 21 + 63 + 75 = 159 are 1272.
 */
static void constants(void** state) {
  (void)state;
  static const struct number numbers[] = {
      SIZE(nccl_tuner_constants_v5, 1152),
      AT(nccl_tuner_constants_v5, baseLatencies, 0),
      AT(nccl_tuner_constants_v5, hwLatencies, 168),
      AT(nccl_tuner_constants_v5, llMaxBws, 672),
      AT(nccl_tuner_constants_v5, perChMaxRingLL128Bws, 768),
      AT(nccl_tuner_constants_v5, perChMaxTreeLL128Bws, 864),
      AT(nccl_tuner_constants_v5, perChMaxTreeBws, 960),
      AT(nccl_tuner_constants_v5, perChMaxNVLSTreeBws, 1056),
      SIZE(nccl_tuner_constants_v7, 1272),
      AT(nccl_tuner_constants_v7, baseLatencies, 0),
      AT(nccl_tuner_constants_v7, hwLatencies, 168),
      AT(nccl_tuner_constants_v7, llMaxBws, 672),
      AT(nccl_tuner_constants_v7, perChMaxRingLL128Bws, 792),
      AT(nccl_tuner_constants_v7, perChMaxTreeLL128Bws, 912),
      AT(nccl_tuner_constants_v7, perChMaxTreeBws, 1032),
      AT(nccl_tuner_constants_v7, perChMaxNVLSTreeBws, 1152),
      {"a link's latencies", sizeof((nccl_tuner_constants_v5*)0)->hwLatencies[0], 168},
      {"a generation's bandwidths", sizeof((nccl_tuner_constants_v5*)0)->llMaxBws[0], 24},
  };
  assert_numbers(numbers, COUNT(numbers));
}

static void enumerators(void** state) {
  (void)state;
  static const struct number numbers[] = {
      SIZE(nccl_result, 4),
      SIZE(nccl_log_level, 4),
      SIZE(nccl_collective, 4),
      VALUE(NCCL_SUCCESS, 0),
      VALUE(NCCL_UNHANDLED_CUDA_ERROR, 1),
      VALUE(NCCL_SYSTEM_ERROR, 2),
      VALUE(NCCL_INTERNAL_ERROR, 3),
      VALUE(NCCL_INVALID_ARGUMENT, 4),
      VALUE(NCCL_INVALID_USAGE, 5),
      VALUE(NCCL_LOG_NONE, 0),
      VALUE(NCCL_LOG_VERSION, 1),
      VALUE(NCCL_LOG_WARN, 2),
      VALUE(NCCL_LOG_INFO, 3),
      VALUE(NCCL_LOG_ABORT, 4),
      VALUE(NCCL_LOG_TRACE, 5),
      VALUE(NCCL_SUBSYS_INIT, 0x1),
      VALUE(NCCL_SUBSYS_COLL, 0x2),
      VALUE(NCCL_SUBSYS_P2P, 0x4),
      VALUE(NCCL_SUBSYS_SHM, 0x8),
      VALUE(NCCL_SUBSYS_NET, 0x10),
      VALUE(NCCL_SUBSYS_GRAPH, 0x20),
      VALUE(NCCL_SUBSYS_TUNING, 0x40),
      VALUE(NCCL_SUBSYS_ENV, 0x80),
      VALUE(NCCL_BROADCAST, 0),
      VALUE(NCCL_REDUCE, 1),
      VALUE(NCCL_ALLGATHER, 2),
      VALUE(NCCL_REDUCESCATTER, 3),
      VALUE(NCCL_ALLREDUCE, 4),
      VALUE(NCCL_NUM_COLLECTIVES, 5),
      VALUE(NCCL_ALGO_TREE, 0),
      VALUE(NCCL_ALGO_RING, 1),
      VALUE(NCCL_ALGO_COLLNET_DIRECT, 2),
      VALUE(NCCL_ALGO_COLLNET_CHAIN, 3),
      VALUE(NCCL_ALGO_NVLS, 4),
      VALUE(NCCL_ALGO_NVLS_TREE, 5),
      VALUE(NCCL_ALGO_PAT, 6),
      VALUE(NCCL_NUM_ALGORITHMS, 7),
      VALUE(NCCL_PROTO_LL, 0),
      VALUE(NCCL_PROTO_LL128, 1),
      VALUE(NCCL_PROTO_SIMPLE, 2),
      VALUE(NCCL_NUM_PROTOCOLS, 3),
      VALUE(NCCL_MAX_CHANNELS, 64),
      VALUE(NCCL_NUM_LINKS, 3),
      VALUE(NCCL_NUM_SCALES, 3),
      VALUE(NCCL_NUM_GENERATIONS_V5, 4),
      VALUE(NCCL_NUM_GENERATIONS_V7, 5),
  };
  assert_numbers(numbers, COUNT(numbers));
}

/* Written out once more, without the header's own names for them. */
typedef void logger(nccl_log_level, unsigned long, const char*, int, const char*, ...);
typedef nccl_result init_v2(size_t, size_t, logger*, void**);
typedef nccl_result init_v5(void**, uint64_t, size_t, size_t, logger*, nccl_nvl_domain_info*, nccl_tuner_constants_v5*);
typedef nccl_result init_v7(void**, uint64_t, size_t, size_t, logger*, nccl_nvl_domain_info*, nccl_tuner_constants_v7*);
typedef nccl_result ask_v2(void*, int, size_t, int, int, int, int*, int*, int*);
typedef nccl_result ask_v3(void*, int, size_t, int, float**, int, int, int*);
typedef nccl_result ask_v4(void*, int, size_t, int, float**, int, int, int, int*);
typedef nccl_result end(void*);
typedef nccl_result chunk(void*, int, size_t, int, int, int, size_t*);

#define SIGNATURE(type, member, function) \
  _Static_assert(__builtin_types_compatible_p(__typeof__(((type*)0)->member), function*), #type "." #member)
SIGNATURE(nccl_tuner_v2, init, init_v2);
SIGNATURE(nccl_tuner_v2, getCollInfo, ask_v2);
SIGNATURE(nccl_tuner_v2, destroy, end);
SIGNATURE(nccl_tuner_v3, init, init_v2);
SIGNATURE(nccl_tuner_v3, getCollInfo, ask_v3);
SIGNATURE(nccl_tuner_v3, destroy, end);
SIGNATURE(nccl_tuner_v4, init, init_v2);
SIGNATURE(nccl_tuner_v4, getCollInfo, ask_v4);
SIGNATURE(nccl_tuner_v4, destroy, end);
SIGNATURE(nccl_tuner_v5, init, init_v5);
SIGNATURE(nccl_tuner_v5, getCollInfo, ask_v4);
SIGNATURE(nccl_tuner_v5, finalize, end);
SIGNATURE(nccl_tuner_v6, init, init_v5);
SIGNATURE(nccl_tuner_v6, getCollInfo, ask_v4);
SIGNATURE(nccl_tuner_v6, finalize, end);
SIGNATURE(nccl_tuner_v6, getChunkSize, chunk);
SIGNATURE(nccl_tuner_v7, init, init_v7);
SIGNATURE(nccl_tuner_v7, getCollInfo, ask_v4);
SIGNATURE(nccl_tuner_v7, finalize, end);
SIGNATURE(nccl_tuner_v7, getChunkSize, chunk);

int main(void) {
  if (sizeof(void*) != 8) return printf("SKIP: the layout is pinned for 64 bits\n"), 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(structs),
      cmocka_unit_test(constants),
      cmocka_unit_test(enumerators),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
