/* bench/workload: what is taken, what is refused and with which words, and that a workload survives being written. */
#include "workload/workload.h"

#include "nccl_tuner.h"
#include "profile_text.h"

struct read {
  struct workload workload;
  bool good;
  struct sw_arena arena;
  struct sw_diags diags;
  struct sw_text report;
};

/* Reads from memory that ends where the text ends, so that a sanitizer sees a read behind it. */
static struct read read_workload(const char* text, size_t length) {
  struct read read = {0};
  char* copy = malloc(length ? length : 1);
  assert_non_null(copy);
  memcpy(copy, text, length);
  sw_diags_start(&read.diags, "w.yaml");
  read.good = workload_read(&read.arena, copy, length, &read.diags, &read.workload);
  sw_add_diags(&read.report, &read.diags);
  free(copy);
  assert_int_equal(read.good, read.diags.errors == 0);
  return read;
}

static void free_read(struct read* read) {
  sw_arena_free(&read->arena);
  sw_text_free(&read->report);
}

#define HEAD "workload: 1\nname: w\n"
#define CALLS "collectives: [{collective: allreduce, bytes: 96MiB, count: 120}]\n"

/* --- what is taken ----------------------------------------------------------------------------------------------- */

static const char full[] =
    "workload: 1\n"
    "name: gb10-m3-prefill\n"
    "provenance: {kind: Published, source: \"a note\", note: \"with \\\"quotes\\\", a tab\\t and \\u2028\"}\n"
    "profile: gb10-roce-8x1\n"
    "nodes: 8\n"
    "ranks: 16\n"
    "step:\n"
    "  what: a chunk\n"
    "  tokens: 8192\n"
    "  rate: 699\n"
    "  under: {NCCL_PROTO: \"allreduce:LL\", NCCL_ALGO: \"allreduce:tree\"}\n"
    "collectives:\n"
    "  - {collective: AllReduce, bytes: 96MiB, count: 120}\n"
    "  - {bytes: 12300, count: 1}\n";

static void a_full_one(void** state) {
  (void)state;
  struct read read = read_workload(full, strlen(full));
  assert_string_equal(sw_text_string(&read.report), "");
  const struct workload* workload = &read.workload;
  assert_string_equal(workload->name, "gb10-m3-prefill");
  assert_string_equal(workload->kind, "published");
  assert_string_equal(workload->source, "a note");
  assert_string_equal(workload->profile, "gb10-roce-8x1");
  assert_int_equal(workload->nodes, 8);
  assert_int_equal(workload->ranks, 16);
  assert_true(workload->step.known);
  assert_string_equal(workload->step.what, "a chunk");
  assert_true(workload->step.tokens == 8192);
  assert_true(workload->step.seconds > 11.719599427 && workload->step.seconds < 11.719599428);
  assert_int_equal(workload->step.under_count, 2);
  assert_string_equal(workload->step.under[0].name, "NCCL_ALGO");
  assert_string_equal(workload->step.under[0].value, "allreduce:tree");
  assert_int_equal(workload->call_count, 2);
  assert_int_equal(workload->calls[0].collective, NCCL_ALLREDUCE);
  assert_int_equal(workload->calls[0].bytes, 96 << 20);
  assert_int_equal(workload->calls[0].count, 120);
  assert_int_equal(workload->calls[1].collective, WORKLOAD_ANY_COLLECTIVE);
  assert_int_equal(workload->calls[1].bytes, 12300);
  assert_int_equal(workload->calls[1].place.line, 14);
  free_read(&read);
}

static void the_least(void** state) {
  (void)state;
  struct read read = read_workload(HEAD "collectives: [{bytes: 1, count: 1}]\n", strlen(HEAD) + 36);
  assert_string_equal(sw_text_string(&read.report), "");
  assert_null(read.workload.kind);
  assert_null(read.workload.profile);
  assert_false(read.workload.step.known);
  assert_int_equal(read.workload.nodes, 0);
  free_read(&read);
}

static void steps(void** state) {
  (void)state;
  static const struct {
    const char* step;
    double seconds, tokens;
  } cases[] = {
      {"{time: 20ms, under: {}}", 0.02, 0},
      {"{time: 20ms, tokens: 64, under: {}}", 0.02, 64},
      {"{tokens: 2.75, rate: 27.5, under: {}}", 0.1, 2.75},
      {"{tokens: 4194304, rate: 1e, under: {}}", 0, 0},
      {"{tokens: 4194304, rate: 4194304, under: {}}", 1, 4194304},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    TEXT(text);
    sw_text_printf(&text, HEAD "step: %s\n" CALLS, cases[i].step);
    struct read read = read_workload(sw_text_string(&text), text.length);
    assert_int_equal(read.good, cases[i].seconds > 0);
    if (read.good) assert_true(read.workload.step.seconds == cases[i].seconds);
    if (read.good) assert_true(read.workload.step.tokens == cases[i].tokens);
    free_read(&read);
  }
}

/* --- what is refused --------------------------------------------------------------------------------------------- */

static const struct {
  const char* text;
  const char* expected; /* the first line of the report */
} mistakes[] = {
    {"workload: 2\nname: w\n" CALLS,
     "w.yaml:1:11: error: this release reads workloads of 'workload: 1' alone [SW-209]\n"},
    {HEAD "nodse: 8\n" CALLS, "w.yaml:3:1: error: unknown key 'nodse' in a workload; did you mean 'nodes'? [SW-201]\n"},
    {HEAD "ranks: 8\nranks: 8\n" CALLS, "w.yaml:4:1: error: key 'ranks' is given twice [SW-202]\n"},
    {"workload: 1\n" CALLS, "w.yaml:1:1: error: key 'name' is missing in this workload [SW-203]\n"},
    {HEAD, "w.yaml:1:1: error: key 'collectives' is missing in this workload [SW-203]\n"},
    {HEAD "collectives: []\n", "w.yaml:3:14: error: the workload has no collectives: nothing to choose for [SW-214]\n"},
    {HEAD "nodes: 9\nranks: 8\n" CALLS,
     "w.yaml:1:1: error: 9 nodes cannot hold 8 ranks: each node has at least one [SW-207]\n"},
    {HEAD "nodes: 0\n" CALLS, "w.yaml:3:8: error: nodes '0' is out of range: 1 to 1000000 [SW-207]\n"},
    {HEAD "provenance: {kind: mesured}\n" CALLS,
     "w.yaml:3:20: error: unknown kind of provenance 'mesured'; did you mean 'measured'? [SW-205]\n"},
    {HEAD "collectives: [{collective: allreduce, bytes: 12KB, count: 1}]\n",
     "w.yaml:3:46: error: bytes '12KB' has a unit that means 1000 to some and 1024 to others; write 12288, 12K or "
     "12KiB (1024s), 1 EiB at most [SW-208]\n"},
    {HEAD "collectives: [{collective: allreduce, bytes: 0, count: 1}]\n",
     "w.yaml:3:46: error: bytes must be at least 1 [SW-207]\n"},
    {HEAD "collectives: [{collective: allreduce, bytes: 1, count: 0}]\n",
     "w.yaml:3:56: error: count '0' is out of range: 1 to 1000000000 [SW-207]\n"},
    {HEAD "collectives: [{collective: allreduce, bytes: 1}]\n",
     "w.yaml:3:15: error: key 'count' is missing in this collective [SW-203]\n"},
    {HEAD "collectives: [{collective: all_reduce, bytes: 1, count: 1}]\n",
     "w.yaml:3:28: error: unknown collective 'all_reduce'; did you mean 'allreduce'? [SW-205]\n"},
    {HEAD "collectives: [{collective: All-To-All, bytes: 1, count: 1}]\n",
     "w.yaml:3:28: error: NCCL never asks a tuner about 'All-To-All': there is nothing to choose for it; leave the "
     "entry out [SW-205]\n"},
    {HEAD "collectives: [{collective: send/recv, bytes: 1, count: 1}]\n",
     "w.yaml:3:28: error: NCCL never asks a tuner about 'send/recv': there is nothing to choose for it; leave the "
     "entry out [SW-205]\n"},
    {HEAD "step: {rate: 43, under: {}}\n" CALLS,
     "w.yaml:3:7: error: key 'tokens' is missing in this step: 'rate' is tokens a second [SW-203]\n"},
    {HEAD "step: {tokens: 1, rate: 43, time: 23ms, under: {}}\n" CALLS,
     "w.yaml:3:7: error: 'time' and 'rate' say the same thing twice; keep one (time is tokens / rate) [SW-215]\n"},
    {HEAD "step: {tokens: 1, under: {}}\n" CALLS,
     "w.yaml:3:7: error: key 'time' is missing in this step; or write 'tokens' and 'rate' [SW-203]\n"},
    {HEAD "step: {time: 23ms}\n" CALLS, "w.yaml:3:7: error: key 'under' is missing in this step [SW-203]\n"},
    {HEAD "step: {time: 0s, under: {}}\n" CALLS,
     "w.yaml:3:14: error: time '0s' is out of range; write 76us, 1.14ms or 2s, above 0, an hour at most [SW-207]\n"},
    {HEAD "step: {time: -1s, under: {}}\n" CALLS,
     "w.yaml:3:14: error: time '-1s' is not understood; write 76us, 1.14ms or 2s, above 0, an hour at most "
     "[SW-206]\n"},
    {HEAD "step: {time: 23, under: {}}\n" CALLS,
     "w.yaml:3:14: error: time '23' has no unit; write 76us, 1.14ms or 2s, above 0, an hour at most [SW-206]\n"},
    {HEAD "step: {tokens: 1, rate: 0, under: {}}\n" CALLS,
     "w.yaml:3:25: error: rate '0' is out of range; write 8192 or 27.3, above 0 [SW-207]\n"},
    {HEAD "step: {tokens: 3%, rate: 1, under: {}}\n" CALLS,
     "w.yaml:3:16: error: tokens '3%' is not understood; write 8192 or 27.3 [SW-206]\n"},
    {HEAD "step: {tokens: 1000000, rate: 0.001, under: {}}\n" CALLS,
     "w.yaml:3:7: error: tokens / rate is the time of a step: above 0, an hour at most [SW-207]\n"},
    {HEAD "step: {time: 1s, under: {nccl_algo: ring}}\n" CALLS,
     "w.yaml:3:26: error: settings are environment variables such as NCCL_BUFFSIZE [SW-213]\n"},
    {HEAD "step: {time: 1s, under: {NCCL_ALGO: ring, NCCL_ALGO: tree}}\n" CALLS,
     "w.yaml:3:43: error: key 'NCCL_ALGO' is given twice [SW-202]\n"},
    {"sizewise: 1\nname: p\n", "w.yaml:1:1: error: this is a profile (key 'sizewise'), no workload [SW-201]\n"},
    {"[1, 2]\n", "w.yaml:1:1: error: workload must be a mapping (key: value), not a list [SW-204]\n"},
    {"", "w.yaml: error: the file is empty [SW-108]\n"},
};

static void refused(void** state) {
  (void)state;
  for (size_t i = 0; i < COUNT(mistakes); i++) {
    struct read read = read_workload(mistakes[i].text, strlen(mistakes[i].text));
    assert_false(read.good);
    const char* report = sw_text_string(&read.report);
    size_t line = strcspn(report, "\n") + 1;
    if (strlen(mistakes[i].expected) != line || strncmp(report, mistakes[i].expected, line) != 0)
      fail_msg("of\n%s\nfound\n%snot\n%s", mistakes[i].text, report, mistakes[i].expected);
    free_read(&read);
  }
}

/* --- hostile texts ----------------------------------------------------------------------------------------------- */

static void add_times(struct sw_text* text, const char* what, size_t times) {
  for (size_t i = 0; i < times; i++) sw_text_add(text, what);
}

static void hostile(void** state) {
  (void)state;
  static const struct {
    const char *before, *again, *after;
    size_t times;
    const char* code;
  } cases[] = {
      {HEAD "collectives: ", "[", "", 100000, "[SW-106]"},
      {HEAD "collectives: [", "{bytes: 1, count: 1}, ", "]", 300000, "[SW-106]"},
      {HEAD "collectives: [", "{bytes: 1, coutn: 1}, ", "]", 100000, "[SW-201]"},
      {HEAD "collectives: &a [", "*a, ", "]", 100000, "[SW-105]"},
      {HEAD "step: {time: 1s, under: {", "A: 1, ", "}}\n" CALLS, 1000, "[SW-106]"},
      {"workload: 1\nname: ", "n", "\n" CALLS, 1000000, "[SW-213]"},
      {HEAD "nodes: ", "9", "\n" CALLS, 1000000, "[SW-207]"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    TEXT(text);
    sw_text_add(&text, cases[i].before);
    add_times(&text, cases[i].again, cases[i].times);
    sw_text_add(&text, cases[i].after);
    struct read read = read_workload(sw_text_string(&text), text.length);
    assert_false(read.good);
    if (!strstr(sw_text_string(&read.report), cases[i].code))
      fail_msg("%zu: not %s:\n%.500s", i, cases[i].code, sw_text_string(&read.report));
    assert_true(read.report.length < 20 * 600 + 100);
    free_read(&read);
  }
}

/* --- written and read -------------------------------------------------------------------------------------------- */

static void assert_survives(const char* text) {
  TEXT(first);
  TEXT(second);
  struct read read = read_workload(text, strlen(text));
  if (!read.good) fail_msg("%s", sw_text_string(&read.report));
  workload_write(&read.workload, &first);
  struct read again = read_workload(sw_text_string(&first), first.length);
  if (!again.good) fail_msg("%s, of\n%s", sw_text_string(&again.report), sw_text_string(&first));
  workload_write(&again.workload, &second);
  assert_string_equal(sw_text_string(&first), sw_text_string(&second));
  assert_true(read.workload.step.seconds == again.workload.step.seconds);
  assert_true(read.workload.step.tokens == again.workload.step.tokens);
  if (read.workload.note) assert_string_equal(read.workload.note, again.workload.note);
  free_read(&read);
  free_read(&again);
}

static void written(void** state) {
  (void)state;
  assert_survives(full);
  assert_survives(HEAD CALLS);
  assert_survives(HEAD "step: {tokens: 2.75, rate: 3.3, under: {}}\n" CALLS);
  assert_survives("workload: 1\nname: true\nprofile: \"a: b # c\"\nprovenance: {source: \"~\"}\n" CALLS);
}

static void written_as(void** state) {
  (void)state;
  TEXT(text);
  struct read read = read_workload(full, strlen(full));
  workload_write(&read.workload, &text);
  assert_string_equal(sw_text_string(&text),
                      "workload: 1\n"
                      "name: \"gb10-m3-prefill\"\n"
                      "provenance:\n"
                      "  kind: published\n"
                      "  source: \"a note\"\n"
                      "  note: \"with \\\"quotes\\\", a tab\\t and \\u2028\"\n"
                      "profile: \"gb10-roce-8x1\"\n"
                      "nodes: 8\n"
                      "ranks: 16\n"
                      "step:\n"
                      "  what: \"a chunk\"\n"
                      "  tokens: 8192\n"
                      "  time: 11719599.427754us\n"
                      "  under: {NCCL_ALGO: \"allreduce:tree\", NCCL_PROTO: \"allreduce:LL\"}\n"
                      "collectives:\n"
                      "  - {collective: allreduce, bytes: 96MiB, count: 120}\n"
                      "  - {bytes: 12300, count: 1}\n");
  free_read(&read);
}

static void recognised(void** state) {
  (void)state;
  static const struct {
    const char* text;
    bool expected;
  } cases[] = {{full, true},         {"{\"workload\": 9}", true}, {"sizewise: 1\nworkload: 1\n", false},
               {"name: w\n", false}, {"workload", false},         {"workload: [", false}};
  for (size_t i = 0; i < COUNT(cases); i++)
    assert_int_equal(workload_recognise(cases[i].text, strlen(cases[i].text)), cases[i].expected);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_full_one), cmocka_unit_test(the_least),  cmocka_unit_test(steps),
      cmocka_unit_test(refused),    cmocka_unit_test(hostile),    cmocka_unit_test(written),
      cmocka_unit_test(written_as), cmocka_unit_test(recognised),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
