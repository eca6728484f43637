/*
 * The built plugin under every NCCL that it serves: where the shipped profiles' answers begin and end, which questions
 * get no answer, and what is left alone.
 */
#include "plugin_host.h"

static const float plain[HOST_ENTRIES] = HOST_PLAIN_TABLE;

enum { KIB = 1024, MIB = 1024 * 1024, TREE_LL = 0, TREE_SIMPLE = 2, RING_LL = 3, RING_SIMPLE = 5 };

/* One segment of a shipped profile; both bounds inclusive. */
struct segment {
  const char* profile;
  size_t ranks, nodes, from, to;
  int channels;
  bool ll; /* LL, the algorithm left to NCCL */
};

static const struct segment segments[] = {
    {"gb10-roce-8x1", 8, 8, 3 * MIB, 12 * MIB, 2, false},       /* 6 MiB reaches a factor of 2 both ways */
    {"gb10-roce-8x1-switched", 8, 8, 0, 0, 0, false},           /* measured under other settings: nothing */
    {"gb10-roce-4x1-ring", 4, 4, 256 * KIB, 2 * MIB, 4, false}, /* 512 KiB / 2 to 1 MiB * 2 */
    {"rtx-pro-6000-pcie-8", 8, 1, 6 * KIB, 24 * KIB, 0, true},  /* 12 KiB */
};

/*
 * LL of B: r = 70.2 us / 106.3 us = 0.660395. The column's cheapest, ring + LL, is M = 20 itself and becomes
 * (float)(20 * 0.660395) = 13.2079; tree + LL is scaled by the same factor: 30 becomes 19.8119.
 */
static void assert_ll(const struct host_answer* answer, const char* what) {
  float ring = (float)(20.0 * (70.2 / 106.3));
  float tree = (float)(30.0 * ((double)ring / 20.0));
  float expected[HOST_ENTRIES];
  memcpy(expected, plain, sizeof expected);
  expected[RING_LL] = ring;
  expected[TREE_LL] = tree;
  if (memcmp(expected, answer->table, sizeof expected) != 0 || answer->channels != 0)
    fail_msg("%s: ring + ll %.9g, tree + ll %.9g, %d channels", what, (double)answer->table[RING_LL],
             (double)answer->table[TREE_LL], answer->channels);
}

/* v2 shows no table: a choice that leaves the algorithm open has nothing to name. */
static void assert_inside(const struct segment* segment, int abi, const struct host_answer* answer, const char* what) {
  if (segment->ll && abi > 2) {
    assert_ll(answer, what);
  } else if (segment->ll) {
    assert_true(host_is_untouched(answer, plain));
  } else {
    assert_memory_equal(answer->table, plain, sizeof plain);
    assert_int_equal(answer->algorithm, -1);
    assert_int_equal(answer->protocol, -1);
    if (answer->channels != segment->channels) fail_msg("%s: %d channels", what, answer->channels);
  }
}

static void check_segment(const struct standin_tuner* tuner, const struct segment* segment) {
  char setting[128];
  snprintf(setting, sizeof setting, "NCCL_SIZEWISE_PROFILE=%s", segment->profile);
  host_set(setting);
  struct standin_communicator* c = host_create(tuner, segment->ranks, segment->nodes);
  const size_t inside[] = {segment->from, (segment->from + segment->to) / 2, segment->to};
  const size_t outside[] = {0,        1,   segment->from - 1, segment->to + 1, 96 * (size_t)MIB,
                            SIZE_MAX, 512, 12 * KIB * 16,     40 * (size_t)MIB};
  for (size_t i = 0; segment->to && i < COUNT(inside); i++) {
    struct host_answer answer = host_ask(tuner, c, NCCL_ALLREDUCE, inside[i], 1, plain);
    assert_inside(segment, tuner->abi, &answer, segment->profile);
  }
  for (size_t i = 0; i < COUNT(outside); i++) {
    if (outside[i] >= segment->from && outside[i] <= segment->to && segment->to) continue;
    struct host_answer answer = host_ask(tuner, c, NCCL_ALLREDUCE, outside[i], 1, plain);
    if (!host_is_untouched(&answer, plain)) fail_msg("%s: an answer at %zu bytes", segment->profile, outside[i]);
  }
  assert_int_equal(standin_communicator_constants_changed(c), 0);
  assert_int_equal(standin_communicator_destroy(c), NCCL_SUCCESS);
}

static void shipped_segments(void** state) {
  (void)state;
  for (size_t v = 0; v < COUNT(host_versions); v++) {
    struct standin_tuner* tuner = host_load(host_versions[v]);
    for (size_t i = 0; i < COUNT(segments); i++) check_segment(tuner, &segments[i]);
    standin_unload(tuner);
  }
}

static void each_version_finds_its_own(void** state) {
  (void)state;
  static const int abis[] = {2, 3, 3, 4, 4, 5, 5, 6, 6, 7};
  for (size_t v = 0; v < COUNT(host_versions); v++) {
    struct standin_tuner* tuner = host_load(host_versions[v]);
    assert_int_equal(tuner->abi, abis[v]);
    assert_string_equal(standin_tuner_name(tuner), "Sizewise");
    assert_null(standin_tuner_chunk_size(tuner));
    standin_unload(tuner);
  }
}

/* NCCL finalizes with NULL after a failed init, and a tuner must survive a question without a context. */
static void no_context(void** state) {
  (void)state;
  for (size_t v = 0; v < COUNT(host_versions); v++) {
    struct standin_tuner* tuner = host_load(host_versions[v]);
    assert_int_equal(standin_tuner_finalize(tuner, NULL), NCCL_SUCCESS);
    struct host_answer answer = host_ask(tuner, NULL, NCCL_ALLREDUCE, 6 * MIB, 1, plain);
    assert_true(host_is_untouched(&answer, plain));
    standin_unload(tuner);
  }
}

/* A rule for everything: whatever is not answered here is left alone for a reason of its own. */
#define RULES                                                                                                 \
  "rules: [{collective: broadcast, channels: 3}, {collective: reduce, channels: 3}, {collective: allgather, " \
  "channels: 3},"                                                                                             \
  " {collective: reducescatter, channels: 3}, {collective: allreduce, channels: 3}]"
#define RULE_PROFILE "NCCL_SIZEWISE_PROFILE=@/rule.yaml"

static void questions_without_answer(void** state) {
  (void)state;
  static const struct {
    const char* what;
    int collective, pipe_ops;
    size_t ranks, nodes;
    bool answered;
  } cases[] = {
      {"broadcast", NCCL_BROADCAST, 1, 4, 2, true},
      {"reduce", NCCL_REDUCE, 1, 4, 2, true},
      {"allgather", NCCL_ALLGATHER, 1, 4, 2, true},
      {"reducescatter", NCCL_REDUCESCATTER, 1, 4, 2, true},
      {"allreduce", NCCL_ALLREDUCE, 1, 4, 2, true},
      {"no operation", NCCL_ALLREDUCE, 0, 4, 2, true},
      {"one node", NCCL_ALLREDUCE, 1, 4, 1, true},
      {"merged operations", NCCL_ALLREDUCE, 2, 4, 2, false},
      {"many merged operations", NCCL_ALLREDUCE, INT_MAX, 4, 2, false},
      {"one rank", NCCL_ALLREDUCE, 1, 1, 1, false},
      {"collective -1", -1, 1, 4, 2, false},
      {"collective 5", 5, 1, 4, 2, false},
      {"collective 99", 99, 1, 4, 2, false},
      {"collective INT_MAX", INT_MAX, 1, 4, 2, false},
      {"collective INT_MIN", INT_MIN, 1, 4, 2, false},
  };
  host_write("rule.yaml", PROFILE("rule", "measured", "", RULES));
  host_set(RULE_PROFILE);
  for (size_t v = 0; v < COUNT(host_versions); v++) {
    struct standin_tuner* tuner = host_load(host_versions[v]);
    for (size_t i = 0; i < COUNT(cases); i++) {
      struct standin_communicator* c = host_create(tuner, cases[i].ranks, cases[i].nodes);
      struct host_answer answer = host_ask(tuner, c, cases[i].collective, MIB, cases[i].pipe_ops, plain);
      assert_memory_equal(answer.table, plain, sizeof plain);
      if (answer.channels != (cases[i].answered ? 3 : 0)) fail_msg("%s: %d channels", cases[i].what, answer.channels);
      standin_communicator_destroy(c);
    }
    standin_unload(tuner);
  }
}

static void fill(float* table, float value) {
  for (int i = 0; i < HOST_ENTRIES; i++) table[i] = value;
}

/* Symmetric kernels are asked about with numPipeOps 0 and a table without a usable entry. */
static void tables_without_a_usable_entry(void** state) {
  (void)state;
  static const float values[] = {-1, -1024, 0, -0.0f, (float)(0.0 / 0.0), (float)(1.0 / 0.0), (float)(-1.0 / 0.0)};
  host_write("a.yaml", PROFILE("a", "measured", "", HALVED("algo: tree, proto: simple, channels: 2")));
  host_write("c.yaml", PROFILE("c", "measured", "", HALVED("channels: 2")));
  for (size_t v = 1; v < COUNT(host_versions); v++) {
    struct standin_tuner* tuner = host_load(host_versions[v]);
    for (int channels_only = 0; channels_only < 2; channels_only++) {
      host_set(channels_only ? "NCCL_SIZEWISE_PROFILE=@/c.yaml" : "NCCL_SIZEWISE_PROFILE=@/a.yaml");
      struct standin_communicator* c = host_create(tuner, 4, 2);
      for (size_t i = 0; i < COUNT(values); i++)
        for (int pipe_ops = 0; pipe_ops < 2; pipe_ops++) {
          float table[HOST_ENTRIES];
          fill(table, values[i]);
          struct host_answer answer = host_ask(tuner, c, NCCL_ALLREDUCE, MIB, pipe_ops, table);
          if (!host_is_untouched(&answer, table)) fail_msg("all entries %g", (double)values[i]);
        }
      standin_communicator_destroy(c);
    }
    standin_unload(tuner);
  }
}

/* Registered buffers can differ from rank to rank, so both answers have to be the same to the bit. */
static void registered_buffers(void** state) {
  (void)state;
  host_write("a.yaml", PROFILE("a", "measured", "", HALVED("algo: tree, channels: 2")));
  host_set("NCCL_SIZEWISE_PROFILE=@/a.yaml");
  for (size_t v = 3; v < COUNT(host_versions); v++) {
    struct standin_tuner* tuner = host_load(host_versions[v]);
    struct standin_communicator* c = host_create(tuner, 4, 2);
    struct standin_choice choices[2];
    for (int registered = 0; registered < 2; registered++) {
      struct standin_operation operation = {
          .collective = NCCL_ALLREDUCE, .bytes = MIB, .reg_buff = registered, .table = plain};
      assert_int_equal(standin_ask(c, &operation, &choices[registered]), NCCL_SUCCESS);
    }
    assert_memory_equal(choices[0].after, choices[1].after, sizeof choices[0].after);
    assert_int_equal(choices[0].tuner_channels, 2);
    assert_int_equal(choices[1].tuner_channels, 2);
    standin_communicator_destroy(c);
    standin_unload(tuner);
  }
}

/* Eight small all-reduces in a group are one question with their summed size: left to NCCL. */
static void merged_groups(void** state) {
  (void)state;
  host_set("NCCL_SIZEWISE_PROFILE=gb10-roce-8x1");
  for (size_t v = 0; v < COUNT(host_versions); v++) {
    struct standin_tuner* tuner = host_load(host_versions[v]);
    struct standin_communicator* c = host_create(tuner, 8, 8);
    struct standin_operation operations[8];
    struct standin_choice choices[8];
    for (int i = 0; i < 8; i++)
      operations[i] = (struct standin_operation){.collective = NCCL_ALLREDUCE, .bytes = MIB, .table = plain};
    assert_int_equal(standin_ask_group(c, operations, 8, choices, NULL), NCCL_SUCCESS);
    assert_int_equal(choices[0].merged, 8);
    assert_int_equal(choices[0].tuner_channels, 0);
    assert_int_equal(choices[0].decider, STANDIN_BY_NCCL);
    operations[0].bytes = 6 * MIB; /* the same size in one operation */
    assert_int_equal(standin_ask_group(c, operations, 1, choices, NULL), NCCL_SUCCESS);
    assert_int_equal(choices[0].tuner_channels, 2);
    standin_communicator_destroy(c);
    standin_unload(tuner);
  }
}

/* The settings of the moment count: communicators of one process can have been given different ones. */
static void settings_change_between_communicators(void** state) {
  (void)state;
  static const struct {
    const char* settings;
    int channels;
  } moments[] = {{"NCCL_SIZEWISE_PROFILE=@/two.yaml", 2},
                 {"NCCL_SIZEWISE_PROFILE=off", 0},
                 {"NCCL_SIZEWISE_PROFILE=@/four.yaml", 4},
                 {"NCCL_SIZEWISE_PROFILE=@/four.yaml|NCCL_SIZEWISE_DETERMINISTIC=1", 0}};
  struct standin_communicator* communicators[COUNT(moments)];
  host_write("two.yaml", PROFILE("two", "measured", "", HALVED("channels: 2")));
  host_write("four.yaml", PROFILE("four", "measured", "", HALVED("channels: 4")));
  struct standin_tuner* tuner = host_load(22809);
  for (size_t i = 0; i < COUNT(moments); i++) {
    host_set(moments[i].settings);
    communicators[i] = host_create(tuner, 4, 2);
  }
  for (size_t i = 0; i < COUNT(moments); i++) {
    assert_int_equal(host_ask(tuner, communicators[i], NCCL_ALLREDUCE, MIB, 1, plain).channels, moments[i].channels);
    standin_communicator_destroy(communicators[i]); /* in the order of their creation */
  }
  standin_unload(tuner);
}

/* A logger is NCCL's own, but nobody promises that there is one. */
static void no_logger(void** state) {
  (void)state;
  void* context = NULL;
  host_set("NCCL_SIZEWISE_PROFILE=gb10-roce-8x1|NCCL_ALGO=ring");
  struct standin_tuner* tuner = host_load(22809);
  const nccl_tuner_v5* v5 = tuner->symbol;
  assert_int_equal(v5->init(&context, 1, 8, 8, NULL, NULL, NULL), NCCL_SUCCESS);
  assert_non_null(context);
  assert_int_equal(v5->finalize(context), NCCL_SUCCESS);
  standin_unload(tuner);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shipped_segments),
      cmocka_unit_test(each_version_finds_its_own),
      cmocka_unit_test(no_context),
      cmocka_unit_test(questions_without_answer),
      cmocka_unit_test(tables_without_a_usable_entry),
      cmocka_unit_test(registered_buffers),
      cmocka_unit_test(merged_groups),
      cmocka_unit_test(settings_change_between_communicators),
      cmocka_unit_test(no_logger),
  };
  return cmocka_run_group_tests(tests, NULL, host_leave);
}
