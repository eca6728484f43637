/* bench/import/calls: how often NCCL was called with which size, from its own log. */
#include "unit/import_gather.h"

#define LINE(process, what) process " NCCL INFO " what " Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}\n"

/* "allreduce 12288 x2" a line. */
static void assert_calls(size_t expected_processes, const char* expected) {
  size_t count;
  size_t processes;
  struct sw_text text = SW_TEXT_EMPTY;
  struct workload_calls* list = calls_list(&gathered.calls, wanted.ranks, &count, &processes);
  for (size_t i = 0; i < count; i++)
    sw_text_printf(&text, "%s %llu x%llu\n", sw_value_word(&sw_collectives, list[i].collective),
                   (unsigned long long)list[i].bytes, (unsigned long long)list[i].count);
  assert_string_equal(sw_text_string(&text), expected);
  assert_int_equal(processes, expected_processes);
  free(list);
  sw_text_free(&text);
}

/* All spellings, and what only looks like one. */
static void spellings(void** state) {
  (void)state;
  gather_text(LINE("a:1:1 [0]", "AllReduce: 12288") LINE("a:1:2 [0]", "AllReduce: 12288")
              "[1,0]<stdout>:[2026-11-30 10:00:00] a:1:1 [0] NCCL INFO Reduce: 8 Bytes -> Algo Ring proto Simple "
              "channel{Lo..Hi}={0..3} cgaClusterSize 4\n"
              "a:1:1 [0] NCCL INFO 4 Bytes -> Algo 0 proto 0 time 25.200462\r\n"
              LINE("a:1:1 [0]", "Send: 64") LINE("a:1:1 [0]", "AllReduce: 0") LINE("a:1:1 [0]", "AllReduce: -8")
              "a:1:1 [0] NCCL INFO sizewise: profile x applies\n");
  assert_findings("");
  assert_int_equal(gathered.kind, IMPORT_CALLS);
  assert_calls(1, "? 4 x1\nreduce 8 x1\nallreduce 12288 x2\n");
}

/* Each rank 0 logs its own communicator's calls: what two of them did alike counts once. */
static void processes(void** state) {
  (void)state;
  gather_text(LINE("a:1:1 [0]", "AllReduce: 8") LINE("b:1:1 [0]", "AllReduce: 8") LINE("b:1:1 [0]", "AllReduce: 8")
                  LINE("b:1:1 [0]", "AllReduce: 16") LINE("c:1:1 [0]", "AllReduce: 8"));
  assert_calls(3, "allreduce 8 x2\nallreduce 16 x1\n");
}

static void one_ranks_part(void** state) {
  (void)state;
  const char* log = LINE("a:1:1 [0]", "Broadcast: 8") LINE("a:1:1 [0]", "ReduceScatter: 4096");
  gather_text(log);
  assert_findings(
      "FILE:2:36: error: NCCL logs one rank's part of reducescatter here, and a tuner is asked with the whole "
      "buffer; add --ranks N [SW-702]\n");
  wanted.ranks = 8;
  gather_text(log);
  assert_findings("");
  assert_calls(1, "broadcast 8 x1\nreducescatter 32768 x1\n");
}

/* What a line has too much is cut, and memory does not grow with a log. */
static void long_lines(void** state) {
  (void)state;
  struct sw_text text = SW_TEXT_EMPTY;
  for (int i = 0; i < 10000; i++) sw_text_add(&text, "0123456789");
  sw_text_add(&text, " AllReduce: 8 Bytes -> Algo 0\n" LINE("a:1:1 [0]", "AllReduce: 16"));
  gather_text(sw_text_string(&text));
  sw_text_free(&text);
  assert_calls(1, "allreduce 16 x1\n");
}

/* 1 EiB a rank times 16 is 0 in 64 bits; a workload that would not read again is none. */
static void more_than_any_call(void** state) {
  (void)state;
  static struct sw_diags diags;
  struct sw_text text = SW_TEXT_EMPTY;
  wanted.ranks = 16;
  wanted.kind = SW_KIND_MEASURED;
  gather_text(LINE("a:1:1 [0]", "AllGather: 1152921504606846976"));
  assert_false(compose_workload(&gathered, &wanted, &diags, &text));
  assert_int_equal(diags.errors, 1);
  assert_int_equal(diags.items[0].code, SW_OUT_OF_RANGE);
  sw_text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(spellings, begin, end),
      cmocka_unit_test_setup_teardown(processes, begin, end),
      cmocka_unit_test_setup_teardown(one_ranks_part, begin, end),
      cmocka_unit_test_setup_teardown(long_lines, begin, end),
      cmocka_unit_test_setup_teardown(more_than_any_call, begin, end),
  };
  return cmocka_run_group_tests_name("import_calls", tests, NULL, NULL);
}
