/* bench/calibrate/raw: every sample as a line, letter by letter, and sums that need no file. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "calibrate/raw.h"

#define HEADER "phase\tcollective\tranks\tnodes\tbytes\tmode\talgo\tproto\tchannels\tround\tmicroseconds\n"

static char path[] = "/tmp/sizewise-raw-XXXXXX";
static struct raw raw;

static const struct fabric_call graph = {NCCL_ALLREDUCE, FABRIC_BF16, FABRIC_GRAPH, 65536};
static const struct fabric_call stream = {NCCL_BROADCAST, FABRIC_BF16, FABRIC_STREAM, 1000};
static const struct sw_choice choices[] = {{-1, -1, 0}, {NCCL_ALGO_TREE, NCCL_PROTO_LL, 4}, {-2, -2, 0}};
static const float us[] = {10, 9.5f, 9.25f, 11, 8, 7.0625f};

static void take(const struct fabric_call* call, size_t count, size_t rounds, bool bare) {
  struct crew_samples samples = {call, 8, 2, choices, count, rounds, us, bare};
  raw_take(&raw, &samples);
}

static void assert_file(const char* text) {
  char got[4096] = "";
  int file = open(path, O_RDONLY);
  ssize_t bytes = read(file, got, sizeof got - 1);
  close(file);
  assert_true(bytes >= 0);
  assert_string_equal(got, text);
}

static int make_file(void** state) {
  (void)state;
  memcpy(path + sizeof path - 7, "XXXXXX", 6);
  int file = mkstemp(path);
  return file < 0 || close(file);
}

static int remove_file(void** state) {
  (void)state;
  raw_close(&raw);
  return unlink(path);
}

static void each_sample_is_a_line_at_once(void** state) {
  (void)state;
  assert_true(raw_open(&raw, path, false));
  assert_file(HEADER);
  raw_enter(&raw, PHASE_CALIBRATE);
  take(&graph, 2, 2, false);
  assert_file(HEADER
              "calibrate\tallreduce\t8\t2\t65536\tgraph\tauto\tauto\t0\t1\t10.000\n"
              "calibrate\tallreduce\t8\t2\t65536\tgraph\ttree\tll\t4\t1\t9.500\n"
              "calibrate\tallreduce\t8\t2\t65536\tgraph\tauto\tauto\t0\t2\t9.250\n"
              "calibrate\tallreduce\t8\t2\t65536\tgraph\ttree\tll\t4\t2\t11.000\n");
  assert_int_equal(raw.samples, 4);
}

static void rounds_count_on_until_phase_or_call_change(void** state) {
  (void)state;
  assert_true(raw_open(&raw, path, false));
  raw_enter(&raw, PHASE_VERIFY);
  take(&graph, 1, 1, false);
  take(&graph, 1, 1, false);
  take(&stream, 1, 1, false);
  raw_enter(&raw, PHASE_FRESH);
  take(&stream, 3, 1, false);
  assert_file(HEADER
              "verify\tallreduce\t8\t2\t65536\tgraph\tauto\tauto\t0\t1\t10.000\n"
              "verify\tallreduce\t8\t2\t65536\tgraph\tauto\tauto\t0\t2\t10.000\n"
              "verify\tbroadcast\t8\t2\t1000\tstream\tauto\tauto\t0\t1\t10.000\n"
              "fresh\tbroadcast\t8\t2\t1000\tstream\tauto\tauto\t0\t1\t10.000\n"
              "fresh\tbroadcast\t8\t2\t1000\tstream\ttree\tll\t4\t1\t9.500\n"
              "fresh\tbroadcast\t8\t2\t1000\tstream\tprofile\tprofile\t0\t1\t9.250\n");
}

static void an_old_file_is_gone_on_with_or_replaced(void** state) {
  (void)state;
  static const char line[] = "no-tuner\tallreduce\t8\t2\t65536\tgraph\tauto\tauto\t0\t1\t10.000\n";
  static char twice[sizeof HEADER + 2 * sizeof line];
  strcat(strcat(strcat(twice, HEADER), line), line);
  for (int i = 0; i < 2; i++) {
    assert_true(raw_open(&raw, path, true));
    take(&graph, 1, 1, true);
    raw_close(&raw);
  }
  assert_file(twice);
  assert_true(raw_open(&raw, path, false));
  assert_file(HEADER);
}

static void sums_are_by_phase_and_need_no_file(void** state) {
  (void)state;
  assert_true(raw_open(&raw, NULL, false));
  raw_enter(&raw, PHASE_CALIBRATE);
  take(&graph, 2, 1, false);
  raw_enter(&raw, PHASE_EXHAUSTIVE);
  take(&graph, 2, 3, false);
  assert_true(raw.sum_us[PHASE_CALIBRATE] == 19.5);
  assert_true(raw.sum_us[PHASE_EXHAUSTIVE] == 10 + 9.5 + 9.25 + 11 + 8 + 7.0625);
  assert_int_equal(raw.samples, 8);
}

static void a_file_that_cannot_be_written_is_told(void** state) {
  (void)state;
  assert_false(raw_open(&raw, "/no/such/folder/raw.tsv", false));
  assert_false(raw_open(&raw, "/dev/full", false));
  assert_null(raw.file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(each_sample_is_a_line_at_once, make_file, remove_file),
      cmocka_unit_test_setup_teardown(rounds_count_on_until_phase_or_call_change, make_file, remove_file),
      cmocka_unit_test_setup_teardown(an_old_file_is_gone_on_with_or_replaced, make_file, remove_file),
      cmocka_unit_test_setup_teardown(sums_are_by_phase_and_need_no_file, make_file, remove_file),
      cmocka_unit_test_setup_teardown(a_file_that_cannot_be_written_is_told, make_file, remove_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
