/*
 * The built plugin and bad input: what fails init, with one clear line, under every interface, and what does not. All
 * of test/unit/select_named.c's refusals end here; this is their way out.
 */
#include "plugin_host.h"

#define ANY_MACHINE PROFILE("a", "measured", "", HALVED("channels: 2"))
#define OTHER PROFILE("b", "measured", "", HALVED("channels: 4"))
#define NO_MACHINE PROFILE("n", "measured", "arch: vax", HALVED("channels: 2"))
#define BROKEN "sizewise: 1\nname: b\nprovenanc: {}\n"
#define ZEROS "00000000000000000000000000000000"

/* 70 levels of brackets, then nothing: an error with a place, whatever the depth. */
#define TEN "[[[[[[[[[["
#define DEEP "sizewise: " TEN TEN TEN TEN TEN TEN TEN

struct bad_case {
  const char *what, *file, *settings; /* file: p/a.yaml's text; # in settings: its digest */
  const char* line;                   /* that one line has to hold */
};

static void set(const struct bad_case* example) {
  char settings[1024];
  const char* digest = strchr(example->settings, '#');
  host_clean();
  host_write("p/a.yaml", example->file ? example->file : ANY_MACHINE);
  snprintf(settings, sizeof settings, "%.*s%s", (int)strcspn(example->settings, "#"), example->settings,
           digest ? host_digest(example->file).hex : "");
  host_set(settings);
}

static void init_fails(void** state) {
  (void)state;
  static const struct bad_case cases[] = {
      {"a missing file", 0, "NCCL_SIZEWISE_PROFILE=@/gone.yaml",
       "sizewise: NCCL_SIZEWISE_PROFILE: @/gone.yaml: error: No such file or directory [SW-101]"},
      {"a missing name", 0, "NCCL_SIZEWISE_PROFILE=gb10-roce-8x",
       "sizewise: NCCL_SIZEWISE_PROFILE: no profile 'gb10-roce-8x': no file of that name in @/none, and no shipped "
       "profile; did you mean 'gb10-roce-8x1'? [SW-401]"},
      {"an invalid file", BROKEN, "NCCL_SIZEWISE_PROFILE=@/p/a.yaml",
       "@/p/a.yaml:3:1: error: unknown key 'provenanc' in a profile; did you mean 'provenance'? [SW-201]"},
      {"an empty file", "", "NCCL_SIZEWISE_PROFILE=@/p/a.yaml", "@/p/a.yaml: error: the file is empty [SW-108]"},
      {"half a file", "sizewise: 1\nname: a\nprovenance: {kind: measu", "NCCL_SIZEWISE_PROFILE=@/p/a.yaml",
       "@/p/a.yaml:4:1: error: not YAML: "},
      {"a deep file", DEEP, "NCCL_SIZEWISE_PROFILE=@/p/a.yaml", "@/p/a.yaml:1:"},
      {"bytes that are no text", "sizewise: \xff\xfe\n", "NCCL_SIZEWISE_PROFILE=@/p/a.yaml", "[SW-103]"},
      {"an alias", "a: &x 1\nb: *x\n", "NCCL_SIZEWISE_PROFILE=@/p/a.yaml", "[SW-105]"},
      {"a number beyond all", "sizewise: 99999999999999999999999999\n", "NCCL_SIZEWISE_PROFILE=@/p/a.yaml",
       "@/p/a.yaml:1:11: error: "},
      {"a device", 0, "NCCL_SIZEWISE_PROFILE=/dev/zero", "/dev/zero: error: "},
      {"another digest", ANY_MACHINE, "NCCL_SIZEWISE_PROFILE=@/p/a.yaml|NCCL_SIZEWISE_EXPECT=" ZEROS,
       "but NCCL_SIZEWISE_EXPECT is " ZEROS " [SW-402]"},
      {"a pin that nothing has", 0, "NCCL_SIZEWISE_PATH=@/p|NCCL_SIZEWISE_EXPECT=" ZEROS,
       "no profile in @/p, and no shipped one, has the digest " ZEROS " of NCCL_SIZEWISE_EXPECT [SW-402]"},
      {"off, but pinned", 0, "NCCL_SIZEWISE_PROFILE=off|NCCL_SIZEWISE_EXPECT=" ZEROS, "unset it too [SW-402]"},
      {"pinned, on other hardware", NO_MACHINE, "NCCL_SIZEWISE_PATH=@/p|NCCL_SIZEWISE_EXPECT=#",
       "profile n is pinned, but it was measured on other hardware: here arch is '"},
      {"strict", BROKEN, "NCCL_SIZEWISE_PATH=@/p|NCCL_SIZEWISE_STRICT=1",
       "NCCL_SIZEWISE_STRICT forbids an invalid profile [SW-406]: @/p/a.yaml:3:1: error: "},
      {"a malformed pin", 0, "NCCL_SIZEWISE_EXPECT=1", "NCCL_SIZEWISE_EXPECT='1': it takes a digest of 32 hex"},
      {"a malformed strict", 0, "NCCL_SIZEWISE_STRICT=ja", "NCCL_SIZEWISE_STRICT='ja': it takes 1 or 0 [SW-407]"},
      {"a malformed deterministic", 0, "NCCL_SIZEWISE_DETERMINISTIC=2",
       "NCCL_SIZEWISE_DETERMINISTIC='2': it takes 1 or 0 [SW-407]"},
  };
  for (size_t v = 0; v < COUNT(host_versions); v++) {
    struct standin_tuner* tuner = host_load(host_versions[v]);
    for (size_t i = 0; i < COUNT(cases); i++) {
      set(&cases[i]);
      host_forget_log();
      int mark = 0;
      void* context = &mark;
      struct standin_shape shape = host_shape(host_versions[v], 4, 2);
      union standin_constants constants;
      struct standin_init init = {4, 2, 1, host_log, &shape.nvl_domains, &constants};
      if (standin_tuner_init(tuner, &init, &context) != NCCL_INVALID_USAGE) fail_msg("%s: no failure", cases[i].what);
      assert_null(context);
      assert_int_equal(standin_tuner_finalize(tuner, NULL), NCCL_SUCCESS);
      host_assert_one_line('W', cases[i].line, cases[i].what);
      host_assert_no_line('I', cases[i].what);
      /* through the stand-in, which calls finalize with NULL as NCCL does; and then all is well again */
      struct standin_communicator* c = NULL;
      assert_int_equal(standin_communicator_create(&shape, tuner, &c), NCCL_INVALID_USAGE);
      assert_null(c);
      host_set("");
      standin_communicator_destroy(host_create(tuner, 4, 2));
    }
    standin_unload(tuner);
  }
}

/* Init succeeds: the line says what is wrong. The letter is the level: I or W. */
static void init_goes_on(void** state) {
  (void)state;
  static const struct {
    struct bad_case bad;
    char level;
    int channels; /* of an all-reduce of 1 MiB over 4 ranks on 2 nodes */
  } cases[] = {
      {{"nothing", 0, "",
        "NCCL decides everything for 4 ranks on 2 nodes: no profile in @/none; shipped ones apply when "
        "NCCL_SIZEWISE_PROFILE names them: gb10-roce-4x1-ring, "},
       'I',
       0},
      {{"off", 0, "NCCL_SIZEWISE_PROFILE=off|NCCL_SIZEWISE_PATH=@/p", "switched off by NCCL_SIZEWISE_PROFILE=off"},
       'I',
       0},
      {{"found on several nodes", ANY_MACHINE, "NCCL_SIZEWISE_PATH=@/p",
        "set NCCL_SIZEWISE_PROFILE=@/p/a.yaml NCCL_SIZEWISE_EXPECT="},
       'I',
       0},
      {{"named", ANY_MACHINE, "NCCL_SIZEWISE_PROFILE=@/p/a.yaml", "named by NCCL_SIZEWISE_PROFILE"}, 'I', 2},
      {{"pinned", ANY_MACHINE, "NCCL_SIZEWISE_PATH=@/p|NCCL_SIZEWISE_EXPECT=#", "pinned by NCCL_SIZEWISE_EXPECT"},
       'I',
       2},
      {{"another shape", 0, "NCCL_SIZEWISE_PROFILE=gb10-roce-8x1",
        "profile gb10-roce-8x1 has no table for 4 ranks on 2 "
        "nodes"},
       'I',
       0},
      {{"other hardware", NO_MACHINE, "NCCL_SIZEWISE_PROFILE=@/p/a.yaml",
        "profile n was named and is used, but it was measured on other hardware: here arch is '"},
       'W',
       2},
      {{"an invalid file in a folder", BROKEN, "NCCL_SIZEWISE_PATH=@/p",
        "skipped an invalid profile [SW-406]: @/p/a.yaml:3:1: error: unknown key"},
       'W',
       0},
      {{"a missing folder", 0, "NCCL_SIZEWISE_PATH=@/gone",
        "NCCL_SIZEWISE_PATH: @/gone: No such file or directory "
        "[SW-408]"},
       'W',
       0},
      {{"deterministic", ANY_MACHINE, "NCCL_SIZEWISE_PROFILE=@/p/a.yaml|NCCL_SIZEWISE_DETERMINISTIC=1",
        "deterministic mode [SW-410]: allreduce: no choice that names algorithm, protocol and channels was measured; "
        "NCCL decides"},
       'W',
       0},
      {{"a strict folder of good files", ANY_MACHINE, "NCCL_SIZEWISE_PATH=@/p|NCCL_SIZEWISE_STRICT=1",
        "on all of them"},
       'I',
       0},
  };
  static const float table[HOST_ENTRIES] = HOST_PLAIN_TABLE;
  for (size_t v = 0; v < COUNT(host_versions); v++) {
    struct standin_tuner* tuner = host_load(host_versions[v]);
    for (size_t i = 0; i < COUNT(cases); i++) {
      set(&cases[i].bad);
      host_forget_log();
      struct standin_communicator* c = host_create(tuner, 4, 2);
      host_assert_one_line(cases[i].level, cases[i].bad.line, cases[i].bad.what);
      if (cases[i].level == 'W') host_assert_one_line('I', "", cases[i].bad.what);
      if (cases[i].level == 'I') host_assert_no_line('W', cases[i].bad.what);
      struct host_answer answer = host_ask(tuner, c, NCCL_ALLREDUCE, 1024 * 1024, 1, table);
      if (answer.channels != cases[i].channels) fail_msg("%s: %d channels", cases[i].bad.what, answer.channels);
      standin_communicator_destroy(c);
    }
    standin_unload(tuner);
  }
}

static void a_tie(void** state) {
  (void)state;
  host_clean();
  host_write("p/a.yaml", ANY_MACHINE);
  host_write("p/b.yaml", OTHER);
  host_set("NCCL_SIZEWISE_PATH=@/p");
  struct standin_tuner* tuner = host_load(22809);
  host_forget_log();
  struct standin_communicator* c = host_create(tuner, 4, 2);
  host_assert_one_line(
      'W', "several profiles fit equally well: @/p/a.yaml, @/p/b.yaml; set NCCL_SIZEWISE_PROFILE to one", "a tie");
  host_assert_one_line('I', "NCCL decides everything", "a tie");
  standin_communicator_destroy(c);
  standin_unload(tuner);
}

/* What NCCL gets wrong must not reach us: shapes that are none, and domains that contradict themselves. */
static void strange_shapes(void** state) {
  (void)state;
  static const size_t shapes[][2] = {{0, 0}, {0, 1}, {1, 0}, {3, 2}, {2, 3}, {SIZE_MAX, 1}, {SIZE_MAX, SIZE_MAX}};
  static const nccl_nvl_domain_info domains[] = {{0, 0, 0}, {-1, -1, -1}, {2, 5, 3}, {INT_MAX, INT_MAX, INT_MAX}};
  static const float table[HOST_ENTRIES] = HOST_PLAIN_TABLE;
  host_write("a.yaml", PROFILE("a", "measured", "nvlink_domains: 1", "rules: [{collective: allreduce, channels: 1}]"));
  host_set("NCCL_SIZEWISE_PROFILE=@/a.yaml");
  struct standin_tuner* tuner = host_load(23300);
  for (size_t i = 0; i < COUNT(shapes); i++)
    for (size_t k = 0; k <= COUNT(domains); k++) {
      void* context = NULL;
      union standin_constants constants;
      nccl_nvl_domain_info info = k < COUNT(domains) ? domains[k] : (nccl_nvl_domain_info){1, 1, 1};
      struct standin_init init = {shapes[i][0], shapes[i][1], UINT64_MAX, host_log, k % 2 ? &info : NULL, &constants};
      assert_int_equal(standin_tuner_init(tuner, &init, &context), NCCL_SUCCESS);
      struct standin_question question = {.collective = NCCL_ALLREDUCE, .bytes = 1, .algorithms = 7};
      float copy[HOST_ENTRIES];
      memcpy(copy, table, sizeof copy);
      question.table = copy;
      assert_int_equal(standin_tuner_ask(tuner, context, &question), NCCL_SUCCESS);
      assert_memory_equal(copy, table, sizeof copy);
      assert_int_equal(standin_tuner_finalize(tuner, context), NCCL_SUCCESS);
    }
  standin_unload(tuner);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(init_fails),
      cmocka_unit_test(init_goes_on),
      cmocka_unit_test(a_tie),
      cmocka_unit_test(strange_shapes),
  };
  return cmocka_run_group_tests(tests, NULL, host_leave);
}
