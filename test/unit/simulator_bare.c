/* The simulator without the plugin: the stand-in's own choice runs, and nothing else can be asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/simulator_ranks.h"

static const char words[] = "opened without the plugin: nothing can be probed or forced, only auto timed";

static struct sw_profile* profile;

static int read_one(void** state) {
  profile = read_shipped("gb10-roce-8x1");
  return quiet_environment(state);
}

static int free_one(void** state) {
  (void)state;
  sw_profile_free(profile);
  return 0;
}

static struct fabric* must_join_bare(const struct fabric_simulation* simulation) {
  char fault[256] = "";
  struct fabric_place place = place_of(8, 8, 3);
  struct fabric* fabric = fabric_open_simulator(simulation, NULL, fault);
  if (!fabric) fail_msg("%s", fault);
  must(fabric, fabric_connect(fabric, &place));
  return fabric;
}

static void auto_is_what_it_is_with_the_plugin(void** state) {
  (void)state;
  static const uint64_t sizes[] = {12 * KIB, 6 * MIB, 96 * MIB};
  struct fabric_simulation simulation = quiet_simulation(profile);
  struct fabric* bare = must_join_bare(&simulation);
  struct fabric* with = must_join(&simulation, place_of(8, 8, 3));
  for (size_t i = 0; i < 3; i++) {
    struct fabric_call call = call_of(NCCL_ALLREDUCE, sizes[i]);
    assert_near(must_time(bare, call, SW_AUTO), must_time(with, call, SW_AUTO), 0, "auto");
  }
  fabric_close(bare);
  fabric_close(with);
}

static void nothing_is_forced_or_probed(void** state) {
  (void)state;
  struct fabric_simulation simulation = quiet_simulation(profile);
  struct fabric* bare = must_join_bare(&simulation);
  struct fabric_call call = call_of(NCCL_ALLREDUCE, 12 * KIB);
  struct sw_choice tree = TREE_LL(2);
  struct sw_choice by_profile = FABRIC_BY_PROFILE;
  struct fabric_probe probe;
  bool good = false;
  assert_fault(bare, fabric_probe(bare, &call, SW_AUTO, &probe), words);
  assert_fault(bare, fabric_prepare(bare, &call, &tree, 1), words);
  assert_fault(bare, fabric_prepare(bare, &call, &by_profile, 1), words);
  assert_fault(bare, fabric_check(bare, &call, tree, &good), words);
  must(bare, fabric_check(bare, &call, SW_AUTO, &good));
  assert_true(good);
  must(bare, fabric_disconnect(bare));
  fabric_close(bare);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(auto_is_what_it_is_with_the_plugin),
      cmocka_unit_test(nothing_is_forced_or_probed),
  };
  return cmocka_run_group_tests(tests, read_one, free_one);
}
