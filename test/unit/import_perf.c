/* bench/import/perf: what nccl-tests prints, in its older and newer layouts and in other programs' company. */
#include "unit/import_gather.h"

#define RANKS                                                           \
  "#  Rank  0 Group  0 Pid 1 on a device  0 [0000:01:00] NVIDIA GB10\n" \
  "#  Rank  1 Group  0 Pid 2 on b device  0 [0000:01:00] NVIDIA GB10  \n"
#define COLUMNS "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
#define START "# Collective test starting: all_reduce_perf\n# Using devices\n" RANKS COLUMNS
#define END "# Out of bounds values : 0 OK\n"

static void assert_sample(size_t i, uint64_t bytes, double us) {
  assert_true(i < gathered.samples.count);
  assert_int_equal(gathered.samples.items[i].bytes, bytes);
  assert_float_equal(gathered.samples.items[i].us, us, 0);
}

/* Prefixes of mpirun and srun, lines of NCCL and of others between, carriage returns. */
static void company(void** state) {
  (void)state;
  gather_text(
      "NCCL version 2.27.3+cuda12.9\r\n"
      "0: # Collective test starting: all_reduce_perf_mpi\n"
      "[1,0]<stdout>:#  Rank  0 Pid 14744 on a device  0 [0x1b] NVIDIA H100 80GB HBM3\n"
      "[1,0]<stdout>:#  Rank  1 Pid 14745 on b device  0 [0x1b] NVIDIA H100 80GB HBM3\n"
      "(head, pid=3) [1,0]<stdout>:" COLUMNS
      "a:26:26 [0] NCCL INFO AllReduce: 64 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}\n"
      "[1,0]<stdout>:   1048576  262144  float  sum  -1  74.74  14.03  14.03  0  74.11  14.15  14.15  0\r\n"
      "warning: 1 2 things\n"
      "2026-11-30 10:00:00 [a:12] 2097152 524288 half sum -1 104.50 20.07 20.07 N/A 103.90 20.18 20.18 N/A\n" END);
  assert_findings("");
  assert_int_equal(gathered.kind, IMPORT_TESTS);
  assert_int_equal(gathered.samples.count, 2);
  assert_sample(0, 1048576, 74.74);
  assert_sample(1, 2097152, 104.5);
  assert_int_equal(gathered.samples.items[0].collective, NCCL_ALLREDUCE);
  assert_int_equal(gathered.samples.items[0].nodes, 2);
  assert_string_equal(gathered.facts.gpu, "NVIDIA H100 80GB HBM3");
  assert_string_equal(gathered.facts.nccl, "2.27.3");
}

/* No root, an error instead of a number of wrong elements; no collective and no ranks in the head. */
static void old_layout(void** state) {
  (void)state;
  wanted.collective = NCCL_REDUCE;
  wanted.ranks = 4;
  wanted.nodes = 2;
  gather_text(
      "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error\n"
      "     1048576        262144   float     sum    74.74   14.03   14.03  2e-07    74.11   14.15   14.15  "
      "1e-07\n" END);
  assert_findings("");
  assert_int_equal(gathered.samples.count, 1);
  assert_sample(0, 1048576, 74.74);
  assert_int_equal(gathered.samples.items[0].ranks, 4);
}

/* In-place columns behind the per-iteration ones. */
static void in_place(void** state) {
  (void)state;
  wanted.in_place = true;
  gather_text(
      "# Collective test starting: all_reduce_perf\n" RANKS
      "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw busbw #wrong i_min "
      "i_max i_p99 i_cv% timestamp\n"
      "1048576 262144 float sum -1 74.74 14.03 14.03 0 70 80 79 1 74.11 14.15 14.15 0 70 80 79 1 2026-11-30 "
      "10:00\n" END);
  assert_findings("");
  assert_sample(0, 1048576, 74.11);
}

/* Two tests in one file are two tables; the first group of a split run is the communicator. */
static void two_tests(void** state) {
  (void)state;
  gather_text(START "1048576 262144 float sum -1 74.74 14.03 14.03 0 74.11 14.15 14.15 0\n" END
                    "# Collective test starting: all_gather_perf\n# Using devices\n" RANKS
                    "#  Rank  2 Group  1 Pid 3 on c device  0 [0000:01:00] NVIDIA GB10\n" COLUMNS
                    "1048576 262144 float none -1 74.74 14.03 7.01 0 74.11 14.15 7.07 0\n" END);
  assert_findings("");
  assert_int_equal(gathered.samples.count, 2);
  assert_int_equal(gathered.samples.items[1].collective, NCCL_ALLGATHER);
  assert_int_equal(gathered.samples.items[1].ranks, 2);
}

static void faults(void** state) {
  (void)state;
  gather_text(START
              "0 0 float sum -1 1.00 0.00 0.00 0 1.00 0.00 0.00 0\n"
              "1048576 262144 float sum -1 0.00 0.00 0.00 0 74.11 14.15 14.15 0\n"
              "1048576 262144 float sum -1 74.74 15.03 14.03 0 74.11 14.15 14.15 0\n"
              "1048576 262144 float sum -1 74.74 14.03 14.03 2 74.11 14.15 14.15 0\n"
              "1048576 262144 float sum -1 abc 14.03 14.03 0 74.11 14.15 14.15 0\n"
              "1048576 262144 float sum -1 74.74\n"
              "1048576 262144 float sum -1 74.74 14.03 24.55 0 74.11 14.15 14.15 0\n");
  assert_findings(
      "FILE:6:1: warning: a row of size 0 is left out [SW-722]\n"
      "FILE:7:1: warning: a row of time 0 is left out [SW-722]\n"
      "FILE:8:35: error: size, time and bandwidth disagree: 1048576 bytes in 74.74 us are 14.03 GB/s, not 15.03 "
      "[SW-703]\n"
      "FILE:9:47: error: 2 elements were wrong: a time with wrong data measures nothing [SW-704]\n"
      "FILE:10:29: error: 'abc' is no time in microseconds [SW-705]\n"
      "FILE:11:1: warning: this row is cut off; it is left out [SW-721]\n"
      "FILE:12:41: error: bus bandwidth 24.55 GB/s does not fit: allreduce on 2 ranks has 14.03 here; are collective "
      "and "
      "ranks right? [SW-703]\n");
}

static void heads(void** state) {
  (void)state;
  gather_text("# Collective test starting: all_reduce_perf\n#  Rank 0 Group 0 Pid 1 on a device 0 [0x1] GPU\n" COLUMNS);
  assert_findings(
      "FILE:3:3: error: this ran with one rank, where NCCL asks no tuner; under mpirun nccl-tests has to be "
      "built with MPI=1 [SW-702]\n");
  wanted.ranks = 2;
  wanted.nodes = 4;
  gather_text("# Collective test starting: all_reduce_perf\n" COLUMNS);
  assert_findings("FILE:2:3: error: 4 nodes cannot hold 2 ranks: each node has at least one [SW-207]\n");
  gather_text("# Collective test starting: all_reduce_perf\n# size count type redop root cputime algbw busbw #wrong\n");
  assert_findings(
      "FILE:2:3: error: CPU times (nccl-tests -C) are no times of a collective; run it without -C [SW-705]\n");
}

/* The last line is "   1": where a file was cut. */
static void cut(void** state) {
  (void)state;
  gather_text(START "1048576 262144 float sum -1 74.74 14.03 14.03 0 74.11 14.15 14.15 0\n   1");
  assert_findings(
      "FILE:7:1: warning: the log ends in the middle of a row, which is left out; so is what came behind it "
      "[SW-721]\n");
  assert_int_equal(gathered.samples.count, 1);
}

/* A run that ended early, and another one behind it in the same file. */
static void run_behind_a_cut_one(void** state) {
  (void)state;
  gather_text(START "1048576 262144 float sum -1 74.74 14.03 14.03 0 74.11 14.15 14.15 0\nmpirun: killed\n" START
                    "2097152 524288 float sum -1 104.50 20.07 20.07 0 1 1 1 0\n" END);
  assert_findings(
      "FILE:8:1: warning: another run begins before nccl-tests says of the one before whether all data was right "
      "[SW-721]\n");
  assert_int_equal(gathered.samples.count, 2);
}

/* Containers of two nodes that are both named alike, told by the one PCI address. */
static void one_name_for_two_nodes(void** state) {
  (void)state;
  const char* log =
      "# Collective test starting: all_reduce_perf\n"
      "#  Rank  0 Group  0 Pid 1 on localhost device  0 [000f:01:00] NVIDIA GB10\n"
      "#  Rank  1 Group  0 Pid 1 on localhost device  0 [000f:01:00] NVIDIA GB10\n" COLUMNS
      "1048576 262144 float sum -1 74.74 14.03 14.03 0 74.11 14.15 14.15 0\n" END;
  gather_text(log);
  assert_findings(
      "FILE:4:3: error: the log does not tell its nodes: two of its ranks have one host name and one GPU, as where "
      "nodes share a name; add --nodes N [SW-702]\n");
  wanted.nodes = 2;
  gather_text(log);
  assert_findings("");
  assert_int_equal(gathered.samples.items[0].nodes, 2);
}

/* More hosts than are told apart are never counted as fewer. */
static void too_many_hosts(void** state) {
  (void)state;
  struct sw_text text = SW_TEXT_EMPTY;
  sw_text_add(&text, "# Collective test starting: all_reduce_perf\n");
  for (int i = 0; i <= PERF_MOST_HOSTS; i++)
    sw_text_printf(&text, "#  Rank %d Group 0 Pid 1 on node-%d device 0 [0000:01:00] NVIDIA GB10\n", i, i);
  sw_text_add(&text, COLUMNS END);
  gather_text(sw_text_string(&text));
  sw_text_free(&text);
  assert_findings(
      "FILE:1027:3: error: the log does not tell its nodes: it has too many hosts to count; add --nodes N [SW-702]\n");
}

/* For two ranks, busbw of a broadcast is that of an all-reduce: only the log's own word tells. */
static void log_names_another_collective(void** state) {
  (void)state;
  wanted.collective = NCCL_BROADCAST;
  gather_text(START "1048576 262144 float sum -1 74.74 14.03 14.03 0 74.11 14.15 14.15 0\n" END);
  assert_findings("FILE:5:3: error: the log says all_reduce_perf; leave --collective broadcast out [SW-501]\n");
  assert_int_equal(gathered.samples.count, 0);
}

/* Passes over one size: the median of them; from six on its 95% interval, which for six lies between the extremes. */
static void passes(void** state) {
  (void)state;
  static struct sw_diags diags;
  struct sw_text text = SW_TEXT_EMPTY;
  gather_text(START
              "1024 256 float sum -1 10.00 0.10 0.10 0 1 1 1 0\n1024 256 float sum -1 30.00 0.03 0.03 0 1 1 1 0\n"
              "1024 256 float sum -1 12.00 0.09 0.09 0 1 1 1 0\n1024 256 float sum -1 11.00 0.09 0.09 0 1 1 1 0\n"
              "1024 256 float sum -1 13.00 0.08 0.08 0 1 1 1 0\n1024 256 float sum -1 15.00 0.07 0.07 0 1 1 1 0\n"
              "2048 512 float sum -1 10.00 0.20 0.20 0 1 1 1 0\n2048 512 float sum -1 20.00 0.10 0.10 0 1 1 1 0\n" END);
  assert_findings("");
  samples_sort(&gathered.samples);
  assert_true(compose_profile(&gathered, &wanted, &diags, &text));
  assert_non_null(strstr(text.data, "{choice: auto, median: 12.5us, samples: 6, spread: 80%}"));
  assert_non_null(strstr(text.data, "{choice: auto, median: 15us, samples: 2}"));
  sw_text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(company, begin, end),
      cmocka_unit_test_setup_teardown(old_layout, begin, end),
      cmocka_unit_test_setup_teardown(in_place, begin, end),
      cmocka_unit_test_setup_teardown(two_tests, begin, end),
      cmocka_unit_test_setup_teardown(faults, begin, end),
      cmocka_unit_test_setup_teardown(heads, begin, end),
      cmocka_unit_test_setup_teardown(cut, begin, end),
      cmocka_unit_test_setup_teardown(passes, begin, end),
      cmocka_unit_test_setup_teardown(run_behind_a_cut_one, begin, end),
      cmocka_unit_test_setup_teardown(one_name_for_two_nodes, begin, end),
      cmocka_unit_test_setup_teardown(too_many_hosts, begin, end),
      cmocka_unit_test_setup_teardown(log_names_another_collective, begin, end),
  };
  return cmocka_run_group_tests_name("import_perf", tests, NULL, NULL);
}
