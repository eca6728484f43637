/*
 * What the built plugin says, word for word, and that it says nothing, and asks for no memory, while NCCL asks it: this
 * program's own malloc, calloc, realloc and free stand before libc's and count.
 */
#include "plugin_host.h"

#include "ground/version.h"

enum { MIB = 1024 * 1024 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

static size_t allocator_calls;

#ifndef SANITIZED
#define EXPORTED __attribute__((visibility("default")))
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);
extern void __libc_free(void* block);

EXPORTED void* malloc(size_t size) {
  allocator_calls++;
  return __libc_malloc(size);
}

EXPORTED void* calloc(size_t count, size_t size) {
  allocator_calls++;
  return __libc_calloc(count, size);
}

EXPORTED void* realloc(void* block, size_t size) {
  allocator_calls++;
  return __libc_realloc(block, size);
}

EXPORTED void free(void* block) {
  allocator_calls++;
  __libc_free(block);
}
#endif

/* A shipped profile as p.yaml, for any machine: without its `match`, so that no line depends on where this runs. */
static struct sw_digest write_shipped(const char* name) {
  char path[PATH_MAX];
  char line[1024];
  struct sw_text text = SW_TEXT_EMPTY;
  snprintf(path, sizeof path, "%s/profiles/%s.yaml", getenv("SW_TEST_SOURCE"), name);
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file))
    if (strncmp(line, "match:", 6) != 0) sw_text_add(&text, line);
  fclose(file);
  host_write("p.yaml", sw_text_string(&text));
  struct sw_digest digest = host_digest(sw_text_string(&text));
  sw_text_free(&text);
  return digest;
}

static void assert_line(const char* expected) {
  char line[2048];
  host_expand(expected, line, sizeof line);
  assert_int_equal(host_logged.calls, 1);
  assert_string_equal(host_logged.lines[0], line);
}

static void one_line_for_each_communicator(void** state) {
  (void)state;
  static const struct {
    const char* profile;
    size_t ranks, nodes;
    const char* end;
  } cases[] = {
      {"gb10-roce-8x1", 8, 8,
       "for 8 ranks on 8 nodes: 1 segment overrides NCCL's choice: allreduce 3 MiB to 12 MiB: 2 channels"},
      {"gb10-roce-8x1-switched", 8, 8, "for 8 ranks on 8 nodes: 0 segments override NCCL's choice"},
      {"gb10-roce-4x1-ring", 4, 4,
       "for 4 ranks on 4 nodes: 1 segment overrides NCCL's choice: allreduce 256 KiB to 2 MiB: 4 channels"},
      {"rtx-pro-6000-pcie-8", 8, 1,
       "for 8 ranks on 1 node: 1 segment overrides NCCL's choice: allreduce 6 KiB to 24 KiB: ll"},
  };
  struct standin_tuner* tuner = host_load(22809);
  for (size_t i = 0; i < COUNT(cases); i++) {
    char expected[1024];
    struct sw_digest digest = write_shipped(cases[i].profile);
    snprintf(expected, sizeof expected,
             "I sizewise: %s, profile %s (@/p.yaml, published), digest %s, named by NCCL_SIZEWISE_PROFILE, %s",
             SW_VERSION, cases[i].profile, digest.hex, cases[i].end);
    host_set("NCCL_SIZEWISE_PROFILE=@/p.yaml");
    for (int round = 0; round < 3; round++) { /* the first loads the profile, the second compiles nothing */
      host_forget_log();
      standin_communicator_destroy(host_create(tuner, cases[i].ranks, cases[i].nodes));
      assert_line(expected);
    }
  }
  standin_unload(tuner);
}

static void a_shape_left_to_nccl(void** state) {
  (void)state;
  write_shipped("gb10-roce-8x1");
  host_set("NCCL_SIZEWISE_PROFILE=@/p.yaml");
  struct standin_tuner* tuner = host_load(22809);
  host_forget_log();
  standin_communicator_destroy(host_create(tuner, 4, 2));
  assert_line("I sizewise: " SW_VERSION
              ", NCCL decides everything for 4 ranks on 2 nodes: profile gb10-roce-8x1 has no table for 4 ranks on 2 "
              "nodes");
  host_forget_log();
  standin_communicator_destroy(host_create(tuner, 1, 1));
  assert_line("I sizewise: " SW_VERSION
              ", NCCL decides everything for 1 rank on 1 node: a single rank has nobody to exchange data with");
  standin_unload(tuner);
}

static void forced_settings_are_warned_of_once(void** state) {
  (void)state;
  static const struct {
    const char *settings, *line;
  } cases[] = {
      {"NCCL_ALGO=allreduce:tree",
       "NCCL_ALGO=allreduce:tree holds at every size; at 96 MiB tree was measured at 58.2 ms "
       "against 14.7 ms [SW-405]"},
      {"NCCL_PROTO=LL",
       "NCCL_PROTO=LL holds at every size; at 12 KiB ll was measured at 83 us against 76 us; at 96 MiB ll "
       "was measured at 140.7 ms against 14.7 ms [SW-405]"},
      {"NCCL_MAX_NCHANNELS=1",
       "NCCL_MAX_NCHANNELS=1 holds at every size; allreduce: the profile's 2 channels for 3 MiB to "
       "12 MiB is switched off [SW-405]"},
      {"NCCL_MIN_CTAS=16", "NCCL_MIN_CTAS=16 holds at every size; the profile knows of no loss by that [SW-405]"},
  };
  write_shipped("gb10-roce-8x1");
  for (size_t i = 0; i < COUNT(cases); i++) {
    char settings[256];
    char expected[512];
    snprintf(settings, sizeof settings, "NCCL_SIZEWISE_PROFILE=@/p.yaml|%s", cases[i].settings);
    snprintf(expected, sizeof expected, "W sizewise: %s", cases[i].line);
    host_set(settings);
    struct standin_tuner* tuner = host_load(22809); /* a process loads it once: opened again it is another process */
    host_forget_log();
    standin_communicator_destroy(host_create(tuner, 4, 2)); /* nothing of it is overridden: nothing to warn of */
    host_assert_no_line('W', cases[i].settings);
    struct standin_communicator* first = host_create(tuner, 8, 8);
    for (int more = 0; more < 3; more++) standin_communicator_destroy(host_create(tuner, 8, 8));
    standin_communicator_destroy(first);
    standin_communicator_destroy(host_create(tuner, 8, 8)); /* after the last one went */
    host_assert_one_line('W', cases[i].line, cases[i].settings);
    assert_string_equal(host_logged.lines[2], expected);
    assert_int_equal(host_count_lines('I', ""), 6);
    standin_unload(tuner);
  }
}

/* Not for each communicator, although each looks at the same folder. */
static void library_warnings_are_said_once(void** state) {
  (void)state;
  host_clean();
  host_write("p/a.yaml", "x");
  host_set("NCCL_SIZEWISE_PATH=@/p:@/gone");
  struct standin_tuner* tuner = host_load(22809);
  host_forget_log();
  struct standin_communicator* first = host_create(tuner, 4, 2);
  assert_int_equal(host_count_lines('W', "[SW-406]"), 1);
  assert_int_equal(host_count_lines('W', "[SW-408]"), 1);
  standin_communicator_destroy(host_create(tuner, 4, 2));
  standin_communicator_destroy(host_create(tuner, 8, 2));
  assert_int_equal(host_count_lines('W', ""), 2);
  assert_int_equal(host_count_lines('I', ""), 3);
  standin_communicator_destroy(first);
  standin_unload(tuner);
}

/* A job has many communicators, and all of them stand on the same hardware. */
static void wrong_hardware_is_said_once(void** state) {
  (void)state;
  host_clean();
  host_write("p.yaml", PROFILE("p", "measured", "arch: mips", HALVED("algo: ring, proto: ll")));
  host_set("NCCL_SIZEWISE_PROFILE=@/p.yaml");
  struct standin_tuner* tuner = host_load(22809);
  host_forget_log();
  for (int more = 0; more < 3; more++) standin_communicator_destroy(host_create(tuner, 4, 2));
  assert_int_equal(host_count_lines('W', "[SW-404]"), 1);
  assert_int_equal(host_count_lines('I', "profile p "), 3);
  standin_unload(tuner);
}

/* NCCL cuts a line at 1024 bytes without a word; we cut before that, and say so. */
static void long_lines_are_cut(void** state) {
  (void)state;
  struct sw_text profile = SW_TEXT_EMPTY;
  sw_text_add(&profile, PROFILE("long", "measured", "", "rules:"));
  for (int i = 0; i < 60; i++)
    sw_text_printf(&profile, "  - {collective: allreduce, bytes: \"%dKiB..%dKiB\", channels: %d}\n", 4 * i, 4 * i + 1,
                   i + 1);
  host_write("p.yaml", sw_text_string(&profile));
  sw_text_free(&profile);
  host_set("NCCL_SIZEWISE_PROFILE=@/p.yaml");
  struct standin_tuner* tuner = host_load(22809);
  host_forget_log();
  standin_communicator_destroy(host_create(tuner, 4, 2));
  assert_int_equal(host_logged.calls, 1);
  const char* line = host_logged.lines[0];
  assert_int_equal(host_count_lines('I', "60 segments override NCCL's choice: allreduce 0 B to 1 KiB: 1 channel; "), 1);
  assert_string_equal(line + strlen(line) - 4, " ...");
  assert_int_equal(strlen(line), strlen("I sizewise: ") + 900 + strlen(" ..."));
  standin_unload(tuner);
}

/* What users set is quoted, never a format, and stays on one line. */
static void settings_are_quoted_safely(void** state) {
  (void)state;
  static const struct {
    const char *settings, *line;
  } cases[] = {
      {"NCCL_SIZEWISE_PROFILE=@/%s%n%n.yaml", "@/%s%n%n.yaml: error: No such file or directory"},
      {"NCCL_SIZEWISE_PROFILE=%s%n", "no profile '%s%n'"},
      {"NCCL_SIZEWISE_STRICT=%n", "NCCL_SIZEWISE_STRICT='%n'"},
      {"NCCL_SIZEWISE_PROFILE=a\nNCCL WARN b", "no profile 'a NCCL WARN b'"},
  };
  struct standin_tuner* tuner = host_load(22809);
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct standin_shape shape = host_shape(22809, 4, 2);
    struct standin_communicator* c = NULL;
    host_set(cases[i].settings);
    host_forget_log();
    assert_int_equal(standin_communicator_create(&shape, tuner, &c), NCCL_INVALID_USAGE);
    host_assert_one_line('W', cases[i].line, cases[i].settings);
    assert_null(strchr(host_logged.lines[0], '\n'));
  }
  standin_unload(tuner);
}

/* Thousands of questions of all kinds: not a word, and not a byte. */
static void questions_are_silent_and_free(void** state) {
  (void)state;
  static const float table[HOST_ENTRIES] = HOST_PLAIN_TABLE;
  write_shipped("gb10-roce-8x1");
  host_set("NCCL_SIZEWISE_PROFILE=@/p.yaml|NCCL_ALGO=ring");
  for (size_t v = 0; v < COUNT(host_versions); v++) {
    struct standin_tuner* tuner = host_load(host_versions[v]);
    struct standin_communicator* c = host_create(tuner, 8, 8);
    host_ask(tuner, c, NCCL_ALLREDUCE, 6 * MIB, 1, table); /* cmocka's own first call may allocate */
    host_forget_log();
    size_t before = allocator_calls;
    size_t answered = 0;
    for (int collective = -1; collective < 7; collective++)
      for (size_t bytes = 1; bytes < (size_t)1 << 40; bytes += bytes / 4 + 1)
        for (int pipe_ops = 0; pipe_ops < 3; pipe_ops++)
          answered += host_ask(tuner, c, collective, bytes, pipe_ops, table).channels == 2;
    size_t after = allocator_calls;
    assert_true(answered > 8); /* 3 MiB to 12 MiB in steps of 5/4, for 0 and 1 */
    assert_int_equal(host_logged.calls, 0);
#ifdef SANITIZED
    (void)before, (void)after;
#else
    assert_true(before > 0);
    assert_int_equal(after, before);
#endif
    standin_communicator_destroy(c);
    standin_unload(tuner);
  }
}

int main(void) {
  if (!getenv("SW_TEST_SOURCE")) return fprintf(stderr, "SW_TEST_SOURCE is not set\n"), 2;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_line_for_each_communicator),     cmocka_unit_test(a_shape_left_to_nccl),
      cmocka_unit_test(forced_settings_are_warned_of_once), cmocka_unit_test(library_warnings_are_said_once),
      cmocka_unit_test(wrong_hardware_is_said_once),        cmocka_unit_test(long_lines_are_cut),
      cmocka_unit_test(settings_are_quoted_safely),         cmocka_unit_test(questions_are_silent_and_free),
  };
  return cmocka_run_group_tests(tests, NULL, host_leave);
}
