/*
 * Sixteen threads create, ask and destroy communicators of different shapes at once, with failing ones among them. Each
 * answer has to be what one thread alone was given. Run it under ThreadSanitizer (make tsan).
 */
#include "plugin_host.h"

enum { MIB = 1024 * 1024, THREADS = 16, ROUNDS = 40, SHAPES = 4, SIZES = 24 };

static const size_t shapes[SHAPES][2] = {{2, 1}, {4, 1}, {4, 2}, {8, 8}}; /* ranks, nodes; the last has no table */
static const float table[HOST_ENTRIES] = HOST_PLAIN_TABLE;

#define SHAPE(nodes, ranks, choice)                             \
  "  - {collective: allreduce, nodes: " nodes ", ranks: " ranks \
  ", points: [{bytes: 64KiB, times: ["                          \
  "{choice: auto, median: 100us}, {" choice                     \
  ", median: 50us}]}, {bytes: 1MiB, times: ["                   \
  "{choice: auto, median: 200us}, {" choice ", median: 180us}, {proto: simple, channels: 3, median: 90us}]}]}\n"
#define TABLES \
  "tables:\n" SHAPE("1", "2", "channels: 2") SHAPE("1", "4", "algo: tree") SHAPE("2", "4", "algo: ring, proto: ll")

static struct standin_tuner* tuner;
static struct host_answer alone[SHAPES][SIZES];

static size_t size_at(int i) {
  return (size_t)1024 << (i / 2) | (size_t)(i & 1) * 512;
}

/* The profile is pinned and wants one NVLink domain: with two, init has to fail. */
static struct standin_shape shape_of(int shape, bool fails) {
  struct standin_shape made = host_shape(tuner->version, shapes[shape][0], shapes[shape][1]);
  made.nvl_domains = (nccl_nvl_domain_info){fails ? 2 : 1, 1, (int)shapes[shape][0]};
  return made;
}

static struct host_answer ask(const struct standin_communicator* c, int i) {
  struct host_answer answer = {.algorithm = -1, .protocol = -1};
  memcpy(answer.table, table, sizeof table);
  struct standin_question question = {.collective = NCCL_ALLREDUCE,
                                      .bytes = size_at(i),
                                      .pipe_ops = 1,
                                      .reg_buff = i % 3 == 0,
                                      .algorithms = NCCL_NUM_ALGORITHMS,
                                      .table = answer.table,
                                      .algorithm = -1,
                                      .protocol = -1};
  if (standin_tuner_ask(tuner, standin_communicator_context(c), &question) != NCCL_SUCCESS) answer.channels = -1;
  answer.channels += question.channels;
  return answer;
}

/* Returns what went wrong, or NULL. */
static const char* live_once(int shape, bool fails) {
  struct standin_shape made = shape_of(shape, fails);
  struct standin_communicator* c = NULL;
  nccl_result result = standin_communicator_create(&made, tuner, &c);
  if (fails) return result == NCCL_INVALID_USAGE ? NULL : "init did not fail";
  if (result != NCCL_SUCCESS) return "init failed";
  const char* wrong = NULL;
  for (int i = 0; i < SIZES; i++) {
    struct host_answer answer = ask(c, i);
    if (memcmp(&answer, &alone[shape][i], sizeof answer) != 0) wrong = "an answer differs";
  }
  if (standin_communicator_constants_changed(c)) wrong = "the constants changed";
  if (standin_communicator_destroy(c) != NCCL_SUCCESS) wrong = "finalize failed";
  return wrong;
}

static void* live(void* number) {
  int thread = *(const int*)number;
  const char* wrong = NULL;
  for (int round = 0; round < ROUNDS && !wrong; round++)
    wrong = live_once((thread + round) % SHAPES, (thread + round) % 5 == 0);
  return (void*)(uintptr_t)wrong;
}

static void answer_alone(void) {
  int answered = 0;
  for (int shape = 0; shape < SHAPES; shape++) {
    struct standin_shape made = shape_of(shape, false);
    struct standin_communicator* c = NULL;
    assert_int_equal(standin_communicator_create(&made, tuner, &c), NCCL_SUCCESS);
    for (int i = 0; i < SIZES; i++) {
      alone[shape][i] = ask(c, i);
      answered += !host_is_untouched(&alone[shape][i], table);
    }
    standin_communicator_destroy(c);
  }
  assert_true(answered > 3 * 8); /* 32 KiB to 2 MiB, for three shapes */
}

static void run_at_once(void) {
  pthread_t threads[THREADS];
  int numbers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    assert_int_equal(pthread_create(&threads[i], NULL, live, &numbers[i]), 0);
  }
  const char* wrong = NULL;
  for (int i = 0; i < THREADS; i++) {
    void* result;
    assert_int_equal(pthread_join(threads[i], &result), 0);
    if (result) wrong = result;
  }
  if (wrong) fail_msg("%s", wrong);
}

static void pinned_profile(void** state) {
  (void)state;
  static const int versions[] = {22809, 23007, 23300};
  char settings[512];
  const char* text = PROFILE("t", "measured", "nvlink_domains: 1", TABLES);
  host_write("p/t.yaml", text);
  snprintf(settings, sizeof settings, "NCCL_SIZEWISE_PATH=@/p|NCCL_ALGO=ring,tree|NCCL_SIZEWISE_EXPECT=%s",
           host_digest(text).hex);
  for (size_t v = 0; v < COUNT(versions); v++) {
    host_set(settings);
    tuner = host_load(versions[v]);
    answer_alone();
    host_forget_log();
    run_at_once();
    /* each init says one line, or fails with one; the forced setting was said by the first of all */
    assert_int_equal(host_logged.calls, THREADS * ROUNDS);
    standin_unload(tuner);
  }
}

/* All of them fail, and the last to go takes everything along. */
static void nothing_but_failures(void** state) {
  (void)state;
  host_set("NCCL_SIZEWISE_PROFILE=gone");
  tuner = host_load(22809);
  pthread_t threads[THREADS];
  int zero = 0;
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, live, &zero), 0);
  for (int i = 0; i < THREADS; i++) {
    void* result;
    assert_int_equal(pthread_join(threads[i], &result), 0);
    assert_string_equal(result, "init failed");
  }
  standin_unload(tuner);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pinned_profile),
      cmocka_unit_test(nothing_but_failures),
  };
  return cmocka_run_group_tests(tests, NULL, host_leave);
}
