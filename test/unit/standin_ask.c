/*
 * The stand-in for NCCL: cost tables and the pick. The fake tuners are listed in
 * standin.c. Entries of a table are numbered 3 * algorithm + protocol: 0 is Tree/LL, 5 Ring/Simple, 8 CollNetDirect.
 */
#include "unit/standin_fakes.h"

#include <string.h>

enum { ENTRIES = NCCL_NUM_ALGORITHMS * NCCL_NUM_PROTOCOLS };

/* A table with two usable entries. */
static void two_entries(float table[ENTRIES], int a, float a_us, int b, float b_us) {
  for (int i = 0; i < ENTRIES; i++) table[i] = -1.0f;
  table[a] = a_us;
  table[b] = b_us;
}

/* One question to a fake (NULL: none) in one communicator. */
static nccl_result ask_once(const struct standin_shape* shape, const char* fake, const struct standin_operation* op,
                            struct standin_choice* choice) {
  struct standin_tuner* tuner = must_load(shape->version, fake);
  struct standin_communicator* c = must_create(shape, tuner);
  nccl_result result = standin_ask(c, op, choice);
  standin_communicator_destroy(c);
  standin_unload(tuner);
  return result;
}

/* Which entries are usable, three letters an algorithm; u: usable. */
static const struct {
  int version;
  bool all; /* CollNet, NVLS and LL128, or none of them */
  const char* algo;
  const char* proto;
  nccl_collective collective;
  const char* expected; /* tree ring cnd cnc nvls nvlst pat */
} usable[] = {
    {22809, true, NULL, NULL, NCCL_ALLREDUCE, "uuu uuu --u --u --u --u ---"},
    {22809, true, NULL, NULL, NCCL_ALLGATHER, "--- uuu --u --- --u --- --u"},
    {22809, true, NULL, NULL, NCCL_REDUCESCATTER, "--- uuu --u --- --u --- --u"},
    {22809, true, NULL, NULL, NCCL_BROADCAST, "--- uuu --- --- --- --- ---"},
    {22809, true, NULL, NULL, NCCL_REDUCE, "--- uuu --- --- --- --- ---"},
    {22203, true, NULL, NULL, NCCL_ALLGATHER, "--- uuu --u --- --u --- ---"}, /* before PAT */
    {22304, true, NULL, NULL, NCCL_ALLGATHER, "--- uuu --u --- --u --- --u"},
    {22809, false, NULL, NULL, NCCL_ALLREDUCE, "u-u u-u --- --- --- --- ---"},
    {22809, false, NULL, "LL,LL128,Simple", NCCL_ALLREDUCE, "uuu uuu --- --- --- --- ---"},
    {22809, false, NULL, "^LL", NCCL_ALLREDUCE, "--u --u --- --- --- --- ---"},
    {22809, true, NULL, "^LL", NCCL_ALLREDUCE, "-uu -uu --u --u --u --u ---"},
    {22809, true, NULL, "ll", NCCL_ALLREDUCE, "u-- u-- --- --- --- --- ---"},
    {22809, true, "ring", NULL, NCCL_ALLREDUCE, "--- uuu --- --- --- --- ---"},
    {22809, true, "allreduce:tree", NULL, NCCL_ALLREDUCE, "uuu --- --- --- --- --- ---"},
    {22809, true, "allreduce:tree", NULL, NCCL_ALLGATHER, "--- uuu --u --- --u --- --u"},
    {22809, true, "^nvls,ring", "simple", NCCL_ALLREDUCE, "--u --- --u --u --- --u ---"},
};

static void usable_entries(void** state) {
  (void)state;
  for (size_t row = 0; row < sizeof usable / sizeof usable[0]; row++) {
    struct standin_shape shape = shape_of(usable[row].version);
    shape.collnet = shape.nvls = shape.ll128 = usable[row].all;
    shape.environment = (struct standin_environment){.algo = usable[row].algo, .proto = usable[row].proto};
    struct standin_communicator* c = must_create(&shape, NULL);
    struct standin_operation op = {.collective = usable[row].collective, .bytes = 4096};
    float table[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS];
    standin_estimate(c, &op, 1, table);
    for (int i = 0; i < ENTRIES; i++) {
      bool expected = usable[row].expected[i + i / NCCL_NUM_PROTOCOLS] == 'u';
      float cost = table[i / NCCL_NUM_PROTOCOLS][i % NCCL_NUM_PROTOCOLS];
      if (expected ? cost <= 0 : cost != -1.0f) fail_msg("row %zu, entry %d: %f", row, i, (double)cost);
    }
    standin_communicator_destroy(c);
  }
}

/* Worked out by hand from the model's constants. */
static void estimates(void** state) {
  (void)state;
  static const struct {
    size_t ranks, nodes, bytes;
    int pipe_ops, entry;
    nccl_collective collective;
    double us;
  } cases[] = {
      /* ring/Simple: 10 + 14 hops x 4, and 14/8 x 1 MiB at 150000 B/us: 12.23339 */
      {8, 1, 1 << 20, 1, 5, NCCL_ALLREDUCE, 78.23339},
      /* tree/LL, 2 nodes: 5 + 4 hops x 5, and 2.2 x 12 KiB at a quarter of 20000 B/us: 5.40672 */
      {4, 2, 12288, 1, 0, NCCL_ALLREDUCE, 30.40672},
      {4, 2, 12288, 3, 0, NCCL_ALLREDUCE, 80.40672}, /* three latencies */
      /* PAT: 10 + 3 hops x 12, and 1.1 x 7/8 x 1 MiB at 20000 B/us: 50.46272 */
      {8, 2, 1 << 20, 1, 20, NCCL_ALLGATHER, 96.46272},
      /* ring/LL broadcast: 5 + 7 hops x 1, and 15000 B at 37500 B/us */
      {8, 1, 15000, 1, 3, NCCL_BROADCAST, 12.4},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct standin_shape shape = shape_of(22809);
    shape.ranks = cases[i].ranks;
    shape.nodes = cases[i].nodes;
    struct standin_communicator* c = must_create(&shape, NULL);
    struct standin_operation op = {.collective = cases[i].collective, .bytes = cases[i].bytes};
    float table[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS];
    standin_estimate(c, &op, cases[i].pipe_ops, table);
    double us = table[cases[i].entry / 3][cases[i].entry % 3];
    if (us < cases[i].us - 1e-4 || us > cases[i].us + 1e-4) fail_msg("case %zu: %f", i, us);
    standin_communicator_destroy(c);
  }
}

/* Above 8 ranks ring costs of an allreduce are multiplied by 1024, the unusable LL128 of -1 too. */
static void fp8_on_deep_rings(void** state) {
  (void)state;
  static const struct {
    size_t ranks;
    nccl_collective collective;
    float factor;
  } cases[] = {{8, NCCL_ALLREDUCE, 1}, {9, NCCL_ALLREDUCE, 1024}, {16, NCCL_ALLGATHER, 1}, {16, NCCL_ALLREDUCE, 1024}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct standin_shape shape = shape_of(22809);
    shape.ranks = cases[i].ranks;
    struct standin_communicator* c = must_create(&shape, NULL);
    struct standin_operation op = {.collective = cases[i].collective, .bytes = 4096};
    float plain[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS], fp8[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS];
    standin_estimate(c, &op, 1, plain);
    op.fp8 = true;
    standin_estimate(c, &op, 1, fp8);
    for (int p = 0; p < NCCL_NUM_PROTOCOLS; p++)
      assert_true(fp8[NCCL_ALGO_RING][p] == plain[NCCL_ALGO_RING][p] * cases[i].factor);
    assert_true(fp8[NCCL_ALGO_RING][NCCL_PROTO_LL128] == -cases[i].factor);
    assert_memory_equal(fp8[NCCL_ALGO_TREE], plain[NCCL_ALGO_TREE], sizeof fp8[0]);
    standin_communicator_destroy(c);
  }
}

/* Entries 0 and 5 of a table, a fake tuner, and who wins. */
static const struct {
  int version;
  const char* fake;
  float tree_us, ring_us;
  nccl_result result;
  int entry;
  float estimate_us;
  enum standin_decider decider;
  bool unusable;
} picks[] = {
    {22809, NULL, 7, 5, NCCL_SUCCESS, 5, 5, STANDIN_BY_NCCL, false},
    {22809, "all", 5, 7, NCCL_SUCCESS, 0, 5, STANDIN_BY_NCCL, false},
    {22105, NULL, 5, 5, NCCL_SUCCESS, 0, 5, STANDIN_BY_NCCL, false}, /* of equals the first up to 2.30 */
    {23007, NULL, 5, 5, NCCL_SUCCESS, 0, 5, STANDIN_BY_NCCL, false},
    {23101, NULL, 5, 5, NCCL_SUCCESS, 5, 5, STANDIN_BY_NCCL, false}, /* the last from 2.31 */
    {23300, NULL, 5, 5, NCCL_SUCCESS, 5, 5, STANDIN_BY_NCCL, false},
    {22809, NULL, 0, 5, NCCL_SUCCESS, 0, 0, STANDIN_BY_NCCL, false}, /* 0 is usable */
    {22809, NULL, -1024, 5, NCCL_SUCCESS, 5, 5, STANDIN_BY_NCCL, false},
    {22809, NULL, -1, -1, NCCL_INVALID_USAGE, 0, 0, STANDIN_BY_NCCL, false},
    {22809, "negative", 7, 5, NCCL_SUCCESS, 0, 7, STANDIN_BY_TUNER, false}, /* ring/Simple taken away */
    {22809, "negative", -1, 5, NCCL_INVALID_USAGE, 0, 0, STANDIN_BY_NCCL, false},
    {22809, "zero", 7, 5, NCCL_SUCCESS, 0, 0, STANDIN_BY_TUNER, false},
    {22809, "zero", -1, 5, NCCL_SUCCESS, 0, 0, STANDIN_BY_TUNER, true}, /* wrote over an unusable entry */
    {22203, "zero", 7, 5, NCCL_SUCCESS, 0, 0, STANDIN_BY_TUNER, false},
    {22809, "ch2", 7, 5, NCCL_SUCCESS, 5, 5, STANDIN_BY_TUNER, false},
    {22809, "askfail", 7, 5, NCCL_INTERNAL_ERROR, 0, 0, STANDIN_BY_NCCL, false}, /* fails the collective */
    {22105, "askfail", 7, 5, NCCL_INTERNAL_ERROR, 0, 0, STANDIN_BY_NCCL, false},
    {22105, "named", 7, 5, NCCL_SUCCESS, 0, 7, STANDIN_BY_TUNER, false}, /* 2.21 takes v2 at its word */
    {22105, "named", -1, 5, NCCL_SUCCESS, 0, -1, STANDIN_BY_TUNER, true},
    {22203, "named", 7, 5, NCCL_SUCCESS, 0, 0, STANDIN_BY_TUNER, false}, /* later v2's entry becomes the cheapest */
    {23101, "named", -1, 5, NCCL_SUCCESS, 5, 5, STANDIN_BY_NCCL, false}, /* if it is usable */
    {22105, "half", 7, 5, NCCL_SUCCESS, 5, 5, STANDIN_BY_NCCL, false},
    {22105, "badname", 7, 5, NCCL_INTERNAL_ERROR, 0, 0, STANDIN_BY_NCCL, false},
    {22809, "badname", 7, 5, NCCL_INTERNAL_ERROR, 0, 0, STANDIN_BY_NCCL, false},
};

static void who_wins(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof picks / sizeof picks[0]; i++) {
    struct standin_shape shape = shape_of(picks[i].version);
    float table[ENTRIES];
    two_entries(table, 0, picks[i].tree_us, 5, picks[i].ring_us);
    struct standin_operation op = {.collective = NCCL_ALLREDUCE, .bytes = 1 << 20, .table = table};
    struct standin_choice choice = {.algorithm = 77};
    nccl_result result = ask_once(&shape, picks[i].fake, &op, &choice);
    if (result != picks[i].result) fail_msg("row %zu: result %d", i, (int)result);
    if (result != NCCL_SUCCESS) {
      assert_int_equal(choice.algorithm, 77); /* written only on success */
      continue;
    }
    if (choice.algorithm * 3 + choice.protocol != picks[i].entry) fail_msg("row %zu: %d", i, choice.algorithm);
    if (choice.estimate_us != picks[i].estimate_us) fail_msg("row %zu: %f", i, (double)choice.estimate_us);
    if (choice.decider != picks[i].decider) fail_msg("row %zu: decider %d", i, (int)choice.decider);
    if (choice.picked_unusable != picks[i].unusable) fail_msg("row %zu: unusable", i);
    assert_memory_equal(choice.before, table, sizeof(float) * 18);
  }
}

static void collectives_that_no_tuner_is_asked_about(void** state) {
  (void)state;
  static const nccl_collective unknown[] = {-1, NCCL_NUM_COLLECTIVES, 1000};
  struct standin_shape shape = shape_of(22809);
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
    struct standin_operation op = {.collective = unknown[i], .bytes = 64};
    struct standin_choice choice;
    assert_int_equal(ask_once(&shape, "all", &op, &choice), NCCL_INVALID_ARGUMENT);
  }
}

int main(void) {
  if (!getenv("SW_TEST_BUILD")) return fprintf(stderr, "SW_TEST_BUILD is not set\n"), 2;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(usable_entries),
      cmocka_unit_test(estimates),
      cmocka_unit_test(fp8_on_deep_rings),
      cmocka_unit_test(who_wins),
      cmocka_unit_test(collectives_that_no_tuner_is_asked_about),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
