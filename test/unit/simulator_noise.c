/*
 * The simulator's chance: the same on all ranks and in all processes, another one for each seed and attempt, and as
 * large as it was asked for.
 */
#include "fabric/sim_noise.h"
#include "unit/simulator_ranks.h"

enum { ROUNDS = 4000, SHORT = 40 };
static const struct sw_choice pair[] = {{-1, -1, 0}, {-1, -1, 2}};

static struct sw_profile* profile; /* of eight nodes: auto takes 3750 us at 6 MiB, 2 channels 1140 us */
static const double true_us[] = {3750, 1140};

static int read_it(void** state) {
  profile = read_shipped("gb10-roce-8x1");
  return quiet_environment(state);
}

static int free_it(void** state) {
  (void)state;
  sw_profile_free(profile);
  return 0;
}

static void must_run(struct fabric* fabric, size_t rounds, float* us) {
  struct fabric_call call = call_of(NCCL_ALLREDUCE, 6 * MIB);
  must(fabric, fabric_prepare(fabric, &call, pair, 2));
  must(fabric, fabric_rounds(fabric, rounds, us));
}

/* A rank's samples of both choices, of its own fabric. */
static void run_rank(const struct fabric_simulation* simulation, uint32_t rank, size_t rounds, float* us) {
  struct fabric* fabric = must_join(simulation, place_of(8, 8, rank));
  must_run(fabric, rounds, us);
  fabric_close(fabric);
}

static int by_value(const void* a, const void* b) {
  float x = *(const float*)a;
  float y = *(const float*)b;
  return (x > y) - (x < y);
}

/* Of one of the two choices: the median over its true time, and the standard deviation of the logarithm. */
static void statistics(const float* us, size_t choice, double* median, double* sigma) {
  float own[ROUNDS];
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < ROUNDS; i++) {
    own[i] = us[2 * i + choice];
    double logarithm = log((double)own[i] / true_us[choice]);
    sum += logarithm;
    squares += logarithm * logarithm;
  }
  qsort(own, ROUNDS, sizeof own[0], by_value);
  *median = ((double)own[ROUNDS / 2 - 1] + (double)own[ROUNDS / 2]) / 2 / true_us[choice];
  *sigma = sqrt(squares / ROUNDS - sum / ROUNDS * (sum / ROUNDS));
}

/* The median of 4000 samples has a standard error of 1.25 sigma / sqrt(4000) = 2% of sigma, and sigma one of 1.1%;
   allowed are five times as much. */
static void samples_are_lognormal(void** state) {
  (void)state;
  static const struct {
    double noise, rank_noise, sigma;
  } rows[] = {{0.05, 0, 0.05}, {0.05, 0.005, 0.0502494}, {0, 0.005, 0.005}, {0.3, 0.4, 0.5}};
  static float us[2 * ROUNDS];
  for (size_t i = 0; i < COUNT(rows); i++)
    for (size_t choice = 0; choice < 2; choice++) {
      struct fabric_simulation simulation = simulation_of(profile);
      double median;
      double sigma;
      simulation.noise = rows[i].noise;
      simulation.rank_noise = rows[i].rank_noise;
      run_rank(&simulation, 0, ROUNDS, us);
      statistics(us, choice, &median, &sigma);
      if (fabs(log(median)) > 0.1 * rows[i].sigma) fail_msg("row %zu: median %g", i, median);
      if (fabs(sigma / rows[i].sigma - 1) > 0.06) fail_msg("row %zu: sigma %g", i, sigma);
    }
}

static void without_noise_exact(void** state) {
  (void)state;
  struct fabric_simulation simulation = quiet_simulation(profile);
  float us[2 * SHORT];
  run_rank(&simulation, 0, SHORT, us);
  for (size_t i = 0; i < COUNT(us); i++) assert_true((double)us[i] == true_us[i % 2]);
}

static double correlation(const float* us, size_t apart) {
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i + apart < 2 * ROUNDS; i++) {
    double a = log((double)us[i] / true_us[i % 2]);
    double b = log((double)us[i + apart] / true_us[(i + apart) % 2]);
    sum += a * b;
    squares += a * a;
  }
  return sum / squares;
}

/* Neither the two choices of a round nor the rounds share their chance: 5 / sqrt(8000) allowed. */
static void samples_are_independent(void** state) {
  (void)state;
  struct fabric_simulation simulation = simulation_of(profile);
  static float us[2 * ROUNDS];
  run_rank(&simulation, 0, ROUNDS, us);
  for (size_t apart = 1; apart <= 4; apart++)
    if (fabs(correlation(us, apart)) > 0.056) fail_msg("%zu apart: %g", apart, correlation(us, apart));
}

/* --- ranks and processes ----------------------------------------------------------------------------------------- */

/* The same commands on another rank of another process. */
static void run_in_child(const struct fabric_simulation* simulation, uint32_t rank, float us[2 * SHORT]) {
  int ends[2];
  int status;
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    run_rank(simulation, rank, SHORT, us);
    _exit(write(ends[1], us, 2 * SHORT * sizeof *us) != 2 * SHORT * (ssize_t)sizeof *us);
  }
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(read(ends[0], us, 2 * SHORT * sizeof *us), 2 * SHORT * sizeof *us);
  close(ends[0]);
  close(ends[1]);
}

static void ranks_of_all_processes_agree(void** state) {
  (void)state;
  struct fabric_simulation simulation = simulation_of(profile);
  float here[2 * SHORT];
  float there[2 * SHORT];
  run_rank(&simulation, 2, SHORT, here);
  run_in_child(&simulation, 2, there); /* its own part is its own again */
  assert_memory_equal(here, there, sizeof here);
  run_in_child(&simulation, 6, there);
  for (size_t i = 0; i < COUNT(here); i++) {
    if (here[i] == there[i]) fail_msg("sample %zu is the same on two ranks", i);
    assert_near((double)there[i], (double)here[i], 0.04, "a rank's own part"); /* 5.6 sigma of a difference */
  }
  simulation.rank_noise = 0;
  run_rank(&simulation, 2, SHORT, here);
  run_in_child(&simulation, 6, there);
  assert_memory_equal(here, there, sizeof here);
}

static bool all_differ(const float* a, const float* b) {
  for (size_t i = 0; i < 2 * SHORT; i++)
    if (a[i] == b[i]) return false;
  return true;
}

static void seeds_and_attempts_differ(void** state) {
  (void)state;
  struct fabric_simulation simulation = simulation_of(profile);
  float first[2 * SHORT];
  float other[2 * SHORT];
  run_rank(&simulation, 0, SHORT, first);
  simulation.seed = 2;
  run_rank(&simulation, 0, SHORT, other);
  assert_true(all_differ(first, other));
  simulation.seed = 1;
  simulation.attempt = 1;
  run_rank(&simulation, 0, SHORT, other);
  assert_true(all_differ(first, other));
}

/* Chance goes on from call to call, over new communicators as well, and however the rounds are cut. */
static void chance_goes_on(void** state) {
  (void)state;
  struct fabric_simulation simulation = simulation_of(profile);
  struct fabric_place place = place_of(8, 8, 0);
  float whole[2 * SHORT];
  float cut[2 * SHORT];
  run_rank(&simulation, 0, SHORT, whole);
  struct fabric* fabric = must_join(&simulation, place);
  must_run(fabric, 1, cut);
  assert_true(fabric_rounds(fabric, 9, cut + 2));
  must(fabric, fabric_disconnect(fabric));
  must(fabric, fabric_connect(fabric, &place));
  must_run(fabric, SHORT - 10, cut + 20);
  fabric_close(fabric);
  assert_memory_equal(whole, cut, sizeof whole);
}

/* --- drift, slow ranks ------------------------------------------------------------------------------------------- */

/* 20% more after a minute: linear until then, the same for both choices of a round, and no more later. A round takes
   3750 + 1140 us and twice auto's time at 4 bytes, and nothing of a rank's own. */
static void drift_grows_for_a_minute(void** state) {
  (void)state;
  struct fabric_simulation simulation = quiet_simulation(profile);
  add_fault(&simulation, "drift:20");
  struct fabric* fabric = must_join(&simulation, place_of(8, 8, 0));
  static float us[2 * 20000];
  double before = clock_of(fabric);
  assert_true(before == 500e3);
  must_run(fabric, 1, us);
  assert_near((double)us[0], 3750 * (1 + 0.2 * before / 60e6), 1e-6, "the first sample");
  assert_near((double)us[1], 1140 * (1 + 0.2 * before / 60e6), 1e-6, "its neighbour");
  must_run(fabric, 2000, us);
  before = clock_of(fabric);
  assert_true(before < 20e6);
  must_run(fabric, 1, us);
  assert_near((double)us[0], 3750 * (1 + 0.2 * before / 60e6), 1e-6, "later");
  must_run(fabric, 20000, us);
  assert_true(clock_of(fabric) > 60e6);
  assert_near((double)us[2 * 19999], 3750 * 1.2, 1e-6, "in the end");
  fabric_close(fabric);
}

static void slow_ranks_are_slow_alone(void** state) {
  (void)state;
  struct fabric_simulation plain = simulation_of(profile);
  struct fabric_simulation slow = plain;
  float here[2 * SHORT];
  float there[2 * SHORT];
  add_fault(&slow, "slow-rank:3:1.5");
  for (uint32_t rank = 0; rank < 8; rank++) {
    run_rank(&plain, rank, SHORT, here);
    run_rank(&slow, rank, SHORT, there);
    for (size_t i = 0; i < COUNT(here); i++)
      assert_near((double)there[i], (double)here[i] * (rank == 3 ? 1.5 : 1), 1e-6, "a sample");
  }
  struct fabric* a = must_join(&slow, place_of(8, 8, 3));
  struct fabric* b = must_join(&slow, place_of(8, 8, 4));
  must_run(a, SHORT, here);
  must_run(b, SHORT, there);
  assert_true(clock_of(a) == clock_of(b));
  fabric_close(a);
  fabric_close(b);
}

/* --- the draws --------------------------------------------------------------------------------------------------- */

static void draws_are_even(void** state) {
  (void)state;
  size_t cells[16] = {0};
  for (uint64_t i = 0; i < 16000; i++) {
    uint64_t words[] = {7, i};
    double uniform = sim_uniform(sim_hash(words, 2));
    assert_true(uniform >= 0 && uniform < 1);
    cells[(size_t)(uniform * 16)]++;
  }
  for (size_t i = 0; i < 16; i++) /* 1000 each, standard deviation 31 */
    if (cells[i] < 845 || cells[i] > 1155) fail_msg("cell %zu holds %zu", i, cells[i]);
}

static void hashes_depend_on_every_word(void** state) {
  (void)state;
  const uint64_t words[] = {1, 2, 3};
  const uint64_t swapped[] = {1, 3, 2};
  assert_true(sim_hash(words, 3) == sim_hash(words, 3));
  assert_true(sim_hash(words, 3) != sim_hash(swapped, 3));
  assert_true(sim_hash(words, 3) != sim_hash(words, 2));
  const uint64_t zeros[4] = {0};
  assert_true(sim_hash(zeros, 3) != sim_hash(zeros, 4));
}

/* Worked out with another language's logarithm and exponential; from hash to draw, to the last digits. */
static void draws_are_known(void** state) {
  (void)state;
  static const struct {
    uint64_t hash;
    double expected;
  } rows[] = {{0, 1.2112340824023389}, {12345, 0.5275646984433546}, {UINT64_MAX, 1.4298541678558931}};
  for (size_t i = 0; i < COUNT(rows); i++)
    assert_near(sim_lognormal(rows[i].hash, 0.5), rows[i].expected, 1e-14, "a draw");
  assert_true(sim_lognormal(12345, 0) == 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples_are_lognormal),
      cmocka_unit_test(without_noise_exact),
      cmocka_unit_test(samples_are_independent),
      cmocka_unit_test(ranks_of_all_processes_agree),
      cmocka_unit_test(seeds_and_attempts_differ),
      cmocka_unit_test(chance_goes_on),
      cmocka_unit_test(drift_grows_for_a_minute),
      cmocka_unit_test(slow_ranks_are_slow_alone),
      cmocka_unit_test(draws_are_even),
      cmocka_unit_test(hashes_depend_on_every_word),
      cmocka_unit_test(draws_are_known),
  };
  return cmocka_run_group_tests(tests, read_it, free_it);
}
