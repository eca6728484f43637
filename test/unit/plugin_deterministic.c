/* The deterministic mode through the plugin, as every NCCL loads it. */
#include "unit/plugin_host.h"

#define KIB ((size_t)1024)
#define MIB (KIB * 1024)
#define TREE "algo: tree, proto: simple, channels: 1"
#define MODE "NCCL_SIZEWISE_DETERMINISTIC=1"

/* Tree + Simple on one channel is five times slower than auto at 1 MiB, and the same at every size. */
#define SLOW TABLE("allreduce", "2", "4", "1MiB", "{" TREE ", median: 500us}, {channels: 4, median: 10us}")

static const float plain[HOST_ENTRIES] = HOST_PLAIN_TABLE;
static const size_t sizes[] = {0, 1, 8, 12 * KIB, MIB, 96 * MIB, (size_t)1 << 40};

/* The entry that NCCL would take: the cheapest that is not negative. */
static int winner(const struct host_answer* answer) {
  int best = -1;
  for (int i = 0; i < HOST_ENTRIES; i++)
    if (answer->table[i] >= 0 && (best < 0 || answer->table[i] < answer->table[best])) best = i;
  return best;
}

static bool is_tree_simple(const struct standin_tuner* tuner, const struct host_answer* answer) {
  if (answer->channels != 1) return false;
  if (tuner->version < 22200) return answer->algorithm == NCCL_ALGO_TREE && answer->protocol == NCCL_PROTO_SIMPLE;
  return winner(answer) == NCCL_ALGO_TREE * NCCL_NUM_PROTOCOLS + NCCL_PROTO_SIMPLE && answer->table[winner(answer)] > 0;
}

/* Every size, far beyond what was measured, and merged operations. */
static void the_same_everywhere(void** state) {
  (void)state;
  static const int merged[] = {0, 1, 2, 64, INT_MAX};
  host_write("slow.yaml", PROFILE("slow", "measured", "", SLOW));
  host_set("NCCL_SIZEWISE_PROFILE=@/slow.yaml|" MODE);
  for (size_t v = 0; v < COUNT(host_versions); v++) {
    struct standin_tuner* tuner = host_load(host_versions[v]);
    host_forget_log();
    struct standin_communicator* c = host_create(tuner, 4, 2);
    for (size_t i = 0; i < COUNT(sizes); i++)
      for (size_t m = 0; m < COUNT(merged); m++) {
        struct host_answer answer = host_ask(tuner, c, NCCL_ALLREDUCE, sizes[i], merged[m], plain);
        if (!is_tree_simple(tuner, &answer))
          fail_msg("NCCL %d, %zu bytes, %d merged: entry %d, %d channels", tuner->version, sizes[i], merged[m],
                   winner(&answer), answer.channels);
        answer = host_ask(tuner, c, NCCL_ALLGATHER, sizes[i], merged[m], plain);
        assert_true(host_is_untouched(&answer, plain));
      }
    host_assert_no_line('W', "a promise that holds");
    host_assert_one_line('I',
                         "for 4 ranks on 2 nodes, deterministic: 1 segment overrides NCCL's choice: allreduce every "
                         "size: tree + simple, 1 channel; NCCL decides reducescatter, allgather, reduce, broadcast",
                         "the mode");
    standin_communicator_destroy(c);
    standin_unload(tuner);
  }
}

/* Groups whose operations NCCL merges get the same choice as each of them alone. */
static void merged_groups(void** state) {
  (void)state;
  host_set("NCCL_SIZEWISE_PROFILE=@/slow.yaml|" MODE);
  for (size_t v = 0; v < COUNT(host_versions); v++) {
    struct standin_tuner* tuner = host_load(host_versions[v]);
    struct standin_communicator* c = host_create(tuner, 4, 2);
    struct standin_operation operations[8];
    struct standin_choice choices[8];
    for (int i = 0; i < 8; i++)
      operations[i] = (struct standin_operation){.collective = NCCL_ALLREDUCE, .bytes = MIB, .table = plain};
    assert_int_equal(standin_ask_group(c, operations, 8, choices, NULL), NCCL_SUCCESS);
    assert_int_equal(choices[0].merged, 8);
    assert_int_equal(choices[0].algorithm, NCCL_ALGO_TREE);
    assert_int_equal(choices[0].protocol, NCCL_PROTO_SIMPLE);
    assert_int_equal(choices[0].tuner_channels, 1);
    standin_communicator_destroy(c);
    standin_unload(tuner);
  }
}

/* Where NCCL does not offer the choice nothing is written, and that is said once; a table without any entry is no call
   of NCCL's to be answered. */
static void not_offered(void** state) {
  (void)state;
  static const float without[HOST_ENTRIES] = {30, -1, -1, 20, -1, 40, -1, -1, -1, -1, -1,
                                              -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  static const float refused[HOST_ENTRIES] = {30, -1, 20 * 1024, 20, -1, 40, -1, -1, -1, -1, -1,
                                              -1, -1, -1,        -1, -1, -1, -1, -1, -1, -1};
  float nothing[HOST_ENTRIES];
  for (int i = 0; i < HOST_ENTRIES; i++) nothing[i] = -1;
  host_set("NCCL_SIZEWISE_PROFILE=@/slow.yaml|" MODE);
  for (size_t v = 1; v < COUNT(host_versions); v++) { /* the first has no table */
    struct standin_tuner* tuner = host_load(host_versions[v]);
    struct standin_communicator* c = host_create(tuner, 4, 2);
    host_forget_log();
    struct host_answer answer = host_ask(tuner, c, NCCL_ALLREDUCE, MIB, 0, nothing);
    assert_true(host_is_untouched(&answer, nothing));
    host_assert_no_line('W', "no entry at all");
    for (int i = 0; i < 3; i++) {
      answer = host_ask(tuner, c, NCCL_ALLREDUCE, 12 * KIB, 1, without);
      assert_true(host_is_untouched(&answer, without));
      answer = host_ask(tuner, c, NCCL_ALLREDUCE, MIB, 1, refused);
      assert_true(host_is_untouched(&answer, refused));
    }
    host_assert_one_line('W', "NCCL does not offer tree + simple, 1 channel for allreduce at 12 KiB, so NCCL decides",
                         "not offered");
    standin_communicator_destroy(c);
    standin_unload(tuner);
  }
}

/* What only copies cannot break a promise: it is silent, and leaves the warning to the first call that adds. */
static void copies(void** state) {
  (void)state;
  static const float ll_only[HOST_ENTRIES] = {-1, -1, -1, 20, -1, -1, -1, -1, -1, -1, -1,
                                              -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  static const char text[] = PROFILE("copies", "measured", "",
                                     SLOW
                                     "  - collective: allgather\n    nodes: 2\n    ranks: 4\n    points:\n"
                                     "      - {bytes: 1MiB, times: [{choice: auto, median: 100us}, "
                                     "{algo: ring, proto: simple, channels: 1, median: 90us}]}\n");
  host_write("copies.yaml", text);
  host_set("NCCL_SIZEWISE_PROFILE=@/copies.yaml|" MODE "|NCCL_ALGO=allgather:pat");
  for (size_t v = 0; v < COUNT(host_versions); v++) {
    struct standin_tuner* tuner = host_load(host_versions[v]);
    host_forget_log();
    struct standin_communicator* c = host_create(tuner, 4, 2);
    struct host_answer answer = host_ask(tuner, c, NCCL_ALLGATHER, MIB, 1, ll_only);
    assert_true(host_is_untouched(&answer, ll_only));
    assert_int_equal(host_count_lines('W', "[SW-410]"), 0);
    if (tuner->version >= 22200) { /* with a table */
      host_ask(tuner, c, NCCL_ALLREDUCE, MIB, 1, ll_only);
      assert_int_equal(host_count_lines('W', "NCCL does not offer tree + simple, 1 channel for allreduce"), 1);
    }
    standin_communicator_destroy(c);
    standin_unload(tuner);
  }
}

/* What a promise lacks is said when a communicator starts, once for each shape. */
static void promises(void** state) {
  (void)state;
  static const struct {
    const char* what;
    const char* profile;
    const char* settings;
    const char* warning;
  } cases[] = {
      {"forced", SLOW, "|NCCL_ALGO=allreduce:ring", "tree + simple, 1 channel is excluded by NCCL_ALGO or NCCL_PROTO"},
      {"nothing measured everywhere", HALVED("channels: 2"), "", "no choice that names algorithm"},
      {"several channels", HALVED("algo: tree, proto: ll, channels: 2"), "", "NCCL runs small messages on fewer"},
      {"a ring of four ranks", HALVED("algo: ring, proto: ll, channels: 1"), "", "a ring adds in an order that"},
      {"rules for some sizes", SLOW "rules: [{collective: allreduce, bytes: 1KiB, channels: 1}]", "",
       "allreduce: 1 rule is ignored"},
      {"another shape", TABLE("allreduce", "8", "8", "1MiB", "{" TREE ", median: 500us}"), "",
       "no profile decides for 4 ranks on 2 nodes, so NCCL chooses by size"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    char text[4096];
    char settings[512];
    snprintf(text, sizeof text, "%s%s\n", PROFILE("n", "measured", "", ""), cases[i].profile);
    snprintf(settings, sizeof settings, "NCCL_SIZEWISE_PROFILE=@/case.yaml|" MODE "%s", cases[i].settings);
    host_write("case.yaml", text);
    host_set(settings);
    struct standin_tuner* tuner = host_load(22809);
    host_forget_log();
    struct standin_communicator* first = host_create(tuner, 4, 2);
    struct standin_communicator* second = host_create(tuner, 4, 2);
    if (host_count_lines('W', cases[i].warning) != 1 || host_count_lines('W', "[SW-410]") != 1) {
      host_print_log();
      fail_msg("%s: not said once", cases[i].what);
    }
    standin_communicator_destroy(first);
    standin_communicator_destroy(second);
    standin_unload(tuner);
  }
}

/* The digest to pin is the mode's: a rank without the mode does not start with it, nor one with it by the other. */
static void pinned(void** state) {
  (void)state;
  static const char text[] = PROFILE("slow", "measured", "", SLOW);
  struct sw_diags diags;
  struct sw_digest by_size = host_digest(text);
  struct sw_digest deterministic;
  sw_diags_start(&diags, "test");
  struct sw_profile* profile = sw_profile_read(text, strlen(text), &diags);
  assert_true(sw_digest_compute_for(profile, SW_MODE_DETERMINISTIC, &deterministic, NULL));
  sw_profile_free(profile);
  const struct {
    const char* digest;
    const char* mode;
    bool starts;
  } cases[] = {{deterministic.hex, "|" MODE, true},
               {by_size.hex, "", true},
               {by_size.hex, "|" MODE, false},
               {deterministic.hex, "", false}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    char settings[512];
    struct standin_communicator* c = NULL;
    snprintf(settings, sizeof settings, "NCCL_SIZEWISE_PROFILE=@/slow.yaml|NCCL_SIZEWISE_EXPECT=%s%s", cases[i].digest,
             cases[i].mode);
    host_write("slow.yaml", text);
    host_set(settings);
    struct standin_tuner* tuner = host_load(22809);
    struct standin_shape shape = host_shape(22809, 4, 2);
    nccl_result result = standin_communicator_create(&shape, tuner, &c);
    assert_int_equal(result == NCCL_SUCCESS, cases[i].starts);
    if (cases[i].starts) standin_communicator_destroy(c);
    standin_unload(tuner);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_everywhere),
      cmocka_unit_test(merged_groups),
      cmocka_unit_test(not_offered),
      cmocka_unit_test(copies),
      cmocka_unit_test(promises),
      cmocka_unit_test(pinned),
  };
  return cmocka_run_group_tests(tests, NULL, host_leave);
}
