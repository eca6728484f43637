/* bench/calibrate/profile_out: a study as a profile, letter by letter. The studies are made up here. */
#include "calibrate/profile_out.h"
#include "decide/plan.h"
#include "unit/decide.h"

static struct study study;
static struct study_plan plan;
static struct measured points[8];
static struct sw_facts facts;
static struct fabric_report report;
static struct sw_settings settings;
static struct profile_head head;

static int begin(void** state) {
  (void)state;
  memset(points, 0, sizeof points);
  plan = (struct study_plan){.min_gain = 3 * SW_ONE / 100};
  study = (struct study){.plan = &plan, .end = STUDY_DONE};
  report = (struct fabric_report){.gpu = "NVIDIA GB10", .driver = "580.95", .nccl = 22809, .cuda = 13000};
  facts = (struct sw_facts){.net = SW_NET_ROCE, .net_device = "rocep1s0f0", .net_mbps = 200000, .arch = "aarch64"};
  settings = (struct sw_settings){NULL, 0};
  head = (struct profile_head){
      .name = "made-up", .source = "a test", .report = &report, .facts = &facts, .settings = &settings};
  return 0;
}

static struct study_table* add_table(int collective, uint32_t nodes, uint32_t ranks) {
  struct study_table* table = &study.tables[study.count++];
  *table = (struct study_table){.collective = collective, .nodes = nodes, .ranks = ranks};
  return table;
}

static struct measured* add_point(struct study_table* table, uint64_t bytes) {
  size_t used = 0;
  for (size_t i = 0; i < study.count; i++) used += study.tables[i].count;
  struct measured* point = &points[used];
  point->call.bytes = bytes;
  table->points[table->count++] = point;
  return point;
}

static struct measured_choice* add_choice(struct measured* point, struct sw_choice choice, double us, size_t samples,
                                          double spread) {
  struct measured_choice* c = &point->choices[point->count++];
  c->candidate.choice = choice;
  c->candidate.probe.algo = -1;
  c->result = (struct race_result){.samples = samples, .median_us = us, .spread = spread};
  return c;
}

static void ran(struct measured_choice* choice, int algo, int proto, int channels, float estimate_us) {
  choice->candidate.probe = (struct fabric_probe){.algo = algo, .proto = proto, .channels = channels};
  choice->candidate.probe.table[algo][proto] = estimate_us;
}

static void add_twin(struct measured* point, struct sw_choice choice, size_t of) {
  point->twins[point->twin_count++] = (struct twin){choice, of};
}

/* The profile's text, which has to be free()d by sw_text_free; it always reads again. */
static struct sw_text write_out(void) {
  static struct sw_diags diags;
  struct sw_text text = SW_TEXT_EMPTY;
  if (!profile_out(&study, &head, &diags, &text)) fail_msg("%s", diags.items[0].text);
  sw_profile_free(read_profile(sw_text_string(&text)));
  return text;
}

static void assert_tables(const char* expected) {
  struct sw_text text = write_out();
  const char* tables = strstr(sw_text_string(&text), "tables:");
  assert_non_null(tables);
  assert_string_equal(tables, expected);
  sw_text_free(&text);
}

static void assert_holds(const char* words) {
  struct sw_text text = write_out();
  if (!strstr(sw_text_string(&text), words)) fail_msg("no \"%s\" in\n%s", words, sw_text_string(&text));
  sw_text_free(&text);
}

static void assert_lacks(const char* words) {
  struct sw_text text = write_out();
  if (strstr(sw_text_string(&text), words)) fail_msg("\"%s\" in\n%s", words, sw_text_string(&text));
  sw_text_free(&text);
}

/* Fewer than six samples have no spread; more than 100% of it is no use to anybody. */
static void times(void** state) {
  (void)state;
  struct measured* point = add_point(add_table(NCCL_ALLREDUCE, 8, 8), 12288);
  ran(add_choice(point, SW_AUTO, 76.0004, 20, 0.0204), NCCL_ALGO_TREE, NCCL_PROTO_LL, 6, 40.5F);
  ran(add_choice(point, (struct sw_choice){0, 0, 2}, 78.1236, 6, 1.7), NCCL_ALGO_TREE, NCCL_PROTO_LL, 2, 0);
  add_choice(point, (struct sw_choice){1, 2, 0}, 2500000, 5, 0.5);
  ran(add_choice(point, (struct sw_choice){1, 1, 0}, 80, 40, 0), NCCL_ALGO_RING, NCCL_PROTO_LL128, 0, 1);
  assert_tables(
      "tables:\n"
      "  - collective: allreduce\n"
      "    nodes: 8\n"
      "    ranks: 8\n"
      "    points:\n"
      "      - bytes: 12KiB\n"
      "        times:\n"
      "          - {choice: auto, median: 76us, samples: 20, spread: 2%, ran: {algo: tree, proto: ll, channels: 6, "
      "estimate: 40.5us}}\n"
      "          - {algo: tree, proto: ll, channels: 2, median: 78.124us, samples: 6, spread: 100%, ran: {algo: tree, "
      "proto: ll, channels: 2}}\n"
      "          - {algo: ring, proto: ll128, median: 80us, samples: 40, spread: 0%}\n"
      "          - {algo: ring, proto: simple, median: 2500000us, samples: 5}\n");
}

/* Timed or not, with whatever words; what was neither timed nor excluded gets no line. */
static void exclusions(void** state) {
  (void)state;
  struct measured* point = add_point(add_table(NCCL_ALLREDUCE, 8, 8), 12288);
  add_choice(point, SW_AUTO, 76, 20, 0.02);
  snprintf(add_choice(point, (struct sw_choice){0, 0, 0}, 0, 0, -1)->candidate.excluded, 160, "hung: \"x\" \\ \t y");
  snprintf(add_choice(point, (struct sw_choice){1, 2, 0}, 50, 20, 0.01)->candidate.excluded, 160, "did not hold");
  add_choice(point, (struct sw_choice){1, 1, 0}, 0, 0, -1);
  assert_tables(
      "tables:\n"
      "  - collective: allreduce\n"
      "    nodes: 8\n"
      "    ranks: 8\n"
      "    points:\n"
      "      - bytes: 12KiB\n"
      "        times:\n"
      "          - {choice: auto, median: 76us, samples: 20, spread: 2%}\n"
      "          - {algo: tree, proto: ll, excluded: \"hung: \\\"x\\\" \\\\ \\t y\"}\n"
      "          - {algo: ring, proto: simple, median: 50us, samples: 20, spread: 1%, excluded: \"did not hold\"}\n");
}

static const struct sw_choice two = {0, 0, 2};
static const struct sw_choice four = {0, 0, 4};

/*
 * At 1 KiB four channels run what two do, at 4 KiB they are the best: with a time at both ends, the profile decides
 * for four from where the curves cross. A twin that is no finalist anywhere is left out.
 */
static void twins(void** state) {
  (void)state;
  struct study_table* table = add_table(NCCL_ALLREDUCE, 2, 2);
  struct measured* small = add_point(table, 1024);
  struct measured* large = add_point(table, 4096);
  add_choice(small, SW_AUTO, 100, 20, 0.01);
  add_choice(small, two, 50, 20, 0.01);
  add_twin(small, four, 1);
  add_twin(small, (struct sw_choice){0, 0, 8}, 1);
  add_choice(large, SW_AUTO, 100, 20, 0.01);
  add_choice(large, two, 60, 20, 0.01);
  add_choice(large, four, 40, 20, 0.01);
  add_choice(large, (struct sw_choice){0, 0, 8}, 300, 2, -1);
  struct sw_text text = write_out();
  struct sw_profile* profile = read_profile(sw_text_string(&text));
  assert_int_equal(profile->tables[0].points[0].count, 3);
  assert_int_equal(profile->tables[0].points[0].times[2].choice.channels, 4);
  assert_true(profile->tables[0].points[0].times[2].median_ps == 50000000);
  struct sw_plan* decided = sw_plan_compile(profile, 2, 2);
  assert_int_equal(sw_plan_decide(decided, NCCL_ALLREDUCE, 2048).ranked[0].choice.channels, 4);
  sw_plan_free(decided);
  sw_profile_free(profile);
  sw_text_free(&text);
}

/* An excluded candidate's twin is excluded as well, for the same reason. */
static void excluded_twins(void** state) {
  (void)state;
  struct study_table* table = add_table(NCCL_ALLREDUCE, 2, 2);
  struct measured* small = add_point(table, 1024);
  struct measured* large = add_point(table, 4096);
  add_choice(small, SW_AUTO, 100, 20, 0.01);
  snprintf(add_choice(small, two, 50, 20, 0.01)->candidate.excluded, 160, "did not hold");
  add_twin(small, four, 1);
  add_choice(large, SW_AUTO, 100, 20, 0.01);
  add_choice(large, four, 40, 20, 0.01);
  struct sw_text text = write_out();
  struct sw_profile* profile = read_profile(sw_text_string(&text));
  assert_string_equal(profile->tables[0].points[0].times[2].excluded, "did not hold");
  struct sw_plan* decided = sw_plan_compile(profile, 2, 2);
  assert_int_equal(sw_plan_decide(decided, NCCL_ALLREDUCE, 1024).count, 0);
  sw_plan_free(decided);
  sw_profile_free(profile);
  sw_text_free(&text);
}

static void several_tables(void** state) {
  (void)state;
  add_choice(add_point(add_table(NCCL_ALLREDUCE, 8, 8), 96 << 20), SW_AUTO, 100, 20, 0.01);
  add_table(NCCL_REDUCE, 8, 8); /* without a point: it is left out */
  add_choice(add_point(add_table(NCCL_BROADCAST, 4, 4), 1), SW_AUTO, 100, 20, 0.01);
  assert_tables(
      "tables:\n"
      "  - collective: broadcast\n"
      "    nodes: 4\n"
      "    ranks: 4\n"
      "    points:\n"
      "      - bytes: 1\n"
      "        times:\n"
      "          - {choice: auto, median: 100us, samples: 20, spread: 1%}\n"
      "  - collective: allreduce\n"
      "    nodes: 8\n"
      "    ranks: 8\n"
      "    points:\n"
      "      - bytes: 96MiB\n"
      "        times:\n"
      "          - {choice: auto, median: 100us, samples: 20, spread: 1%}\n");
}

/* Without a time there is nothing that a profile could say. */
static void nothing_measured(void** state) {
  (void)state;
  static struct sw_diags diags;
  struct sw_text text = SW_TEXT_EMPTY;
  add_table(NCCL_ALLREDUCE, 8, 8);
  assert_false(profile_out(&study, &head, &diags, &text));
  assert_int_equal(text.length, 0);
  sw_text_free(&text);
}

static void heads(void** state) {
  (void)state;
  static const struct sw_setting some[] = {{"NCCL_ALGO", "Ring"}, {"NCCL_IB_HCA", "=mlx5_0:1 \"x\""}};
  add_choice(add_point(add_table(NCCL_ALLREDUCE, 8, 8), 1), SW_AUTO, 100, 20, 0.01);
  assert_holds("name: made-up\nprovenance:\n  kind: measured\n  source: \"a test\"\n");
  assert_holds(
      "  gpu: \"NVIDIA GB10\"\n  network: \"roce rocep1s0f0, 200 Gb/s\"\n  nccl: \"2.28.9\"\n  cuda: \"13.0\"\n"
      "  driver: \"580.95\"\n");
  assert_holds("match: {gpu: \"NVIDIA GB10\", arch: aarch64, net: roce, nccl: \"2.28\"}\n");
  assert_holds("policy: {min_gain: 3%,");
  assert_lacks("settings:");
  assert_lacks("afresh");
  assert_lacks("before all sizes were measured");
  head.settings = &(struct sw_settings){some, 2};
  head.simulated = true;
  report.nccl = 23104;
  plan.min_gain = 5 * SW_ONE / 1000;
  study.end = STUDY_SPENT;
  plan.collective_count = plan.group_count = plan.size_count = 1; /* which is not there */
  plan.groups[0] = 8;
  study.tables[0].verified[study.tables[0].verified_count++].bytes = 1; /* withdrawn, and what took its place held */
  study.tables[0].verified[study.tables[0].verified_count++] = (struct verified){.bytes = 1, .holds = true};
  study.tables[0].verified[study.tables[0].verified_count++].bytes = 2;
  assert_holds("  kind: simulated\n");
  assert_holds("  nccl: \"2.31.4\"\n");
  assert_holds("  settings: {NCCL_ALGO: \"Ring\", NCCL_IB_HCA: \"=mlx5_0:1 \\\"x\\\"\"}\n");
  assert_holds("policy: {min_gain: 0.5%,");
  assert_holds("Compared afresh with auto at 2 sizes: 1 held.");
  assert_holds("The budget was spent before all sizes were measured.");
  study.end = STUDY_INTERRUPTED;
  assert_holds("Interrupted before all sizes were measured.");
  study.end = STUDY_LOST;
  plan.size_count = 0;
  assert_holds("The ranks failed before all sizes were compared afresh.");
}

/* A machine that tells nothing of itself. */
static void unknown_facts(void** state) {
  (void)state;
  report = (struct fabric_report){.nccl = 22809};
  facts = (struct sw_facts){.net = SW_NET_UNKNOWN};
  add_choice(add_point(add_table(NCCL_ALLREDUCE, 8, 8), 1), SW_AUTO, 100, 20, 0.01);
  assert_holds("match: {nccl: \"2.28\"}\n");
  assert_lacks("network:");
  assert_lacks("gpu:");
  assert_lacks("driver:");
  assert_lacks("cuda:");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(times, begin),          cmocka_unit_test_setup(exclusions, begin),
      cmocka_unit_test_setup(twins, begin),          cmocka_unit_test_setup(excluded_twins, begin),

      cmocka_unit_test_setup(several_tables, begin), cmocka_unit_test_setup(nothing_measured, begin),
      cmocka_unit_test_setup(heads, begin),          cmocka_unit_test_setup(unknown_facts, begin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
