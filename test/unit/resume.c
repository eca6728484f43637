/* bench/calibrate/resume: what an earlier run measured comes back letter by letter, or not at all. */
#include "calibrate/resume.h"

#include <stdio.h>
#include <unistd.h>

#include "calibrate/profile_out.h"
#include "unit/decide.h"

#define TOP                                                                                                         \
  "sizewise: 1\nname: calibrated\nprovenance:\n  kind: measured\n  source: \"a test\"\n  gpu: \"NVIDIA GB10\"\n"    \
  "match: {gpu: \"NVIDIA GB10\", arch: aarch64, net: roce, nccl: \"2.28\"}\npolicy: {min_gain: 3%, reach: 2, gap: " \
  "10}\n"
#define POINTS                                                                                                         \
  "tables:\n"                                                                                                          \
  "  - collective: broadcast\n    nodes: 1\n    ranks: 4\n    points:\n      - bytes: 1KiB\n        times:\n"          \
  "          - {choice: auto, median: 5us, samples: 15, spread: 1%}\n"                                                 \
  "  - collective: allreduce\n"                                                                                        \
  "    nodes: 2\n"                                                                                                     \
  "    ranks: 8\n"                                                                                                     \
  "    points:\n"                                                                                                      \
  "      - bytes: 12KiB\n"                                                                                             \
  "        times:\n"                                                                                                   \
  "          - {choice: auto, median: 76.954us, samples: 55, spread: 2.5%, ran: {algo: tree, proto: ll, channels: 6, " \
  "estimate: 20.049us}, memory: 128MiB}\n"                                                                             \
  "          - {channels: 2, median: 91.1us, samples: 3, ran: {algo: tree, proto: ll, channels: 2, estimate: "         \
  "9.1us}}\n"                                                                                                          \
  "          - {algo: tree, proto: ll, channels: 2, median: 91.1us, samples: 3, ran: {algo: tree, proto: ll, "         \
  "channels: 2, estimate: 9.1us}}\n"                                                                                   \
  "          - {algo: tree, proto: simple, excluded: \"hung: rank 3 of 8 did not answer within 10 s\"}\n"              \
  "          - {algo: ring, proto: ll, median: 99999.999us, samples: 20, spread: 0.1%, ran: {algo: ring, proto: ll, "  \
  "channels: 16, estimate: 123456.789us}, excluded: \"did not hold when measured afresh\"}\n"                          \
  "          - {algo: ring, proto: simple, excluded: \"wrong data: rank 1\"}\n"                                        \
  "      - bytes: 96MiB\n"                                                                                             \
  "        times:\n"                                                                                                   \
  "          - {choice: auto, median: 14.971us, samples: 6, spread: 100%}\n"                                           \
  "          - {algo: nvls, proto: simple, median: 15us, samples: 1, memory: 1}\n"

static const char path[] = "resume-test.yaml";
static struct study study;
static struct study_plan plan = {.min_gain = 3 * SW_ONE / 100};
static struct resumed resumed;
static struct sw_text fault;

static char folder[] = "/tmp/sizewise-resume-XXXXXX";

static int enter_folder(void** state) {
  (void)state;
  return !mkdtemp(folder) || chdir(folder);
}

static int remove_folder(void** state) {
  (void)state;
  return rmdir(folder);
}

static int end(void** state) {
  (void)state;
  study_free(&study);
  resume_free(&resumed);
  sw_text_free(&fault);
  study = (struct study){.plan = &plan};
  unlink(path);
  return 0;
}

static bool read_text(const char* text, const char* name, enum sw_kind kind) {
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  return resume_read(path, name, kind, &resumed, &fault);
}

static struct resume_here here(void) {
  static const struct sw_settings none = {NULL, 0};
  return (struct resume_here){
      .settings = &none,
      .facts = {.gpu = "NVIDIA GB10", .arch = "aarch64", .net = SW_NET_ROCE, .driver = "580.95", .nccl = 22809},
      .ranks = 8,
      .nodes = 2};
}

/* --- what is kept ------------------------------------------------------------------------------------------------ */

static void the_tables_are_written_as_they_were(void** state) {
  (void)state;
  static struct sw_diags diags;
  static const struct sw_facts facts = {.net = SW_NET_UNKNOWN};
  static const struct fabric_report report = {.gpu = "NVIDIA GB10", .nccl = 22809};
  static const struct sw_settings none = {NULL, 0};
  struct profile_head head = {.name = "calibrated", .source = "a test", .report = &report, .facts = &facts};
  struct sw_text text = SW_TEXT_EMPTY;
  head.settings = &none;
  assert_true(read_text(TOP POINTS, "calibrated", SW_KIND_MEASURED));
  assert_int_equal(resume_take(&resumed, &study), 3);
  if (!profile_out(&study, &head, &diags, &text)) fail_msg("%s", diags.items[0].text);
  const char* tables = strstr(sw_text_string(&text), "tables:\n");
  assert_non_null(tables);
  assert_string_equal(tables, POINTS);
  sw_text_free(&text);
}

static void what_failed_is_banned_and_nothing_else(void** state) {
  (void)state;
  struct sw_choice hung = {NCCL_ALGO_TREE, NCCL_PROTO_SIMPLE, 0};
  assert_true(read_text(TOP POINTS, "calibrated", SW_KIND_MEASURED));
  resume_take(&resumed, &study);
  assert_int_equal(study.bans.count, 1);
  assert_string_equal(ban_of(&study.bans, NCCL_ALLREDUCE, 8, hung), "hung: rank 3 of 8 did not answer within 10 s");
  assert_null(ban_of(&study.bans, NCCL_BROADCAST, 8, hung));
  assert_null(ban_of(&study.bans, NCCL_ALLREDUCE, 4, hung));
}

static struct candidate* channels_2_at(size_t point) {
  return &study.tables[1].points[point]->choices[1].candidate;
}

/* Compared at a size that is there, what a run ended with is excluded; tried at one that is not, nothing is known of
   the others. */
static void what_a_run_ended_with_is_excluded_where_it_ended(void** state) {
  (void)state;
  static const uint64_t sizes[] = {12 << 10, 6 << 10, 96 << 20};
  for (size_t i = 0; i < COUNT(sizes); i++) {
    assert_true(read_text(TOP POINTS, "calibrated", SW_KIND_MEASURED));
    ban(&study.bans, NCCL_ALLREDUCE, 8, (struct sw_choice){-1, -1, 2}, "ended");
    study.bans.items[0].bytes = sizes[i];
    resume_take(&resumed, &study);
    assert_string_equal(channels_2_at(0)->excluded, i == 0 ? "ended" : "");
    assert_int_equal(study_has_excluded(&study, &study.bans.items[0]), i == 0);
    end(NULL);
  }
}

/* Between two sizes it was their decision: at both it is excluded. */
#define TWO(bytes) POINT(bytes, AUTO("5us") TIME("channels: 2", "4us"))
static void what_a_run_ended_with_between_two_sizes_is_excluded_at_both(void** state) {
  (void)state;
  assert_true(read_text(TOP TABLES(TABLE_OF("broadcast", "2", "8", POINT("1KiB", AUTO("5us")))
                                       TABLE_OF("allreduce", "2", "8", TWO("1KiB") TWO("4KiB") TWO("8KiB"))),
                        "calibrated", SW_KIND_MEASURED));
  ban(&study.bans, NCCL_ALLREDUCE, 8, (struct sw_choice){-1, -1, 2}, "ended");
  study.bans.items[0].bytes = 2 << 10;
  assert_int_equal(resume_take(&resumed, &study), 4);
  assert_string_equal(channels_2_at(0)->excluded, "ended");
  assert_string_equal(channels_2_at(1)->excluded, "ended");
  assert_string_equal(channels_2_at(2)->excluded, "");
}

static void a_point_without_auto_is_measured_anew(void** state) {
  (void)state;
  assert_true(read_text(TOP TABLES(TABLE_OF("allreduce", "2", "8", POINT("1KiB", TIME("channels: 2", "5us")))),
                        "calibrated", SW_KIND_MEASURED));
  assert_int_equal(resume_take(&resumed, &study), 0);
}

static void a_missing_file_is_nothing_to_go_on_from(void** state) {
  (void)state;
  struct resume_here now = here();
  assert_true(resume_read("no-such.yaml", "x", SW_KIND_MEASURED, &resumed, &fault));
  assert_null(resumed.profile);
  assert_true(resume_fits(&resumed, &now, &fault));
  assert_int_equal(resume_take(&resumed, &study), 0);
}

/* --- refusals ---------------------------------------------------------------------------------------------------- */

static void assert_refused(bool good, const char* words) {
  struct sw_text wanted = SW_TEXT_EMPTY;
  assert_false(good);
  sw_text_printf(&wanted, "--resume: %s %s", path, words);
  assert_string_equal(sw_text_string(&fault), sw_text_string(&wanted));
  sw_text_free(&wanted);
}

static void another_name_is_refused(void** state) {
  (void)state;
  assert_refused(read_text(TOP POINTS, "mine", SW_KIND_MEASURED),
                 "is named 'calibrated', and this run 'mine': call it so with --name, or name another file");
}

static void another_kind_is_refused(void** state) {
  (void)state;
  assert_refused(read_text(TOP POINTS, "calibrated", SW_KIND_SIMULATED),
                 "was measured, and this run simulates: name another file with -o");
}

static void rules_would_be_lost(void** state) {
  (void)state;
  assert_refused(read_text(TOP POINTS "rules: [{collective: reduce, channels: 4}]\n", "calibrated", SW_KIND_MEASURED),
                 "has rules written by hand, which calibrate would lose; move them to another file");
}

static void settings_of_a_time_would_be_lost(void** state) {
  (void)state;
  static const char times[] = TOP TABLES(
      TABLE_OF("allreduce", "2", "8",
               POINT("1KiB", AUTO("5us") "{channels: 2, median: 4us, settings: {NCCL_BUFFSIZE: \"1048576\"}}")));
  assert_refused(read_text(times, "calibrated", SW_KIND_MEASURED),
                 "has times with settings of their own, which calibrate would lose; move them");
}

static void an_invalid_profile_is_refused_with_its_errors(void** state) {
  (void)state;
  assert_false(read_text("sizewise: 1\nnames: x\n", "calibrated", SW_KIND_MEASURED));
  assert_non_null(strstr(fault.data, "--resume: resume-test.yaml is no valid profile\nresume-test.yaml:2:1: error:"));
}

static void assert_unfit(struct resume_here now, const char* words) {
  assert_true(read_text(TOP POINTS, "calibrated", SW_KIND_MEASURED));
  assert_refused(resume_fits(&resumed, &now, &fault), words);
}

static void the_same_machine_fits(void** state) {
  (void)state;
  struct resume_here now = here();
  assert_true(read_text(TOP POINTS, "calibrated", SW_KIND_MEASURED));
  now.facts.nccl = 22803; /* the minor version counts */
  assert_true(resume_fits(&resumed, &now, &fault));
}

static void another_gpu_is_refused(void** state) {
  struct resume_here now = here();
  (void)state;
  snprintf(now.facts.gpu, sizeof now.facts.gpu, "NVIDIA H200");
  assert_unfit(now, "was measured on something else than this machine: gpu is 'NVIDIA H200', not 'NVIDIA GB10'");
}

static void another_nccl_is_refused(void** state) {
  struct resume_here now = here();
  (void)state;
  now.facts.nccl = 22907;
  assert_unfit(now, "was measured on something else than this machine: nccl is '2.29.7', not '2.28'");
}

static void another_network_is_refused(void** state) {
  struct resume_here now = here();
  (void)state;
  now.facts.net = SW_NET_UNKNOWN;
  assert_unfit(now, "was measured on something else than this machine: net is not known here, and has to be 'roce'");
}

static void another_shape_is_refused(void** state) {
  struct resume_here now = here();
  (void)state;
  now.ranks = 4;
  now.nodes = 1;
  assert_unfit(now, "was measured with 8 ranks on 2 nodes, and this run has 4 on 1");
}

static void other_settings_are_refused(void** state) {
  static const struct sw_setting item = {"NCCL_ALGO", "ring"};
  static const struct sw_settings settings = {&item, 1};
  struct resume_here now = here();
  (void)state;
  now.settings = &settings;
  assert_unfit(now, "was measured under other NCCL settings: none; now: NCCL_ALGO=ring");
}

static void the_same_ranks_twice_are_refused(void** state) {
  (void)state;
  struct resume_here now = here();
  assert_true(
      read_text(TOP TABLES(TABLE_OF("reduce", "1", "8", BOTH("1KiB")) TABLE_OF("reduce", "2", "8", BOTH("1KiB"))),
                "calibrated", SW_KIND_MEASURED));
  now.nodes = 1;
  assert_refused(resume_fits(&resumed, &now, &fault),
                 "has reduce on 8 ranks twice, on 1 and on 2 nodes: a run measures one of them");
}

#define TEST(name) cmocka_unit_test_teardown(name, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(the_tables_are_written_as_they_were),
      TEST(what_failed_is_banned_and_nothing_else),
      TEST(what_a_run_ended_with_is_excluded_where_it_ended),
      TEST(what_a_run_ended_with_between_two_sizes_is_excluded_at_both),
      TEST(a_point_without_auto_is_measured_anew),
      TEST(a_missing_file_is_nothing_to_go_on_from),
      TEST(another_name_is_refused),
      TEST(another_kind_is_refused),
      TEST(rules_would_be_lost),
      TEST(settings_of_a_time_would_be_lost),
      TEST(an_invalid_profile_is_refused_with_its_errors),
      TEST(the_same_machine_fits),
      TEST(another_gpu_is_refused),
      TEST(another_nccl_is_refused),
      TEST(another_network_is_refused),
      TEST(another_shape_is_refused),
      TEST(other_settings_are_refused),
      TEST(the_same_ranks_twice_are_refused),
  };
  study = (struct study){.plan = &plan};
  return cmocka_run_group_tests(tests, enter_folder, remove_folder);
}
