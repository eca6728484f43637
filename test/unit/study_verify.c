/* bench/calibrate/study_verify: the tables compared with auto afresh, and what does not hold. */
#include "unit/study_run.h"

/* --- verifying ---------------------------------------------------------------------------------------------------- */

static void what_is_true_holds(void** state) {
  (void)state;
  struct simulated* s = start_simulated(GAINS, 2, 0.05, NULL);
  begin(s);
  SIZES(64 * KIB, 256 * KIB);
  study_measure(&study, changed, &changes);
  verify(s);
  assert_int_equal(study.end, STUDY_DONE);
  assert_int_equal(study.tables[0].verified_count, 3); /* the size in the middle as well */
  for (size_t i = 0; i < 3; i++) {
    const struct verified* v = &study.tables[0].verified[i];
    assert_true(v->holds);
    assert_true(v->pair.low > 0.3 && v->pair.high < 0.7);
  }
  assert_decided(s, 64 * KIB, "ring + ll, 2 channels");
  end(s);
}

static struct measured* claim(uint64_t bytes, struct sw_choice choice, double us) {
  struct study_table* table = &study.tables[0];
  struct measured* point = calloc(1, sizeof *point);
  assert_non_null(point);
  *table = (struct study_table){.collective = NCCL_ALLREDUCE, .ranks = 2, .nodes = 2, .points = {point}, .count = 1};
  study.count = 1;
  point->call = (struct fabric_call){.collective = NCCL_ALLREDUCE, .mode = study_mode(bytes), .bytes = bytes};
  point->ranks = point->nodes = 2;
  point->count = 2;
  for (size_t i = 0; i < 2; i++) point->choices[i].candidate.probe.algo = -1;
  point->choices[0].result = (struct race_result){.samples = 20, .median_us = 100, .spread = 0.01};
  point->choices[0].candidate.choice = SW_AUTO;
  point->choices[1].result = (struct race_result){.samples = 20, .median_us = us, .spread = 0.01};
  point->choices[1].candidate.choice = choice;
  return point;
}

/* A table that claims 50 us for what takes 110 us and more: it is withdrawn. */
static void what_is_not_true_is_withdrawn(void** state) {
  (void)state;
  struct simulated* s = start_simulated(GAINS, 2, 0.05, NULL);
  begin(s);
  claim(64 * KIB, RING(SIMPLE, 1), 50);
  assert_decided(s, 64 * KIB, "ring + simple, 1 channel");
  verify(s);
  assert_int_equal(study.tables[0].verified_count, 1);
  assert_false(study.tables[0].verified[0].holds);
  assert_decided(s, 64 * KIB, "auto");
  assert_non_null(
      strstr(study.tables[0].points[0]->choices[1].candidate.excluded, "did not hold when measured afresh"));
  end(s);
}

/* What wins is a twin, as it takes fewer channels than NCCL's own count: both names are withdrawn. */
static void twins_are_withdrawn_together(void** state) {
  (void)state;
  struct simulated* s = start_simulated(GAINS, 2, 0.05, NULL);
  begin(s);
  struct measured* point = claim(64 * KIB, RING(SIMPLE, 0), 50);
  point->twins[point->twin_count++] = (struct twin){RING(SIMPLE, 16), 1};
  struct measured* other = claim(32 * KIB, RING(SIMPLE, 16), 50); /* so that the twin gets a line */
  study.tables[0].points[1] = point;
  study.tables[0].count = 2;
  other->choices[1].result.median_us = 99;
  assert_decided(s, 64 * KIB, "ring + simple, 16 channels");
  verify(s);
  assert_decided(s, 64 * KIB, "auto");
  end(s);
}

/* NCCL's own algorithm changes between the sizes, and with it what two channels of it are: a profile that decides for
   one of them in the middle is corrected there. */
static void between_sizes(void** state) {
  (void)state;
  struct simulated* s = start_simulated(GAINS, 2, 0.05, NULL);
  begin(s);
  struct measured* small = claim(64 * KIB, RING(SIMPLE, 1), 50);
  struct measured* large = claim(256 * KIB, RING(SIMPLE, 1), 50);
  study.tables[0].points[0] = small;
  study.tables[0].points[1] = large;
  study.tables[0].count = 2;
  assert_decided(s, 160 * KIB, "ring + simple, 1 channel");
  verify(s);
  struct sw_text text = decided(s, NCCL_ALLREDUCE, 2, 160 * KIB);
  assert_string_not_equal(sw_text_string(&text), "ring + simple, 1 channel");
  sw_text_free(&text);
  end(s);
}

/* --- failures while comparing ------------------------------------------------------------------------------------- */

/* The winner fails when the profile decides for it: the next best takes its place, and is compared in the next pass. */
static void the_next_best_is_verified(void** state) {
  (void)state;
  struct simulated* s = start_simulated(GAINS, 2, 0, FAULTS("error:profile@64KiB"));
  begin(s);
  SIZES(64 * KIB);
  study_measure(&study, changed, &changes);
  assert_decided(s, 64 * KIB, "ring + ll, 2 channels");
  verify(s);
  assert_true(changed_tables);
  assert_int_equal(study.end, STUDY_DONE);
  assert_decided(s, 64 * KIB, "tree + simple, 4 channels");
  struct sw_text text = profile_text(s); /* it fails as well, in what is the last pass: the size is left to auto */
  study_verify(&study, sw_text_string(&text), true);
  sw_text_free(&text);
  assert_decided(s, 64 * KIB, "auto");
  end(s);
}

/* Auto fails at a size between: that is said, and the tables stay. */
static void auto_fails_between(void** state) {
  (void)state;
  struct simulated* s = start_simulated(GAINS, 2, 0, FAULTS("error:auto@160KiB"));
  begin(s);
  SIZES(64 * KIB, 256 * KIB);
  study_measure(&study, changed, &changes);
  verify(s);
  assert_false(changed_tables);
  assert_int_equal(study.end, STUDY_DONE);
  assert_int_equal(study.trouble_count, 1);
  assert_true(study.troubles[0].comparing);
  assert_int_equal(study.tables[0].verified_count, 2);
  end(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_true_holds),           cmocka_unit_test(what_is_not_true_is_withdrawn),
      cmocka_unit_test(twins_are_withdrawn_together), cmocka_unit_test(between_sizes),
      cmocka_unit_test(the_next_best_is_verified),    cmocka_unit_test(auto_fails_between),
  };
  alarm(150);
  return cmocka_run_group_tests(tests, quiet_environment, NULL);
}
