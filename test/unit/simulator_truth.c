/*
 * The simulator's true times: curves through a profile's times, and which of them belongs to what a choice runs as.
 *
 * Keys are worked out by hand from the stand-in's model (bench/standin/estimate.c): on eight nodes of one GPU its own
 * allreduce is tree + LL at 12 KiB (on 12 KiB x 2 x 4 / 16 KiB = 6 channels), ring + LL128 at 6 MiB and ring + Simple
 * at 96 MiB (on all 16).
 */
#include "fabric/sim_curve.h"
#include "fabric/sim_truth.h"
#include "unit/simulator_ranks.h"

#define TOLERANCE 1e-12

static double truth_of(const struct fabric_simulation* simulation, struct fabric_place place, struct fabric_call call,
                       struct sw_choice choice) {
  return fabric_simulation_truth(simulation, &call, &place, choice);
}

static struct sim_key key_of(const struct fabric_simulation* simulation, struct fabric_place place,
                             struct fabric_call call, struct sw_choice choice) {
  struct sim_key key = {-2, -2, -2};
  struct sim_truth* truth = sim_truth_open(simulation, &place);
  assert_non_null(truth);
  assert_true(sim_truth_key(truth, &call, choice, &key));
  sim_truth_close(truth);
  return key;
}

/* Allreduce of eight nodes in the shipped profile: to the digit at its sizes. */
static void points_are_hit_exactly(void** state) {
  (void)state;
  static const struct {
    uint64_t bytes;
    struct sw_choice choice;
    double us;
  } expected[] = {
      {12 * KIB, {-1, -1, 0}, 76},    {6 * MIB, {-1, -1, 0}, 3750},  {96 * MIB, {-1, -1, 0}, 14700},
      {12 * KIB, {-1, -1, 2}, 78},    {6 * MIB, {-1, -1, 2}, 1140},  {96 * MIB, {-1, -1, 2}, 15100},
      {96 * MIB, {-1, 0, 0}, 140700}, {96 * MIB, {0, -1, 0}, 58200}, {96 * MIB, {0, 0, 2}, 67100},
      {12 * KIB, {0, 0, 2}, 78},                                  /* runs what 2 channels run, which is first */
      {12 * KIB, {0, -1, 0}, 76},     {12 * KIB, {-1, 0, 0}, 76}, /* run what auto runs */
      {12 * KIB, {0, 0, 0}, 76},      {96 * MIB, {0, 2, 0}, 58200},  {96 * MIB, {1, 2, 0}, 14700},
      {96 * MIB, {1, 2, 16}, 14700},
  };
  struct sw_profile* profile = read_shipped("gb10-roce-8x1");
  struct fabric_simulation simulation = simulation_of(profile);
  struct fabric* fabric = NULL;
  struct fabric_simulation quiet = quiet_simulation(profile);
  fabric = must_join(&quiet, place_of(8, 8, 3));
  for (size_t i = 0; i < COUNT(expected); i++) {
    struct fabric_call call = call_of(NCCL_ALLREDUCE, expected[i].bytes);
    double us = truth_of(&simulation, place_of(8, 8, 3), call, expected[i].choice);
    if (us != expected[i].us) fail_msg("row %zu: %.17g, not %.17g", i, us, expected[i].us);
    assert_true(must_time(fabric, call, expected[i].choice) == (double)(float)expected[i].us);
  }
  fabric_close(fabric);
  sw_profile_free(profile);
}

static void keys(void** state) {
  (void)state;
  static const struct {
    uint32_t ranks, nodes;
    int collective;
    uint64_t bytes;
    struct sw_choice choice;
    struct sim_key key;
  } expected[] = {
      {8, 8, NCCL_ALLREDUCE, 12 * 1024, {-1, -1, 0}, {0, 0, 6}},
      {8, 8, NCCL_ALLREDUCE, 6 << 20, {-1, -1, 0}, {1, 1, 16}},
      {8, 8, NCCL_ALLREDUCE, 96 << 20, {-1, -1, 0}, {1, 2, 16}},
      {8, 8, NCCL_ALLREDUCE, 6 << 20, {-1, -1, 2}, {1, 1, 2}},
      {8, 8, NCCL_ALLREDUCE, 6 << 20, {-1, -1, 64}, {1, 1, 16}},
      {8, 8, NCCL_ALLREDUCE, 96 << 20, {0, -1, 0}, {0, 2, 16}},
      {8, 8, NCCL_ALLREDUCE, 12 * 1024, {1, 2, 8}, {1, 2, 1}},
      {8, 8, NCCL_ALLREDUCE, 96 << 20, {4, 2, 0}, {1, 2, 16}}, /* no NVLS here: left to NCCL */
      {8, 1, NCCL_ALLREDUCE, 96 << 20, {-1, -1, 0}, {1, 2, 24}},
      {8, 4, NCCL_ALLREDUCE, 6 << 20, {1, 1, 0}, {1, 2, 16}}, /* two GPUs a node: no LL128 without NVLink */
      {8, 8, NCCL_BROADCAST, 96 << 20, {-1, -1, 4}, {1, 2, 4}},
      {8, 8, NCCL_ALLGATHER, 96 << 20, {6, 2, 0}, {6, 2, 16}},
      {1, 1, NCCL_ALLREDUCE, 96 << 20, {1, 2, 4}, {-1, -1, 0}},
  };
  struct sw_profile* profile = read_shipped("gb10-roce-8x1");
  struct fabric_simulation simulation = simulation_of(profile);
  for (size_t i = 0; i < COUNT(expected); i++) {
    struct fabric_place place = place_of(expected[i].ranks, expected[i].nodes, 0);
    struct fabric_call call = call_of(expected[i].collective, expected[i].bytes);
    struct sim_key key = key_of(&simulation, place, call, expected[i].choice);
    if (memcmp(&key, &expected[i].key, sizeof key) != 0)
      fail_msg("row %zu: %d %d %d", i, key.algo, key.proto, key.channels);
  }
  sw_profile_free(profile);
}

static void twins_take_the_same_time(void** state) {
  (void)state;
  static const struct sw_choice twins[][2] = {
      {{-1, -1, 64}, {-1, -1, 16}}, {{1, 1, 64}, {1, 1, 17}}, {{0, 2, 5}, {0, 2, 5}}, {{-1, -1, 0}, {1, 1, 16}}};
  struct sw_profile* profile = read_shipped("gb10-roce-8x1");
  struct fabric_simulation quiet = quiet_simulation(profile);
  struct fabric* fabric = must_join(&quiet, place_of(8, 8, 0));
  struct fabric_call call = call_of(NCCL_ALLREDUCE, 6 * MIB);
  for (size_t i = 0; i < COUNT(twins); i++) {
    struct fabric_probe a = must_probe(fabric, call, twins[i][0]);
    struct fabric_probe b = must_probe(fabric, call, twins[i][1]);
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(must_time(fabric, call, twins[i][0]) == must_time(fabric, call, twins[i][1]));
  }
  assert_true(must_time(fabric, call, CHANNELS(64)) == 3750);
  assert_false(must_time(fabric, call, CHANNELS(15)) == 3750);
  fabric_close(fabric);
  sw_profile_free(profile);
}

/* --- curves ------------------------------------------------------------------------------------------------------ */

/* Slopes: auto 1/2 and then 1, 2 channels -1/2 (times may fall), tree has one size, ring none without settings,
   nvls was never timed. */
#define CURVES                                                                                                   \
  HEAD TABLES(TABLE(POINT("1KiB", AUTO("100us") TIME("channels: 2", "80us"))                                     \
                        POINT("4KiB", AUTO("200us") TIME("channels: 2", "40us") TIME("algo: tree", "90us"))      \
                            POINT("64KiB", AUTO("3200us") "{algo: ring, median: 1us, settings: {NCCL_BUFFSIZE: " \
                                                          "\"4\"}}, {algo: nvls, excluded: hangs},")))

static void curves_are_straight_and_keep_their_slope(void** state) {
  (void)state;
  static const struct {
    struct sw_choice choice;
    uint64_t bytes;
    double us;
  } expected[] = {
      {{-1, -1, 0}, 2048, 141.4213562373095},
      {{-1, -1, 0}, 16 * 1024, 800},
      {{-1, -1, 0}, 256, 50},
      {{-1, -1, 0}, 128 * 1024, 6400},
      {{-1, -1, 0}, 1, 3.125},
      {{-1, -1, 0}, 0, 3.125},
      {{-1, -1, 2}, 2048, 56.5685424949238},
      {{-1, -1, 2}, 256, 160},
      {{-1, -1, 2}, 64 * 1024, 10},
      {{0, -1, 0}, 1024, 45},
      {{0, -1, 0}, 4096, 90},
      {{0, -1, 0}, 64 * 1024, 1440},
  };
  struct sw_profile* profile = read_profile(CURVES);
  const struct sw_table* table = &profile->tables[0];
  for (size_t i = 0; i < COUNT(expected); i++) {
    double us = sim_curve_us(table, expected[i].choice, expected[i].bytes);
    char row[32];
    snprintf(row, sizeof row, "row %zu", i);
    assert_near(us, expected[i].us, TOLERANCE, row);
  }
  assert_int_equal(sim_curve_sizes(table, SW_AUTO), 3);
  assert_int_equal(sim_curve_sizes(table, CHANNELS(2)), 2);
  assert_int_equal(sim_curve_sizes(table, CHOICE(NCCL_ALGO_TREE, -1, 0)), 1);
  assert_int_equal(sim_curve_sizes(table, CHOICE(NCCL_ALGO_RING, -1, 0)), 0);
  sw_profile_free(profile);
}

/* The order of sw_choice_compare, without those that were only measured with settings. */
static void choices_with_a_curve_in_order(void** state) {
  (void)state;
  struct sw_profile* profile = read_profile(CURVES);
  struct sw_choice choice = SW_AUTO;
  assert_true(sim_curve_next(&profile->tables[0], &choice));
  assert_true(sw_choice_same(choice, CHANNELS(2)));
  assert_true(sim_curve_next(&profile->tables[0], &choice));
  assert_true(sw_choice_same(choice, CHOICE(NCCL_ALGO_TREE, -1, 0)));
  assert_false(sim_curve_next(&profile->tables[0], &choice));
  sw_profile_free(profile);
}

/* One size of auto alone: on one node 20 us + bytes at 20 GB/s, over several 40 us + bytes at 5 GB/s; of that, twice.
 */
static void auto_with_one_size_keeps_the_plain_shape(void** state) {
  (void)state;
  struct sw_profile* profile =
      read_profile(HEAD TABLES(TABLE_OF("allreduce", "1", "2", POINT("20000", AUTO("42us")))
                                   TABLE_OF("allreduce", "2", "2", POINT("5000", AUTO("82us")))));
  assert_near(sim_curve_us(&profile->tables[0], SW_AUTO, 200000), 60, TOLERANCE, "one node");
  assert_near(sim_curve_us(&profile->tables[1], SW_AUTO, 200000), 160, TOLERANCE, "several");
  sw_profile_free(profile);
}

/* A step of four orders of magnitude between two neighbouring bytes, carried on to 2^60. */
static void steep_curves_stay_times(void** state) {
  (void)state;
  struct sw_profile* profile = read_profile(HEAD TABLES(TABLE(
      POINT("4096", AUTO("1us") TIME("channels: 2", "10ms")) POINT("4097", AUTO("10ms") TIME("channels: 2", "1us")))));
  const struct sw_table* table = &profile->tables[0];
  assert_true(sim_curve_us(table, SW_AUTO, UINT64_C(1) << 60) == ldexp(1, 40));
  assert_true(sim_curve_us(table, SW_AUTO, 1) == ldexp(1, -10));
  assert_true(sim_curve_us(table, CHANNELS(2), UINT64_C(1) << 60) == ldexp(1, -10));
  sw_profile_free(profile);
}

/* --- what has no curve ------------------------------------------------------------------------------------------- */

static void without_a_curve_a_factor_of_auto(void** state) {
  (void)state;
  struct sw_profile* profile = read_profile(CURVES);
  struct fabric_simulation simulation = simulation_of(profile);
  double least = 9;
  double most = 0;
  for (simulation.seed = 0; simulation.seed < 500; simulation.seed++) {
    double ratio[2];
    for (int i = 0; i < 2; i++) { /* both well above what earns three channels, and auto runs another thing */
      struct fabric_call call = call_of(NCCL_ALLREDUCE, (uint64_t)(1 + i * 15) * MIB);
      ratio[i] = truth_of(&simulation, place_of(2, 2, 0), call, TREE_LL(3)) /
                 truth_of(&simulation, place_of(2, 2, 0), call, SW_AUTO);
    }
    assert_near(ratio[1], ratio[0], TOLERANCE, "the factor at another size");
    if (ratio[0] < least) least = ratio[0];
    if (ratio[0] > most) most = ratio[0];
  }
  if (!(least >= 1.1 && least < 1.12 && most <= 3 && most > 2.98)) fail_msg("factors from %g to %g", least, most);
  sw_profile_free(profile);
}

/* Each of algorithm, protocol, channels, collective and seed makes another factor; the attempt and the shape do not. */
static void what_the_factor_depends_on(void** state) {
  (void)state;
  struct sw_profile* profile =
      read_profile(HEAD TABLES(TABLE_OF("broadcast", "2", "2", POINT("64MiB", AUTO("1us")))
                                   TABLE_OF("allreduce", "2", "2", POINT("64MiB", AUTO("1us")))
                                       TABLE_OF("allreduce", "4", "4", POINT("64MiB", AUTO("1us")))));
  struct fabric_simulation simulation = simulation_of(profile);
  struct fabric_call call = call_of(NCCL_ALLREDUCE, 64 * MIB);
  struct fabric_place place = place_of(2, 2, 0);
  double reference = truth_of(&simulation, place, call, CHOICE(1, 0, 3));
  assert_true(reference > 1.1);
  assert_false(truth_of(&simulation, place, call, CHOICE(0, 0, 3)) == reference);
  assert_false(truth_of(&simulation, place, call, CHOICE(1, 1, 3)) == reference);
  assert_false(truth_of(&simulation, place, call, CHOICE(1, 0, 4)) == reference);
  assert_false(truth_of(&simulation, place, call_of(NCCL_BROADCAST, 64 * MIB), CHOICE(1, 0, 3)) == reference);
  assert_true(truth_of(&simulation, place_of(4, 4, 1), call, CHOICE(1, 0, 3)) == reference);
  simulation.attempt = 9;
  assert_true(truth_of(&simulation, place, call, CHOICE(1, 0, 3)) == reference);
  simulation.seed = 2;
  assert_false(truth_of(&simulation, place, call, CHOICE(1, 0, 3)) == reference);
  sw_profile_free(profile);
}

/* Calls of other collectives, sizes and modes in between leave nothing behind. */
static void calls_do_not_mix(void** state) {
  (void)state;
  static const struct fabric_call calls[] = {
      {NCCL_ALLREDUCE, FABRIC_BF16, FABRIC_GRAPH, 6 << 20},  {NCCL_BROADCAST, FABRIC_BF16, FABRIC_GRAPH, 6 << 20},
      {NCCL_ALLREDUCE, FABRIC_BF16, FABRIC_STREAM, 6 << 20}, {NCCL_ALLREDUCE, FABRIC_FLOAT, FABRIC_GRAPH, 12 << 10},
      {NCCL_ALLREDUCE, FABRIC_BF16, FABRIC_GRAPH, 6 << 20},  {NCCL_REDUCE, FABRIC_INT32, FABRIC_GRAPH, 6 << 20}};
  struct sw_profile* profile = read_shipped("gb10-roce-8x1");
  struct fabric_simulation quiet = quiet_simulation(profile);
  struct fabric* fabric = must_join(&quiet, place_of(8, 8, 0));
  for (size_t i = 0; i < COUNT(calls); i++) {
    double expected = truth_of(&quiet, place_of(8, 8, 0), calls[i], CHANNELS(2));
    double us = must_time(fabric, calls[i], CHANNELS(2));
    if (us != (double)(float)expected) fail_msg("call %zu: %g, not %g", i, us, expected);
  }
  fabric_close(fabric);
  sw_profile_free(profile);
}

/* NCCL takes buffers for registered while a graph is captured. */
static void graphs_ask_with_registered_buffers(void** state) {
  (void)state;
  struct fabric_call call = call_of(NCCL_REDUCE, 12345);
  struct standin_operation operation = sim_operation(&call);
  assert_int_equal(operation.collective, NCCL_REDUCE);
  assert_int_equal(operation.bytes, 12345);
  assert_int_equal(operation.reg_buff, 1);
  call.mode = FABRIC_STREAM;
  assert_int_equal(sim_operation(&call).reg_buff, 0);
}

static void streams_take_two_microseconds_more(void** state) {
  (void)state;
  struct sw_profile* profile = read_shipped("gb10-roce-8x1");
  struct fabric_simulation simulation = simulation_of(profile);
  static const struct sw_choice choices[] = {{-1, -1, 0}, {-1, -1, 2}, {1, 2, 3}};
  for (size_t i = 0; i < COUNT(choices); i++) {
    struct fabric_call call = call_of(NCCL_ALLREDUCE, 6 * MIB);
    double graph = truth_of(&simulation, place_of(8, 8, 0), call, choices[i]);
    call.mode = FABRIC_STREAM;
    assert_near(truth_of(&simulation, place_of(8, 8, 0), call, choices[i]) - graph, 2, 1e-9, "a stream");
  }
  sw_profile_free(profile);
}

/* --- shapes ------------------------------------------------------------------------------------------------------ */

#define SHAPES                                                                                                         \
  HEAD TABLES(TABLE_OF("allreduce", "1", "2", POINT("1MiB", AUTO("12us"))) TABLE_OF(                                   \
      "allreduce", "1", "8", POINT("1MiB", AUTO("18us"))) TABLE_OF("allreduce", "8", "8", POINT("1MiB", AUTO("88us"))) \
                  TABLE_OF(                                                                                            \
                      "reduce", "4", "4",                                                                              \
                      POINT("1MiB", "{choice: auto, median: 1us, settings: {A: \"1\"}}," TIME("channels: 2", "2us"))))

static void the_nearest_shape_stands_in(void** state) {
  (void)state;
  static const struct {
    int collective;
    uint32_t nodes, ranks;
    double us;
  } expected[] = {
      {NCCL_ALLREDUCE, 1, 2, 12},      {NCCL_ALLREDUCE, 1, 8, 18},   {NCCL_ALLREDUCE, 8, 8, 88},
      {NCCL_ALLREDUCE, 1, 16, 18},     {NCCL_ALLREDUCE, 1, 3, 12},   {NCCL_ALLREDUCE, 4, 8, 88},
      {NCCL_ALLREDUCE, 2, 2, 12},      {NCCL_ALLREDUCE, 16, 64, 88}, {NCCL_REDUCE, 4, 4, 249.7152},
      {NCCL_ALLGATHER, 1, 2, 72.4288}, /* plain: 40 + 2^20 / 5000; 20 + 2^20 / 20000 */
  };
  struct sw_profile* profile = read_profile(SHAPES);
  struct fabric_simulation simulation = simulation_of(profile);
  for (size_t i = 0; i < COUNT(expected); i++) {
    struct fabric_place place = place_of(expected[i].ranks, expected[i].nodes, 0);
    double us = truth_of(&simulation, place, call_of(expected[i].collective, MIB), SW_AUTO);
    if (fabs(us - expected[i].us) > 1e-9) fail_msg("row %zu: %.9g", i, us);
  }
  sw_profile_free(profile);
}

static void notes_say_what_stands_in(void** state) {
  (void)state;
  struct sw_profile* profile = read_profile(SHAPES);
  struct fabric_simulation simulation = simulation_of(profile);
  struct fabric_place place = place_of(4, 4, 0);
  struct sw_text notes = SW_TEXT_EMPTY;
  fabric_simulation_notes(&simulation, &place, &notes);
  const char* plain =
      ": nothing was measured; NCCL's own choice takes 40 us and the time that the bytes need at 5 GB/s\n";
  char expected[2048];
  snprintf(expected, sizeof expected,
           "broadcast%sreduce%sallgather%sreducescatter%sallreduce: nothing was measured for 4 ranks on 4 nodes, so "
           "these are the times of 8 ranks on 8 nodes; NCCL's own choice was measured at one size, and keeps to the "
           "plain curve's shape\n",
           plain, plain, plain, plain);
  assert_string_equal(sw_text_string(&notes), expected);
  sw_text_free(&notes);
  sw_profile_free(profile);

  profile = read_profile(CURVES);
  simulation.profile = profile;
  place = place_of(2, 2, 0);
  fabric_simulation_notes(&simulation, &place, &notes);
  const char* last = strstr(sw_text_string(&notes), "allreduce");
  assert_string_equal(last, "allreduce: 1 choice was measured at one size only, and runs parallel to NCCL's own\n");
  sw_text_free(&notes);
  sw_profile_free(profile);
}

/* The machine has what the profile's times of its kind (one node, or several) name. */
static void the_machine_has_what_was_measured(void** state) {
  (void)state;
  struct sw_profile* profile = read_profile(
      HEAD TABLES(TABLE_OF("allreduce", "1", "8",
                           POINT("1MiB", AUTO("12us") TIME("algo: nvls, proto: simple, channels: 20", "9us")
                                             TIME("channels: 30", "7us") TIME("proto: ll128", "8us")))
                      TABLE_OF("allreduce", "2", "8", POINT("1MiB", AUTO("12us") TIME("algo: collnetchain", "8us")))));
  struct fabric_simulation simulation = simulation_of(profile);
  struct fabric_place one = place_of(8, 1, 0);
  struct fabric_place two = place_of(8, 2, 0);
  struct standin_shape shape = sim_shape(&simulation, &one);
  assert_true(shape.nvls && shape.ll128 && !shape.collnet && shape.channels == 30);
  shape = sim_shape(&simulation, &two);
  assert_true(!shape.nvls && !shape.ll128 && shape.collnet && shape.channels == 16);
  assert_true(truth_of(&simulation, one, call_of(NCCL_ALLREDUCE, MIB), CHOICE(NCCL_ALGO_NVLS, 2, 20)) == 9);
  sw_profile_free(profile);
}

static void impossible_calls_have_no_time(void** state) {
  (void)state;
  struct sw_profile* profile = read_shipped("gb10-roce-8x1");
  struct fabric_simulation simulation = simulation_of(profile);
  assert_true(truth_of(&simulation, place_of(8, 8, 0), call_of(5, MIB), SW_AUTO) < 0);
  assert_true(truth_of(&simulation, place_of(8, 8, 0), call_of(-1, MIB), SW_AUTO) < 0);
  assert_true(truth_of(&simulation, place_of(4, 8, 0), call_of(NCCL_ALLREDUCE, MIB), SW_AUTO) < 0);
  sw_profile_free(profile);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_are_hit_exactly),
      cmocka_unit_test(keys),
      cmocka_unit_test(twins_take_the_same_time),
      cmocka_unit_test(curves_are_straight_and_keep_their_slope),
      cmocka_unit_test(choices_with_a_curve_in_order),
      cmocka_unit_test(auto_with_one_size_keeps_the_plain_shape),
      cmocka_unit_test(steep_curves_stay_times),
      cmocka_unit_test(without_a_curve_a_factor_of_auto),
      cmocka_unit_test(what_the_factor_depends_on),
      cmocka_unit_test(calls_do_not_mix),
      cmocka_unit_test(graphs_ask_with_registered_buffers),
      cmocka_unit_test(streams_take_two_microseconds_more),
      cmocka_unit_test(the_nearest_shape_stands_in),
      cmocka_unit_test(notes_say_what_stands_in),
      cmocka_unit_test(the_machine_has_what_was_measured),
      cmocka_unit_test(impossible_calls_have_no_time),
  };
  return cmocka_run_group_tests(tests, quiet_environment, NULL);
}
