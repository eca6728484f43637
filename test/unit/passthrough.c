/*
 * The comparison of the plugin passing everything through with no tuner: the arithmetic, and the turns, with a crew
 * that this file plays: NCCL takes 10 us, `slower` times that with the plugin, each start of the workers a while.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/passthrough.h"

/* --- a crew that is played ---------------------------------------------------------------------------------------- */

static struct {
  double start_us; /* what a start and a connect take */
  double slower;   /* times with the plugin, relative to those without */
  double wobble;   /* each start's own part, alternating */
  size_t fail_at;  /* this start fails; 0: none */
  char turns[64];  /* W with the plugin, N without, in order */
  bool bare;       /* the workers that run have no plugin */
  size_t count;    /* of turns */
  size_t started;  /* how often the workers were */
  size_t rounds;   /* the most that were asked for at once */
  double clock_us;
  struct fabric_call calls[64];
  size_t prepared;
  struct team_failure failure;
} played;

static void play(double start_us, double slower) {
  memset(&played, 0, sizeof played);
  played.start_us = start_us;
  played.slower = slower;
}

static bool played_start(bool bare) {
  played.bare = bare;
  played.started++;
  played.clock_us += played.start_us;
  if (played.started != played.fail_at) return true;
  snprintf(played.failure.text, sizeof played.failure.text, "rank 3 ended with status 1");
  return false;
}

bool crew_start(struct crew* crew, const char* profile) {
  (void)crew;
  assert_null(profile);
  return played_start(false);
}

bool crew_start_bare(struct crew* crew) {
  (void)crew;
  return played_start(true);
}

/* What begins a turn. */
bool crew_connect(struct crew* crew, uint32_t ranks) {
  (void)crew;
  assert_int_equal(ranks, 8);
  played.turns[played.count++] = played.bare ? 'N' : 'W';
  return true;
}

uint32_t crew_ranks(const struct crew* crew) {
  (void)crew;
  return 8;
}

double crew_clock(struct crew* crew) {
  (void)crew;
  return played.clock_us;
}

const struct team_failure* crew_failure(const struct crew* crew) {
  (void)crew;
  return &played.failure;
}

bool crew_prepare(struct crew* crew, const struct fabric_call* call, const struct sw_choice* choices, size_t count) {
  (void)crew;
  assert_int_equal(count, 1);
  assert_true(sw_choice_is_auto(choices[0]));
  played.calls[played.prepared++ % 64] = *call;
  return true;
}

bool crew_rounds(struct crew* crew, size_t rounds, float* us) {
  (void)crew;
  bool with = !played.bare;
  double own = 1 + (played.count % 2 ? played.wobble : 0); /* now the one side, now the other */
  if (rounds > played.rounds) played.rounds = rounds;
  for (size_t i = 0; i < rounds; i++) us[i] = (float)(10 * own * (with ? played.slower : 1));
  return true;
}

/* --- cases -------------------------------------------------------------------------------------------------------- */

static struct study_plan plan_of(double budget_s) {
  return (struct study_plan){.collectives = {NCCL_ALLREDUCE},
                             .collective_count = 1,
                             .sizes = {1 << 10, 4 << 10, 1 << 20, 16 << 20, 128 << 20},
                             .size_count = 5,
                             .groups = {8},
                             .group_count = 1,
                             .budget_us = budget_s * 1e6};
}

static struct passthrough measure(double budget_s) {
  struct study_plan plan = plan_of(budget_s);
  struct passthrough out;
  passthrough_measure(NULL, &plan, NULL, &out);
  return out;
}

static void assert_words(const struct passthrough* p, const char* expected) {
  struct sw_text words = SW_TEXT_EMPTY;
  passthrough_add_words(p, &words);
  assert_string_equal(sw_text_string(&words), expected);
  sw_text_free(&words);
}

/* The first turn takes the workers that run, and the last leaves some. */
static void turns_alternate(void** state) {
  (void)state;
  play(1e6, 1);
  struct passthrough p = measure(300);
  assert_string_equal(played.turns, "WNNWNW");
  assert_int_equal(played.started, 5);
  assert_int_equal(p.pairs, 3);
  assert_int_equal(p.count, 2);
  assert_int_equal(p.sizes[0].call.bytes, 1 << 10);
  assert_int_equal(p.sizes[1].call.bytes, 128 << 20);
  assert_int_equal(p.sizes[0].call.mode, FABRIC_GRAPH);
  assert_int_equal(p.sizes[1].call.mode, FABRIC_STREAM);
  assert_in_range(played.rounds, 1, 64);
  assert_true(passthrough_leaves_workers(&p));
  assert_int_equal(passthrough_worst(&p), PASSTHROUGH_EQUAL);
  assert_words(&p,
               "The plugin passing everything through equals no tuner at all within 2% (allreduce 1 KiB +0.0% "
               "[+0.0 to +0.0], 128 MiB +0.0% [+0.0 to +0.0]; intervals that hold together with 95%, from 3 pairs of "
               "starts).");
}

static void a_difference_is_found(void** state) {
  (void)state;
  play(1e6, 1.05);
  struct passthrough p = measure(300);
  assert_int_equal(passthrough_worst(&p), PASSTHROUGH_DIFFERS);
  assert_true(fabs(p.sizes[0].difference - 0.05) < 1e-6);
  assert_words(&p,
               "The plugin passing everything through DIFFERS from no tuner at all by more than 2% (allreduce 1 KiB "
               "+5.0% [+5.0 to +5.0], 128 MiB +5.0% [+5.0 to +5.0]; intervals that hold together with 95%, from 3 "
               "pairs of starts).");
}

/* Too small to matter, however sure it is. */
static void a_small_difference_is_none(void** state) {
  (void)state;
  play(1e6, 1.015);
  struct passthrough p = measure(300);
  assert_true(p.sizes[0].low > 0.01);
  assert_int_equal(passthrough_worst(&p), PASSTHROUGH_EQUAL);
}

/* A size differs where its whole interval lies beyond 2%, equals where it lies within, and is open in between. */
static void verdicts(void** state) {
  (void)state;
  static const struct {
    double low;
    double high;
    enum passthrough_verdict verdict;
  } cases[] = {{-0.02, 0.02, PASSTHROUGH_EQUAL},   {0.001, 0.02, PASSTHROUGH_EQUAL},
               {-0.021, 0.01, PASSTHROUGH_OPEN},   {0.002, 0.05, PASSTHROUGH_OPEN},
               {0.021, 0.05, PASSTHROUGH_DIFFERS}, {-0.09, -0.021, PASSTHROUGH_DIFFERS},
               {-0.5, 0.5, PASSTHROUGH_OPEN}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct passthrough_size size = {.low = cases[i].low, .high = cases[i].high};
    assert_int_equal(passthrough_verdict(&size), cases[i].verdict);
  }
}

/* Where starts differ among themselves more pairs are taken, as far as the tenth goes, and the interval is wide. */
static void wobbling_starts_take_more_pairs(void** state) {
  (void)state;
  play(1e6, 1.0);
  played.wobble = 0.04;
  struct passthrough p = measure(300);
  assert_int_equal(p.pairs, PASSTHROUGH_MOST_PAIRS);
  assert_int_equal(passthrough_worst(&p), PASSTHROUGH_OPEN);
  play(1e6, 1.0);
  played.wobble = 0.04;
  p = measure(85); /* room for eight starts */
  assert_int_equal(p.pairs, 4);
  assert_true(played.clock_us <= 8.5e6);
}

static void short_budgets_skip_it(void** state) {
  (void)state;
  play(1e6, 1);
  struct passthrough p = measure(19);
  assert_int_equal(played.started, 0);
  assert_words(&p, "The plugin passing everything through was not compared with no tuner: the budget is below 20 s.");
}

static void slow_starts_skip_it(void** state) {
  (void)state;
  play(7e6, 1);
  struct passthrough p = measure(300);
  assert_string_equal(played.turns, "WN");
  assert_int_equal(p.pairs, 0);
  assert_false(passthrough_leaves_workers(&p));
  assert_words(
      &p,
      "The plugin passing everything through was not compared with no tuner: a turn takes 7.0 s, and the 6 that "
      "it needs are more than a tenth of the budget; --budget 6m has room.");
}

static void a_failed_turn_is_told(void** state) {
  (void)state;
  play(1e6, 1);
  played.fail_at = 1;
  struct passthrough p = measure(300);
  assert_int_equal(p.pairs, 0);
  assert_words(&p,
               "The plugin passing everything through was not compared with no tuner: a turn failed: rank 3 ended with "
               "status 1.");
  play(1e6, 1); /* what was seen before counts */
  played.wobble = 0.04;
  played.fail_at = 7;
  p = measure(300);
  assert_int_equal(p.pairs, 3);
}

/* By hand: logarithms 0.01, 0.02, 0.03; mean 0.02, deviation 0.01, half-width 4.303 * 0.01 / sqrt(3). */
static void the_interval_is_students(void** state) {
  (void)state;
  struct passthrough_size size = {0};
  for (int i = 0; i < 3; i++) {
    size.without_us[i] = 100;
    size.with_us[i] = 100 * exp(0.01 * (i + 1));
  }
  passthrough_judge(&size, 3, 1);
  double half = 4.303 * 0.01 / sqrt(3);
  assert_true(fabs(size.difference - (exp(0.02) - 1)) < 1e-12);
  assert_true(fabs(size.low - (exp(0.02 - half) - 1)) < 1e-12);
  assert_true(fabs(size.high - (exp(0.02 + half) - 1)) < 1e-12);
  passthrough_judge(&size, 3, 2); /* two sizes: 98.75% */
  half = 6.205 * 0.01 / sqrt(3);
  assert_true(fabs(size.high - (exp(0.02 + half) - 1)) < 1e-12);
}

/* A plan with one size is compared at it, once. */
static void one_size(void** state) {
  (void)state;
  struct study_plan plan = plan_of(300);
  struct passthrough p;
  play(1e6, 1);
  plan.size_count = 1;
  passthrough_measure(NULL, &plan, NULL, &p);
  assert_int_equal(p.count, 1);
  assert_int_equal(p.pairs, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(turns_alternate),
      cmocka_unit_test(a_difference_is_found),
      cmocka_unit_test(a_small_difference_is_none),
      cmocka_unit_test(verdicts),
      cmocka_unit_test(wobbling_starts_take_more_pairs),
      cmocka_unit_test(short_budgets_skip_it),
      cmocka_unit_test(slow_starts_skip_it),
      cmocka_unit_test(a_failed_turn_is_told),
      cmocka_unit_test(the_interval_is_students),
      cmocka_unit_test(one_size),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
