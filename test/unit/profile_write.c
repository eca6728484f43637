/* The writer: its spelling letter by letter, and that every text that a profile can hold survives it. */
#include "profile_text.h"

static struct outcome read_good(const char* text) {
  struct outcome outcome = read_text(text, strlen(text));
  if (!outcome.profile) fail_msg("%s", sw_text_string(&outcome.report));
  return outcome;
}

/* --- the whole of a spelling, from structs: nothing here was read */

static const struct sw_setting settings[] = {{"NCCL_A", "1"}, {"NCCL_B", "x y"}};
static const struct sw_time times[] = {
    {.choice = {-1, -1, 0}, .median_ps = 76000000, .spread = -1},
    {.choice = {-1, -1, 2}, .median_ps = 1, .samples = 20, .spread = 0},
    {.choice = {-1, 2, 0}, .median_ps = 1140000000, .spread = 2500000},
    {.choice = {0, -1, 64}, .median_ps = 2000000000000, .spread = -1, .settings = {settings, 2}},
    {.choice = {6, 0, 3}, .median_ps = 1500000, .samples = 4000000000, .spread = 150000000, .settings = {settings, 1}},
};
static const struct sw_point points[] = {{.bytes = 1, .times = times, .count = 5}, {.bytes = 96 << 20}};
static const struct sw_table tables[] = {{.collective = 1, .nodes = 1, .ranks = 4},
                                         {.collective = 4, .nodes = 2, .ranks = 8, .points = points, .count = 2}};
static const struct sw_rule rules[] = {
    {.collective = 0, .from = 0, .to = UINT64_MAX, .choice = {-1, -1, 1}},
    {.collective = 1, .from = 0, .to = 0, .choice = {-1, -1, 0}},
    {.collective = 2, .from = 0, .to = 1536, .nodes = 3, .choice = {1, -1, 0}},
    {.collective = 3, .from = 4096, .to = UINT64_MAX, .ranks = 5, .choice = {1, 1, 9}},
    {.collective = 4, .from = 4096, .to = 4096, .nodes = 2, .ranks = 8, .choice = {-1, 0, 9}},
    {.collective = 4, .from = 1, .to = 1048576, .choice = {2, 2, 0}},
};

static void whole_spelling(void** state) {
  (void)state;
  const struct sw_profile profile = {
      .name = "a-b",
      .kind = SW_KIND_MEASURED,
      .provenance = {"s", "n", "d", "t", "g", "w", "2.1", "c", "r"},
      .settings = {settings, 2},
      .match = {"*GB10*", "12.1", "aarch64", "roce", "200", "8", "2.28", "580"},
      .policy = {.min_gain = 2500000, .reach = 150000000, .gap = 100000001, .max_extra_memory = 1536},
      .tables = tables,
      .table_count = 2,
      .rules = rules,
      .rule_count = 6,
  };
  TEXT(text);
  sw_profile_write(&profile, &text);
  assert_string_equal(
      sw_text_string(&text),
      "sizewise: 1\n"
      "name: a-b\n"
      "provenance:\n"
      "  kind: measured\n"
      "  source: \"s\"\n"
      "  note: \"n\"\n"
      "  date: \"d\"\n"
      "  tool: \"t\"\n"
      "  gpu: \"g\"\n"
      "  network: \"w\"\n"
      "  nccl: \"2.1\"\n"
      "  cuda: \"c\"\n"
      "  driver: \"r\"\n"
      "  settings: {NCCL_A: \"1\", NCCL_B: \"x y\"}\n"
      "match: {gpu: \"*GB10*\", compute: \"12.1\", arch: aarch64, net: roce, net_gbps: \"200\", nvlink_domains: \"8\", "
      "nccl: \"2.28\", driver: \"580\"}\n"
      "policy: {min_gain: 2.5%, reach: 1.5, gap: 1.00000001, max_extra_memory: 1536}\n"
      "tables:\n"
      "  - collective: reduce\n"
      "    nodes: 1\n"
      "    ranks: 4\n"
      "    points: []\n"
      "  - collective: allreduce\n"
      "    nodes: 2\n"
      "    ranks: 8\n"
      "    points:\n"
      "      - bytes: 1\n"
      "        times:\n"
      "          - {choice: auto, median: 76us}\n"
      "          - {channels: 2, median: 0.000001us, samples: 20, spread: 0%}\n"
      "          - {proto: simple, median: 1140us, spread: 2.5%}\n"
      "          - {algo: tree, channels: 64, median: 2000000us, settings: {NCCL_A: \"1\", NCCL_B: \"x y\"}}\n"
      "          - {algo: pat, proto: ll, channels: 3, median: 1.5us, samples: 4000000000, spread: 150%, "
      "settings: {NCCL_A: \"1\"}}\n"
      "      - bytes: 96MiB\n"
      "        times: []\n"
      "rules:\n"
      "  - {collective: broadcast, channels: 1}\n"
      "  - {collective: reduce, bytes: \"0\", choice: auto}\n"
      "  - {collective: allgather, bytes: \"..1536\", nodes: 3, algo: ring}\n"
      "  - {collective: reducescatter, bytes: \"4KiB..\", ranks: 5, algo: ring, proto: ll128, channels: 9}\n"
      "  - {collective: allreduce, bytes: \"4KiB\", nodes: 2, ranks: 8, proto: ll, channels: 9}\n"
      "  - {collective: allreduce, bytes: \"1..1MiB\", algo: collnetdirect, proto: simple}\n");
}

/* --- texts */

/* A profile with these texts, written. */
static void write_texts(const char* source, const char* gpu, struct sw_text* text) {
  const struct sw_profile profile = {.name = "n-1",
                                     .provenance = {source},
                                     .settings = {&(struct sw_setting){"NCCL_A", source}, 1},
                                     .match = {gpu},
                                     .policy = sw_policy_default,
                                     .rules = rules,
                                     .rule_count = 1};
  sw_profile_write(&profile, text);
}

static void assert_survives(const char* source) {
  TEXT(text);
  TEXT(again);
  write_texts(source, source, &text);
  struct outcome outcome = read_good(sw_text_string(&text));
  assert_string_equal(outcome.profile->provenance[SW_PROVENANCE_SOURCE], source);
  assert_string_equal(outcome.profile->match[SW_MATCH_GPU], source);
  assert_string_equal(outcome.profile->settings.items[0].value, source);
  sw_profile_write(outcome.profile, &again);
  assert_string_equal(sw_text_string(&again), sw_text_string(&text));
  free_outcome(&outcome);
}

static size_t encode(unsigned code, char* out) {
  if (code < 0x80) return out[0] = (char)code, 1;
  if (code < 0x800) return out[0] = (char)(0xc0 | code >> 6), out[1] = (char)(0x80 | (code & 63)), 2;
  size_t length = code < 0x10000 ? 3 : 4;
  out[0] = (char)((length == 3 ? 0xe0 : 0xf0) | code >> (6 * (length - 1)));
  for (size_t i = 1; i < length; i++) out[i] = (char)(0x80 | (code >> (6 * (length - 1 - i)) & 63));
  return length;
}

/* Every character, between others, at the end, and twice in a row. */
static void every_character(void** state) {
  (void)state;
  static const struct {
    unsigned from, to;
  } ranges[] = {{1, 0x17f},       {0x7fe, 0x802},    {0x1ffe, 0x2040},   {0xd7fe, 0xd7ff},   {0xe000, 0xe001},
                {0xfefe, 0xff00}, {0xfffc, 0x10001}, {0x1f680, 0x1f681}, {0x1fffe, 0x1ffff}, {0x10fffe, 0x10ffff}};
  for (size_t r = 0; r < COUNT(ranges); r++)
    for (unsigned code = ranges[r].from; code <= ranges[r].to; code++) {
      char character[5] = "";
      char source[32];
      encode(code, character);
      snprintf(source, sizeof source, "a%sb %s%s", character, character, character);
      assert_survives(source);
    }
}

static void every_word_of_yaml(void** state) {
  (void)state;
  static const char* const quoted[] = {
      "yes",   "Yes",  "YES", "no",  "NO",  "on",  "Off",  "true", "True",  "false", "FALSE",      "null", "Null",
      "y",     "N",    "~",   "1",   "1e3", ".5",  "-1",   "0x1f", "1_000", "12:30", "2026-10-28", ".inf", ".nan",
      "<<",    "=",    "-",   "- a", "?",   ": a", "a: b", "a #b", "#a",    " a",    "a ",         " ",    "[a]",
      "{a}",   "a,b",  "&a",  "*a",  "!a",  "|",   ">",    "'a'",  "\"a\"", "%a",    "@a",         "`a",   "\\",
      "a\\nb", "a\nb", "\n",  "\t",  "---", "...", "-a",   "_a",   "/a",    ".a"};
  static const char* const plain[] = {"a", "Yes1", "yesno", "aarch64", "x86_64", "a.b-c_d/e", "A", "nul", "ok"};
  for (size_t i = 0; i < COUNT(quoted) + COUNT(plain); i++) {
    bool is_quoted = i < COUNT(quoted);
    const char* word = is_quoted ? quoted[i] : plain[i - COUNT(quoted)];
    TEXT(text);
    write_texts("s", word, &text);
    const char* match = strstr(sw_text_string(&text), "match: {gpu: ");
    assert_non_null(match);
    if ((match[strlen("match: {gpu: ")] == '"') != is_quoted) fail_msg("%s", match);
    assert_survives(word);
  }
}

static void escapes(void** state) {
  (void)state;
  TEXT(text);
  write_texts(
      "\"\\\n\t\r\x01\x1f\x7f\xc2\x80\xc2\x85\xc2\x9f\xc2\xa0\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa"
      "\xef\xbb\xbf\xef\xbf\xbd\xef\xbf\xbe\xef\xbf\xbf\xf0\x9f\x9a\x80",
      "a", &text);
  const char* source = strstr(sw_text_string(&text), "  source: ");
  assert_non_null(source);
  static const char expected[] =
      "  source: \"\\\"\\\\\\n\\t\\u000d\\u0001\\u001f\\u007f\\u0080\\u0085\\u009f\xc2\xa0\xe2\x80\xa7\\u2028\\u2029"
      "\xe2\x80\xaa\\ufeff\xef\xbf\xbd\\ufffe\\uffff\xf0\x9f\x9a\x80\"\n";
  assert_memory_equal(source, expected, strlen(expected));
}

/* Texts that a program put together can end within a character: written as they are, and nothing behind them read. */
static void half_characters(void** state) {
  (void)state;
  static const char* const texts[] = {"a\xc2", "a\xe2", "a\xe2\x80", "a\xef\xbf", "a\xf0\x9f\x9a"};
  for (size_t i = 0; i < COUNT(texts); i++) {
    char* copy = strdup(texts[i]);
    TEXT(text);
    TEXT(line);
    write_texts(copy, "a", &text);
    sw_text_printf(&line, "  source: \"%s\"\n", texts[i]);
    assert_non_null(strstr(sw_text_string(&text), sw_text_string(&line)));
    free(copy);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_spelling), cmocka_unit_test(every_character), cmocka_unit_test(every_word_of_yaml),
      cmocka_unit_test(escapes),        cmocka_unit_test(half_characters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
