/*
 * What the simulator is told to do wrong: the words for it, and that it does it, there and nowhere else.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

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

/* --- the words --------------------------------------------------------------------------------------------------- */

static void good_specs(void** state) {
  (void)state;
  static const struct {
    const char* spec;
    struct sim_fault fault;
  } expected[] = {
      {"hang:auto", {SIM_HANG, {-1, -1, 0}, SIM_ANY_SIZE, 0, 0, SIM_ANY_MODE, false}},
      {"crash:tree", {SIM_CRASH, {0, -1, 0}, SIM_ANY_SIZE, 0, 0, SIM_ANY_MODE, false}},
      {"error:ll", {SIM_ERROR, {-1, 0, 0}, SIM_ANY_SIZE, 0, 0, SIM_ANY_MODE, false}},
      {"corrupt:tree+ll", {SIM_CORRUPT, {0, 0, 0}, SIM_ANY_SIZE, 0, 0, SIM_ANY_MODE, false}},
      {"hang:tree+ll/2", {SIM_HANG, {0, 0, 2}, SIM_ANY_SIZE, 0, 0, SIM_ANY_MODE, false}},
      {"hang:ring/64", {SIM_HANG, {1, -1, 64}, SIM_ANY_SIZE, 0, 0, SIM_ANY_MODE, false}},
      {"HANG:Ring+LL128/1@6MiB", {SIM_HANG, {1, 1, 1}, 6 << 20, 0, 0, SIM_ANY_MODE, false}},
      {"hang:/2@12288", {SIM_HANG, {-1, -1, 2}, 12288, 0, 0, SIM_ANY_MODE, false}},
      {"hang:tree@stream", {SIM_HANG, {0, -1, 0}, SIM_ANY_SIZE, 0, 0, FABRIC_STREAM, false}},
      {"hang:tree@timed@1K@graph", {SIM_HANG, {0, -1, 0}, 1024, 0, 0, FABRIC_GRAPH, true}},
      {"error:profile", {SIM_ERROR, {-2, -2, 0}, SIM_ANY_SIZE, 0, 0, SIM_ANY_MODE, false}},
      {"hang:AUTO@1K", {SIM_HANG, {-1, -1, 0}, 1024, 0, 0, SIM_ANY_MODE, false}},
      {"drift:20", {SIM_DRIFT, {-1, -1, 0}, SIM_ANY_SIZE, 0, 0.2, SIM_ANY_MODE, false}},
      {"drift:2.5%", {SIM_DRIFT, {-1, -1, 0}, SIM_ANY_SIZE, 0, 0.025, SIM_ANY_MODE, false}},
      {"drift:0", {SIM_DRIFT, {-1, -1, 0}, SIM_ANY_SIZE, 0, 0, SIM_ANY_MODE, false}},
      {"rank-table:3", {SIM_RANK_TABLE, {-1, -1, 0}, SIM_ANY_SIZE, 3, 0, SIM_ANY_MODE, false}},
      {"slow-rank:0:1.5", {SIM_SLOW_RANK, {-1, -1, 0}, SIM_ANY_SIZE, 0, 1.5, SIM_ANY_MODE, false}},
      {"slow-rank:63:1000", {SIM_SLOW_RANK, {-1, -1, 0}, SIM_ANY_SIZE, 63, 1000, SIM_ANY_MODE, false}},
  };
  for (size_t i = 0; i < COUNT(expected); i++) {
    struct fabric_simulation simulation = fabric_simulation_default;
    add_fault(&simulation, expected[i].spec);
    const struct sim_fault* read = &simulation.faults.items[0];
    const struct sim_fault* want = &expected[i].fault;
    assert_int_equal(simulation.faults.count, 1);
    bool same = read->kind == want->kind && sw_choice_same(read->choice, want->choice) && read->bytes == want->bytes &&
                read->rank == want->rank && read->mode == want->mode && read->timed == want->timed &&
                fabs(read->amount - want->amount) < 1e-15;
    if (!same) fail_msg("%s", expected[i].spec);
  }
}

#define NO_ALGORITHM "tree, ring, collnetdirect, collnetchain, nvls, nvlstree, pat"

static void bad_specs(void** state) {
  (void)state;
  static const struct {
    const char* spec;
    const char* words;
  } expected[] = {
      {"hagn:tree", "unknown fault 'hagn'; did you mean 'hang'?"},
      {"slow_rank:1:2", "unknown fault 'slow_rank'; did you mean 'slow-rank'?"},
      {"explode", "unknown fault 'explode'; there are hang, crash, error, corrupt, drift, rank-table, slow-rank"},
      {"", "unknown fault ''; there are hang, crash, error, corrupt, drift, rank-table, slow-rank"},
      {" hang:tree", "unknown fault ' hang'; did you mean 'hang'?"},
      {"hang", "hang needs details: hang:CHOICE[@WHERE]"},
      {"crash:", "crash needs details: crash:CHOICE[@WHERE]"},
      {"drift", "drift needs details: drift:PERCENT"},
      {"rank-table:", "rank-table needs details: rank-table:RANK"},
      {"slow-rank", "slow-rank needs details: slow-rank:RANK:FACTOR"},
      {"hang:tre", "unknown algorithm or protocol 'tre'; did you mean 'tree'?"},
      {"hang:l", "unknown algorithm or protocol 'l'; did you mean 'll'?"},
      {"hang:atuo", "unknown algorithm or protocol 'atuo'; did you mean 'auto'?"},
      {"hang:tree ", "unknown algorithm or protocol 'tree '; did you mean 'tree'?"},
      {"hang:hypercube",
       "unknown algorithm or protocol 'hypercube'; there are " NO_ALGORITHM ", ll, ll128, simple, auto, profile"},
      {"hang:tree+lll", "unknown protocol 'lll'; did you mean 'll'?"},
      {"hang:tree+ring", "unknown protocol 'ring'; there are ll, ll128, simple"},
      {"hang:tree+", "unknown protocol ''; there are ll, ll128, simple"},
      {"hang:ll+tree", "unknown algorithm 'll'; there are " NO_ALGORITHM},
      {"hang:+ll", "unknown algorithm ''; there are " NO_ALGORITHM},
      {"hang:tree+ll+ll", "unknown protocol 'll+ll'; there are ll, ll128, simple"},
      {"hang:pat+ll", "NCCL has no pat with ll"},
      {"hang:tree/0", "'0' is no channel count from 1 to 64"},
      {"hang:tree/65", "'65' is no channel count from 1 to 64"},
      {"hang:tree/", "'' is no channel count from 1 to 64"},
      {"hang:tree/2/2", "'2/2' is no channel count from 1 to 64"},
      {"hang:tree/-1", "'-1' is no channel count from 1 to 64"},
      {"hang:tree/1.5", "'1.5' is no channel count from 1 to 64"},
      {"hang:tree/99999999999999999999999", "'99999999999999999999999' is no channel count from 1 to 64"},
      {"hang:auto/2", "'auto/2': auto leaves the channels, too; write /2"},
      {"hang:@6MiB", "a choice is missing before '@'"},
      {"hang:tree@", "'' is no size such as 12KiB, and none of graph, stream, timed"},
      {"hang:tree@big", "'big' is no size such as 12KiB, and none of graph, stream, timed"},
      {"hang:profile/2", "'profile/2': profile leaves the channels, too; write /2"},
      {"hang:tree@6MiB@6MiB", "'6MiB' is a second size: one at a time"},
      {"hang:tree@6MB", "size '6MB': KB, MB and GB can mean 1000; write KiB, MiB, GiB or plain bytes"},
      {"hang:tree@1.3", "size '1.3' is no whole number of bytes"},
      {"hang:tree@2000000000GiB", "size '2000000000GiB' is too large"},
      {"drift:fast", "'fast' is no percentage from 0 to 1000"},
      {"drift:-3", "'-3' is no percentage from 0 to 1000"},
      {"drift:1001", "'1001' is no percentage from 0 to 1000"},
      {"drift:5%%", "'5%%' is no percentage from 0 to 1000"},
      {"drift:%", "'%' is no percentage from 0 to 1000"},
      {"rank-table:one", "'one' is no rank: ranks are counted from 0"},
      {"rank-table:-1", "'-1' is no rank: ranks are counted from 0"},
      {"rank-table:1.5", "'1.5' is no rank: ranks are counted from 0"},
      {"rank-table:4294967296", "'4294967296' is no rank: ranks are counted from 0"},
      {"slow-rank:3", "a slow rank needs a factor, as in slow-rank:3:1.5"},
      {"slow-rank:x:2", "'x' is no rank: ranks are counted from 0"},
      {"slow-rank:3:", "'' is no factor from 1 to 1000"},
      {"slow-rank:3:0.5", "'0.5' is no factor from 1 to 1000"},
      {"slow-rank:3:1001", "'1001' is no factor from 1 to 1000"},
      {"slow-rank:3:150%", "'150%' is no factor from 1 to 1000"},
      {"slow-rank:3:2:2", "'2:2' is no factor from 1 to 1000"},
  };
  for (size_t i = 0; i < COUNT(expected); i++) {
    struct fabric_simulation simulation = fabric_simulation_default;
    char fault[256] = "";
    assert_false(fabric_simulation_fault(&simulation, expected[i].spec, fault));
    if (strcmp(fault, expected[i].words) != 0) fail_msg("%s: %s", expected[i].spec, fault);
    assert_int_equal(simulation.faults.count, 0);
  }
}

/* Whatever stands in a spec, the line fits its 256 bytes and ends, and what was meant is still in it. */
static void long_specs_are_cut(void** state) {
  (void)state;
  static const char* const starts[] = {"", "hang:", "hang:tree/", "hang:auto/", "hang:tree@", "drift:", "slow-rank:1:"};
  for (size_t i = 0; i < COUNT(starts); i++) {
    struct fabric_simulation simulation = fabric_simulation_default;
    char spec[1000];
    char fault[257];
    memset(spec, 'x', sizeof spec);
    spec[sizeof spec - 1] = '\0';
    memcpy(spec, starts[i], strlen(starts[i]));
    memset(fault, '#', sizeof fault);
    assert_false(fabric_simulation_fault(&simulation, spec, fault));
    assert_non_null(memchr(fault, '\0', 256));
    assert_true(fault[256] == '#');
    assert_true(strlen(fault) < 255);
  }
}

static void no_more_than_sixteen(void** state) {
  (void)state;
  struct fabric_simulation simulation = fabric_simulation_default;
  char fault[256];
  for (int i = 0; i < 16; i++) add_fault(&simulation, "hang:tree");
  assert_false(fabric_simulation_fault(&simulation, "hang:tree", fault));
  assert_string_equal(fault, "no more than 16 faults at a time");
  assert_int_equal(simulation.faults.count, 16);
}

/* --- hangs and crashes, each in a process of its own -------------------------------------------------------------- */

enum command { PROBE, CHECK, ROUNDS };

static _Noreturn void be_a_rank(const struct fabric_simulation* simulation, enum command command,
                                struct fabric_call call, struct sw_choice choice, int ready) {
  const struct sw_choice choices[] = {CHOICE(1, 2, 1), choice}; /* the first one is harmless */
  struct rlimit none = {0, 0};
  struct fabric_probe probe;
  float us[2];
  bool good;
  setrlimit(RLIMIT_CORE, &none);
  struct fabric* fabric = must_join(simulation, place_of(8, 8, 0));
  if (command == ROUNDS) must(fabric, fabric_prepare(fabric, &call, choices, 2));
  if (write(ready, "", 1) != 1) _exit(2);
  bool done = command == PROBE   ? fabric_probe(fabric, &call, choice, &probe)
              : command == CHECK ? fabric_check(fabric, &call, choice, &good)
                                 : fabric_rounds(fabric, 1, us);
  _exit(!done);
}

enum ending { RETURNED, FAILED, CRASHED, HUNG };

/* Hung: still there 300 ms after the command was given, which takes microseconds. */
static enum ending ending_of(pid_t child, int ready) {
  struct timespec moment = {.tv_nsec = 3000000};
  char byte;
  int status;
  assert_int_equal(read(ready, &byte, 1), 1);
  for (int i = 0; i < 100; i++) {
    pid_t ended = waitpid(child, &status, WNOHANG);
    assert_true(ended == 0 || ended == child);
    if (ended && WIFSIGNALED(status)) {
      assert_int_equal(WTERMSIG(status), SIGSEGV);
      return CRASHED;
    }
    if (ended) return WEXITSTATUS(status) ? FAILED : RETURNED;
    nanosleep(&moment, NULL);
  }
  kill(child, SIGKILL);
  assert_int_equal(waitpid(child, &status, 0), child);
  return HUNG;
}

static enum ending run_rank(const char* spec, enum command command, uint64_t bytes, struct sw_choice choice) {
  struct fabric_simulation simulation = simulation_of(profile);
  int ends[2];
  add_fault(&simulation, spec);
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) be_a_rank(&simulation, command, call_of(NCCL_ALLREDUCE, bytes), choice, ends[1]);
  assert_true(child > 0);
  close(ends[1]);
  enum ending ending = ending_of(child, ends[0]);
  close(ends[0]);
  return ending;
}

static void faults_strike_their_choice_alone(void** state) {
  (void)state;
  static const struct {
    const char* spec;
    uint64_t bytes;
    struct sw_choice choice;
    enum ending ending;
  } rows[] = {
      {"hang:tree+ll/2", 1 << 20, {0, 0, 2}, HUNG},
      {"hang:tree+ll/2@1MiB", 1 << 20, {0, 0, 2}, HUNG},
      {"hang:tree+ll/2@1MiB", 2 << 20, {0, 0, 2}, RETURNED},
      {"hang:tree+ll/2", 1 << 20, {0, 0, 3}, RETURNED},
      {"hang:tree+ll/2", 1 << 20, {0, 2, 2}, RETURNED},
      {"hang:tree+ll/2", 1 << 20, {1, 0, 2}, RETURNED},
      {"crash:/2", 1 << 20, {-1, -1, 2}, CRASHED},
      {"crash:/2", 1 << 20, {0, 0, 2}, RETURNED},
      {"crash:auto@1MiB", 1 << 20, {-1, -1, 0}, CRASHED},
      {"crash:auto@1MiB", 1 << 20, {-1, -1, 1}, RETURNED},
      {"error:ll", 1 << 20, {-1, 0, 0}, FAILED},
      {"error:ll", 1 << 20, {-1, 2, 0}, RETURNED},
      {"corrupt:ll", 1 << 20, {-1, 0, 0}, RETURNED},
  };
  for (size_t i = 0; i < COUNT(rows); i++)
    for (enum command command = PROBE; command <= ROUNDS; command++) {
      enum ending ending = run_rank(rows[i].spec, command, rows[i].bytes, rows[i].choice);
      if (ending != rows[i].ending) fail_msg("row %zu, command %d: ended as %d", i, (int)command, (int)ending);
    }
}

static void errors_speak_as_nccl_does(void** state) {
  (void)state;
  struct fabric_simulation simulation = simulation_of(profile);
  add_fault(&simulation, "error:/2");
  struct fabric* fabric = must_join(&simulation, place_of(8, 8, 0));
  struct fabric_call call = call_of(NCCL_REDUCESCATTER, MIB);
  struct fabric_probe probe;
  assert_fault(fabric, fabric_probe(fabric, &call, CHANNELS(2), &probe),
               "ncclReduceScatter: unhandled system error (run with NCCL_DEBUG=INFO for details)");
  fabric_close(fabric);
}

/* --- wrong data, wrong tables ------------------------------------------------------------------------------------ */

static void corrupt_data_is_not_good(void** state) {
  (void)state;
  static const struct {
    uint64_t bytes;
    struct sw_choice choice;
    bool good;
  } rows[] = {{6 << 20, {0, 2, 0}, false},
              {6 << 20, {0, 2, 1}, true},
              {1 << 20, {0, 2, 0}, true},
              {6 << 20, {-1, -1, 0}, true}};
  struct fabric_simulation simulation = simulation_of(profile);
  add_fault(&simulation, "hang:/9"); /* faults of other kinds stand beside it */
  add_fault(&simulation, "corrupt:tree+simple@6MiB");
  struct fabric* fabric = must_join(&simulation, place_of(8, 8, 0));
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fabric_call call = call_of(NCCL_ALLREDUCE, rows[i].bytes);
    bool good = !rows[i].good;
    must(fabric, fabric_check(fabric, &call, rows[i].choice, &good));
    if (good != rows[i].good) fail_msg("row %zu", i);
  }
  fabric_close(fabric);
}

/* Left to itself the rank runs something else; what is forced by algorithm and protocol still runs. */
static void a_table_of_its_own(void** state) {
  (void)state;
  struct fabric_simulation simulation = simulation_of(profile);
  add_fault(&simulation, "rank-table:3");
  for (int collective = 0; collective < NCCL_NUM_COLLECTIVES; collective++) {
    struct fabric* plain = must_join(&simulation, place_of(8, 8, 2));
    struct fabric* twisted = must_join(&simulation, place_of(8, 8, 3));
    for (uint64_t bytes = 1024; bytes <= 64 * MIB; bytes *= 16) {
      struct fabric_probe a = must_probe(plain, call_of(collective, bytes), SW_AUTO);
      struct fabric_probe b = must_probe(twisted, call_of(collective, bytes), SW_AUTO);
      assert_true(a.algo != b.algo || a.proto != b.proto);
      assert_memory_not_equal(a.table, b.table, sizeof a.table);
      b = must_probe(twisted, call_of(collective, bytes), CHOICE((int8_t)a.algo, (int8_t)a.proto, 0));
      assert_true(a.algo == b.algo && a.proto == b.proto && b.obeyed);
    }
    fabric_close(plain);
    fabric_close(twisted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(good_specs),
      cmocka_unit_test(bad_specs),
      cmocka_unit_test(long_specs_are_cut),
      cmocka_unit_test(no_more_than_sixteen),
      cmocka_unit_test(faults_strike_their_choice_alone),
      cmocka_unit_test(errors_speak_as_nccl_does),
      cmocka_unit_test(corrupt_data_is_not_good),
      cmocka_unit_test(a_table_of_its_own),
  };
  return cmocka_run_group_tests(tests, read_it, free_it);
}
