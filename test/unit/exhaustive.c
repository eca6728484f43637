/* bench/calibrate/exhaustive: the oracle beside calibrate, on simulated ranks without noise. */
#include "calibrate/exhaustive.h"

#include <math.h>

#include "unit/simulated_crew.h"
#include "unit/study_profile.h"

static struct study study;
static struct study_plan plan;
static const struct measure_watch watch;
static struct exhaustive exhaustive;

/* What the watch and the listener were told. */
static struct {
  enum phase phase;
  double us[PHASE_COUNT];
  size_t finished;
  size_t excluded;
  char why[256];
} seen;

static void entered(void* context, enum phase phase) {
  (void)context;
  seen.phase = phase;
}

static void finished(void* context, const struct exhaustive_point* point) {
  (void)context;
  (void)point;
  seen.finished++;
}

static void excluded(void* context, const struct fabric_call* call, struct sw_choice choice, const char* why) {
  struct sw_text text = SW_TEXT_EMPTY;
  (void)context;
  (void)call;
  sw_add_choice(&text, choice);
  snprintf(seen.why, sizeof seen.why, "%s: %s", sw_text_string(&text), why);
  sw_text_free(&text);
  seen.excluded++;
}

static void sampled(void* context, const struct crew_samples* samples) {
  (void)context;
  for (size_t i = 0; i < samples->rounds * samples->count; i++) seen.us[seen.phase] += (double)samples->us[i];
}

static void unchanged(void* context, const struct study* of) {
  (void)context;
  (void)of;
}

/* Two sizes, calibrated and swept. */
static bool run(struct simulated* s) {
  static const struct exhaustive_watch told = {NULL, entered, excluded, finished};
  plan = (struct study_plan){.collectives = {NCCL_ALLREDUCE},
                             .collective_count = 1,
                             .sizes = {4096, 16 << 20},
                             .size_count = 2,
                             .groups = {crew_ranks(s->crew)},
                             .group_count = 1,
                             .min_gain = 3 * SW_ONE / 100};
  study = (struct study){.plan = &plan, .crew = s->crew, .watch = &watch};
  memset(&seen, 0, sizeof seen);
  study_measure(&study, unchanged, NULL);
  assert_int_equal(study.end, STUDY_DONE);
  char* profile = study_profile(&study, s->crew).data;
  crew_listen(s->crew, sampled, NULL);
  bool good = exhaustive_run(&study, profile, &told, &exhaustive);
  free(profile);
  return good;
}

static void end(struct simulated* s) {
  exhaustive_free(&exhaustive);
  study_free(&study);
  end_simulated(s);
}

static bool near(double a, double b) {
  return fabs(a - b) < 0.005;
}

static void all_choices_are_swept_and_both_winners_compared_afresh(void** state) {
  (void)state;
  struct simulated* s = join_simulated(GAINS, 2, 0, NULL);
  assert_true(run(s));
  assert_int_equal(exhaustive.count, 2);
  assert_int_equal(exhaustive.wanted, 2);
  assert_int_equal(seen.finished, 2);
  assert_int_equal(exhaustive.points[0].call.mode, FABRIC_GRAPH);
  assert_int_equal(exhaustive.points[1].call.mode, FABRIC_STREAM);
  for (size_t i = 0; i < 2; i++) {
    const struct exhaustive_point* point = &exhaustive.points[i];
    assert_int_equal(point->choices % 6, 0);
    assert_true(point->choices >= 6 * 7); /* auto, ring and tree with three protocols each */
    assert_true(point->best_gain > 0.45);
    assert_true(near(point->best_gain, point->decided_gain));
    assert_true(near(point->best_fresh.gain, point->best_gain));
    assert_true(near(point->decided_fresh.gain, point->decided_gain));
    assert_true(point->best_fresh.low <= point->best_fresh.gain && point->best_fresh.gain <= point->best_fresh.high);
  }
  struct speedups speedups = exhaustive_speedups(&exhaustive);
  assert_true(near(speedups.decided / speedups.best, 1));
  assert_true(speedups.best > 1.9);
  end(s);
}

/* Every sample of the sweep counts, those that came afresh do not. */
static void its_cost_is_all_its_samples(void** state) {
  (void)state;
  struct simulated* s = join_simulated(GAINS, 2, 0.02, NULL);
  assert_true(run(s));
  assert_true(fabs(exhaustive.sweep_us - seen.us[PHASE_EXHAUSTIVE]) < 1e-6 * exhaustive.sweep_us);
  assert_true(seen.us[PHASE_FRESH] > 0);
  assert_true(exhaustive.sweep_us > 2 * study.measuring_us);
  end(s);
}

/* 16 channels are more than calibrate tries where NCCL runs fewer: the sweep finds out itself. */
static void what_calibrate_never_tried_may_crash(void** state) {
  (void)state;
  struct simulated* s = join_simulated(GAINS, 2, 0, FAULTS("crash:/16@4KiB"));
  assert_true(run(s));
  assert_int_equal(exhaustive.count, 2);
  assert_int_equal(seen.excluded, 1);
  assert_non_null(strstr(seen.why, "16 channels: "));
  assert_non_null(ban_of(&study.bans, NCCL_ALLREDUCE, 2, CHANNELS(16)));
  end(s);
}

static void what_calibrate_excluded_cannot_win(void** state) {
  (void)state;
  struct simulated* s = join_simulated(GAINS, 2, 0, FAULTS("corrupt:ring+ll/2", "corrupt:/2"));
  assert_true(run(s));
  for (size_t i = 0; i < exhaustive.count; i++) {
    assert_false(sw_choice_same(exhaustive.points[i].best, RING(LL, 2)));
    assert_false(sw_choice_same(exhaustive.points[i].best, CHANNELS(2)));
  }
  end(s);
}

/* As those that could not be joined: they are not joined for nothing. */
static void a_communicator_without_sizes_is_left_out(void** state) {
  (void)state;
  static const struct exhaustive_watch silent;
  struct simulated* s = join_simulated(GAINS, 2, 0, NULL);
  assert_true(run(s));
  exhaustive_free(&exhaustive);
  char* profile = study_profile(&study, s->crew).data;
  plan.groups[plan.group_count++] = 1;
  assert_true(exhaustive_run(&study, profile, &silent, &exhaustive));
  assert_int_equal(exhaustive.count, 2);
  assert_int_equal(crew_group(s->crew), 2);
  free(profile);
  end(s);
}

static void an_interrupted_sweep_keeps_what_it_has(void** state) {
  (void)state;
  struct simulated* s = join_simulated(GAINS, 2, 0, NULL);
  assert_true(run(s));
  exhaustive_free(&exhaustive);
  char* profile = study_profile(&study, s->crew).data;
  static const struct exhaustive_watch silent;
  s->interrupted = 1;
  assert_false(exhaustive_run(&study, profile, &silent, &exhaustive));
  assert_int_equal(crew_failure(s->crew)->kind, TEAM_INTERRUPTED);
  assert_int_equal(exhaustive.count, 0);
  assert_int_equal(exhaustive.wanted, 2);
  free(profile);
  end(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_choices_are_swept_and_both_winners_compared_afresh),
      cmocka_unit_test(its_cost_is_all_its_samples),
      cmocka_unit_test(what_calibrate_never_tried_may_crash),
      cmocka_unit_test(what_calibrate_excluded_cannot_win),
      cmocka_unit_test(a_communicator_without_sizes_is_left_out),
      cmocka_unit_test(an_interrupted_sweep_keeps_what_it_has),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
