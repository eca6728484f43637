/*
 * The simulator's commands: opening, joining, probing. More in simulator_rounds.c, simulator_truth.c, simulator_noise.c
 * and simulator_faults.c.
 */
#include <dlfcn.h>

#include "control.h"
#include "standin/standin.h"
#include "unit/simulator_ranks.h"

static struct sw_profile* profile;

static int read_it(void** state) {
  profile = read_shipped("gb10-roce-8x1");
  return quiet_environment(state);
}

static int free_it(void** state) {
  (void)state;
  sw_profile_free(profile);
  return 0;
}

/* --- opening ----------------------------------------------------------------------------------------------------- */

static void assert_refused(const struct fabric_simulation* simulation, const char* plugin, const char* words) {
  char fault[256] = "";
  assert_null(fabric_open_simulator(simulation, plugin, fault));
  if (!strstr(fault, words)) fail_msg("'%s' lacks '%s'", fault, words);
}

static void what_cannot_be_opened(void** state) {
  (void)state;
  struct fabric_simulation simulation = simulation_of(profile);
  assert_refused(&simulation, "/nonexistent/plugin.so", "the plugin does not load: /nonexistent/plugin.so: ");
  assert_refused(&simulation, "none", "none names no plugin");
  assert_refused(&simulation, "libm.so.6", "libm.so.6: no ncclTunerPlugin symbol from v5 down to v2");
  simulation.nccl_version = 21800;
  assert_refused(&simulation, plugin_path(), "NCCL 21800 cannot be simulated: 2.21 and later can");
  simulation = simulation_of(profile);
  simulation.noise = 1.5;
  assert_refused(&simulation, plugin_path(), "the noise of a simulation goes from 0 to 1");
  simulation.noise = 0;
  simulation.rank_noise = -0.1;
  assert_refused(&simulation, plugin_path(), "the noise of a simulation goes from 0 to 1");
  simulation.rank_noise = (double)NAN;
  assert_refused(&simulation, plugin_path(), "the noise of a simulation goes from 0 to 1");
  simulation = simulation_of(NULL);
  assert_refused(&simulation, plugin_path(), "a simulation needs a profile");
}

/* A tuner that is not ours can be loaded, and cannot be steered. */
static void another_tuner_is_refused(void** state) {
  (void)state;
  struct fabric_simulation simulation = simulation_of(profile);
  char path[PATH_MAX];
  const char* build = getenv("SW_TEST_BUILD");
  if (!build) fail_msg("SW_TEST_BUILD has to name the folder of the fake tuners");
  snprintf(path, sizeof path, "%s/libfake-all.so", build);
  assert_refused(&simulation, path, "is not Sizewise's plugin: it has no sizewise_control");
}

static void defaults(void** state) {
  (void)state;
  const struct fabric_simulation* simulation = &fabric_simulation_default;
  assert_true(simulation->noise == 0.05 && simulation->rank_noise == 0.005);
  assert_int_equal(simulation->nccl_version, 22809);
  assert_int_equal(simulation->faults.count, 0);
}

/* --- joining and leaving ----------------------------------------------------------------------------------------- */

static void ids_are_fresh_and_follow_from_the_seed(void** state) {
  (void)state;
  struct fabric_simulation simulation = simulation_of(profile);
  unsigned char ids[5][FABRIC_ID_BYTES];
  struct fabric* fabric = must_open(&simulation);
  must(fabric, fabric_new_id(fabric, ids[0]));
  must(fabric, fabric_new_id(fabric, ids[1]));
  fabric_close(fabric);
  fabric = must_open(&simulation);
  must(fabric, fabric_new_id(fabric, ids[2]));
  fabric_close(fabric);
  simulation.seed = 2;
  fabric = must_open(&simulation);
  must(fabric, fabric_new_id(fabric, ids[3]));
  fabric_close(fabric);
  simulation.seed = 1;
  simulation.attempt = 1;
  fabric = must_open(&simulation);
  must(fabric, fabric_new_id(fabric, ids[4]));
  fabric_close(fabric);
  assert_memory_equal(ids[0], ids[2], FABRIC_ID_BYTES);
  assert_memory_not_equal(ids[0], ids[1], FABRIC_ID_BYTES);
  assert_memory_not_equal(ids[0], ids[3], FABRIC_ID_BYTES);
  assert_memory_not_equal(ids[0], ids[4], FABRIC_ID_BYTES);
  assert_memory_not_equal(ids[0], ids[0] + 1, FABRIC_ID_BYTES - 1); /* not one byte over and over */
}

static void impossible_places(void** state) {
  (void)state;
  struct fabric_simulation simulation = simulation_of(profile);
  struct fabric* fabric = must_open(&simulation);
  struct fabric_place place = place_of(8, 8, 0);
  memset(place.id, 0, sizeof place.id);
  assert_fault(fabric, fabric_connect(fabric, &place), "ncclCommInitRank: the id is empty");
  place = place_of(8, 8, 8);
  assert_fault(fabric, fabric_connect(fabric, &place), "ncclCommInitRank: there is no rank 8 of 8 on 8 nodes");
  place = place_of(8, 9, 0);
  assert_fault(fabric, fabric_connect(fabric, &place), "ncclCommInitRank: there is no rank 0 of 8 on 9 nodes");
  place = place_of(8, 0, 0);
  assert_fault(fabric, fabric_connect(fabric, &place), "ncclCommInitRank: there is no rank 0 of 8 on 0 nodes");
  assert_fault(fabric, fabric_disconnect(fabric), "ncclCommDestroy: there is no communicator");
  place = place_of(8, 8, 0);
  place.id[0] = 0;
  place.id[FABRIC_ID_BYTES - 1] = 1;
  must(fabric, fabric_connect(fabric, &place));
  assert_fault(fabric, fabric_connect(fabric, &place), "ncclCommInitRank: one communicator at a time");
  must(fabric, fabric_disconnect(fabric));
  must(fabric, fabric_connect(fabric, &place));
  fabric_close(fabric);
}

/* The plugin's init fails the communicator, as under NCCL. */
static void a_plugin_that_refuses(void** state) {
  (void)state;
  struct fabric_simulation simulation = simulation_of(profile);
  struct fabric_place place = place_of(8, 8, 0);
  setenv("NCCL_SIZEWISE_PROFILE", "/nonexistent.yaml", 1);
  standin_log_to(NULL, NCCL_LOG_NONE);
  struct fabric* fabric = must_open(&simulation);
  assert_fault(fabric, fabric_connect(fabric, &place), "ncclCommInitRank: invalid usage");
  fabric_close(fabric);
  standin_log_to(NULL, NCCL_LOG_WARN);
  setenv("NCCL_SIZEWISE_PROFILE", "off", 1);
}

/* What stands in for missing times is in the log, a line each. */
static void the_log_names_what_stands_in(void** state) {
  (void)state;
  struct fabric_simulation simulation = simulation_of(profile);
  char* text = NULL;
  size_t length = 0;
  FILE* log = open_memstream(&text, &length);
  standin_log_to(log, NCCL_LOG_INFO);
  fabric_close(must_join(&simulation, place_of(4, 4, 0)));
  standin_log_to(NULL, NCCL_LOG_WARN);
  fclose(log);
  assert_non_null(strstr(text,
                         "NCCL INFO simulator: allreduce: nothing was measured for 4 ranks on 4 nodes, so these "
                         "are the times of 8 ranks on 8 nodes\n"));
  assert_non_null(strstr(text, "NCCL INFO simulator: broadcast: nothing was measured; "));
  free(text);
}

/* --- probing ----------------------------------------------------------------------------------------------------- */

static void probes_say_what_runs(void** state) {
  (void)state;
  static const struct {
    struct sw_choice choice;
    uint64_t bytes;
    int algo, proto, channels, threads;
    bool obeyed;
  } expected[] = {
      {{-1, -1, 0}, 12 * 1024, 0, 0, 6, 512, true}, {{-1, -1, 0}, 6 << 20, 1, 1, 16, 640, true},
      {{-1, -1, 0}, 96 << 20, 1, 2, 16, 544, true}, {{0, 0, 2}, 6 << 20, 0, 0, 2, 512, true},
      {{0, -1, 0}, 96 << 20, 0, 2, 16, 544, true},  {{-1, 0, 0}, 96 << 20, 1, 0, 16, 512, true},
      {{-1, -1, 64}, 6 << 20, 1, 1, 16, 640, true}, {{1, 2, 9}, 1024, 1, 2, 1, 544, true},
      {{4, -1, 0}, 6 << 20, 1, 1, 16, 640, false}, /* no NVLS here: it did not fit */
      {{6, 2, 3}, 6 << 20, 1, 1, 16, 640, false},  /* PAT is not for allreduce */
  };
  struct fabric_simulation simulation = simulation_of(profile);
  struct fabric* fabric = must_join(&simulation, place_of(8, 8, 0));
  for (size_t i = 0; i < COUNT(expected); i++) {
    struct fabric_probe probe = must_probe(fabric, call_of(NCCL_ALLREDUCE, expected[i].bytes), expected[i].choice);
    if (probe.algo != expected[i].algo || probe.proto != expected[i].proto || probe.channels != expected[i].channels ||
        probe.threads != expected[i].threads || probe.obeyed != expected[i].obeyed || probe.nodes != 8)
      fail_msg("row %zu: %d %d %d, %d threads, %d", i, probe.algo, probe.proto, probe.channels, probe.threads,
               probe.obeyed);
  }
  fabric_close(fabric);
}

/* tree + LL at 12 KiB over 8 nodes: 5 + 6 x 5 us and 2.2 x 12288 / 5000. The choice is not in the table. */
static void probes_show_the_table_before_the_plugin(void** state) {
  (void)state;
  struct fabric_simulation simulation = simulation_of(profile);
  struct fabric* fabric = must_join(&simulation, place_of(8, 8, 0));
  struct fabric_probe own = must_probe(fabric, call_of(NCCL_ALLREDUCE, 12 * KIB), SW_AUTO);
  struct fabric_probe forced = must_probe(fabric, call_of(NCCL_ALLREDUCE, 12 * KIB), CHOICE(1, 2, 0));
  assert_near((double)own.table[NCCL_ALGO_TREE][NCCL_PROTO_LL], 35 + 2.2 * 12288 / 5000, 1e-6, "tree + LL");
  assert_true(own.table[NCCL_ALGO_NVLS][NCCL_PROTO_SIMPLE] == -1);
  assert_memory_equal(own.table, forced.table, sizeof own.table);
  assert_int_equal(forced.algo, NCCL_ALGO_RING);
  fabric_close(fabric);
}

/* The plugin was really asked: its own record of the question, read through the library opened once more. */
static void the_plugin_is_asked(void** state) {
  (void)state;
  struct fabric_simulation simulation = simulation_of(profile);
  struct fabric* fabric = must_join(&simulation, place_of(8, 8, 0));
  void* library = dlopen(plugin_path(), RTLD_NOW | RTLD_LOCAL);
  assert_non_null(library);
  const struct sw_control* control = dlsym(library, "sizewise_control");
  struct sw_control_answer answer;
  struct fabric_probe probe = must_probe(fabric, call_of(NCCL_ALLGATHER, 12345), CHANNELS(3));
  control->last(control->newest(), &answer);
  assert_int_equal(answer.questions, 1);
  assert_int_equal(answer.obeyed, 1);
  assert_int_equal(answer.collective, NCCL_ALLGATHER);
  assert_int_equal(answer.bytes, 12345);
  assert_memory_equal(answer.table, probe.table, sizeof probe.table);
  dlclose(library);
  fabric_close(fabric);
}

/* The profile that the plugin loaded answers until a choice is forced again; at 6 MiB the shipped one takes 2 channels,
   at 96 MiB it leaves NCCL its choice. */
static void by_profile(void** state) {
  (void)state;
  struct fabric_simulation simulation = quiet_simulation(profile);
  struct fabric_place place = place_of(8, 8, 0);
  struct fabric_call call = call_of(NCCL_ALLREDUCE, 6 * MIB);
  setenv("NCCL_SIZEWISE_PROFILE", "gb10-roce-8x1", 1);
  standin_log_to(NULL, NCCL_LOG_NONE); /* this machine is no GB10 */
  struct fabric* fabric = must_join(&simulation, place);
  standin_log_to(NULL, NCCL_LOG_WARN);
  setenv("NCCL_SIZEWISE_PROFILE", "off", 1);
  for (int turn = 0; turn < 2; turn++) {
    struct fabric_probe probe = must_probe(fabric, call, FABRIC_BY_PROFILE);
    assert_int_equal(probe.channels, 2);
    assert_true(probe.obeyed);
    assert_int_equal(must_probe(fabric, call, SW_AUTO).channels, 16);
    assert_int_equal(must_probe(fabric, call, CHANNELS(5)).channels, 5);
    assert_true(must_time(fabric, call, FABRIC_BY_PROFILE) == 1140);
    assert_true(must_time(fabric, call, SW_AUTO) == 3750);
    assert_true(must_time(fabric, call_of(NCCL_ALLREDUCE, 96 * MIB), FABRIC_BY_PROFILE) == 14700);
  }
  assert_true(fabric_simulation_truth(&simulation, &call, &place, FABRIC_BY_PROFILE) < 0);
  fabric_close(fabric);
}

/* On one rank nothing runs, nobody is asked, and it takes what auto takes. */
static void a_single_rank(void** state) {
  (void)state;
  struct fabric_simulation simulation = quiet_simulation(profile);
  struct fabric* fabric = must_join(&simulation, place_of(1, 1, 0));
  struct fabric_probe probe = must_probe(fabric, call_of(NCCL_ALLREDUCE, MIB), CHANNELS(2));
  assert_int_equal(probe.algo, -1);
  assert_int_equal(probe.channels, 0);
  assert_int_equal(probe.threads, 0);
  assert_false(probe.obeyed);
  assert_true(must_time(fabric, call_of(NCCL_ALLREDUCE, 6 * MIB), CHANNELS(2)) == 3750);
  fabric_close(fabric);
}

/* Every collective, under NCCLs of different tuner interfaces: what is timed is what the oracle says. */
static void every_collective_and_interface(void** state) {
  (void)state;
  static const int versions[] = {22203, 22403, 22809, 23007, 23300};
  static const struct sw_choice choices[] = {{-1, -1, 0}, {1, 0, 2}, {-1, 2, 0}, {-1, -1, 5}, {6, 2, 0}, {0, 2, 3}};
  for (size_t v = 0; v < COUNT(versions); v++)
    for (int collective = 0; collective < NCCL_NUM_COLLECTIVES; collective++)
      for (size_t c = 0; c < COUNT(choices); c++) {
        struct fabric_simulation simulation = quiet_simulation(profile);
        simulation.nccl_version = versions[v];
        struct fabric_place place = place_of(8, 4, 1);
        struct fabric* fabric = must_join(&simulation, place);
        struct fabric_call call = call_of(collective, 3 * MIB);
        double us = fabric_simulation_truth(&simulation, &call, &place, choices[c]);
        struct fabric_probe probe = must_probe(fabric, call, choices[c]);
        bool pat = versions[v] >= 22300;
        bool fits = choices[c].algo < 6 || pat;
        assert_true(us > 0);
        assert_int_equal(probe.obeyed, fits && sw_choice_possible(collective, choices[c].algo, choices[c].proto));
        assert_true(must_time(fabric, call, choices[c]) == (double)(float)us);
        fabric_close(fabric);
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_cannot_be_opened),
      cmocka_unit_test(another_tuner_is_refused),
      cmocka_unit_test(defaults),
      cmocka_unit_test(ids_are_fresh_and_follow_from_the_seed),
      cmocka_unit_test(impossible_places),
      cmocka_unit_test(a_plugin_that_refuses),
      cmocka_unit_test(the_log_names_what_stands_in),
      cmocka_unit_test(probes_say_what_runs),
      cmocka_unit_test(probes_show_the_table_before_the_plugin),
      cmocka_unit_test(the_plugin_is_asked),
      cmocka_unit_test(by_profile),
      cmocka_unit_test(a_single_rank),
      cmocka_unit_test(every_collective_and_interface),
  };
  return cmocka_run_group_tests(tests, read_it, free_it);
}
