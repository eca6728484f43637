/* The simulator's rounds, its virtual time and its made-up machine. */
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

static void what_cannot_be_timed(void** state) {
  (void)state;
  static struct sw_choice choices[FABRIC_MOST_CHOICES + 1];
  static float us[FABRIC_MOST_CHOICES];
  struct fabric_simulation simulation = simulation_of(profile);
  struct fabric_place place = place_of(8, 8, 0);
  struct fabric_call call = call_of(NCCL_ALLREDUCE, MIB);
  struct fabric_call unknown = call_of(5, MIB);
  struct fabric_probe probe;
  struct fabric* fabric = must_open(&simulation);
  bool good;
  assert_fault(fabric, fabric_probe(fabric, &call, SW_AUTO, &probe), "ncclAllReduce: there is no communicator");
  assert_fault(fabric, fabric_check(fabric, &call, SW_AUTO, &good), "ncclAllReduce: there is no communicator");
  assert_fault(fabric, fabric_prepare(fabric, &call, choices, 1), "ncclAllReduce: there is no communicator");
  must(fabric, fabric_connect(fabric, &place));
  assert_fault(fabric, fabric_probe(fabric, &unknown, SW_AUTO, &probe), "there is no collective 5");
  assert_fault(fabric, fabric_rounds(fabric, 1, us), "no call was made ready to be timed");
  assert_fault(fabric, fabric_prepare(fabric, &call, choices, 0), "0 choices: 1 to 96 can be timed together");
  for (size_t i = 0; i < COUNT(choices); i++) choices[i] = CHANNELS((uint8_t)(i % 64 + 1));
  assert_fault(fabric, fabric_prepare(fabric, &call, choices, 97), "97 choices: 1 to 96 can be timed together");
  must(fabric, fabric_prepare(fabric, &call, choices, 96));
  must(fabric, fabric_rounds(fabric, 1, us));
  for (size_t i = 0; i < COUNT(us); i++) assert_true(us[i] > 0);
  must_probe(fabric, call, SW_AUTO); /* uses the buffers, as a check does */
  assert_fault(fabric, fabric_rounds(fabric, 1, us), "no call was made ready to be timed");
  must(fabric, fabric_prepare(fabric, &call, choices, 96));
  must(fabric, fabric_check(fabric, &call, SW_AUTO, &good));
  assert_fault(fabric, fabric_rounds(fabric, 1, us), "no call was made ready to be timed");
  must(fabric, fabric_prepare(fabric, &call, choices, 96));
  must(fabric, fabric_disconnect(fabric)); /* nothing is ready on the next communicator */
  must(fabric, fabric_connect(fabric, &place));
  assert_fault(fabric, fabric_rounds(fabric, 1, us), "no call was made ready to be timed");
  fabric_close(fabric);
}

/* us[round * count + choice] */
static void samples_are_laid_out_by_round(void** state) {
  (void)state;
  static const struct sw_choice choices[] = {{-1, -1, 2}, {-1, -1, 0}, {0, -1, 0}};
  static const float expected[] = {15100, 14700, 58200, 15100, 14700, 58200};
  struct fabric_simulation simulation = quiet_simulation(profile);
  struct fabric* fabric = must_join(&simulation, place_of(8, 8, 0));
  struct fabric_call call = call_of(NCCL_ALLREDUCE, 96 * MIB);
  float us[6];
  must(fabric, fabric_prepare(fabric, &call, choices, 3));
  must(fabric, fabric_rounds(fabric, 2, us));
  assert_memory_equal(us, expected, sizeof us);
  must(fabric, fabric_rounds(fabric, 0, NULL));
  fabric_close(fabric);
}

/* Connects 500 ms, probes 1 ms, checks 5 ms and the call, samples what they show and a barrier: auto's time at 4 bytes
   where the collective was measured, else 10 us. */
static void virtual_time(void** state) {
  (void)state;
  struct fabric_simulation simulation = quiet_simulation(profile);
  struct fabric_place place = place_of(8, 8, 0);
  struct fabric_call call = call_of(NCCL_ALLREDUCE, 6 * MIB);
  struct fabric_call tiny = call_of(NCCL_ALLREDUCE, 4);
  struct fabric_call plain = call_of(NCCL_REDUCE, 5000000);
  double barrier = fabric_simulation_truth(&simulation, &tiny, &place, SW_AUTO);
  struct fabric* fabric = must_open(&simulation);
  bool good;
  assert_true(clock_of(fabric) == 0);
  must(fabric, fabric_connect(fabric, &place));
  assert_true(clock_of(fabric) == 500e3);
  must_probe(fabric, call, CHANNELS(2));
  assert_true(clock_of(fabric) == 501e3);
  must(fabric, fabric_check(fabric, &call, CHANNELS(2), &good));
  assert_true(good);
  assert_true(clock_of(fabric) == 501e3 + 5e3 + 1140);
  must_time(fabric, call, SW_AUTO);
  assert_near(clock_of(fabric), 507140 + 3750 + barrier, 1e-12, "the clock after a sample");
  double before = clock_of(fabric);
  must_time(fabric, plain, SW_AUTO);
  assert_near(clock_of(fabric) - before, 40 + 1000 + 10, 1e-9, "a sample of a plain curve");
  fabric_close(fabric);
}

static void describes_a_made_up_machine(void** state) {
  (void)state;
  struct fabric_simulation simulation = simulation_of(profile);
  struct fabric_report before, joined, used, after;
  struct fabric* fabric = must_open(&simulation);
  struct fabric_place place = place_of(8, 8, 0);
  fabric_describe(fabric, &before);
  must(fabric, fabric_connect(fabric, &place));
  fabric_describe(fabric, &joined);
  must_probe(fabric, call_of(NCCL_ALLREDUCE, MIB), CHOICE(NCCL_ALGO_RING, -1, 0));
  must_probe(fabric, call_of(NCCL_ALLREDUCE, MIB), CHOICE(NCCL_ALGO_TREE, -1, 0));
  must_probe(fabric, call_of(NCCL_ALLREDUCE, MIB), CHOICE(NCCL_ALGO_TREE, -1, 0));
  fabric_describe(fabric, &used);
  must(fabric, fabric_disconnect(fabric));
  fabric_describe(fabric, &after);
  fabric_close(fabric);
  assert_string_equal(before.gpu, "simulated GPU");
  assert_int_equal(before.nccl, 22809);
  assert_int_equal(before.cuda, 13000);
  assert_int_equal(before.unified, 0);
  assert_true(before.free_host > 0 && before.driver[0] && before.host[0]);
  assert_int_equal(before.free_device - joined.free_device, (64 + 16 * 8) * MIB); /* itself, and rings */
  assert_int_equal(joined.free_device - used.free_device, 16 * 8 * MIB);          /* trees, once */
  assert_int_equal(after.free_device, before.free_device);
}

/* Several ranks may live in one process; only going back from the profile is for the one that joined last. */
static void several_ranks_in_one_process(void** state) {
  (void)state;
  struct fabric_simulation simulation = quiet_simulation(profile);
  struct fabric_call call = call_of(NCCL_ALLREDUCE, 6 * MIB);
  struct fabric* first = must_join(&simulation, place_of(8, 8, 0));
  struct fabric* second = must_join(&simulation, place_of(8, 8, 1));
  assert_true(must_time(first, call, CHANNELS(2)) == 1140);
  assert_true(must_time(second, call, SW_AUTO) == 3750);
  assert_true(must_time(first, call, SW_AUTO) == 3750);
  assert_true(must_time(second, call, CHANNELS(2)) == 1140);
  must_probe(first, call, FABRIC_BY_PROFILE);
  must_probe(second, call, FABRIC_BY_PROFILE);
  must_probe(second, call, SW_AUTO);
  struct fabric_probe probe;
  assert_fault(first, fabric_probe(first, &call, SW_AUTO, &probe),
               "another communicator of this process was made since");
  fabric_close(first);
  fabric_close(second);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_cannot_be_timed),
      cmocka_unit_test(samples_are_laid_out_by_round),
      cmocka_unit_test(virtual_time),
      cmocka_unit_test(describes_a_made_up_machine),
      cmocka_unit_test(several_ranks_in_one_process),
  };
  return cmocka_run_group_tests(tests, read_it, free_it);
}
