/* bench/calibrate/measure: one call on simulated ranks, well and with every kind of fault. */
#include "calibrate/measure.h"

#include <dirent.h>

#include "unit/simulated_crew.h"

static struct measured point;
static struct ban_list bans;

/* What the watch was told. */
static struct {
  struct simulated* s;
  size_t looks;
  size_t excluded;
  char why[256];
  bool kill_at_look; /* a worker, at the first look */
  bool interrupt_at_look;
} seen;

static void excluded(void* context, const struct fabric_call* call, struct sw_choice choice, const char* why) {
  struct sw_text text = SW_TEXT_EMPTY;
  (void)context;
  (void)call;
  sw_add_choice(&text, choice);
  snprintf(seen.why, sizeof seen.why, "%s: %s", sw_text_string(&text), why);
  sw_text_free(&text);
  seen.excluded++;
}

static int parent_of(int pid) {
  char path[64];
  char text[256] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE* file = fopen(path, "r");
  if (!file) return 0;
  size_t got = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  const char* end = got ? strrchr(text, ')') : NULL; /* ") S 1234 ": state and parent */
  return end && strlen(end) > 4 ? (int)strtol(end + 4, NULL, 10) : 0;
}

/* A worker is a child of a supervisor, which is a child of this process. */
static int find_worker(void) {
  int worker = 0;
  DIR* folder = opendir("/proc");
  for (struct dirent* entry; folder && !worker && (entry = readdir(folder));) {
    int pid = (int)strtol(entry->d_name, NULL, 10);
    if (pid > 0 && parent_of(parent_of(pid)) == getpid()) worker = pid;
  }
  if (folder) closedir(folder);
  return worker;
}

static void looked(void* context, const struct fabric_call* call, const struct race* race, struct sw_choice leader,
                   size_t left) {
  (void)context;
  (void)call;
  (void)race;
  (void)leader;
  (void)left;
  int worker = seen.looks++ == 0 && seen.kill_at_look ? find_worker() : 0;
  if (worker > 0) kill(worker, SIGKILL);
  if (seen.interrupt_at_look) seen.s->interrupted = SIGINT;
}

static const struct measure_watch watch = {.excluded = excluded, .looked = looked};

static struct simulated* begin(const char* yaml, double noise, const char** faults) {
  memset(&seen, 0, sizeof seen);
  memset(&bans, 0, sizeof bans);
  return seen.s = join_simulated(yaml, 2, noise, faults);
}

static bool try_to_measure(struct simulated* s, uint64_t bytes, double budget_us) {
  struct fabric_call call = call_of(NCCL_ALLREDUCE, bytes);
  struct measure_rules rules = {race_rules_default, budget_us, 0};
  return measure_call(s->crew, &call, &rules, &bans, &watch, &point);
}

static void measure(struct simulated* s, uint64_t bytes) {
  if (!try_to_measure(s, bytes, 0)) fail_msg("%s", crew_failure(s->crew)->text);
}

static const struct measured_choice* choice_of(struct sw_choice choice) {
  for (size_t i = 0; i < point.count; i++)
    if (sw_choice_same(point.choices[i].candidate.choice, choice)) return &point.choices[i];
  fail_msg("no such choice");
  return NULL;
}

/* The choice that runs this, under whatever name. */
static const struct measured_choice* choice_that_runs(int algo, int proto, int channels) {
  for (size_t i = 0; i < point.count; i++) {
    const struct fabric_probe* probe = &point.choices[i].candidate.probe;
    if (probe->algo == algo && probe->proto == proto && probe->channels == channels) return &point.choices[i];
  }
  fail_msg("nothing runs that");
  return NULL;
}

static void assert_time(const struct measured_choice* choice, double us) {
  assert_near(choice->result.median_us, us, 1e-6, "a median");
}

static void assert_gains_found(void) {
  assert_time(&point.choices[0], 100);
  assert_time(choice_that_runs(NCCL_ALGO_RING, NCCL_PROTO_LL, 2), 50);
  assert_int_equal(point.stop, RACE_SETTLED);
}

/* 52 is beaten by 50; all others take 110 or more, which is two looks' worth of being far slower. */
static void a_race_without_noise(void** state) {
  (void)state;
  struct simulated* s = begin(GAINS, 0, NULL);
  measure(s, MIB);
  assert_gains_found();
  assert_time(choice_that_runs(NCCL_ALGO_TREE, NCCL_PROTO_SIMPLE, 4), 52);
  assert_int_equal(choice_that_runs(NCCL_ALGO_RING, NCCL_PROTO_LL, 2)->result.samples, 15);
  assert_int_equal(choice_that_runs(NCCL_ALGO_RING, NCCL_PROTO_LL, 2)->fate, RACE_IN);
  assert_int_equal(choice_that_runs(NCCL_ALGO_RING, NCCL_PROTO_SIMPLE, 1)->fate, RACE_SLOW);
  assert_int_equal(point.ranks, 2);
  assert_int_equal(point.nodes, 2);
  assert_int_equal(point.call.bytes, MIB);
  double sum = 0;
  for (size_t i = 0; i < point.count; i++)
    sum += (double)point.choices[i].result.samples * point.choices[i].result.median_us;
  assert_near(point.measuring_us, sum, 1e-6, "the sum of all samples");
  assert_int_equal(seen.excluded, 0);
  assert_true(seen.looks >= 6);
  end_simulated(s);
}

#define NO_GAIN HEAD TABLES(TABLE(POINT("1KiB", AUTO("100us")) POINT("64MiB", AUTO("100us"))))

static void nothing_to_gain(void** state) {
  (void)state;
  struct simulated* s = begin(NO_GAIN, 0, NULL);
  measure(s, MIB);
  assert_int_equal(point.stop, RACE_NOTHING);
  for (size_t i = 1; i < point.count; i++) assert_true(point.choices[i].result.median_us >= 110 * (1 - 1e-6));
  end_simulated(s);
}

/* Wrong data at one size say nothing of the next. */
static void wrong_data(void** state) {
  (void)state;
  struct simulated* s = begin(GAINS, 0, FAULTS("corrupt:ring+ll/2@1MiB"));
  measure(s, MIB);
  const struct measured_choice* bad = choice_of(RING(LL, 2));
  assert_int_equal(bad->result.samples, 0);
  assert_int_equal(bad->fate, RACE_EXCLUDED);
  assert_string_equal(bad->candidate.excluded, "wrong data: rank 1 received something else than the exact result");
  assert_string_equal(seen.why,
                      "ring + ll, 2 channels: wrong data: rank 1 received something else than the exact result");
  assert_time(choice_that_runs(NCCL_ALGO_TREE, NCCL_PROTO_SIMPLE, 4), 52);
  assert_int_equal(crew_starts(s->crew), 1);
  measure(s, 2 * MIB);
  assert_gains_found();
  end_simulated(s);
}

/* Each brings the workers down once; from then on it is not tried again. */
static void what_fails_is_banned(void** state) {
  (void)state;
  static const struct {
    const char* fault;
    const char* why;
  } cases[] = {{"crash:tree+ll", " was killed by signal 11 (Segmentation fault)"},
               {"error:tree+ll", "ncclAllReduce: unhandled system error (run with NCCL_DEBUG=INFO for details)"}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct simulated* s = begin(GAINS, 0, FAULTS(cases[i].fault));
    measure(s, MIB);
    assert_gains_found();
    const struct measured_choice* bad = choice_of(TREE(LL, 0));
    assert_int_equal(bad->result.samples, 0);
    if (!strstr(bad->candidate.excluded, cases[i].why)) fail_msg("%s: %s", cases[i].fault, bad->candidate.excluded);
    assert_int_equal(seen.excluded, 1);
    assert_int_equal(crew_starts(s->crew), 2);
    measure(s, 2 * MIB);
    assert_gains_found();
    assert_int_equal(seen.excluded, 1);
    assert_int_equal(crew_starts(s->crew), 2);
    end_simulated(s);
  }
}

/* Auto is what all is compared with: without it there is nothing to measure. */
static void auto_fails(void** state) {
  (void)state;
  struct simulated* s = begin(GAINS, 0, FAULTS("error:auto"));
  assert_true(try_to_measure(s, MIB, 0));
  assert_int_equal(point.count, 0);
  assert_non_null(strstr(point.why, "ncclAllReduce: unhandled system error"));
  end_simulated(s);
  s = begin(GAINS, 0, FAULTS("error:auto@1MiB@timed"));
  assert_true(try_to_measure(s, MIB, 0));
  assert_int_equal(point.count, 0);
  measure(s, 2 * MIB); /* the workers are well again */
  assert_gains_found();
  end_simulated(s);
}

/* With no room for another ban the choice would be met again, for ever: the call ends instead. */
static void too_many_bans(void** state) {
  (void)state;
  struct simulated* s = begin(GAINS, 0, FAULTS("error:tree+ll"));
  while (ban(&bans, NCCL_REDUCE, 2, RING(LL, 1), "made up")) {
  }
  assert_true(try_to_measure(s, MIB, 0));
  assert_int_equal(point.count, 0);
  assert_non_null(strstr(point.why, "more than 1024 choices failed; the last: "));
  end_simulated(s);
}

/* A worker that is killed from outside while the race runs: no choice is to blame. */
static void killed_in_the_race(void** state) {
  (void)state;
  struct simulated* s = begin(GAINS, 0, NULL);
  seen.kill_at_look = true;
  measure(s, MIB);
  assert_gains_found();
  assert_int_equal(seen.excluded, 0);
  assert_int_equal(crew_starts(s->crew), 2);
  end_simulated(s);
}

static void interrupted(void** state) {
  (void)state;
  struct simulated* s = begin(GAINS, 0.05, NULL);
  seen.interrupt_at_look = true;
  assert_false(try_to_measure(s, MIB, 0));
  assert_int_equal(crew_failure(s->crew)->kind, TEAM_INTERRUPTED);
  end_simulated(s);
}

/* One look is taken; there all have been seen once. */
static void budget(void** state) {
  (void)state;
  struct simulated* s = begin(GAINS, 0.05, NULL);
  assert_true(try_to_measure(s, MIB, 1));
  assert_int_equal(point.stop, RACE_BUDGET);
  for (size_t i = 0; i < point.count; i++) assert_int_equal(point.choices[i].result.samples, 1);
  end_simulated(s);
}

/* Times and all stated of a slow rank are the slow rank's: the maximum counts. Drift hits all of a round alike. */
static void slow_rank_and_drift(void** state) {
  (void)state;
  struct simulated* s = begin(GAINS, 0, FAULTS("slow-rank:1:3"));
  measure(s, MIB);
  assert_time(&point.choices[0], 300);
  assert_time(choice_that_runs(NCCL_ALGO_RING, NCCL_PROTO_LL, 2), 150);
  end_simulated(s);
  s = begin(GAINS, 0, FAULTS("drift:900"));
  measure(s, MIB);
  double own = point.choices[0].result.median_us;
  assert_near(choice_that_runs(NCCL_ALGO_RING, NCCL_PROTO_LL, 2)->result.median_us, own / 2, 1e-6, "a drifted median");
  assert_near(choice_that_runs(NCCL_ALGO_TREE, NCCL_PROTO_SIMPLE, 4)->result.median_us, own * 0.52, 1e-6, "a loser's");
  end_simulated(s);
}

static void pairs(void** state) {
  (void)state;
  struct measured_pair pair;
  struct fabric_call call = call_of(NCCL_ALLREDUCE, MIB);
  struct simulated* s = begin(GAINS, 0, NULL);
  assert_true(measure_pair(s->crew, &call, TREE(SIMPLE, 4), 20, &pair));
  assert_int_equal(pair.own.samples, 20);
  assert_near(pair.own.median_us, 100, 1e-6, "auto");
  assert_near(pair.other.median_us, 52, 1e-6, "the choice");
  assert_near(pair.gain, 0.48, 1e-6, "the gain");
  assert_true(pair.low == pair.gain && pair.high == pair.gain);
  end_simulated(s);
  s = begin(GAINS, 0.05, NULL);
  assert_true(measure_pair(s->crew, &call, TREE(SIMPLE, 4), 60, &pair));
  assert_true(pair.low < pair.gain && pair.gain < pair.high);
  assert_true(pair.low > 0.44 && pair.high < 0.52);
  end_simulated(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_race_without_noise), cmocka_unit_test(nothing_to_gain), cmocka_unit_test(wrong_data),
      cmocka_unit_test(what_fails_is_banned), cmocka_unit_test(auto_fails),      cmocka_unit_test(too_many_bans),
      cmocka_unit_test(killed_in_the_race),   cmocka_unit_test(interrupted),     cmocka_unit_test(budget),
      cmocka_unit_test(slow_rank_and_drift),  cmocka_unit_test(pairs),
  };
  alarm(150);
  return cmocka_run_group_tests(tests, quiet_environment, NULL);
}
