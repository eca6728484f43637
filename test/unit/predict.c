/*
 * bench/predict: the published arithmetic, and what is said where nothing was measured.
 *
 * Section A: 120 all-reduces of 96 MiB at 67.1 ms in a chunk of 8,192 tokens at 699 tokens a second; the same source
 * has 14.7 ms with nothing forced, 140.7 for LL, 58.2 for tree, 15.1 for a cap of 2 channels. Section B: 158
 * all-reduces of 12 KiB in a step of one token at 43 a second, 57 with LL.
 */
#include "predict/prediction.h"

#include "profile_text.h"
#include "select/shipped.h"

struct fixture {
  struct sw_arena arena;
  struct sw_diags diags;
  struct workload workload;
  struct sw_profile* profile;
  struct predict_setting given;
  struct predict_setting sets[PREDICT_MOST_SETS];
  size_t set_count;
  struct prediction prediction;
};

static void read_workload(struct fixture* fixture, const char* text) {
  sw_diags_start(&fixture->diags, "w");
  if (!workload_read(&fixture->arena, text, strlen(text), &fixture->diags, &fixture->workload))
    fail_msg("%s", fixture->diags.items[0].text);
}

static void read_profile(struct fixture* fixture, const char* text) {
  sw_diags_start(&fixture->diags, "p");
  fixture->profile = sw_profile_read(text, strlen(text), &fixture->diags);
  if (!fixture->profile) fail_msg("%s", fixture->diags.items[0].text);
}

/* Of workload and profile (YAML, or the name of a shipped one) and settings, "|" between them. */
static struct fixture* predict(const char* workload, const char* profile, const char* sets) {
  struct fixture* fixture = calloc(1, sizeof *fixture);
  TEXT(fault);
  assert_non_null(fixture);
  read_workload(fixture, workload);
  const struct sw_shipped* shipped = sw_shipped_find(profile);
  read_profile(fixture, shipped ? shipped->text : profile);
  struct sw_setting under[8];
  for (size_t i = 0; i < fixture->workload.step.under_count; i++)
    under[i] = (struct sw_setting){fixture->workload.step.under[i].name, fixture->workload.step.under[i].value};
  assert_true(
      predict_setting_take(&fixture->arena, under, fixture->workload.step.under_count, &fixture->given, &fault));
  while (*sets) {
    size_t length = strcspn(sets, "|");
    const char* set = sw_arena_copy(&fixture->arena, sets, length);
    if (!predict_setting_read(&fixture->arena, set, &fixture->sets[fixture->set_count++], &fault))
      fail_msg("%s", sw_text_string(&fault));
    sets += length + (sets[length] == '|');
  }
  if (!prediction_shape(&fixture->workload, fixture->profile, &fixture->prediction, &fault))
    fail_msg("%s", sw_text_string(&fault));
  assert_true(
      prediction_compute(&fixture->arena, &fixture->given, fixture->sets, fixture->set_count, &fixture->prediction));
  return fixture;
}

static void free_fixture(struct fixture* fixture) {
  sw_profile_free(fixture->profile);
  sw_arena_free(&fixture->arena);
  free(fixture);
}

static const struct predict_row* row(const struct fixture* fixture, const char* label) {
  for (size_t i = 0; i < fixture->prediction.row_count; i++)
    if (strcmp(fixture->prediction.rows[i].label, label) == 0) return &fixture->prediction.rows[i];
  fail_msg("no row %s", label);
  return NULL;
}

/* The rate as it is published: rounded to whole tokens a second. */
static void assert_rate(const struct fixture* fixture, const char* label, int expected) {
  double rate = prediction_rate(&fixture->prediction, row(fixture, label));
  if ((int)(rate + 0.5) != expected) fail_msg("%s: %f, not %d tokens a second", label, rate, expected);
}

static void assert_time(const struct fixture* fixture, const char* label, size_t call, uint64_t expected_ps) {
  const struct sw_time* time = row(fixture, label)->prices[call].time;
  uint64_t ps = time ? time->median_ps : 0;
  if (ps != expected_ps)
    fail_msg("%s: %llu, not %llu ps", label, (unsigned long long)ps, (unsigned long long)expected_ps);
}

#define US UINT64_C(1000000)
#define CHUNK                                                                                       \
  "workload: 1\nname: w\nnodes: 8\nranks: 8\n"                                                      \
  "step: {tokens: 8192, rate: 699, under: {NCCL_ALGO: allreduce:tree, NCCL_PROTO: allreduce:LL}}\n" \
  "collectives: [{collective: allreduce, bytes: 96MiB, count: 120}]\n"

static void section_a(void** state) {
  (void)state;
  struct fixture* fixture =
      predict(CHUNK, "gb10-roce-8x1", "NCCL_PROTO=allreduce:LL|NCCL_ALGO=allreduce:tree|NCCL_MAX_NCHANNELS=2| ");
  assert_true(fixture->prediction.good);
  assert_rate(fixture, "given", 699);
  assert_rate(fixture, "auto", 1508);
  assert_rate(fixture, "set 1", 399);
  assert_rate(fixture, "set 2", 769);
  assert_rate(fixture, "set 3", 1495);
  assert_rate(fixture, "set 4", 1508);
  assert_rate(fixture, "profile", 1508);
  assert_time(fixture, "given", 0, 67100 * US);
  assert_true(prediction_to_auto(&fixture->prediction, row(fixture, "given")) > 4.564);
  assert_true(prediction_to_auto(&fixture->prediction, row(fixture, "given")) < 4.565);
  assert_int_equal(fixture->prediction.note_count, 1);
  assert_string_equal(fixture->prediction.notes[0],
                      "given: allreduce 96 MiB under tree + ll: measured with 2 channels");
  free_fixture(fixture);
}

static void section_b(void** state) {
  (void)state;
  struct fixture* fixture = predict(
      "workload: 1\nname: w\nnodes: 1\nranks: 8\nstep: {tokens: 1, rate: 43, under: {}}\n"
      "collectives: [{collective: allreduce, bytes: 12KiB, count: 158}]\n",
      "rtx-pro-6000-pcie-8", "NCCL_PROTO=LL");
  assert_true(fixture->prediction.good);
  assert_rate(fixture, "given", 43);
  assert_rate(fixture, "auto", 43);
  assert_rate(fixture, "set 1", 57);
  assert_rate(fixture, "profile", 57);
  free_fixture(fixture);
}

/* --- prices ------------------------------------------------------------------------------------------------------ */

#define HEAD \
  "sizewise: 1\nname: p\nprovenance: {kind: simulated, source: t, settings: {NCCL_NTHREADS: \"64\"}}\ntables:\n"
#define ONE_CALL                                         \
  "workload: 1\nname: w\ncollectives:\n"                 \
  "  - {collective: allreduce, bytes: 1MiB, count: 1}\n" \
  "  - {collective: allgather, bytes: 1MiB, count: 1}\n"

static const char table[] = HEAD
    "  - collective: allreduce\n    nodes: 1\n    ranks: 2\n    points:\n      - bytes: 1MiB\n        times:\n"
    "          - {choice: auto, median: 100us}\n"
    "          - {algo: ring, proto: ll, median: 90us}\n"
    "          - {algo: ring, proto: ll, channels: 4, median: 80us}\n"
    "          - {algo: ring, proto: ll, channels: 8, median: 70us, settings: {NCCL_BUFFSIZE: \"1\"}}\n"
    "          - {algo: tree, proto: ll, median: 60us, excluded: wrong data}\n"
    "          - {algo: tree, proto: simple, excluded: a hang}\n"
    "          - {channels: 4, median: 95us}\n"
    "  - collective: allgather\n    nodes: 1\n    ranks: 2\n    points:\n      - bytes: 1MiB\n        times:\n"
    "          - {choice: auto, median: 10us}\n";

/* Of the all-reduce; 0: not measured. */
static const struct {
  const char* set;
  uint64_t us;
  const char* remark; /* NULL: none */
} prices[] = {
    {"", 100, NULL},
    {"NCCL_ALGO=allgather:ring", 100, NULL},
    {"NCCL_ALGO=ring NCCL_PROTO=ll", 90, NULL},
    {"NCCL_ALGO=RING NCCL_PROTO=LL NCCL_MAX_NCHANNELS=4", 80, NULL},
    {"NCCL_ALGO=ring NCCL_PROTO=ll NCCL_MIN_NCHANNELS=4 NCCL_MAX_CTAS=4", 80, NULL},
    {"NCCL_ALGO=ring NCCL_PROTO=ll NCCL_MAX_NCHANNELS=16", 90, "measured with NCCL's own channel count"},
    {"NCCL_ALGO=ring NCCL_PROTO=ll NCCL_MIN_NCHANNELS=8", 90, "measured with NCCL's own channel count"},
    {"NCCL_ALGO=tree NCCL_PROTO=ll", 60, NULL},
    {"NCCL_ALGO=tree NCCL_PROTO=simple", 0, "tree + simple"},
    {"NCCL_ALGO=ring", 0, "ring"},
    {"NCCL_ALGO=ring,tree", 0, "NCCL_ALGO=ring,tree"},
    {"NCCL_PROTO=^LL128", 0, "NCCL_PROTO=^LL128"},
    {"NCCL_MAX_NCHANNELS=4", 95, NULL},
    {"NCCL_MAX_NCHANNELS=8", 0, "8 channels"},
    {"NCCL_MAX_NCHANNELS=4 NCCL_MIN_NCHANNELS=2", 0, "NCCL_MAX_NCHANNELS=4 NCCL_MIN_NCHANNELS=2"},
    {"NCCL_MIN_NCHANNELS=4", 0, "NCCL_MIN_NCHANNELS=4"},
    {"NCCL_BUFFSIZE=1", 70, NULL},
    {"NCCL_BUFFSIZE=2", 0, "NCCL_BUFFSIZE=2"},
    {"NCCL_NTHREADS=64", 100, NULL},
    {"NCCL_NTHREADS=64 NCCL_MAX_NCHANNELS=4", 95, NULL},
    {"NCCL_PORTO=LL", 0, "NCCL_PORTO=LL (did you mean NCCL_PROTO?)"},
};

static void every_price(void** state) {
  (void)state;
  for (size_t i = 0; i < COUNT(prices); i++) {
    struct fixture* fixture = predict(ONE_CALL, table, prices[i].set[0] ? prices[i].set : " ");
    const struct call_price* price = &row(fixture, "set 1")->prices[0];
    uint64_t us = price->time ? price->time->median_ps / US : 0;
    const char* remark = price->remark ? price->remark : "";
    if (us != prices[i].us || strcmp(remark, prices[i].remark ? prices[i].remark : "") != 0)
      fail_msg("%s: %llu us, '%s'", prices[i].set, (unsigned long long)us, remark);
    free_fixture(fixture);
  }
}

/* ring + ll with 4 channels wins: 80 us, since what is excluded or was measured under other settings cannot. */
static void the_profile(void** state) {
  (void)state;
  struct fixture* fixture = predict(ONE_CALL, table, "NCCL_ALGO=allreduce:tree NCCL_PROTO=allreduce:ll");
  assert_time(fixture, "profile", 0, 80 * US);
  assert_time(fixture, "profile", 1, 10 * US);
  assert_true(row(fixture, "profile")->collectives_ps == 90.0 * (double)US);
  assert_true(row(fixture, "auto")->collectives_ps == 110.0 * (double)US);
  assert_true(fixture->prediction.good);
  assert_string_equal(fixture->prediction.notes[0],
                      "set 1: allreduce 1 MiB under tree + ll: the profile excludes it, wrong data");
  free_fixture(fixture);
}

/* --- what cannot be computed ------------------------------------------------------------------------------------- */

static void assert_notes(const struct fixture* fixture, const char* const* expected, size_t count) {
  for (size_t i = 0; i < count; i++) assert_string_equal(fixture->prediction.notes[i], expected[i]);
  assert_int_equal(fixture->prediction.note_count, count);
}

static void missing(void** state) {
  (void)state;
  struct fixture* fixture = predict(
      "workload: 1\nname: w\nstep: {time: 1s, under: {}}\ncollectives:\n"
      "  - {collective: allreduce, bytes: 12KiB, count: 2}\n  - {collective: allreduce, bytes: 48MiB, count: 1}\n"
      "  - {collective: reduce, bytes: 8, count: 1}\n  - {bytes: 64, count: 3}\n",
      "gb10-roce-8x1", "");
  static const char* const notes[] = {
      "allreduce 48 MiB: not measured; the profile has 12 KiB, 6 MiB, 96 MiB",
      "reduce 8 B: not measured; the profile has no reduce for 8 ranks on 8 nodes",
      "any collective 64 B: the workload does not name the collective, so it is not priced and stays in the rest",
      "'sizewise calibrate --sizes-from WORKLOAD' measures the sizes of a workload",
      "no step time: what the collectives take in the step as given is not known"};
  assert_notes(fixture, notes, COUNT(notes));
  assert_false(fixture->prediction.good);
  assert_false(row(fixture, "auto")->complete);
  assert_true(row(fixture, "auto")->step_ps == 0);
  free_fixture(fixture);
}

/* Calls that name no collective stay in the rest, and the others are priced. */
static void unnamed(void** state) {
  (void)state;
  struct fixture* fixture = predict(
      "workload: 1\nname: w\nstep: {time: 1ms, under: {}}\n"
      "collectives: [{collective: allreduce, bytes: 12KiB, count: 2}, {bytes: 64, count: 3}]\n",
      "gb10-roce-8x1", "NCCL_ALGO=tree");
  assert_true(fixture->prediction.good);
  assert_true(row(fixture, "set 1")->step_ps == (1000.0 - 152 + 148) * (double)US);
  free_fixture(fixture);
}

static void a_contradiction(void** state) {
  (void)state;
  struct fixture* fixture = predict(
      "workload: 1\nname: w\nstep: {time: 1s, under: {}}\n"
      "collectives: [{collective: allreduce, bytes: 96MiB, count: 120}]\n",
      "gb10-roce-8x1", "");
  assert_false(fixture->prediction.good);
  assert_true(fixture->prediction.rest_ps < 0);
  assert_true(row(fixture, "auto")->step_ps == 0);
  assert_true(row(fixture, "auto")->complete);
  assert_non_null(strstr(fixture->prediction.notes[0], "contradict each other"));
  free_fixture(fixture);
}

/* --- shapes ------------------------------------------------------------------------------------------------------ */

static void shapes(void** state) {
  (void)state;
  static const struct {
    const char* shape;
    const char* fault; /* NULL: 8 ranks on 2 nodes is found */
  } cases[] = {
      {"nodes: 2\nranks: 8\n", NULL},
      {"nodes: 2\n", NULL},
      {"ranks: 8\n",
       "workload w does not say for which shape it is; add nodes and ranks to it; the profile has 8 ranks "
       "on 1 node, 8 ranks on 2 nodes"},
      {"nodes: 4\nranks: 8\n",
       "workload w is for 8 ranks on 4 nodes, of which profile p has no times; the profile has "
       "8 ranks on 1 node, 8 ranks on 2 nodes"},
      {"ranks: 4\n",
       "workload w is for ranks: 4, of which profile p has no times; the profile has 8 ranks on 1 node, 8 "
       "ranks on 2 nodes"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct fixture fixture = {0};
    TEXT(text);
    TEXT(fault);
    sw_text_printf(&text, "workload: 1\nname: w\n%scollectives: [{bytes: 1, count: 1}]\n", cases[i].shape);
    read_workload(&fixture, sw_text_string(&text));
    read_profile(&fixture, HEAD
                 "  - {collective: allreduce, nodes: 2, ranks: 8, points: []}\n"
                 "  - {collective: reduce, nodes: 1, ranks: 8, points: []}\n"
                 "  - {collective: allreduce, nodes: 1, ranks: 8, points: []}\n");
    bool found = prediction_shape(&fixture.workload, fixture.profile, &fixture.prediction, &fault);
    assert_string_equal(sw_text_string(&fault), cases[i].fault ? cases[i].fault : "");
    assert_int_equal(found, !cases[i].fault);
    if (found) assert_int_equal(fixture.prediction.nodes, 2);
    sw_profile_free(fixture.profile);
    sw_arena_free(&fixture.arena);
  }
}

/* --- the words of --set ------------------------------------------------------------------------------------------ */

static void words(void** state) {
  (void)state;
  static const struct {
    const char *words, *text, *fault;
  } cases[] = {
      {"", "", ""},
      {"  ", "", ""},
      {" NCCL_PROTO=LL\tNCCL_ALGO=tree ", "NCCL_ALGO=tree NCCL_PROTO=LL", ""},
      {"NCCL_PROTO=", "", ""},
      {"NCCL_X=a=b", "NCCL_X=a=b", ""},
      {"NCCL_ALGO=tree LL", "", "'LL' is no NAME=VALUE such as NCCL_PROTO=LL (column 16)"},
      {"nccl_algo=tree", "", "'nccl_algo=tree' is no NAME=VALUE such as NCCL_PROTO=LL (column 1)"},
      {"1A=2", "", "'1A=2' is no NAME=VALUE such as NCCL_PROTO=LL (column 1)"},
      {"A=1 A=2", "", "A is given twice (column 5)"},
      {"NCCL_ALGO=allreduce:tre", "",
       "NCCL_ALGO=allreduce:tre: column 11 of the value: unknown algorithm \"tre\"; did you mean \"tree\"?"},
      {"NCCL_MAX_NCHANNELS=two", "", "NCCL_MAX_NCHANNELS=two: column 1 of the value: not a number of channels"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct sw_arena arena = SW_ARENA_EMPTY;
    struct predict_setting setting;
    TEXT(fault);
    bool good = predict_setting_read(&arena, cases[i].words, &setting, &fault);
    assert_string_equal(sw_text_string(&fault), cases[i].fault);
    assert_int_equal(good, cases[i].fault[0] == '\0');
    if (good) assert_string_equal(setting.text, cases[i].text);
    sw_arena_free(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(section_a),       cmocka_unit_test(section_b), cmocka_unit_test(every_price),
      cmocka_unit_test(the_profile),     cmocka_unit_test(missing),   cmocka_unit_test(unnamed),
      cmocka_unit_test(a_contradiction), cmocka_unit_test(shapes),    cmocka_unit_test(words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
