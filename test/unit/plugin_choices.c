/*
 * The built plugin over NCCL's cost tables: every algorithm and protocol, fall-backs, the unit of the costs, and what
 * NCCL then runs. Profiles below say 100 us for auto and 50 us for the choice at 1 MiB, so r = 1/2, unless they say
 * otherwise.
 */
#include "plugin_host.h"

enum { MIB = 1024 * 1024 };

/* All entries usable: algorithm a, protocol p costs 20 + 10 a + p; so M is tree + ll, 20. */
static void fill_all(float table[HOST_ENTRIES]) {
  for (int i = 0; i < HOST_ENTRIES; i++) table[i] = (float)(20 + 10 * (i / 3) + i % 3);
}

static struct standin_communicator* create_with(const struct standin_tuner* tuner, const char* profile) {
  host_write("p.yaml", profile);
  host_set("NCCL_SIZEWISE_PROFILE=@/p.yaml");
  return host_create(tuner, 4, 2);
}

static void add_part(struct sw_text* text, const char* key, const struct sw_vocabulary* words, int value) {
  if (value >= 0) sw_text_printf(text, "%s%s: %s", text->length ? ", " : "", key, sw_value_word(words, value));
}

/* For each collective each pair, each algorithm alone and each protocol alone, with and without channels. */
static void check_choice(const struct standin_tuner* tuner, int collective, struct sw_choice choice) {
  struct sw_text key = SW_TEXT_EMPTY;
  struct sw_text profile = SW_TEXT_EMPTY;
  add_part(&key, "algo", &sw_algorithms, choice.algo);
  add_part(&key, "proto", &sw_protocols, choice.proto);
  if (choice.channels) sw_text_printf(&key, "%schannels: %d", key.length ? ", " : "", choice.channels);
  sw_text_printf(&profile, PROFILE("p", "measured", "", TABLE("%s", "2", "4", "1MiB", "{%s, median: 50us}")),
                 sw_value_word(&sw_collectives, collective), sw_text_string(&key));
  float table[HOST_ENTRIES];
  fill_all(table);
  struct standin_communicator* c = create_with(tuner, sw_text_string(&profile));
  struct host_answer answer = host_ask(tuner, c, collective, MIB, 1, table);
  double least = 0;
  for (int i = HOST_ENTRIES - 1; i >= 0; i--) { /* costs ascend with i: the last one seen is the cheapest */
    bool fits = (choice.algo < 0 || i / 3 == choice.algo) && (choice.proto < 0 || i % 3 == choice.proto);
    if (fits) least = (double)table[i];
  }
  for (int i = 0; i < HOST_ENTRIES; i++) {
    bool fits = (choice.algo < 0 || i / 3 == choice.algo) && (choice.proto < 0 || i % 3 == choice.proto);
    bool pair = choice.algo >= 0 || choice.proto >= 0;
    float expected = fits && pair ? (float)((double)table[i] * (10.0 / least)) : table[i];
    if (memcmp(&answer.table[i], &expected, sizeof expected) != 0)
      fail_msg("%s: entry %d/%d is %.9g, not %.9g", key.data, i / 3, i % 3, (double)answer.table[i], (double)expected);
  }
  /* CollNet is usable here: a count that another algorithm was not named for stays NCCL's */
  bool left = choice.algo < 0;
  if (answer.channels != (left ? 0 : choice.channels)) fail_msg("%s: %d channels", key.data, answer.channels);
  for (int other = 0; other < NCCL_NUM_COLLECTIVES; other++) {
    if (other == collective) continue;
    answer = host_ask(tuner, c, other, MIB, 1, table);
    assert_true(host_is_untouched(&answer, table));
  }
  standin_communicator_destroy(c);
  sw_text_free(&key);
  sw_text_free(&profile);
}

static void every_choice(void** state) {
  (void)state;
  struct standin_tuner* tuner = host_load(22809);
  for (int collective = 0; collective < NCCL_NUM_COLLECTIVES; collective++)
    for (int algo = -1; algo < NCCL_NUM_ALGORITHMS; algo++)
      for (int proto = -1; proto < NCCL_NUM_PROTOCOLS; proto++)
        for (int channels = 0; channels < 6; channels += 5)
          if (algo >= 0 || proto >= 0 || channels)
            check_choice(tuner, collective, (struct sw_choice){(int8_t)algo, (int8_t)proto, (uint8_t)channels});
  standin_unload(tuner);
}

/* First tree + simple at 40 us, then ring + simple on 2 channels at 60 us, then 4 channels at 80 us. */
#define THREE                                                                                                 \
  TABLE("allreduce", "2", "4", "1MiB",                                                                        \
        "{algo: tree, proto: simple, median: 40us}, {algo: ring, proto: simple, channels: 2, median: 60us}, " \
        "{channels: 4, median: 80us}")
#define PAT_FIRST                      \
  TABLE("allgather", "2", "4", "1MiB", \
        "{algo: pat, proto: simple, channels: 1, median: 40us}, {algo: ring, median: 60us}")

struct entry {
  int index;
  float us;
};

static void fall_backs(void** state) {
  (void)state;
  enum { TREE_SIMPLE = 2, RING_LL = 3, RING_SIMPLE = 5, PAT_SIMPLE = 20 };
  static const struct {
    const char *what, *profile;
    int version, collective;
    struct entry before[4], after[2];
    int channels;
  } cases[] = {
      {"the first",
       PROFILE("p", "measured", "", THREE),
       22809,
       NCCL_ALLREDUCE,
       {{RING_LL, 20}, {RING_SIMPLE, 50}, {TREE_SIMPLE, 90}},
       {{TREE_SIMPLE, 8}},
       0}, /* 20 * 0.4 */
      {"-1",
       PROFILE("p", "measured", "", THREE),
       22809,
       NCCL_ALLREDUCE,
       {{RING_LL, 20}, {RING_SIMPLE, 50}},
       {{RING_SIMPLE, 12}},
       2}, /* 20 * 0.6 */
      {"-1024",
       PROFILE("p", "measured", "", THREE),
       22809,
       NCCL_ALLREDUCE,
       {{RING_LL, 20}, {RING_SIMPLE, 50}, {TREE_SIMPLE, -1024}},
       {{RING_SIMPLE, 12}},
       2},
      {"256 times",
       PROFILE("p", "measured", "", THREE),
       22809,
       NCCL_ALLREDUCE,
       {{RING_LL, 20}, {RING_SIMPLE, 50}, {TREE_SIMPLE, 5120}},
       {{TREE_SIMPLE, 8}},
       0},
      {"more than 256 times",
       PROFILE("p", "measured", "", THREE),
       22809,
       NCCL_ALLREDUCE,
       {{RING_LL, 20}, {RING_SIMPLE, 50}, {TREE_SIMPLE, 5120.00048828125f}},
       {{RING_SIMPLE, 12}},
       2},
      {"channels at last", PROFILE("p", "measured", "", THREE), 22809, NCCL_ALLREDUCE, {{RING_LL, 20}}, {{0, 0}}, 4},
      {"a seventh row",
       PROFILE("p", "measured", "", PAT_FIRST),
       22304,
       NCCL_ALLGATHER,
       {{RING_LL, 20}, {PAT_SIMPLE, 30}},
       {{PAT_SIMPLE, 8}},
       1},
      {"no seventh row",
       PROFILE("p", "measured", "", PAT_FIRST),
       22203,
       NCCL_ALLGATHER,
       {{RING_LL, 20}, {PAT_SIMPLE, 30}},
       {{RING_LL, 12}},
       0},
      {"pat that the path lacks",
       PROFILE("p", "measured", "", PAT_FIRST),
       22304,
       NCCL_ALLGATHER,
       {{RING_LL, 20}},
       {{RING_LL, 12}},
       0},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    float table[HOST_ENTRIES];
    for (int e = 0; e < HOST_ENTRIES; e++) table[e] = -1;
    for (int e = 0; e < 4 && cases[i].before[e].us != 0; e++) table[cases[i].before[e].index] = cases[i].before[e].us;
    struct standin_tuner* tuner = host_load(cases[i].version);
    struct standin_communicator* c = create_with(tuner, cases[i].profile);
    struct host_answer answer = host_ask(tuner, c, cases[i].collective, MIB, 1, table);
    for (int e = 0; e < 2 && cases[i].after[e].us != 0; e++) table[cases[i].after[e].index] = cases[i].after[e].us;
    if (memcmp(answer.table, table, sizeof table) != 0 || answer.channels != cases[i].channels)
      fail_msg("%s: tree + simple %g, ring + simple %g, ring + ll %g, %d channels", cases[i].what,
               (double)answer.table[TREE_SIMPLE], (double)answer.table[RING_SIMPLE], (double)answer.table[RING_LL],
               answer.channels);
    standin_communicator_destroy(c);
    standin_unload(tuner);
  }
}

/* A rule written by hand has no times: r = 1/2. */
static void rules_by_hand(void** state) {
  (void)state;
  struct standin_tuner* tuner = host_load(22809);
  struct standin_communicator* c =
      create_with(tuner, PROFILE("p", "measured", "",
                                 "rules: [{collective: allreduce, bytes: 64KiB..1MiB, nodes: 2, ranks: 4, "
                                 "algo: tree, proto: simple, channels: 3}]"));
  const float table[HOST_ENTRIES] = HOST_PLAIN_TABLE;
  for (size_t bytes = 65536; bytes <= MIB; bytes *= 4) {
    struct host_answer answer = host_ask(tuner, c, NCCL_ALLREDUCE, bytes, 1, table);
    float expected[HOST_ENTRIES] = HOST_PLAIN_TABLE;
    expected[2] = 10;
    assert_memory_equal(answer.table, expected, sizeof expected);
    assert_int_equal(answer.channels, 3);
  }
  const size_t outside[] = {0, 65535, MIB + 1, SIZE_MAX};
  for (size_t i = 0; i < COUNT(outside); i++) {
    struct host_answer answer = host_ask(tuner, c, NCCL_ALLREDUCE, outside[i], 1, table);
    assert_true(host_is_untouched(&answer, table));
  }
  standin_communicator_destroy(c);
  standin_unload(tuner);
}

/* What NCCL runs in the end, with its own table: the stand-in's estimates, tie rule and channel clamps of a version. */
static void what_runs(void** state) {
  (void)state;
  static const struct {
    const char* what;
    const char* choice;
    struct standin_shape shape;
    bool fp8;
    size_t ranks, nodes;
    int algorithm, protocol, tuner_channels;
  } cases[] = {
      {"a pair", "algo: tree, proto: simple, channels: 2", {0}, false, 4, 2, NCCL_ALGO_TREE, NCCL_PROTO_SIMPLE, 2},
      {"an algorithm", "algo: tree", {0}, false, 4, 2, NCCL_ALGO_TREE, -1, 0},
      {"a protocol", "proto: ll, channels: 2", {0}, false, 4, 2, -1, NCCL_PROTO_LL, 2},
      {"channels", "channels: 2", {0}, false, 4, 2, -1, -1, 2},
      {"channels where CollNet could run", "channels: 2", {.collnet = true}, false, 4, 2, -1, -1, 0},
      {"channels where NVLS could run, one node", "channels: 2", {.nvls = true}, false, 4, 1, -1, -1, 2},
      {"channels where NVLS could run, two nodes", "channels: 2", {.nvls = true}, false, 4, 2, -1, -1, 0},
      {"nvls by name", "algo: nvls, channels: 2", {.nvls = true}, false, 4, 2, NCCL_ALGO_NVLS, -1, 2},
      /* ring costs of fp8 on more than 8 ranks come multiplied by 1024: NCCL's no */
      {"ring", "algo: ring, proto: ll, channels: 2", {0}, false, 16, 2, NCCL_ALGO_RING, NCCL_PROTO_LL, 2},
      {"fp8 over a deep ring", "algo: ring, proto: ll, channels: 2", {0}, true, 16, 2, NCCL_ALGO_TREE, -1, 0},
      {"fp8 over a short ring",
       "algo: ring, proto: ll, channels: 2",
       {0},
       true,
       8,
       2,
       NCCL_ALGO_RING,
       NCCL_PROTO_LL,
       2},
  };
  for (size_t v = 1; v < COUNT(host_versions); v++) {
    struct standin_tuner* tuner = host_load(host_versions[v]);
    for (size_t i = 0; i < COUNT(cases); i++) {
      struct sw_text profile = SW_TEXT_EMPTY;
      sw_text_printf(&profile,
                     PROFILE("p", "measured", "", TABLE("allreduce", "%zu", "%zu", "1MiB", "{%s, median: 50us}")),
                     cases[i].nodes, cases[i].ranks, cases[i].choice);
      host_write("p.yaml", sw_text_string(&profile));
      host_set("NCCL_SIZEWISE_PROFILE=@/p.yaml");
      struct standin_shape shape = host_shape(host_versions[v], cases[i].ranks, cases[i].nodes);
      struct standin_communicator* c = NULL;
      struct standin_operation operation = {.collective = NCCL_ALLREDUCE, .bytes = MIB, .fp8 = cases[i].fp8};
      struct standin_choice choice;
      shape.collnet = cases[i].shape.collnet;
      shape.nvls = cases[i].shape.nvls;
      assert_int_equal(standin_communicator_create(&shape, tuner, &c), NCCL_SUCCESS);
      assert_int_equal(standin_ask(c, &operation, &choice), NCCL_SUCCESS);
      bool algorithm = cases[i].algorithm < 0 || choice.algorithm == cases[i].algorithm;
      bool protocol = cases[i].protocol < 0 || choice.protocol == cases[i].protocol;
      if (!algorithm || !protocol || choice.tuner_channels != cases[i].tuner_channels)
        fail_msg("%s under %d: %d/%d, %d channels", cases[i].what, host_versions[v], choice.algorithm, choice.protocol,
                 choice.tuner_channels);
      assert_false(choice.picked_unusable);
      assert_false(choice.wrote_outside);
      standin_communicator_destroy(c);
      sw_text_free(&profile);
    }
    standin_unload(tuner);
  }
}

/* The first of equals wins up to 2.30, the last from 2.31. M r is strictly below M, so that neither rule decides. */
static void ties(void** state) {
  (void)state;
  static const char* const choices[] = {"algo: tree, proto: ll", "algo: ring, proto: simple"};
  static const int winners[] = {0, 5};
  float table[HOST_ENTRIES];
  for (int e = 0; e < HOST_ENTRIES; e++) table[e] = e < 6 ? 20 : -1; /* six equal entries */
  for (size_t v = 1; v < COUNT(host_versions); v++)
    for (size_t i = 0; i < COUNT(choices); i++) {
      struct sw_text profile = SW_TEXT_EMPTY;
      /* a gain of 1e-7 is less than half of what a float near 20 can show */
      sw_text_printf(
          &profile,
          PROFILE("p", "measured", "",
                  "policy: {min_gain: 0%%}\ntables:\n  - {collective: allreduce, nodes: 2, ranks: 4, points: "
                  "[{bytes: 1MiB, times: [{choice: auto, median: 100s}, {%s, median: 99999999us}]}]}"),
          choices[i]);
      struct standin_tuner* tuner = host_load(host_versions[v]);
      struct standin_communicator* c = create_with(tuner, sw_text_string(&profile));
      struct standin_operation operation = {.collective = NCCL_ALLREDUCE, .bytes = MIB, .table = table};
      struct standin_choice choice;
      assert_int_equal(standin_ask(c, &operation, &choice), NCCL_SUCCESS);
      assert_int_equal(choice.algorithm * 3 + choice.protocol, winners[i]);
      assert_true(choice.estimate_us < 20);
      standin_communicator_destroy(c);
      standin_unload(tuner);
      sw_text_free(&profile);
    }
}

/*
 * 2.31's joint search: NCCL thinks 20 us, the profile halves that to 10. A symmetric kernel at 9 us still wins, one at
 * 11 us loses; without the plugin both win.
 */
static void joint_search(void** state) {
  (void)state;
  static const struct {
    float symmetric_us;
    enum standin_decider decider;
  } cases[] = {{9, STANDIN_BY_SYMMETRY}, {11, STANDIN_BY_TUNER}, {19, STANDIN_BY_TUNER}, {21, STANDIN_BY_TUNER}};
  static const float table[HOST_ENTRIES] = HOST_PLAIN_TABLE;
  static const int versions[] = {23100, 23300};
  host_write("p.yaml", PROFILE("p", "measured", "", HALVED("algo: tree, proto: simple")));
  host_set("NCCL_SIZEWISE_PROFILE=@/p.yaml");
  for (size_t v = 0; v < COUNT(versions); v++) {
    struct standin_tuner* tuner = host_load(versions[v]);
    struct standin_shape shape = host_shape(versions[v], 4, 2);
    struct standin_communicator* c = NULL;
    shape.symmetric = shape.joint_search = true;
    assert_int_equal(standin_communicator_create(&shape, tuner, &c), NCCL_SUCCESS);
    for (size_t i = 0; i < COUNT(cases); i++) {
      struct standin_operation operation = {.collective = NCCL_ALLREDUCE,
                                            .bytes = MIB,
                                            .symmetric = true,
                                            .symmetric_us = cases[i].symmetric_us,
                                            .table = table};
      struct standin_choice choice;
      assert_int_equal(standin_ask(c, &operation, &choice), NCCL_SUCCESS);
      assert_int_equal(choice.decider, cases[i].decider);
      assert_false(choice.picked_unusable);
      if (choice.decider == STANDIN_BY_TUNER) assert_float_equal(choice.estimate_us, 10, 0);
    }
    standin_communicator_destroy(c);
    standin_unload(tuner);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_choice), cmocka_unit_test(fall_backs), cmocka_unit_test(rules_by_hand),
      cmocka_unit_test(what_runs),    cmocka_unit_test(ties),       cmocka_unit_test(joint_search),
  };
  return cmocka_run_group_tests(tests, NULL, host_leave);
}
