/*
 * The stand-in for NCCL, first part: versions, loading, what each interface brings. More in
 * standin_communicator.c, standin_ask.c and standin_group.c.
 *
 * SW_TEST_BUILD names the folder of the fake tuners. Each is test/host/fake_tuner.c, built with
 * -fPIC -fvisibility=hidden -shared -Wl,-Bsymbolic -Iinclude -Itest and what is listed here. (Without -Bsymbolic the
 * address sanitizer takes this program's ncclTunerPlugin_v4 for the fakes'.)
 *
 *     libfake-v2.so ... -v7.so    -DFAKE_V2 ... -DFAKE_V7, one each
 *     libfake-v2v6.so             -DFAKE_V2 -DFAKE_V6
 *     libfake-all.so              -DFAKE_ALL
 *     libfake-none.so             nothing
 *     libfake-lazy.so             -DFAKE_ALL -DFAKE_UNRESOLVED -Wl,-z,lazy
 *     libnccl-tuner.so            the same
 *     libfake-initfail.so         -DFAKE_ALL -DFAKE_INIT_RESULT=2
 *     libfake-askfail.so          -DFAKE_ALL -DFAKE_ASK_RESULT=3
 *     libfake-negative.so         -DFAKE_ALL -DFAKE_AT=5 -DFAKE_COST=-1.0f
 *     libfake-zero.so             -DFAKE_ALL -DFAKE_AT=0 -DFAKE_COST=0.0f
 *     libfake-ch<N>.so            -DFAKE_ALL -DFAKE_CHANNELS=<N>, for N = 2, 40, 200, 300
 *     libfake-named.so            -DFAKE_V2 -DFAKE_AT=0
 *     libfake-half.so             -DFAKE_V2 -DFAKE_AT=0 -DFAKE_HALF
 *     libfake-badname.so          -DFAKE_V2 -DFAKE_AT=297
 *     libfake-careless.so         -DFAKE_ALL -DFAKE_CARELESS
 *     libnccl-tuner-fake.so       -DFAKE_ALL
 *
 * This program is linked with -rdynamic, so that STATIC_PLUGIN finds the v4 tuner below in it. It starts itself again
 * with that folder on LD_LIBRARY_PATH, which the loader reads at start only.
 */
#include "unit/standin_fakes.h"

#include <string.h>
#include <unistd.h>

extern const nccl_tuner_v4 ncclTunerPlugin_v4; /* only ever looked up, never asked */
__attribute__((visibility("default")))
const nccl_tuner_v4 ncclTunerPlugin_v4 = {"the program itself", NULL, NULL, NULL};

static const char* const fakes[] = {"v2", "v3", "v4", "v5", "v6", "v7", "all", "v2v6", "none"};

/* For each version, the interface that each of the fakes above is loaded under; 0: none that this NCCL looks for. */
static const struct {
  int version;
  int abi[9];
} matrix[] = {
    {22100, {2, 0, 0, 0, 0, 0, 2, 2, 0}}, {22105, {2, 0, 0, 0, 0, 0, 2, 2, 0}}, {22203, {2, 3, 0, 0, 0, 0, 3, 2, 0}},
    {22304, {2, 3, 0, 0, 0, 0, 3, 2, 0}}, {22403, {2, 3, 4, 0, 0, 0, 4, 2, 0}}, {22501, {2, 3, 4, 0, 0, 0, 4, 2, 0}},
    {22605, {2, 3, 4, 0, 0, 0, 4, 2, 0}}, {22703, {2, 3, 4, 0, 0, 0, 4, 2, 0}}, {22809, {2, 3, 4, 5, 0, 0, 5, 2, 0}},
    {22907, {2, 3, 4, 5, 0, 0, 5, 2, 0}}, {23007, {2, 3, 4, 5, 6, 0, 6, 6, 0}}, {23101, {2, 3, 4, 5, 6, 0, 6, 6, 0}},
    {23203, {2, 3, 4, 5, 6, 0, 6, 6, 0}}, {23300, {2, 3, 4, 5, 6, 7, 7, 6, 0}}, {29900, {2, 3, 4, 5, 6, 7, 7, 6, 0}},
};

/* What each interface brings: the rows of its table (v2: none) follow from the version, the rest from the interface. */
static void check_init(const struct fake_seen* seen, int abi) {
  assert_int_equal(seen->abi, abi);
  assert_int_equal(seen->ranks, 8);
  assert_int_equal(seen->nodes, 2);
  assert_true(seen->has_logger);
  assert_true(seen->comm_id == (abi < 5 ? 0 : 0xfeedfacecafe));
  assert_int_equal(seen->nvl_domains.nDomains, abi < 5 ? 0 : 2);
  assert_int_equal(seen->nvl_domains.minRanksPerDomain, abi < 5 ? 0 : 3);
  assert_int_equal(seen->nvl_domains.maxRanksPerDomain, abi < 5 ? 0 : 5);
  /* 21 base latencies, 63 hardware latencies, 5 tables of 4 x 3 (v7: 5 x 3): 144 and 159 doubles, the first 1000 */
  assert_true(seen->first_constant == (abi < 5 ? 0 : 1000));
  assert_true(seen->last_constant == (abi < 5 ? 0 : abi < 7 ? 1143 : 1158));
}

static void check_question(const struct fake_seen* seen, int abi, int version) {
  assert_int_equal(seen->asks, 1);
  assert_int_equal(seen->collective, NCCL_ALLGATHER);
  assert_int_equal(seen->bytes, 12345);
  assert_int_equal(seen->pipe_ops, 3);
  assert_int_equal(seen->channels, 0);
  assert_int_equal(seen->collnet, 0);
  assert_int_equal(seen->nvls, abi == 2);
  assert_int_equal(seen->algorithm, abi == 2 ? -1 : 0);
  assert_int_equal(seen->protocol, abi == 2 ? -1 : 0);
  assert_int_equal(seen->reg_buff, abi >= 4);
  assert_int_equal(seen->protocols, abi == 2 ? 0 : 3);
  assert_int_equal(seen->algorithms, abi == 2 ? 0 : version < 22300 ? 6 : 7);
}

/* Load, init, one question, finalize: everything the fake saw is what this interface has. */
static void live_once(const struct standin_tuner* tuner, int version) {
  struct standin_shape shape = shape_of(version);
  struct standin_communicator* c;
  struct fake_counts* counts = counts_of(tuner);
  assert_int_equal(standin_communicator_create(&shape, tuner, &c), NCCL_SUCCESS);
  const struct fake_seen* seen = standin_communicator_context(c);
  check_init(seen, tuner->abi);
  struct standin_operation operation = {.collective = NCCL_ALLGATHER, .bytes = 12345, .pipe_ops = 3, .reg_buff = 1};
  struct standin_choice choice;
  assert_int_equal(standin_ask(c, &operation, &choice), NCCL_SUCCESS);
  check_question(seen, tuner->abi, version);
  if (tuner->abi > 2) assert_memory_equal(seen->table, choice.before, sizeof(float) * 3 * (size_t)seen->algorithms);
  assert_int_equal(choice.decider, STANDIN_BY_NCCL);
  assert_true(choice.asked);
  assert_int_equal(standin_communicator_constants_changed(c), 0);
  assert_int_equal(standin_communicator_destroy(c), NCCL_SUCCESS);
  assert_int_equal(counts->finalizes, 1);
  assert_int_equal(counts->null_finalizes, 0);
}

static void every_version_and_symbol(void** state) {
  (void)state;
  for (size_t row = 0; row < sizeof matrix / sizeof matrix[0]; row++)
    for (size_t i = 0; i < sizeof fakes / sizeof fakes[0]; i++) {
      struct standin_tuner* tuner = NULL;
      int expected = matrix[row].abi[i];
      enum standin_load_status status = load_fake(matrix[row].version, fakes[i], &tuner);
      if (status != (expected ? STANDIN_LOADED : STANDIN_NO_SYMBOL) || (tuner ? tuner->abi : 0) != expected)
        fail_msg("version %d, fake %s: status %d", matrix[row].version, fakes[i], (int)status);
      if (!tuner) continue;
      const char name[] = {'f', 'a', 'k', 'e', (char)('0' + expected), '\0'};
      assert_string_equal(standin_tuner_name(tuner), name);
      assert_null(dlsym(RTLD_DEFAULT, "ncclTunerPlugin_v3")); /* opened locally */
      live_once(tuner, matrix[row].version);
      standin_unload(tuner);
    }
}

static void unknown_versions(void** state) {
  (void)state;
  static const int unknown[] = {0, 22099, 30000};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
    struct standin_tuner* tuner = NULL;
    struct standin_communicator* c = NULL;
    struct standin_shape shape = shape_of(unknown[i]);
    assert_int_equal(load_fake(unknown[i], "all", &tuner), STANDIN_UNKNOWN_VERSION);
    assert_int_equal(standin_communicator_create(&shape, NULL, &c), NCCL_INVALID_ARGUMENT);
    assert_null(tuner);
    assert_null(c);
  }
}

static void names_of_libraries(void** state) {
  (void)state;
  static const struct {
    int version;
    const char* name;
    const char* net_plugin;
    enum standin_load_status status;
    const char* library;
  } cases[] = {
      {22403, NULL, NULL, STANDIN_LOADED, "libnccl-tuner.so"}, /* built to open up to 2.24 only */
      {22403, "", "libfake-v3.so", STANDIN_LOADED, "libnccl-tuner.so"},
      {22809, NULL, NULL, STANDIN_NO_LIBRARY, ""},
      {22809, NULL, "libfake-v3.so", STANDIN_LOADED, "libfake-v3.so"},
      {22809, "none", "libfake-v3.so", STANDIN_SWITCHED_OFF, ""},
      {22809, "fake", NULL, STANDIN_LOADED, "libnccl-tuner-fake.so"},
      {22809, "libfake-all.so", NULL, STANDIN_LOADED, "libfake-all.so"},
      {22809, "fak", NULL, STANDIN_NO_LIBRARY, ""},
      {22809, "./fake", NULL, STANDIN_NO_LIBRARY, ""},         /* a slash: no second name */
      {22809, "libfake.so", NULL, STANDIN_NO_LIBRARY, ""},     /* lib*.so: no second name */
      {22809, "libfake", NULL, STANDIN_NO_LIBRARY, ""},        /* tries libnccl-tuner-libfake.so, which is not there */
      {22809, "fak", "libfake-v3.so", STANDIN_NO_LIBRARY, ""}, /* the net plugin is for the unset case only */
      {22809, "STATIC_PLUGIN", NULL, STANDIN_LOADED, ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct standin_tuner* tuner = NULL;
    struct standin_load_report report;
    assert_int_equal(standin_load(cases[i].version, cases[i].name, cases[i].net_plugin, &tuner, &report),
                     cases[i].status);
    assert_string_equal(report.library, cases[i].library);
    assert_int_equal(tuner != NULL, cases[i].status == STANDIN_LOADED);
    standin_unload(tuner);
  }
}

static void second_names_are_reported(void** state) {
  (void)state;
  struct standin_tuner* tuner = NULL;
  struct standin_load_report report;
  standin_load(22809, "libfake", NULL, &tuner, &report);
  assert_non_null(strstr(report.words, "libnccl-tuner-libfake.so"));
  static const char* const without[] = {"libfake.so", "./fake"};
  for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) {
    standin_load(22809, without[i], NULL, &tuner, &report);
    assert_non_null(strstr(report.words, without[i]));
    assert_null(strstr(report.words, "libnccl-tuner-"));
  }
  standin_load(22907, "libfake-none.so", NULL, &tuner, &report);
  assert_string_equal(report.words, "no ncclTunerPlugin symbol from v5 down to v2");
}

/* The program exports v4: 2.28 looks for v5 and then takes it, 2.23 asks for nothing newer than v3. */
static void the_program_itself(void** state) {
  (void)state;
  struct standin_tuner* tuner = NULL;
  assert_int_equal(standin_load(22304, "STATIC_PLUGIN", NULL, &tuner, NULL), STANDIN_NO_SYMBOL);
  assert_int_equal(standin_load(22809, "STATIC_PLUGIN", NULL, &tuner, NULL), STANDIN_LOADED);
  assert_ptr_equal(tuner->symbol, &ncclTunerPlugin_v4);
  assert_string_equal(standin_tuner_name(tuner), "the program itself");
  standin_unload(tuner);
}

/* A library with a function that nobody has loads lazily, so up to 2.24. None of its symbols become global. */
static void lazy_up_to_224_and_always_local(void** state) {
  (void)state;
  static const struct {
    int version;
    enum standin_load_status status;
  } cases[] = {
      {22105, STANDIN_LOADED}, {22403, STANDIN_LOADED}, {22501, STANDIN_NO_LIBRARY}, {23300, STANDIN_NO_LIBRARY}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct standin_tuner* tuner = NULL;
    assert_int_equal(load_fake(cases[i].version, "lazy", &tuner), cases[i].status);
    assert_null(dlsym(RTLD_DEFAULT, "ncclTunerPlugin_v3"));
    standin_unload(tuner);
  }
}

/* v6's and v7's last member; nothing before has it. */
static void chunk_sizes(void** state) {
  (void)state;
  static const struct {
    int version;
    bool has;
  } cases[] = {{22105, false}, {22809, false}, {23007, true}, {23300, true}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct standin_tuner* tuner;
    size_t chunk = 512;
    assert_int_equal(load_fake(cases[i].version, "all", &tuner), STANDIN_LOADED);
    nccl_get_chunk_size ask = standin_tuner_chunk_size(tuner);
    if (ask) ask(NULL, NCCL_ALLREDUCE, 4096, 0, 0, 1, &chunk);
    assert_int_equal(chunk, cases[i].has ? 1024 : 512);
    standin_unload(tuner);
  }
}

/* Puts the fakes on the loader's path; returns only if that fails. */
static void start_again(const char* build, char** argv) {
  const char* old = getenv("LD_LIBRARY_PATH");
  char path[4096];
  snprintf(path, sizeof path, "%s%s%s", build, old ? ":" : "", old ? old : "");
  setenv("LD_LIBRARY_PATH", path, 1);
  setenv("STANDIN_AGAIN", "1", 1);
  execv("/proc/self/exe", argv);
  perror("execv");
}

int main(int argc, char** argv) {
  (void)argc;
  const char* build = getenv("SW_TEST_BUILD");
  if (!build) return fprintf(stderr, "%s: SW_TEST_BUILD is not set\n", argv[0]), 2;
  if (!getenv("STANDIN_AGAIN")) start_again(build, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_version_and_symbol),
      cmocka_unit_test(unknown_versions),
      cmocka_unit_test(names_of_libraries),
      cmocka_unit_test(second_names_are_reported),
      cmocka_unit_test(the_program_itself),
      cmocka_unit_test(lazy_up_to_224_and_always_local),
      cmocka_unit_test(chunk_sizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
