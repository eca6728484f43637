/*
 * The stand-in for NCCL: init and finalize, the user's settings, the log, several threads. The fake tuners are listed
 * in standin.c.
 */
#include "unit/standin_fakes.h"

#include <pthread.h>
#include <string.h>

static void init_errors_fail_the_communicator(void** state) {
  (void)state;
  static const int versions[] = {22105, 22203, 22403, 22809, 23007, 23300};
  standin_log_to(NULL, NCCL_LOG_NONE);
  for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
    struct standin_tuner* tuner;
    struct standin_communicator* c = NULL;
    struct standin_shape shape = shape_of(versions[i]);
    assert_int_equal(load_fake(versions[i], "initfail", &tuner), STANDIN_LOADED);
    assert_int_equal(standin_communicator_create(&shape, tuner, &c), NCCL_SYSTEM_ERROR);
    assert_null(c);
    assert_int_equal(counts_of(tuner)->inits, 1);
    assert_int_equal(counts_of(tuner)->finalizes, 0);
    assert_int_equal(counts_of(tuner)->null_finalizes, 1);
    standin_unload(tuner);
  }
}

static void one_rank_gets_init_and_no_question(void** state) {
  (void)state;
  struct standin_tuner* tuner;
  struct standin_communicator* c;
  struct standin_shape shape = shape_of(22809);
  shape.ranks = shape.nodes = 1;
  assert_int_equal(load_fake(22809, "ch2", &tuner), STANDIN_LOADED);
  assert_int_equal(standin_communicator_create(&shape, tuner, &c), NCCL_SUCCESS);
  const struct fake_seen* seen = standin_communicator_context(c);
  struct standin_operation operation = {.collective = NCCL_ALLREDUCE, .bytes = 1 << 20};
  struct standin_choice choice;
  assert_int_equal(standin_ask(c, &operation, &choice), NCCL_SUCCESS);
  assert_int_equal(seen->ranks, 1);
  assert_int_equal(seen->asks, 0);
  assert_false(choice.asked);
  assert_int_equal(choice.algorithm, -1);
  assert_int_equal(choice.channels, 0);
  standin_communicator_destroy(c);
  standin_unload(tuner);
}

static void impossible_shapes(void** state) {
  (void)state;
  static const struct {
    size_t ranks, nodes;
    int channels, version;
  } cases[] = {{0, 0, 8, 22809}, {8, 0, 8, 22809},  {2, 4, 8, 22809},
               {8, 2, 0, 22809}, {8, 2, 65, 22809}, {8, 2, 8, 22907}};
  struct standin_tuner* tuner;
  assert_int_equal(load_fake(22809, "all", &tuner), STANDIN_LOADED);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct standin_communicator* c = NULL;
    struct standin_shape shape = {.version = cases[i].version, .ranks = cases[i].ranks, .nodes = cases[i].nodes};
    shape.channels = cases[i].channels;
    assert_int_equal(standin_communicator_create(&shape, tuner, &c), NCCL_INVALID_ARGUMENT);
  }
  assert_int_equal(counts_of(tuner)->inits, 0);
  standin_unload(tuner);
}

/* The careless fake overwrites one constant and writes one float past the table's end. */
static void carelessness_is_seen(void** state) {
  (void)state;
  static const int versions[] = {22203, 22809, 23007, 23300};
  for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
    struct standin_tuner* tuner = must_load(versions[i], "careless");
    struct standin_shape shape = shape_of(versions[i]);
    struct standin_communicator* c = must_create(&shape, tuner);
    struct standin_operation operation = {.collective = NCCL_ALLREDUCE, .bytes = 4096};
    struct standin_choice choice;
    assert_int_equal(standin_communicator_constants_changed(c), versions[i] < 22800 ? 0 : 1);
    assert_int_equal(standin_ask(c, &operation, &choice), NCCL_SUCCESS);
    assert_true(choice.wrote_outside);
    assert_int_equal(choice.decider, STANDIN_BY_NCCL); /* nothing inside the table changed */
    standin_communicator_destroy(c);
    standin_unload(tuner);
  }
}

/* Masks as NCCL_ALGO spells them. Expected: for broadcast and for allreduce, one letter for each algorithm in NCCL's
 * order (tree, ring, collnetdirect, collnetchain, nvls, nvlstree, pat): - excluded, a allowed, N allowed and named. */
static const struct {
  const char* value;
  const char* broadcast;
  const char* allreduce;
} good_masks[] = {
    {NULL, "aaaaaaa", "aaaaaaa"},
    {"", "aaaaaaa", "aaaaaaa"},
    {"ring", "-N-----", "-N-----"},
    {"RiNg,TREE", "NN-----", "NN-----"},
    {"^tree", "-aaaaaa", "-aaaaaa"},
    {"^nvls,nvlstree,pat", "aaaa---", "aaaa---"},
    {"allreduce:tree", "aaaaaaa", "N------"},
    {"AllReduce:^tree,ring", "aaaaaaa", "--aaaaa"},
    {"ring;allreduce:tree", "-N-----", "N------"},
    {"^ring;allreduce:ring", "a-aaaaa", "-N-----"},
    {"broadcast:ring;allreduce:^ring", "-N-----", "a-aaaaa"},
    {"allreduce:tree;allreduce:pat", "aaaaaaa", "------N"},
    {"collnetdirect,collnetchain", "--NN---", "--NN---"},
};

static void check_mask(const struct standin_mask* mask, int collective, const char* expected, const char* value) {
  for (int i = 0; i < NCCL_NUM_ALGORITHMS; i++) {
    char found = mask->named[collective][i] ? 'N' : 'a';
    if (!mask->allowed[collective][i]) found = mask->named[collective][i] ? '?' : '-';
    if (found != expected[i]) fail_msg("%s: collective %d, algorithm %d: %c", value, collective, i, found);
  }
}

static void masks_that_can_be_read(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof good_masks / sizeof good_masks[0]; i++) {
    struct standin_mask mask;
    struct standin_problem problem;
    assert_true(standin_mask_parse(good_masks[i].value, &sw_algorithms, &mask, &problem));
    check_mask(&mask, NCCL_BROADCAST, good_masks[i].broadcast, good_masks[i].value);
    check_mask(&mask, NCCL_ALLREDUCE, good_masks[i].allreduce, good_masks[i].value);
  }
}

static void masks_that_cannot(void** state) {
  (void)state;
  static const struct {
    const char* value;
    size_t offset;
    const char* what;
  } cases[] = {
      {"rign", 0, "unknown name"},
      {"ring,", 5, "a name is missing"},
      {",ring", 0, "a name is missing"},
      {"^", 1, "a name is missing"},
      {"ring,^tree", 5, "unknown name"},
      {"ring tree", 0, "unknown name"},
      {"ring;tree", 5, "only the first group may lack a collective"},
      {"ring;", 5, "only the first group may lack a collective"},
      {"allreduse:ring", 0, "unknown collective"},
      {":ring", 0, "unknown collective"},
      {"allreduce:", 10, "a name is missing"},
      {"ring;allreduce:tree,rin", 20, "unknown name"},
      {"allreduce:ring:tree", 10, "unknown name"},
      {"^allreduce:ring", 0, "unknown collective"},
      {"ll", 0, "unknown name"}, /* a protocol */
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct standin_mask mask, before;
    struct standin_problem problem = {0};
    memset(&mask, 0, sizeof mask);
    memcpy(&before, &mask, sizeof mask);
    assert_false(standin_mask_parse(cases[i].value, &sw_algorithms, &mask, &problem));
    assert_string_equal(problem.what, cases[i].what);
    assert_int_equal(problem.offset, cases[i].offset);
    assert_memory_equal(&mask, &before, sizeof mask);
  }
}

/* The communicator fails, the tuner never hears of it, and the log says why. */
static void unreadable_settings_fail_init(void** state) {
  (void)state;
  static const struct {
    struct standin_environment environment;
    const char* line;
  } cases[] = {
      {{.algo = "rign"}, "NCCL WARN NCCL_ALGO: unknown name at byte 0\n"},
      {{.proto = "LL;simple"}, "NCCL WARN NCCL_PROTO: only the first group may lack a collective at byte 3\n"},
      {{.max_channels = -1}, "NCCL WARN NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS: a channel count below 0 at byte 0\n"},
  };
  struct standin_tuner* tuner = must_load(22809, "all");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char line[256] = "";
    FILE* log = tmpfile();
    standin_log_to(log, NCCL_LOG_WARN);
    struct standin_communicator* c = NULL;
    struct standin_shape shape = shape_of(22809);
    shape.environment = cases[i].environment;
    assert_int_equal(standin_communicator_create(&shape, tuner, &c), NCCL_INVALID_USAGE);
    rewind(log);
    assert_non_null(fgets(line, sizeof line, log));
    assert_string_equal(line, cases[i].line);
    standin_log_to(NULL, NCCL_LOG_WARN);
    fclose(log);
  }
  assert_int_equal(counts_of(tuner)->inits, 0);
  standin_unload(tuner);
}

static void log_drops_what_is_above_its_level(void** state) {
  (void)state;
  FILE* log = tmpfile();
  standin_log_to(log, NCCL_LOG_WARN);
  standin_log(NCCL_LOG_INFO, NCCL_SUBSYS_TUNING, "file", 1, "dropped");
  assert_int_equal(ftell(log), 0);
  standin_log_to(log, NCCL_LOG_INFO);
  standin_log(NCCL_LOG_INFO, NCCL_SUBSYS_TUNING, "file", 1, "kept %d", 7);
  assert_int_equal(ftell(log), strlen("NCCL INFO kept 7\n"));
  standin_log_to(NULL, NCCL_LOG_WARN);
  fclose(log);
}

static void channel_limits(void** state) {
  (void)state;
  static const struct {
    int channels, least, most, expected;
  } cases[] = {{8, 0, 0, 8},  {8, 0, 4, 4},    {8, 16, 0, 16},    {8, 2, 16, 8},
               {8, 16, 4, 4}, {8, 100, 0, 64}, {8, 100, 128, 64}, {64, 0, 128, 64}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct standin_shape shape = shape_of(22809);
    shape.channels = cases[i].channels;
    shape.environment.min_channels = cases[i].least;
    shape.environment.max_channels = cases[i].most;
    struct standin_communicator* c = must_create(&shape, NULL);
    assert_int_equal(standin_communicator_channels(c), cases[i].expected);
    standin_communicator_destroy(c);
  }
}

enum { THREADS = 2, ROUNDS = 200, QUESTIONS = 20 };

/* Communicators come and go on each thread, next to questions on the other. Returns NULL if all went well. */
static void* live_and_ask(void* tuner) {
  for (int round = 0; round < ROUNDS; round++) {
    struct standin_shape shape = shape_of(22809);
    struct standin_communicator* c;
    if (standin_communicator_create(&shape, tuner, &c) != NCCL_SUCCESS) return tuner;
    for (int i = 0; i < QUESTIONS; i++) {
      struct standin_operation operation = {.collective = NCCL_ALLREDUCE, .bytes = (size_t)1 << 20};
      struct standin_choice choice;
      if (standin_ask(c, &operation, &choice) != NCCL_SUCCESS || choice.tuner_channels != 2) return tuner;
    }
    const struct fake_seen* seen = standin_communicator_context(c);
    if (seen->asks != QUESTIONS) return tuner;
    standin_communicator_destroy(c);
  }
  return NULL;
}

static void communicators_on_several_threads(void** state) {
  (void)state;
  struct standin_tuner* tuner = must_load(22809, "ch2");
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, live_and_ask, tuner), 0);
  for (int i = 0; i < THREADS; i++) {
    void* failed;
    assert_int_equal(pthread_join(threads[i], &failed), 0);
    assert_null(failed);
  }
  assert_int_equal(counts_of(tuner)->inits, THREADS * ROUNDS);
  assert_int_equal(counts_of(tuner)->finalizes, THREADS * ROUNDS);
  standin_unload(tuner);
}

int main(void) {
  if (!getenv("SW_TEST_BUILD")) return fprintf(stderr, "SW_TEST_BUILD is not set\n"), 2;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(init_errors_fail_the_communicator),
      cmocka_unit_test(one_rank_gets_init_and_no_question),
      cmocka_unit_test(impossible_shapes),
      cmocka_unit_test(carelessness_is_seen),
      cmocka_unit_test(masks_that_can_be_read),
      cmocka_unit_test(masks_that_cannot),
      cmocka_unit_test(unreadable_settings_fail_init),
      cmocka_unit_test(log_drops_what_is_above_its_level),
      cmocka_unit_test(channel_limits),
      cmocka_unit_test(communicators_on_several_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
