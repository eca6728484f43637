/* bench/calibrate/study: all of a plan on simulated ranks: which sizes, how far the budget goes, how it ends. */
#include "unit/study_run.h"

/* --- sizes -------------------------------------------------------------------------------------------------------- */

static void sizes_and_modes(void** state) {
  (void)state;
  static const struct {
    uint64_t bytes;
    uint32_t ranks;
    uint64_t size;
  } cases[] = {
      {1, 8, 32}, {32, 8, 32}, {33, 8, 32}, {12288, 8, 12288}, {100, 3, 96}, {1, 3, 12}, {96 << 20, 72, 100663200}};
  for (size_t i = 0; i < COUNT(cases); i++) assert_int_equal(study_size(cases[i].bytes, cases[i].ranks), cases[i].size);
  assert_int_equal(study_mode(12 * KIB), FABRIC_GRAPH);
  assert_int_equal(study_mode(MIB), FABRIC_GRAPH);
  assert_int_equal(study_mode(16 * MIB), FABRIC_STREAM);
}

/* In the order of sizes, each once, and a line of the profile for each. */
static void each_size_once(void** state) {
  (void)state;
  struct simulated* s = start_simulated(GAINS, 2, 0, NULL);
  begin(s);
  SIZES(1, 5, 8, 64 * KIB, MIB);
  study_measure(&study, changed, &changes);
  assert_int_equal(study.end, STUDY_DONE);
  assert_int_equal(study.count, 1);
  assert_sizes(&study.tables[0], "8 65536 1048576"); /* two ranks' smallest is 8 bytes */
  assert_int_equal(study.tables[0].nodes, 2);
  assert_decided(s, 64 * KIB, "ring + ll, 2 channels");
  assert_decided(s, MIB, "ring + ll, 2 channels");
  end(s);
}

/* Gains up to 64 KiB and none from 1 MiB on. */
#define CHANGING                                                                                         \
  HEAD TABLES(TABLE(POINT("1KiB", AUTO("100us") TIME("algo: ring, proto: ll, channels: 2", "50us"))      \
                        POINT("64KiB", AUTO("100us") TIME("algo: ring, proto: ll, channels: 2", "50us")) \
                            POINT("1MiB", AUTO("100us") TIME("algo: ring, proto: ll, channels: 2", "400us"))))

/* A range is refined where the decision changes, by one size; a list is measured as it was given. */
static void refining(void** state) {
  (void)state;
  for (int refine = 0; refine <= 1; refine++) {
    struct simulated* s = start_simulated(CHANGING, 2, 0, NULL);
    begin(s);
    plan.refine = refine;
    SIZES(40 * KIB, 64 * KIB, MIB, 4 * MIB);
    study_measure(&study, changed, &changes);
    assert_int_equal(study.end, STUDY_DONE);
    assert_int_equal(study.tables[0].count, refine ? 5 : 4);
    if (refine) {
      uint64_t middle = study.tables[0].points[2]->call.bytes;
      assert_true(middle >= 256 * KIB && middle < 320 * KIB); /* the geometric middle, in steps of an eighth */
    }
    assert_decided(s, 64 * KIB, "ring + ll, 2 channels");
    assert_decided(s, MIB, "auto");
    end(s);
  }
}

/* The same where the product of two sizes is more than 64 bits hold. */
static void refining_large_sizes(void** state) {
  (void)state;
  struct simulated* s = start_simulated(
      HEAD TABLES(TABLE(POINT("4GiB", AUTO("100us") TIME("algo: ring, proto: ll, channels: 2", "50us"))
                            POINT("16GiB", AUTO("100us") TIME("algo: ring, proto: ll, channels: 2", "400us")))),
      2, 0, NULL);
  begin(s);
  plan.refine = true;
  SIZES((uint64_t)4 << 30, (uint64_t)16 << 30);
  study_measure(&study, changed, &changes);
  assert_int_equal(study.tables[0].count, 3);
  assert_int_equal(study.tables[0].points[1]->call.bytes, (uint64_t)8 << 30);
  end(s);
}

/* Two ranks of four have curves of the nearest shape: the same ones. */
static void several_communicators(void** state) {
  (void)state;
  struct simulated* s = start_simulated(GAINS, 4, 0, NULL);
  begin(s);
  SIZES(64 * KIB);
  plan.groups[plan.group_count++] = 2;
  plan.collectives[plan.collective_count++] = NCCL_BROADCAST;
  study_measure(&study, changed, &changes);
  assert_int_equal(study.end, STUDY_DONE);
  assert_int_equal(study.count, 4);
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(study.tables[i].ranks, i < 2 ? 4 : 2);
    assert_int_equal(study.tables[i].nodes, i < 2 ? 4 : 2);
    assert_int_equal(study.tables[i].collective, i % 2 ? NCCL_BROADCAST : NCCL_ALLREDUCE);
    assert_int_equal(study.tables[i].count, 1);
  }
  struct sw_text text = decided(s, NCCL_ALLREDUCE, 2, 64 * KIB);
  assert_string_equal(sw_text_string(&text), "ring + ll, 2 channels");
  sw_text_free(&text);
  end(s);
}

/* --- budget ------------------------------------------------------------------------------------------------------- */

/* 1 s of virtual time: connecting takes half of it, and a size's probes and checks most of the rest. */
static void spent_budget(void** state) {
  (void)state;
  struct simulated* s = start_simulated(GAINS, 2, 0.05, NULL);
  begin(s);
  plan.budget_us = 1e6;
  SIZES(KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB);
  study_measure(&study, changed, &changes);
  assert_int_equal(study.end, STUDY_SPENT);
  assert_true(study.tables[0].count < 6);
  assert_true(crew_clock(s->crew) < 2e6); /* the size in hand is finished */
  struct sw_text text = profile_text(s);
  sw_profile_free(read_profile(sw_text_string(&text)));
  sw_text_free(&text);
  end(s);
}

/* What the budget leaves with a look or two would be decided by luck: such a size is not measured. */
static void luck_is_left_out(void** state) {
  (void)state;
  struct simulated* s = start_simulated(GAINS, 2, 0.05, NULL);
  begin(s);
  SIZES(KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB);
  size_t most = 0;
  size_t spent = 0;
  for (double room_us = 0.6e6; room_us < 2.6e6; room_us += 0.2e6) {
    study.count = 0;
    if (!crew_start(s->crew, NULL)) fail_msg("%s", crew_failure(s->crew)->text);
    plan.budget_us = (crew_clock(s->crew) + room_us) / 0.9; /* measuring takes nine tenths */
    study_measure(&study, changed, &changes);
    assert_int_equal(study.end, study_left(&study) ? STUDY_SPENT : STUDY_DONE);
    spent += study.end == STUDY_SPENT;
    for (size_t i = 0; study.count && i < study.tables[0].count; i++)
      assert_true(study.tables[0].points[i]->choices[0].result.samples >= 6);
    most = study.count && study.tables[0].count > most ? study.tables[0].count : most;
    study_free(&study);
  }
  assert_true(most > 0 && spent > 0);
  study.count = 0;
  end(s);
}

/* --- ends --------------------------------------------------------------------------------------------------------- */

static void interrupted(void** state) {
  (void)state;
  struct simulated* s = start_simulated(GAINS, 2, 0.05, NULL);
  begin(s);
  SIZES(64 * KIB);
  s->interrupted = SIGTERM;
  study_measure(&study, changed, &changes);
  assert_int_equal(study.end, STUDY_INTERRUPTED);
  end(s);
}

/* Where auto fails nothing is known, and the other sizes go on. */
static void auto_fails_at_a_size(void** state) {
  (void)state;
  static const char* const faults[] = {"error:auto@1MiB", "crash:auto@1MiB@timed", "corrupt:auto@1MiB"};
  for (size_t i = 0; i < COUNT(faults); i++) {
    struct simulated* s = start_simulated(GAINS, 2, 0.05, FAULTS(faults[i]));
    begin(s);
    SIZES(64 * KIB, MIB, 4 * MIB);
    study_measure(&study, changed, &changes);
    assert_int_equal(study.end, STUDY_DONE);
    assert_sizes(&study.tables[0], "65536 4194304");
    assert_int_equal(study.trouble_count, 1);
    assert_int_equal(study.troubles[0].bytes, MIB);
    assert_false(study.troubles[0].comparing);
    assert_true(study.troubles[0].why[0] != '\0');
    assert_int_equal(study_left(&study), 0);
    assert_decided(s, 64 * KIB, "ring + ll, 2 channels");
    end(s);
  }
}

/* After two sizes without a good one the rest is not tried: a hang takes a while each. */
static void auto_fails_everywhere(void** state) {
  (void)state;
  struct simulated* s = start_simulated(GAINS, 2, 0.05, FAULTS("rank-table:1"));
  begin(s);
  SIZES(64 * KIB, 256 * KIB, MIB, 4 * MIB);
  study_measure(&study, changed, &changes);
  assert_int_equal(study.end, STUDY_DONE);
  assert_int_equal(study.trouble_count, 2);
  assert_non_null(strstr(study.troubles[0].why, "rank 1 would run "));
  assert_true(study_is_hopeless(&study, NCCL_ALLREDUCE, 2));
  assert_int_equal(study.tables[0].count, 0);
  end(s);
}

/* However many sizes fail: none of them is tried again, or said to be left. */
static void every_size_may_fail(void** state) {
  (void)state;
  struct simulated* s = start_simulated(GAINS, 2, 0, NULL);
  begin(s);
  plan.collective_count = NCCL_NUM_COLLECTIVES;
  plan.size_count = STUDY_MOST_SIZES;
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) plan.collectives[c] = c;
  for (size_t i = 0; i < STUDY_MOST_SIZES; i++) plan.sizes[i] = (i + 1) * KIB;
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++)
    for (size_t i = 0; i < STUDY_MOST_SIZES; i++)
      study_note_trouble(&study, &(struct study_trouble){.collective = c, .ranks = 2, .bytes = plan.sizes[i]});
  assert_int_equal(study_left(&study), 0);
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++)
    for (size_t i = 0; i < STUDY_MOST_SIZES; i++) assert_non_null(study_trouble_at(&study, c, 2, plan.sizes[i]));
  end(s);
}

/* What fails call by call alone costs that choice alone, be it in the confirmation of a middle size. */
static void fails_in_streams_alone(void** state) {
  (void)state;
  struct simulated* s = start_simulated(GAINS, 2, 0, FAULTS("crash:ring+ll/2@stream@timed"));
  begin(s);
  SIZES(64 * KIB, MIB);
  study_measure(&study, changed, &changes);
  assert_int_equal(study.end, STUDY_DONE);
  assert_int_equal(study.trouble_count, 0);
  assert_decided(s, 64 * KIB, "ring + ll, 2 channels");
  assert_decided(s, MIB, "tree + simple, 4 channels");
  end(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_and_modes),
      cmocka_unit_test(each_size_once),
      cmocka_unit_test(refining),
      cmocka_unit_test(refining_large_sizes),
      cmocka_unit_test(several_communicators),
      cmocka_unit_test(spent_budget),
      cmocka_unit_test(luck_is_left_out),
      cmocka_unit_test(interrupted),
      cmocka_unit_test(auto_fails_at_a_size),
      cmocka_unit_test(auto_fails_everywhere),
      cmocka_unit_test(every_size_may_fail),
      cmocka_unit_test(fails_in_streams_alone),
  };
  alarm(150);
  return cmocka_run_group_tests(tests, quiet_environment, NULL);
}
