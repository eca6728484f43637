/*
 * The stand-in for NCCL: channels that run, symmetric kernels, groups. The fake tuners are listed in standin.c.
 */
#include "unit/standin_fakes.h"

#include <string.h>

enum { ENTRIES = NCCL_NUM_ALGORITHMS * NCCL_NUM_PROTOCOLS, MIB = 1 << 20 };

static void only_entry(float table[ENTRIES], int algorithm, int protocol, float us) {
  for (int i = 0; i < ENTRIES; i++) table[i] = -1.0f;
  table[algorithm * NCCL_NUM_PROTOCOLS + protocol] = us;
}

enum { TREE, RING, CND, CNC, NVLS, NVLST, PAT };
enum { LL, LL128, SIMPLE };

/* 8 ranks, 8 channels. Bytes per channel of traffic: 512 under 2.22, 16 KiB to 2.28, 32 KiB from 2.29. */
static const struct {
  int version;
  const char* fake; /* NULL: no tuner, so NCCL's own number */
  size_t nodes;
  int algorithm, protocol;
  nccl_collective collective;
  size_t bytes;
  int asked, channels;
} channels[] = {
    {22809, NULL, 1, RING, SIMPLE, NCCL_ALLREDUCE, 8192, 0, 1},  /* 16 KiB of traffic */
    {22203, NULL, 1, RING, SIMPLE, NCCL_ALLREDUCE, 8192, 0, 8},  /* 16 KiB / 512 B: 32, clamped */
    {22105, NULL, 1, RING, SIMPLE, NCCL_ALLREDUCE, 1024, 0, 4},  /* 2 KiB / 512 B */
    {22304, NULL, 1, RING, SIMPLE, NCCL_ALLREDUCE, 32768, 0, 4}, /* 64 / 16 */
    {22809, NULL, 1, TREE, SIMPLE, NCCL_ALLREDUCE, 65535, 0, 7}, /* just short of 8 x 16 KiB */
    {22907, NULL, 1, RING, SIMPLE, NCCL_ALLREDUCE, 65536, 0, 4}, /* 128 / 32 */
    {23300, NULL, 1, RING, SIMPLE, NCCL_ALLREDUCE, 65536, 0, 4},
    {22809, NULL, 1, RING, LL, NCCL_ALLREDUCE, 8192, 0, 4}, /* LL: 8 x 2 x 4 / 16 */
    {22809, NULL, 1, RING, LL128, NCCL_ALLREDUCE, 8192, 0, 1},
    {22809, NULL, 1, RING, SIMPLE, NCCL_ALLGATHER, 32768, 0, 2},     /* 32 / 16: the whole buffer */
    {22809, NULL, 1, RING, SIMPLE, NCCL_REDUCESCATTER, 49152, 0, 3}, /* 48 / 16 */
    {22809, NULL, 1, RING, SIMPLE, NCCL_BROADCAST, 49152, 0, 3},     /* 48 / 16 */
    {22809, NULL, 1, RING, SIMPLE, NCCL_REDUCE, 49151, 0, 2},
    {22809, NULL, 1, RING, SIMPLE, NCCL_ALLREDUCE, 0, 0, 1},           /* one at least */
    {22809, NULL, 1, RING, LL, NCCL_ALLREDUCE, (size_t)1 << 62, 0, 8}, /* traffic does not wrap around */
    {22809, NULL, 2, PAT, SIMPLE, NCCL_ALLGATHER, 32768, 0, 2},
    {22809, NULL, 2, CND, SIMPLE, NCCL_ALLREDUCE, 64, 0, 8}, /* CollNet: no budget */
    {22809, NULL, 2, NVLS, SIMPLE, NCCL_ALLREDUCE, 64, 0, 8},
    {22809, NULL, 1, NVLS, SIMPLE, NCCL_ALLREDUCE, 64, 0, 1},
    {22809, "ch2", 1, RING, SIMPLE, NCCL_ALLREDUCE, MIB, 2, 2},
    {22809, "ch2", 1, RING, SIMPLE, NCCL_ALLREDUCE, 8192, 2, 1}, /* the budget holds for a tuner too */
    {22105, "ch2", 1, RING, SIMPLE, NCCL_ALLREDUCE, MIB, 2, 2},
    {22809, "ch40", 1, RING, SIMPLE, NCCL_ALLREDUCE, MIB, 40, 8},
    {22809, "ch40", 2, TREE, SIMPLE, NCCL_ALLREDUCE, MIB, 40, 8},
    {22809, "ch40", 2, CND, SIMPLE, NCCL_ALLREDUCE, MIB, 40, 40}, /* unclamped */
    {22809, "ch40", 2, CNC, SIMPLE, NCCL_ALLREDUCE, 64, 40, 40},
    {22809, "ch40", 2, NVLS, SIMPLE, NCCL_ALLREDUCE, MIB, 40, 40}, /* several nodes: unclamped */
    {22809, "ch40", 2, NVLST, SIMPLE, NCCL_ALLREDUCE, MIB, 40, 40},
    {22809, "ch40", 1, NVLS, SIMPLE, NCCL_ALLREDUCE, MIB, 40, 8}, /* one node: clamped */
    {23007, "ch40", 2, CND, SIMPLE, NCCL_ALLREDUCE, MIB, 40, 40},
    {23101, "ch40", 2, CND, SIMPLE, NCCL_ALLREDUCE, MIB, 40, 8}, /* from 2.31 it can only lower */
    {23101, "ch40", 2, NVLS, SIMPLE, NCCL_ALLREDUCE, MIB, 40, 8},
    {23101, "ch2", 2, CND, SIMPLE, NCCL_ALLREDUCE, MIB, 2, 2},
    {22809, "ch300", 2, CND, SIMPLE, NCCL_ALLREDUCE, MIB, 300, 44}, /* 300 - 256 */
    {22809, "ch300", 1, RING, SIMPLE, NCCL_ALLREDUCE, MIB, 300, 8},
    {23101, "ch300", 2, CND, SIMPLE, NCCL_ALLREDUCE, MIB, 300, 8},
    {22809, "ch200", 2, CND, SIMPLE, NCCL_ALLREDUCE, MIB, 200, -56}, /* 200 - 256 */
    {22809, "ch200", 1, RING, SIMPLE, NCCL_ALLREDUCE, MIB, 200, -56},
    {23101, "ch200", 1, RING, SIMPLE, NCCL_ALLREDUCE, MIB, 200, 8},
};

static void channels_that_run(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof channels / sizeof channels[0]; i++) {
    struct standin_shape shape = shape_of(channels[i].version);
    shape.nodes = channels[i].nodes;
    struct standin_tuner* tuner = must_load(shape.version, channels[i].fake);
    struct standin_communicator* c = must_create(&shape, tuner);
    float table[ENTRIES];
    only_entry(table, channels[i].algorithm, channels[i].protocol, 10);
    struct standin_operation op = {.collective = channels[i].collective, .bytes = channels[i].bytes, .table = table};
    struct standin_choice choice;
    assert_int_equal(standin_ask(c, &op, &choice), NCCL_SUCCESS);
    if (choice.channels != channels[i].channels) fail_msg("row %zu: %d channels run", i, choice.channels);
    if (choice.tuner_channels != channels[i].asked) fail_msg("row %zu: asked %d", i, choice.tuner_channels);
    standin_communicator_destroy(c);
    standin_unload(tuner);
  }
}

/* CollNet takes the number unclamped, so it shows what a signed byte makes of it. */
static void channels_land_in_a_signed_byte(void** state) {
  (void)state;
  static const int cases[][2] = {{1, 1}, {127, 127}, {128, -128}, {255, -1}, {256, 0}, {257, 1}, {-1, -1}, {-129, 127}};
  struct standin_shape shape = shape_of(22809);
  struct standin_communicator* c = must_create(&shape, NULL);
  struct standin_operation op = {.collective = NCCL_ALLREDUCE, .bytes = MIB};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_int_equal(standin_channels(c, &op, CND, SIMPLE, cases[i][0]), cases[i][1]);
  standin_communicator_destroy(c);
}

/* Symmetric windows. Ring/Simple (entry 5) costs 10 us, Tree/LL (entry 0) 20 us; the fakes "zero" and "negative" write
 * 0 over entry 0 and -1 over entry 5. */
static const struct {
  int version;
  bool supported, joint;
  const char* fake;
  float symmetric_us;
  int asks, pipe_ops;
  enum standin_decider decider;
  int algorithm;
  float estimate_us;
} symmetric[] = {
    {22809, true, false, "all", 8, 0, 0, STANDIN_BY_SYMMETRY, -1, 8}, /* not asked up to 2.28 */
    {22907, true, false, "all", 8, 1, 0, STANDIN_BY_SYMMETRY, -1, 8}, /* asked for form's sake */
    {23300, true, false, "all", 8, 1, 0, STANDIN_BY_SYMMETRY, -1, 8},
    {22907, true, false, "zero", 8, 1, 0, STANDIN_BY_SYMMETRY, -1, 8}, /* and not listened to */
    {22907, false, false, "all", 8, 1, 1, STANDIN_BY_NCCL, RING, 10},  /* not supported: an ordinary question */
    {23007, true, true, "all", 12, 1, 0, STANDIN_BY_SYMMETRY, -1, 12}, /* no joint search before 2.31 */
    {23101, true, true, "all", 12, 1, 1, STANDIN_BY_NCCL, RING, 10},   /* the ring is faster */
    {23101, true, true, "all", 8, 1, 1, STANDIN_BY_SYMMETRY, -1, 8},
    {23101, true, true, "zero", 8, 1, 1, STANDIN_BY_TUNER, TREE, 0},      /* 0 keeps the faster kernel out */
    {23101, true, true, "negative", 8, 1, 1, STANDIN_BY_TUNER, RING, -1}, /* no test for negatives */
    {23101, true, false, "negative", 8, 1, 0, STANDIN_BY_SYMMETRY, -1, 8},
};

static void symmetric_kernels(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof symmetric / sizeof symmetric[0]; i++) {
    struct standin_shape shape = shape_of(symmetric[i].version);
    shape.symmetric = symmetric[i].supported;
    shape.joint_search = symmetric[i].joint;
    struct standin_tuner* tuner = must_load(shape.version, symmetric[i].fake);
    struct standin_communicator* c = must_create(&shape, tuner);
    const struct fake_seen* seen = standin_communicator_context(c);
    float table[ENTRIES];
    only_entry(table, RING, SIMPLE, 10);
    table[0] = 20;
    struct standin_operation op = {.collective = NCCL_ALLREDUCE, .bytes = MIB, .symmetric = true, .table = table};
    op.symmetric_us = symmetric[i].symmetric_us;
    struct standin_choice choice;
    assert_int_equal(standin_ask(c, &op, &choice), NCCL_SUCCESS);
    if (seen->asks != symmetric[i].asks) fail_msg("row %zu: asked %d times", i, seen->asks);
    assert_int_equal(choice.asked, symmetric[i].asks);
    assert_int_equal(seen->pipe_ops, symmetric[i].pipe_ops);
    if (seen->asks && !symmetric[i].pipe_ops)
      for (int entry = 0; entry < ENTRIES; entry++) assert_true(seen->table[entry] == -1.0f);
    if (choice.decider != symmetric[i].decider) fail_msg("row %zu: decider %d", i, (int)choice.decider);
    if (choice.algorithm != symmetric[i].algorithm) fail_msg("row %zu: algorithm %d", i, choice.algorithm);
    if (choice.estimate_us != symmetric[i].estimate_us) fail_msg("row %zu: %f", i, (double)choice.estimate_us);
    standin_communicator_destroy(c);
    standin_unload(tuner);
  }
}

/* In the joint search an entry that was unusable all along stays out, although it is the smallest number. */
static void joint_search_skips_what_was_unusable(void** state) {
  (void)state;
  struct standin_shape shape = shape_of(23101);
  shape.symmetric = shape.joint_search = true;
  struct standin_communicator* c = must_create(&shape, NULL);
  struct standin_operation op = {.collective = NCCL_ALLREDUCE, .bytes = 4096};
  struct standin_choice choice;
  assert_int_equal(standin_ask(c, &op, &choice), NCCL_SUCCESS);
  assert_true(choice.before[NCCL_ALGO_RING][NCCL_PROTO_LL128] == -1.0f);
  assert_true(choice.estimate_us > 0);
  standin_communicator_destroy(c);
}

/* 16385 stands alone (4 x 4096 is one byte less), 4096 and 1024 merge, the allgather is of another kind. */
static void groups_merge_within_a_factor_of_four(void** state) {
  (void)state;
  struct standin_shape shape = shape_of(22809);
  struct standin_tuner* tuner = must_load(22809, "ch2");
  struct standin_communicator* c = must_create(&shape, tuner);
  const struct fake_seen* seen = standin_communicator_context(c);
  const struct standin_operation ops[] = {{.collective = NCCL_ALLREDUCE, .bytes = 1024, .reg_buff = 1},
                                          {.collective = NCCL_ALLREDUCE, .bytes = 16385},
                                          {.collective = NCCL_ALLREDUCE, .bytes = 4096},
                                          {.collective = NCCL_ALLGATHER, .bytes = 3000, .reg_buff = 1}};
  static const size_t merged[] = {2, 1, 2, 1};
  static const int pipe_ops[] = {2, 1, 2, 1};
  struct standin_choice choices[4];
  size_t questions = 0;
  assert_int_equal(standin_ask_group(c, ops, 4, choices, &questions), NCCL_SUCCESS);
  assert_int_equal(questions, 3);
  assert_int_equal(seen->asks, 3);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(choices[i].merged, merged[i]);
    assert_int_equal(choices[i].pipe_ops, pipe_ops[i]);
  }
  assert_int_equal(seen->bytes, 3000); /* the smallest lead comes last */
  assert_int_equal(seen->reg_buff, 1);
  const struct standin_operation two[] = {ops[0], ops[2]};
  assert_int_equal(standin_ask_group(c, two, 2, choices, NULL), NCCL_SUCCESS);
  assert_int_equal(seen->bytes, 5120);
  assert_int_equal(seen->reg_buff, 0); /* only one of the two has it */
  standin_communicator_destroy(c);
  standin_unload(tuner);
}

/* Equal allreduces of 1000 bytes over 8 channels: numPipeOps is count / 8, but 2 at least, unless the caller says. */
static void merged_questions(void** state) {
  (void)state;
  static const struct {
    size_t count;
    int given, pipe_ops;
  } cases[] = {{1, 0, 1}, {2, 0, 2}, {23, 0, 2}, {24, 0, 3}, {32, 0, 4}, {2, 1, 1}, {2, 7, 7}, {1, 5, 5}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct standin_shape shape = shape_of(22809);
    struct standin_tuner* tuner = must_load(22809, "all");
    struct standin_communicator* c = must_create(&shape, tuner);
    const struct fake_seen* seen = standin_communicator_context(c);
    struct standin_operation ops[32];
    struct standin_choice choices[32];
    for (size_t k = 0; k < 32; k++)
      ops[k] = (struct standin_operation){.collective = NCCL_ALLREDUCE, .bytes = 1000, .pipe_ops = cases[i].given};
    assert_int_equal(standin_ask_group(c, ops, cases[i].count, choices, NULL), NCCL_SUCCESS);
    assert_int_equal(seen->asks, 1);
    assert_int_equal(seen->bytes, 1000 * cases[i].count);
    assert_int_equal(seen->pipe_ops, cases[i].pipe_ops);
    assert_int_equal(choices[cases[i].count - 1].merged, cases[i].count);
    standin_communicator_destroy(c);
    standin_unload(tuner);
  }
}

static void a_group_fails_as_a_whole(void** state) {
  (void)state;
  struct standin_shape shape = shape_of(22809);
  struct standin_communicator* c = must_create(&shape, NULL);
  const struct standin_operation ops[] = {{.collective = NCCL_ALLREDUCE, .bytes = 4096},
                                          {.collective = 99, .bytes = 1}};
  struct standin_choice choices[2] = {{.channels = 77}, {.channels = 77}};
  size_t questions = 77;
  assert_int_equal(standin_ask_group(c, ops, 2, choices, &questions), NCCL_INVALID_ARGUMENT);
  assert_int_equal(choices[0].channels, 77);
  assert_int_equal(questions, 77);
  standin_communicator_destroy(c);
}

int main(void) {
  if (!getenv("SW_TEST_BUILD")) return fprintf(stderr, "SW_TEST_BUILD is not set\n"), 2;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(channels_that_run),
      cmocka_unit_test(channels_land_in_a_signed_byte),
      cmocka_unit_test(symmetric_kernels),
      cmocka_unit_test(joint_search_skips_what_was_unusable),
      cmocka_unit_test(groups_merge_within_a_factor_of_four),
      cmocka_unit_test(merged_questions),
      cmocka_unit_test(a_group_fails_as_a_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
