/* Every value of a profile: words, texts, names and numbers, as they are kept and as they are refused. */
#include "profile_text.h"

#define TOP "sizewise: 1\nname: n\nprovenance: {kind: published, source: s}\n"
#define RULES "rules: [{collective: allreduce, channels: 2}]\n"
#define TABLE "tables:\n- collective: allreduce\n  nodes: 1\n  ranks: 8\n  points:\n"

/* A text with one value left open, which stands alone at the end of a line. */
struct frame {
  const char *before, *after;
};

static const struct frame version_frame = {"sizewise: ", "\nname: n\nprovenance: {kind: published, source: s}\n" RULES};
static const struct frame name_frame = {"sizewise: 1\nname: ", "\nprovenance: {kind: published, source: s}\n" RULES};
static const struct frame kind_frame = {"sizewise: 1\nname: n\n" RULES "provenance:\n  source: s\n  kind: ", "\n"};
static const struct frame source_frame = {"sizewise: 1\nname: n\n" RULES "provenance:\n  kind: published\n  source: ",
                                          "\n"};
static const struct frame net_frame = {TOP RULES "match:\n  net: ", "\n"};
static const struct frame gbps_frame = {TOP RULES "match:\n  net_gbps: ", "\n"};
static const struct frame domains_frame = {TOP RULES "match:\n  nvlink_domains: ", "\n"};
static const struct frame compute_frame = {TOP RULES "match:\n  compute: ", "\n"};
static const struct frame nccl_frame = {TOP RULES "match:\n  nccl: ", "\n"};
static const struct frame driver_frame = {TOP RULES "match:\n  driver: ", "\n"};
static const struct frame gain_frame = {TOP RULES "policy:\n  min_gain: ", "\n"};
static const struct frame reach_frame = {TOP RULES "policy:\n  reach: ", "\n"};
static const struct frame gap_frame = {TOP RULES "policy:\n  gap: ", "\n"};
static const struct frame memory_frame = {TOP RULES "policy:\n  max_extra_memory: ", "\n"};
static const struct frame collective_frame = {TOP "tables:\n- nodes: 1\n  ranks: 8\n  points: []\n  collective: ",
                                              "\n"};
static const struct frame nodes_frame = {
    TOP "tables:\n- collective: allreduce\n  ranks: 1000000\n  points: []\n  nodes: ", "\n"};
static const struct frame ranks_frame = {TOP "tables:\n- collective: allreduce\n  nodes: 1\n  points: []\n  ranks: ",
                                         "\n"};
static const struct frame bytes_frame = {TOP TABLE "  - times: [{choice: auto, median: 1us}]\n    bytes: ", "\n"};
static const struct frame median_frame = {TOP TABLE "  - bytes: 1K\n    times:\n    - choice: auto\n      median: ",
                                          "\n"};
static const struct frame samples_frame = {
    TOP TABLE "  - bytes: 1K\n    times:\n    - choice: auto\n      median: 1us\n      samples: ", "\n"};
static const struct frame spread_frame = {
    TOP TABLE "  - bytes: 1K\n    times:\n    - choice: auto\n      median: 1us\n      spread: ", "\n"};
static const struct frame choice_frame = {TOP "rules:\n- collective: allreduce\n  choice: ", "\n"};
static const struct frame algo_frame = {TOP "rules:\n- collective: allgather\n  channels: 2\n  algo: ", "\n"};
static const struct frame proto_frame = {TOP "rules:\n- collective: allreduce\n  proto: ", "\n"};
static const struct frame channels_frame = {TOP "rules:\n- collective: allreduce\n  channels: ", "\n"};
static const struct frame range_frame = {TOP "rules:\n- collective: allreduce\n  channels: 2\n  bytes: ", "\n"};
static const struct frame rule_nodes_frame = {TOP "rules:\n- collective: allreduce\n  channels: 2\n  nodes: ", "\n"};
static const struct frame setting_frame = {
    TOP RULES TABLE
    "  - bytes: 1K\n    times:\n    - choice: auto\n      median: 1us\n      settings:\n        NCCL_X: ",
    "\n"};
static const struct frame variable_frame = {
    TOP RULES TABLE "  - bytes: 1K\n    times:\n    - choice: auto\n      median: 1us\n      settings:\n        ",
    ": 1\n"};

/* --- refused: one error, at the value */

#define SIZE_FORM "write 12288, 12K or 12KiB (1024s), 1 EiB at most"
#define TIME_FORM "write 76us, 1.14ms or 2s, above 0, an hour at most"
#define SHARE_FORM "write 3%, 0.03 or 1.5"
#define WHOLE_FORM "write a whole number such as 8"
#define BOTH_UNITS "has a unit that means 1000 to some and 1024 to others; "
#define NAME_FORM "may hold letters, digits, '.', '_' and '-', 64 at most, and begins with a letter or digit [SW-213]"
#define VARIABLE "settings are environment variables such as NCCL_BUFFSIZE [SW-213]"
#define SIXTY_FOUR "n234567890123456789012345678901234567890123456789012345678901234"

static const struct {
  const struct frame* frame;
  const char *value, *words;
} refused[] = {
    {&version_frame, "2", "format '2': this release reads format 1 [SW-209]"},
    {&version_frame, "0", "format '0': this release reads format 1 [SW-209]"},
    {&version_frame, "1.0", "format '1.0': this release reads format 1 [SW-209]"},
    {&version_frame, "v1", "format 'v1': this release reads format 1 [SW-209]"},
    {&version_frame, "18446744073709551617", "format '18446744073709551617': this release reads format 1 [SW-209]"},
    {&name_frame, "OFF", "a profile cannot be named 'off': that switches Sizewise off [SW-213]"},
    {&name_frame, "a b", "name 'a b' " NAME_FORM},
    {&name_frame, ".a", "name '.a' " NAME_FORM},
    {&name_frame, "-a", "name '-a' " NAME_FORM},
    {&name_frame, "_a", "name '_a' " NAME_FORM},
    {&name_frame, "a/b", "name 'a/b' " NAME_FORM},
    {&name_frame, "\xc3\xa4", "name '\xc3\xa4' " NAME_FORM},
    {&name_frame, SIXTY_FOUR "5", "name '" SIXTY_FOUR "' " NAME_FORM},
    {&name_frame, "''", "name must be a text that is not empty [SW-204]"},
    {&source_frame, "''", "source must be a text that is not empty [SW-204]"},
    {&source_frame, "\"a\\0b\"", "source must be a text that holds no NUL character [SW-204]"},
    {&setting_frame, "''", "NCCL_X must be a text that is not empty [SW-204]"},
    {&setting_frame, "[1]", "NCCL_X must be a single value, not a list [SW-204]"},
    {&variable_frame, "nccl_x", VARIABLE},
    {&variable_frame, "1X", VARIABLE},
    {&variable_frame, "A-B", VARIABLE},
    {&variable_frame, "A=B", VARIABLE},
    {&variable_frame, "''", VARIABLE},
    {&variable_frame, "[A]", VARIABLE},
    {&variable_frame, "N234567890123456789012345678901234567890123456789012345678901234X", VARIABLE},
    {&compute_frame, "sm_121", "compute 'sm_121' is no version such as 2.28 [SW-206]"},
    {&compute_frame, ".1", "compute '.1' is no version such as 2.28 [SW-206]"},
    {&nccl_frame, "2.28.x", "nccl '2.28.x' is no version such as 2.28 [SW-206]"},
    {&nccl_frame, "2..28", "nccl '2..28' is no version such as 2.28 [SW-206]"},
    {&driver_frame, "580.", "driver '580.' is no version such as 2.28 [SW-206]"},
    {&gbps_frame, "0", "net_gbps '0' is out of range: 1 to 1000000 [SW-207]"},
    {&gbps_frame, "1000001", "net_gbps '1000001' is out of range: 1 to 1000000 [SW-207]"},
    {&gbps_frame, "200G", "net_gbps '200G' is not understood; " WHOLE_FORM " [SW-206]"},
    {&domains_frame, "1.5", "nvlink_domains '1.5' is no whole number; " WHOLE_FORM " [SW-206]"},
    {&gain_frame, "3", "min_gain '3' is out of range: 0 to 0.99 [SW-207]"},
    {&gain_frame, "99.1%", "min_gain '99.1%' is out of range: 0 to 0.99 [SW-207]"},
    {&gain_frame, "-3%", "min_gain '-3%' is not understood; " SHARE_FORM " [SW-206]"},
    {&gain_frame, "1e-2", "min_gain '1e-2' is not understood; " SHARE_FORM " [SW-206]"},
    {&gain_frame, "''", "min_gain '' is not understood; " SHARE_FORM " [SW-206]"},
    {&reach_frame, "0.5", "reach '0.5' is out of range: 1 to 1000 [SW-207]"},
    {&reach_frame, "1001", "reach '1001' is out of range: 1 to 1000 [SW-207]"},
    {&gap_frame, "0.99999999", "gap '0.99999999' is out of range: 1 to 1000 [SW-207]"},
    {&gap_frame, "99999999999999999999", "gap '99999999999999999999' is out of range: 1 to 1000 [SW-207]"},
    {&memory_frame, "1GB",
     "max_extra_memory '1GB' has a unit that means 1000 to some and 1024 to others; write 12288, 12K or 12KiB (1024s), "
     "1 EiB at most [SW-208]"},
    {&gap_frame, "10x", "gap '10x' is not understood; " SHARE_FORM " [SW-206]"},
    {&nodes_frame, "0", "nodes '0' is out of range: 1 to 1000000 [SW-207]"},
    {&nodes_frame, "-1", "nodes '-1' is not understood; " WHOLE_FORM " [SW-206]"},
    {&nodes_frame, "1000001", "nodes '1000001' is out of range: 1 to 1000000 [SW-207]"},
    {&ranks_frame, "eight", "ranks 'eight' is not understood; " WHOLE_FORM " [SW-206]"},
    {&ranks_frame, "4294967297", "ranks '4294967297' is out of range: 1 to 1000000 [SW-207]"},
    {&bytes_frame, "0", "bytes must be at least 1 [SW-207]"},
    {&bytes_frame, "0K", "bytes must be at least 1 [SW-207]"},
    {&bytes_frame, "12KB", "bytes '12KB' " BOTH_UNITS SIZE_FORM " [SW-208]"},
    {&bytes_frame, "1.5mb", "bytes '1.5mb' " BOTH_UNITS SIZE_FORM " [SW-208]"},
    {&bytes_frame, "2 GB", "bytes '2 GB' " BOTH_UNITS SIZE_FORM " [SW-208]"},
    {&bytes_frame, "0.3K", "bytes '0.3K' is no whole number; " SIZE_FORM " [SW-206]"},
    {&bytes_frame, "2147483648G", "bytes '2147483648G' is out of range; " SIZE_FORM " [SW-207]"},
    {&bytes_frame, "12X", "bytes '12X' is not understood; " SIZE_FORM " [SW-206]"},
    {&bytes_frame, "1e3", "bytes '1e3' is not understood; " SIZE_FORM " [SW-206]"},
    {&bytes_frame, "1K..2K", "bytes '1K..2K' is not understood; " SIZE_FORM " [SW-206]"},
    {&median_frame, "76", "median '76' has no unit; " TIME_FORM " [SW-206]"},
    {&median_frame, "0us", "median '0us' is out of range; " TIME_FORM " [SW-207]"},
    {&median_frame, "3601s", "median '3601s' is out of range; " TIME_FORM " [SW-207]"},
    {&median_frame, "76ns", "median '76ns' is not understood; " TIME_FORM " [SW-206]"},
    {&samples_frame, "0", "samples '0' is out of range: 1 to 1000000000 [SW-207]"},
    {&samples_frame, "1000000001", "samples '1000000001' is out of range: 1 to 1000000000 [SW-207]"},
    {&spread_frame, "101%", "spread '101%' is out of range: 0 to 1 [SW-207]"},
    {&spread_frame, "2", "spread '2' is out of range: 0 to 1 [SW-207]"}, /* a forgotten % */
    {&spread_frame, "2 us", "spread '2 us' is not understood; " SHARE_FORM " [SW-206]"},
    {&channels_frame, "0", "channels '0' is out of range: 1 to 64 [SW-207]"},
    {&channels_frame, "65", "channels '65' is out of range: 1 to 64 [SW-207]"},
    {&channels_frame, "300", "channels '300' is out of range: 1 to 64 [SW-207]"},
    {&channels_frame, "2.5", "channels '2.5' is no whole number; " WHOLE_FORM " [SW-206]"},
    {&channels_frame, "auto", "channels 'auto' is not understood; " WHOLE_FORM " [SW-206]"},
    {&channels_frame, "''", "channels '' is not understood; " WHOLE_FORM " [SW-206]"},
    {&range_frame, "2K..1K", "bytes '2K..1K' ends before it begins [SW-212]"},
    {&range_frame, "..", "bytes '..' names no size; leave the key out for all sizes [SW-206]"},
    {&range_frame, "1K..2KB", "bytes '2KB' " BOTH_UNITS SIZE_FORM " [SW-208]"},
    {&range_frame, "x..2K", "bytes 'x' is not understood; " SIZE_FORM " [SW-206]"},
    {&range_frame, "1K..2K..3K", "bytes '2K..3K' is not understood; " SIZE_FORM " [SW-206]"},
    {&range_frame, "1K...2K", "bytes '.2K' is not understood; " SIZE_FORM " [SW-206]"},
    {&range_frame, "1K-2K", "bytes '1K-2K' is not understood; " SIZE_FORM " [SW-206]"},
    {&range_frame, "''", "bytes '' is not understood; " SIZE_FORM " [SW-206]"},
    {&rule_nodes_frame, "0", "nodes '0' is out of range: 1 to 1000000 [SW-207]"},
    {&choice_frame, "atuo", "unknown choice 'atuo'; did you mean 'auto'? [SW-205]"},
    {&choice_frame, "ring", "unknown choice 'ring'; it is one of: auto [SW-205]"},
    {&kind_frame, "guess", "unknown kind of provenance 'guess'; it is one of: measured, published, simulated [SW-205]"},
    {&net_frame, "wlan0", "unknown network 'wlan0'; it is one of: ib, roce, socket, other [SW-205]"},
    {&collective_frame, "wxyz",
     "unknown collective 'wxyz'; it is one of: broadcast, reduce, allgather, reducescatter, allreduce [SW-205]"},
    {&algo_frame, "wxyz",
     "unknown algorithm 'wxyz'; it is one of: tree, ring, collnetdirect, collnetchain, nvls, nvlstree, pat [SW-205]"},
    {&proto_frame, "wxyz", "unknown protocol 'wxyz'; it is one of: ll, ll128, simple [SW-205]"},
    {&proto_frame, "''", "unknown protocol ''; it is one of: ll, ll128, simple [SW-205]"},
};

static void fill(const struct frame* frame, const char* value, struct sw_text* text) {
  sw_text_printf(text, "%s%s%s", frame->before, value, frame->after);
}

/* Columns and widths count characters. */
static size_t width_of(const char* value) {
  size_t width = 0;
  for (; *value && *value != '\n'; value++) width += ((unsigned char)*value & 0xc0) != 0x80;
  return width;
}

static void assert_value_error(const struct frame* frame, const char* value, const char* words) {
  TEXT(text);
  TEXT(report);
  fill(frame, value, &text);
  unsigned line = 1;
  const char* start = frame->before;
  for (const char* c = frame->before; *c; c++)
    if (*c == '\n') {
      line++;
      start = c + 1;
    }
  size_t column = strlen(start) + 1;
  const char* source = sw_text_string(&text) + (start - frame->before);
  sw_text_printf(&report, "p.yaml:%u:%zu: error: %s\n    %.*s\n    ", line, column, words, (int)strcspn(source, "\n"),
                 source);
  for (size_t i = 1; i < column; i++) sw_text_add(&report, " ");
  sw_text_add(&report, "^");
  for (size_t i = *value == '[' ? SIZE_MAX : 1; i < width_of(value); i++) sw_text_add(&report, "~");
  sw_text_add(&report, "\n");
  assert_report(sw_text_string(&text), sw_text_string(&report));
}

static void each_refused(void** state) {
  (void)state;
  for (size_t i = 0; i < COUNT(refused); i++) assert_value_error(refused[i].frame, refused[i].value, refused[i].words);
}

/* --- every word, right and misspelt */

static const struct {
  const struct frame* frame;
  const struct sw_vocabulary* words;
} vocabularies[] = {{&kind_frame, &sw_kinds},
                    {&net_frame, &sw_nets},
                    {&collective_frame, &sw_collectives},
                    {&algo_frame, &sw_algorithms},
                    {&proto_frame, &sw_protocols}};

static void each_word(void** state) {
  (void)state;
  for (size_t v = 0; v < COUNT(vocabularies); v++)
    for (size_t i = 0; i < vocabularies[v].words->count; i++) {
      const char* word = vocabularies[v].words->words[i].word;
      TEXT(good);
      fill(vocabularies[v].frame, word, &good);
      struct outcome outcome = read_text(sw_text_string(&good), good.length);
      assert_non_null(outcome.profile);
      free_outcome(&outcome);
      TEXT(misspelt);
      TEXT(words);
      sw_text_printf(&misspelt, "%s%c", word, word[strlen(word) - 1]);
      sw_text_printf(&words, "unknown %s '%s'; did you mean '%s'? [SW-205]", vocabularies[v].words->what,
                     sw_text_string(&misspelt), word);
      assert_value_error(vocabularies[v].frame, sw_text_string(&misspelt), sw_text_string(&words));
    }
}

/* --- taken: what is written again tells what was kept */

static const struct {
  const struct frame* frame;
  const char *value, *written;
} taken[] = {
    {&version_frame, "01", "sizewise: 1\n"},
    {&name_frame, "a", "name: a\n"},
    {&name_frame, "4x.b-c_D", "name: \"4x.b-c_D\"\n"},
    {&name_frame, SIXTY_FOUR, "name: " SIXTY_FOUR "\n"},
    {&name_frame, "No", "name: \"No\"\n"},
    {&kind_frame, "MEASURED", "  kind: measured\n"},
    {&kind_frame, "simulated", "  kind: simulated\n"},
    {&source_frame, "1e3", "  source: \"1e3\"\n"},
    {&net_frame, "RoCE", "match: {net: roce}\n"},
    {&net_frame, "IB", "match: {net: ib}\n"},
    {&gbps_frame, "200", "match: {net_gbps: \"200\"}\n"},
    {&domains_frame, "1000000", "match: {nvlink_domains: \"1000000\"}\n"},
    {&compute_frame, "12.1", "match: {compute: \"12.1\"}\n"},
    {&nccl_frame, "2.28.9", "match: {nccl: \"2.28.9\"}\n"},
    {&driver_frame, "580", "match: {driver: \"580\"}\n"},
    {&gain_frame, "0", "policy: {min_gain: 0%, reach: 2, gap: 10}\n"},
    {&gain_frame, "99%", "policy: {min_gain: 99%, reach: 2, gap: 10}\n"},
    {&gain_frame, "0.0250", "policy: {min_gain: 2.5%, reach: 2, gap: 10}\n"},
    {&reach_frame, "1", "policy: {min_gain: 3%, reach: 1, gap: 10}\n"},
    {&reach_frame, "150%", "policy: {min_gain: 3%, reach: 1.5, gap: 10}\n"},
    {&memory_frame, "0", "policy: {min_gain: 3%, reach: 2, gap: 10, max_extra_memory: 0}\n"},
    {&memory_frame, "1.5GiB", "policy: {min_gain: 3%, reach: 2, gap: 10, max_extra_memory: 1536MiB}\n"},
    {&gap_frame, "1000", "policy: {min_gain: 3%, reach: 2, gap: 1000}\n"},
    {&collective_frame, "ReduceScatter", "  - collective: reducescatter\n"},
    {&nodes_frame, "1000000", "    nodes: 1000000\n"},
    {&ranks_frame, "1", "    ranks: 1\n"},
    {&bytes_frame, "1", "      - bytes: 1\n"},
    {&bytes_frame, "1.5k", "      - bytes: 1536\n"},
    {&bytes_frame, "12288 B", "      - bytes: 12KiB\n"},
    {&bytes_frame, "1024m", "      - bytes: 1GiB\n"},
    {&bytes_frame, "1152921504606846976", "      - bytes: 1073741824GiB\n"},
    {&median_frame, "1.14ms", "          - {choice: auto, median: 1140us}\n"},
    {&median_frame, "2 S", "          - {choice: auto, median: 2000000us}\n"},
    {&samples_frame, "1000000000", "          - {choice: auto, median: 1us, samples: 1000000000}\n"},
    {&spread_frame, "0", "          - {choice: auto, median: 1us, spread: 0%}\n"},
    {&spread_frame, "0.025", "          - {choice: auto, median: 1us, spread: 2.5%}\n"},
    {&spread_frame, "100%", "          - {choice: auto, median: 1us, spread: 100%}\n"},
    {&setting_frame, "8", "          - {choice: auto, median: 1us, settings: {NCCL_X: \"8\"}}\n"},
    {&variable_frame, "_A1", "          - {choice: auto, median: 1us, settings: {_A1: \"1\"}}\n"},
    {&choice_frame, "AUTO", "  - {collective: allreduce, choice: auto}\n"},
    {&algo_frame, "auto", "  - {collective: allgather, channels: 2}\n"},
    {&algo_frame, "Auto", "  - {collective: allgather, channels: 2}\n"},
    {&algo_frame, "NVLS", "  - {collective: allgather, algo: nvls, channels: 2}\n"},
    {&proto_frame, "LL128", "  - {collective: allreduce, proto: ll128}\n"},
    {&proto_frame, "auto", "  - {collective: allreduce, choice: auto}\n"},
    {&channels_frame, "1", "  - {collective: allreduce, channels: 1}\n"},
    {&channels_frame, "64", "  - {collective: allreduce, channels: 64}\n"},
    {&channels_frame, "\"007\"", "  - {collective: allreduce, channels: 7}\n"},
    {&range_frame, "64K..1m", "  - {collective: allreduce, bytes: \"64KiB..1MiB\", channels: 2}\n"},
    {&range_frame, "1K..1K", "  - {collective: allreduce, bytes: \"1KiB\", channels: 2}\n"},
    {&range_frame, "1.5K", "  - {collective: allreduce, bytes: \"1536\", channels: 2}\n"},
    {&range_frame, "..1M", "  - {collective: allreduce, bytes: \"..1MiB\", channels: 2}\n"},
    {&range_frame, "1M..", "  - {collective: allreduce, bytes: \"1MiB..\", channels: 2}\n"},
    {&range_frame, "0..", "  - {collective: allreduce, channels: 2}\n"},
    {&range_frame, "0", "  - {collective: allreduce, bytes: \"0\", channels: 2}\n"},
    {&range_frame, "0..5", "  - {collective: allreduce, bytes: \"..5\", channels: 2}\n"},
    {&rule_nodes_frame, "3", "  - {collective: allreduce, nodes: 3, channels: 2}\n"},
};

static void each_taken(void** state) {
  (void)state;
  for (size_t i = 0; i < COUNT(taken); i++) {
    TEXT(text);
    TEXT(written);
    fill(taken[i].frame, taken[i].value, &text);
    struct outcome outcome = read_text(sw_text_string(&text), text.length);
    if (!outcome.profile) fail_msg("'%s': %s", taken[i].value, sw_text_string(&outcome.report));
    sw_profile_write(outcome.profile, &written);
    const char* found = strstr(sw_text_string(&written), taken[i].written);
    bool whole_line = found && (found == sw_text_string(&written) || found[-1] == '\n');
    if (!whole_line) fail_msg("'%s': no line '%s' in\n%s", taken[i].value, taken[i].written, sw_text_string(&written));
    free_outcome(&outcome);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_refused),
      cmocka_unit_test(each_word),
      cmocka_unit_test(each_taken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
