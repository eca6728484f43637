/* The reader above single values: what is kept and in which order, what contradicts itself, and when reading stops. */
#include "profile_text.h"

#include <locale.h>

#define TOP "sizewise: 1\nname: n\nprovenance: {kind: published, source: s}\n"
#define TABLE "tables:\n- collective: allreduce\n  nodes: 1\n  ranks: 8\n  points:\n"

static struct outcome read_good(const char* text) {
  struct outcome outcome = read_text(text, strlen(text));
  if (!outcome.profile) fail_msg("%s", sw_text_string(&outcome.report));
  return outcome;
}

/* --- what is kept, field by field: the writer's view of it cannot hide a mistake here */

static const char everything[] =
    "sizewise: 1\n"
    "name: all\n"
    "provenance: {kind: simulated, source: s, note: n, date: d, tool: t, gpu: g, network: w, nccl: 2.1, cuda: c,\n"
    "  driver: r, settings: {NCCL_B: 2, NCCL_A: 1}}\n"
    "match: {gpu: mg, compute: 12.1, arch: ma, net: other, net_gbps: 3, nvlink_domains: 4, nccl: 2.2, driver: 5}\n"
    "policy: {min_gain: 4%, reach: 3, gap: 7.5}\n"
    "tables:\n"
    "- collective: reducescatter\n"
    "  nodes: 2\n"
    "  ranks: 16\n"
    "  points:\n"
    "  - bytes: 3K\n"
    "    times:\n"
    "    - {choice: auto, median: 2us}\n"
    "    - {algo: pat, proto: simple, channels: 7, median: 1.5us, samples: 9, spread: 3%, settings: {NCCL_C: x}}\n"
    "rules:\n"
    "- {collective: allgather, bytes: 1K..2K, nodes: 3, ranks: 5, algo: ring, proto: ll128, channels: 64}\n"
    "- {collective: broadcast, channels: 1}\n";

static void provenance_and_match(void** state) {
  (void)state;
  static const char* const provenance[SW_PROVENANCE_COUNT] = {"s", "n", "d", "t", "g", "w", "2.1", "c", "r"};
  static const char* const match[SW_MATCH_COUNT] = {"mg", "12.1", "ma", "other", "3", "4", "2.2", "5"};
  struct outcome outcome = read_good(everything);
  const struct sw_profile* profile = outcome.profile;
  assert_string_equal(sw_text_string(&outcome.report), "");
  assert_string_equal(profile->name, "all");
  assert_int_equal(profile->kind, SW_KIND_SIMULATED);
  for (int i = 0; i < SW_PROVENANCE_COUNT; i++) assert_string_equal(profile->provenance[i], provenance[i]);
  for (int i = 0; i < SW_MATCH_COUNT; i++) assert_string_equal(profile->match[i], match[i]);
  assert_int_equal(profile->settings.count, 2);
  assert_string_equal(profile->settings.items[0].name, "NCCL_A");
  assert_string_equal(profile->settings.items[0].value, "1");
  assert_string_equal(profile->settings.items[1].name, "NCCL_B");
  assert_string_equal(profile->settings.items[1].value, "2");
  assert_int_equal(profile->policy.min_gain, 4000000);
  assert_int_equal(profile->policy.reach, 300000000);
  assert_int_equal(profile->policy.gap, 750000000);
  free_outcome(&outcome);
}

static void assert_choice(struct sw_choice choice, int algo, int proto, int channels) {
  assert_int_equal(choice.algo, algo);
  assert_int_equal(choice.proto, proto);
  assert_int_equal(choice.channels, channels);
}

static void assert_place(struct sw_place place, unsigned line, unsigned column) {
  assert_int_equal(place.line, line);
  assert_int_equal(place.column, column);
}

static void table_and_times(void** state) {
  (void)state;
  struct outcome outcome = read_good(everything);
  assert_int_equal(outcome.profile->table_count, 1);
  const struct sw_table* table = outcome.profile->tables;
  assert_int_equal(table->collective, 3);
  assert_int_equal(table->nodes, 2);
  assert_int_equal(table->ranks, 16);
  assert_int_equal(table->count, 1);
  assert_place(table->place, 8, 3);
  assert_int_equal(table->points->bytes, 3072);
  assert_int_equal(table->points->count, 2);
  assert_place(table->points->place, 12, 5);
  const struct sw_time* times = table->points->times;
  assert_choice(times[0].choice, -1, -1, 0);
  assert_int_equal(times[0].median_ps, 2000000);
  assert_int_equal(times[0].samples, 0);
  assert_int_equal(times[0].spread, -1);
  assert_int_equal(times[0].settings.count, 0);
  assert_choice(times[1].choice, 6, 2, 7);
  assert_int_equal(times[1].median_ps, 1500000);
  assert_int_equal(times[1].samples, 9);
  assert_int_equal(times[1].spread, 3000000);
  assert_int_equal(times[1].settings.count, 1);
  assert_string_equal(times[1].settings.items[0].name, "NCCL_C");
  assert_string_equal(times[1].settings.items[0].value, "x");
  assert_place(times[1].place, 15, 7);
  free_outcome(&outcome);
}

static void rules(void** state) {
  (void)state;
  struct outcome outcome = read_good(everything);
  assert_int_equal(outcome.profile->rule_count, 2);
  const struct sw_rule* rule = outcome.profile->rules;
  assert_int_equal(rule[0].collective, 2);
  assert_int_equal(rule[0].from, 1024);
  assert_int_equal(rule[0].to, 2048);
  assert_int_equal(rule[0].nodes, 3);
  assert_int_equal(rule[0].ranks, 5);
  assert_choice(rule[0].choice, 1, 1, 64);
  assert_place(rule[0].place, 17, 3);
  assert_int_equal(rule[1].collective, 0);
  assert_int_equal(rule[1].from, 0);
  assert_true(rule[1].to == UINT64_MAX);
  assert_int_equal(rule[1].nodes, 0);
  assert_int_equal(rule[1].ranks, 0);
  assert_choice(rule[1].choice, -1, -1, 1);
  free_outcome(&outcome);
}

static void left_out(void** state) {
  (void)state;
  struct outcome outcome = read_good(TOP "rules: [{collective: reduce, channels: 2}]\n");
  const struct sw_profile* profile = outcome.profile;
  assert_int_equal(profile->kind, SW_KIND_PUBLISHED);
  for (int i = 1; i < SW_PROVENANCE_COUNT; i++) assert_null(profile->provenance[i]);
  for (int i = 0; i < SW_MATCH_COUNT; i++) assert_null(profile->match[i]);
  assert_int_equal(profile->settings.count, 0);
  assert_int_equal(profile->table_count, 0);
  assert_int_equal(profile->policy.min_gain, 3000000);
  assert_int_equal(profile->policy.reach, 200000000);
  assert_int_equal(profile->policy.gap, 1000000000);
  free_outcome(&outcome);
}

/* --- look-ups */

#define POINT(bytes) "  - {bytes: " bytes ", times: [{choice: auto, median: 1us}]}\n"

static void look_ups(void** state) {
  (void)state;
  struct outcome outcome = read_good(TOP TABLE
                                     "  - {bytes: 9, times: [{channels: 2, median: 2us, settings: {NCCL_A: 1}}, {channels: "
                                     "2, median: 3us}, {choice: auto, median: 1us}]}\n" POINT("3")
                                     "- {collective: allreduce, nodes: 2, ranks: 8, points: []}\n"
                                     "- {collective: reduce, nodes: 1, ranks: 8, points: []}\n"
                                     "- {collective: allreduce, nodes: 1, ranks: 4, points: []}\n");
  const struct sw_profile* profile = outcome.profile;
  const struct sw_table* table = sw_profile_table(profile, 4, 1, 8);
  assert_ptr_equal(table, &profile->tables[2]);
  assert_ptr_equal(sw_profile_table(profile, 1, 1, 8), &profile->tables[0]);
  assert_ptr_equal(sw_profile_table(profile, 4, 1, 4), &profile->tables[1]);
  assert_ptr_equal(sw_profile_table(profile, 4, 2, 8), &profile->tables[3]);
  assert_null(sw_profile_table(profile, 4, 1, 16));
  assert_null(sw_profile_table(profile, 4, 3, 8));
  assert_null(sw_profile_table(profile, 2, 1, 8));
  assert_int_equal(table->points[0].bytes, 3);
  assert_int_equal(table->points[1].bytes, 9);
  assert_int_equal(sw_point_time(&table->points[1], SW_AUTO)->median_ps, 1000000);
  assert_int_equal(sw_point_time(&table->points[1], (struct sw_choice){-1, -1, 2})->median_ps, 3000000);
  assert_null(sw_point_time(&table->points[1], (struct sw_choice){-1, -1, 3}));
  free_outcome(&outcome);
  outcome = read_good(TOP "rules: [{collective: reduce, channels: 2}]\n");
  assert_null(sw_profile_table(outcome.profile, 4, 1, 8));
  free_outcome(&outcome);
}

/* --- one cause, one message: nothing false follows from an error */

#define AUTO_LAST "    times: [{channels: 2, median: 1us}, {choice: auto, median: 2us}]\n"

static const struct {
  const char *text, *report;
} single[] = {
    /* an error before a table leaves that table sorted, so no auto is missed */
    {"sizewise: 1\nname: [n]\nprovenance: {kind: published, source: s}\n" TABLE "  - bytes: 1K\n" AUTO_LAST,
     "p.yaml:2:7: error: name must be a single value, not a list [SW-204]\n    name: [n]\n          ^\n"},
    {TOP TABLE "  - bytes: 1KB\n" AUTO_LAST
               "- collective: reduce\n  nodes: 1\n  ranks: 8\n  points:\n  - bytes: 1K\n" AUTO_LAST,
     "p.yaml:9:12: error: bytes '1KB' has a unit that means 1000 to some and 1024 to others; write 12288, 12K or 12KiB "
     "(1024s), 1 EiB at most [SW-208]\n      - bytes: 1KB\n               ^~~\n"},
    /* a misspelt key is not missing, too */
    {TOP "tables:\n- colective: reduce\n  nodes: 1\n  ranks: 8\n  points: []\n",
     "p.yaml:5:3: error: unknown key 'colective' in a table; did you mean 'collective'? [SW-201]\n"
     "    - colective: reduce\n      ^~~~~~~~~\n"},
    {TOP "rules:\n- {collective: reduce, chanels: 2}\n",
     "p.yaml:5:24: error: unknown key 'chanels' in a rule; did you mean 'channels'? [SW-201]\n"
     "    - {collective: reduce, chanels: 2}\n                           ^~~~~~~\n"},
    /* nor is the right one twice because a misspelt one stands before it */
    {TOP "rules:\n- {colective: reduce, collective: reduce, channels: 2}\n",
     "p.yaml:5:4: error: unknown key 'colective' in a rule; did you mean 'collective'? [SW-201]\n"
     "    - {colective: reduce, collective: reduce, channels: 2}\n       ^~~~~~~~~\n"},
    {TOP "rules:\n- {collective: reduce, channels: 99}\n",
     "p.yaml:5:34: error: channels '99' is out of range: 1 to 64 [SW-207]\n"
     "    - {collective: reduce, channels: 99}\n                                     ^~\n"},
};

static void one_cause_one_message(void** state) {
  (void)state;
  for (size_t i = 0; i < COUNT(single); i++) assert_report(single[i].text, single[i].report);
}

/* --- ten errors, and stop; the tenth is the last thing said, whatever the file holds below */

static void ten_errors(void** state) {
  (void)state;
  for (unsigned errors = 9; errors <= 12; errors++) {
    TEXT(text);
    TEXT(report);
    sw_text_add(&text, TOP "rules:\n");
    for (unsigned i = 0; i < errors; i++) {
      sw_text_printf(&text, "- {collective: reduce, channels: 7%u}\n", 10 + i);
      if (i >= 10) continue;
      sw_text_printf(&report, "p.yaml:%u:34: error: channels '7%u' is out of range: 1 to 64 [SW-207]\n", 5 + i, 10 + i);
      sw_text_printf(&report, "    - {collective: reduce, channels: 7%u}\n", 10 + i);
      sw_text_add(&report, "                                     ^~~\n");
    }
    if (errors >= 10) sw_text_add(&report, "p.yaml: stopped after 10 errors\n");
    assert_report(sw_text_string(&text), sw_text_string(&report));
  }
}

static void sixty_four_settings(void** state) {
  (void)state;
  for (unsigned count = 64; count <= 65; count++) {
    TEXT(text);
    sw_text_add(&text,
                "sizewise: 1\nname: n\nrules: [{collective: reduce, channels: 2}]\nprovenance:\n  kind: measured\n"
                "  source: s\n  settings:\n");
    for (unsigned i = 0; i < count; i++) sw_text_printf(&text, "    NCCL_%u: \"%u\"\n", 10 + i, i);
    struct outcome outcome = read_text(sw_text_string(&text), text.length);
    if (count == 64)
      assert_int_equal(outcome.profile->settings.count, 64);
    else
      assert_string_equal(sw_text_string(&outcome.report),
                          "p.yaml:8:5: error: more than 64 settings [SW-106]\n    "
                          "    NCCL_10: \"0\"\n        ^\n");
    free_outcome(&outcome);
  }
}

/* --- the same text in other clothes */

static void line_ends_and_marks(void** state) {
  (void)state;
  static const char* const texts[] = {
      "\xef\xbb\xbf"
      "sizewise: 1\nname: z\nprovenance: {kind: measured, source: s}\nrules:\n- {collective: reduce, channels: 2}\n",
      "sizewise: 1\r\nname: z\r\nprovenance: {kind: measured, source: s}\r\nrules:\r\n- {collective: reduce, channels: "
      "2}\r\n",
      "sizewise: 1\rname: z\rprovenance: {kind: measured, source: s}\rrules:\r- {collective: reduce, channels: 2}\r",
      "%YAML 1.1\n---\nsizewise: 1\nname: z\nprovenance: {kind: measured, source: s}\nrules:\n- {collective: reduce, "
      "channels: 2}\n...\n",
  };
  for (size_t i = 0; i < COUNT(texts); i++) {
    TEXT(written);
    struct outcome outcome = read_good(texts[i]);
    sw_profile_write(outcome.profile, &written);
    assert_string_equal(sw_text_string(&written),
                        "sizewise: 1\nname: z\nprovenance:\n  kind: measured\n  source: \"s\"\nmatch: {}\n"
                        "policy: {min_gain: 3%, reach: 2, gap: 10}\nrules:\n  - {collective: reduce, channels: 2}\n");
    free_outcome(&outcome);
  }
}

static void any_locale(void** state) {
  static const char* const locales[] = {"de_DE.UTF-8", "de_DE", "tr_TR.UTF-8", "tr_TR.ISO-8859-9", "tr_TR"};
  size_t tried = 0;
  TEXT(expected);
  struct outcome plain = read_good(everything);
  sw_profile_write(plain.profile, &expected);
  free_outcome(&plain);
  for (size_t i = 0; i < COUNT(locales); i++) {
    if (!setlocale(LC_ALL, locales[i])) continue;
    tried++;
    TEXT(written);
    struct outcome outcome = read_good(everything);
    sw_profile_write(outcome.profile, &written);
    assert_string_equal(sw_text_string(&written), sw_text_string(&expected));
    free_outcome(&outcome);
    provenance_and_match(state);
    one_cause_one_message(state);
  }
  setlocale(LC_ALL, "C");
  sw_text_free(&expected); /* skip does not come back */
  if (!tried) skip();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(provenance_and_match),
      cmocka_unit_test(table_and_times),
      cmocka_unit_test(rules),
      cmocka_unit_test(left_out),
      cmocka_unit_test(look_ups),
      cmocka_unit_test(one_cause_one_message),
      cmocka_unit_test(ten_errors),
      cmocka_unit_test(sixty_four_settings),
      cmocka_unit_test(line_ends_and_marks),
      cmocka_unit_test(any_locale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
