/*
 * plugin/decide/digest: equal for what is the same profile however it is spelt, different for any other. The digests of
 * the shipped profiles are in test/golden/digests.txt; another machine, compiler or optimisation gives the same.
 */
#include "decide.h"

#include <locale.h>

#include "decide/digest.h"

static struct sw_digest digest_of(const struct sw_profile* profile) {
  struct sw_digest digest;
  memset(&digest, 'x', sizeof digest);
  if (!sw_digest_compute(profile, &digest)) fail_msg("out of memory");
  assert_int_equal(strspn(digest.hex, "0123456789abcdef"), SW_DIGEST_LENGTH);
  assert_int_equal(digest.hex[SW_DIGEST_LENGTH], '\0');
  return digest;
}

static struct sw_digest digest_of_yaml(const char* yaml) {
  struct sw_profile* profile = read_profile(yaml);
  struct sw_digest digest = digest_of(profile);
  sw_profile_free(profile);
  return digest;
}

#define PROVENANCE "provenance: {kind: measured, source: s, date: d, settings: {NCCL_IB_HCA: mlx5}}\n"
#define MATCH "match: {gpu: '*GB10*', net: roce}\n"
#define START "sizewise: 1\nname: n\n" PROVENANCE MATCH
#define POL "policy: {min_gain: 3%, reach: 2, gap: 10}\n"
#define T1 "{choice: auto, median: 76us, samples: 20, spread: 2%}"
#define T2 "{algo: tree, proto: ll, channels: 2, median: 60us}"
#define T3 "{channels: 8, median: 50us, settings: {NCCL_BUFFSIZE: '1', NCCL_NTHREADS: '64'}}"
#define P1 "{bytes: 12KiB, times: [" T1 ", " T2 ", " T3 "]}"
#define P2 "{bytes: 1MiB, times: [{choice: auto, median: 3.75ms}, {channels: 2, median: 1.14ms}]}"
#define TAB1 "{collective: allreduce, nodes: 8, ranks: 8, points: [" P1 ", " P2 "]}"
#define TAB2 "{collective: broadcast, nodes: 2, ranks: 4, points: []}"
#define R1 "{collective: allreduce, bytes: 64KiB..1MiB, nodes: 8, ranks: 8, channels: 4}"
#define R2 "{collective: reduce, algo: ring}"
#define END(tables, rules) "tables: [" tables "]\nrules: [" rules "]\n"
#define WHOLE START POL END(TAB1 ", " TAB2, R1 ", " R2)

/* The same content. */
static void spellings(void** state) {
  (void)state;
  static const struct {
    const char *what, *yaml;
  } same[] = {
      {"comments", "# a profile\n" START "# more\n" POL END(TAB1 ", " TAB2, R1 ", " R2) "# the end\n"},
      {"order of keys", END(TAB1 ", " TAB2, R1 ", " R2) "policy: {gap: 10, min_gain: 3%, reach: 2}\n"
                                                        "match: {net: roce, gpu: '*GB10*'}\nprovenance: {settings: "
                                                        "{NCCL_IB_HCA: mlx5}, date: d, source: s, kind: measured}\n"
                                                        "name: n\nsizewise: 1\n"},
      {"order of tables", START POL END(TAB2 ", " TAB1, R1 ", " R2)},
      {"order of points",
       START POL END("{collective: allreduce, nodes: 8, ranks: 8, points: [" P2 ", " P1 "]}, " TAB2, R1 ", " R2)},
      {"order of times", START POL END("{collective: allreduce, nodes: 8, ranks: 8, points: [{bytes: 12KiB, times: [" T3
                                       ", " T2 ", " T1 "]}, " P2 "]}, " TAB2,
                                       R1 ", " R2)},
      {"order of settings",
       START POL END("{collective: allreduce, nodes: 8, ranks: 8, points: [{bytes: 12KiB, times: [" T1 ", " T2 ", "
                     "{channels: 8, median: 50us, settings: {NCCL_NTHREADS: '64', NCCL_BUFFSIZE: '1'}}]}, " P2
                     "]}, " TAB2,
                     R1 ", " R2)},
      {"sizes in bytes",
       START POL END("{collective: allreduce, nodes: 8, ranks: 8, points: [{bytes: 12288, times: [" T1 ", " T2 ", " T3
                     "]}, " P2 "]}, " TAB2,
                     "{collective: allreduce, bytes: 65536..1024K, nodes: 8, ranks: 8, channels: 4}, " R2)},
      {"times, shares, words",
       START "policy: {min_gain: 0.030, reach: 2.0, gap: 10.00}\n" END(
           "{collective: AllReduce, nodes: 8, ranks: 8, points: [{bytes: 12KiB, times: [{choice: auto, median: "
           "0.076ms, samples: 20, spread: 0.02}, " T2 ", " T3 "]}, " P2 "]}, " TAB2,
           R1 ", {collective: Reduce, algo: RING}")},
      {"the policy's defaults", START END(TAB1 ", " TAB2, R1 ", " R2)},
      {"quotes",
       "sizewise: 1\nname: \"n\"\nprovenance: {kind: 'measured', source: \"s\", date: 'd', settings: {NCCL_IB_HCA: "
       "\"mlx5\"}}\n" MATCH POL END(TAB1 ", " TAB2, R1 ", " R2)},
      {"block style",
       "---\nsizewise: 1\nname: n\nprovenance:\n  kind: measured\n  source: s\n  date: d\n  settings:\n    "
       "NCCL_IB_HCA: mlx5\n" MATCH POL END(TAB1 ", " TAB2, R1 ", " R2) "...\n"},
      {"auto by name", START POL END("{collective: allreduce, nodes: 8, ranks: 8, points: [{bytes: 12KiB, times: [" T1
                                     ", " T2 ", {algo: auto, proto: auto, channels: 8, median: 50us, settings: "
                                     "{NCCL_BUFFSIZE: '1', NCCL_NTHREADS: '64'}}]}, " P2 "]}, " TAB2,
                                     R1 ", " R2)},
  };
  struct sw_digest whole = digest_of_yaml(WHOLE);
  for (size_t i = 0; i < COUNT(same); i++)
    if (strcmp(digest_of_yaml(same[i].yaml).hex, whole.hex) != 0) fail_msg("another digest: %s", same[i].what);
}

/* One thing changed at a time: the word that is replaced in the whole profile, and what stands there instead. */
static void every_change_shows(void** state) {
  (void)state;
  static const char* const changes[][2] = {
      {"name: n\n", "name: m\n"},
      {"measured", "published"},
      {"source: s", "source: S"},
      {"date: d, ", ""},
      {"date: d", "tool: d"},
      {"NCCL_IB_HCA: mlx5", "NCCL_IB_HCA: mlx4"},
      {", settings: {NCCL_IB_HCA: mlx5}", ""},
      {"*GB10*", "*GB11*"},
      {"net: roce", "net: ib"},
      {", net: roce", ""},
      {"min_gain: 3%", "min_gain: 3.000001%"},
      {"reach: 2", "reach: 2.00000001"},
      {"gap: 10", "gap: 10.00000001"},
      {"collective: allreduce, nodes: 8, ranks: 8, points", "collective: broadcast, nodes: 8, ranks: 8, points"},
      {"nodes: 8, ranks: 8, points", "nodes: 4, ranks: 8, points"},
      {"nodes: 8, ranks: 8, points", "nodes: 8, ranks: 16, points"},
      {"bytes: 12KiB", "bytes: 12289"},
      {"median: 76us", "median: 76.000001us"},
      {"median: 60us", "median: 60.000001us"},
      {"samples: 20", "samples: 21"},
      {", samples: 20", ""},
      {"spread: 2%", "spread: 2.000001%"},
      {"spread: 2%", "spread: 0%"},
      {", spread: 2%", ""},
      {"algo: tree, proto: ll", "algo: ring, proto: ll"},
      {"algo: tree, proto: ll", "algo: tree, proto: ll128"},
      {"algo: tree, proto: ll", "proto: ll"},
      {"channels: 2, median: 60us", "channels: 3, median: 60us"},
      {", channels: 2, median: 60us", ", median: 60us"},
      {"NCCL_BUFFSIZE: '1'", "NCCL_BUFFSIZE: '2'"},
      {"NCCL_BUFFSIZE: '1'", "NCCL_BUFFSIZF: '1'"},
      {", settings: {NCCL_BUFFSIZE: '1', NCCL_NTHREADS: '64'}", ""},
      {", " P2, ""},
      {", " TAB2, ""},
      {"points: []", "points: [{bytes: 1, times: []}]"},
      {"64KiB..1MiB", "64KiB..1048575"},
      {"64KiB..1MiB", "64KiB.."},
      {"bytes: 64KiB..1MiB, ", ""},
      {"nodes: 8, ranks: 8, channels: 4", "ranks: 8, channels: 4"},
      {"nodes: 8, ranks: 8, channels: 4", "nodes: 8, ranks: 9, channels: 4"},
      {"channels: 4}", "channels: 5}"},
      {"channels: 4}", "choice: auto}"},
      {", " R2, ""},
      {R1 ", " R2, R2 ", " R1}, /* the order of rules matters */
      {"algo: ring}", "algo: tree}"},
  };
  static const char whole[] = WHOLE;
  static struct sw_digest seen[COUNT(changes) + 1];
  for (size_t i = 0; i < COUNT(changes); i++) {
    const char* place = strstr(whole, changes[i][0]);
    if (!place) fail_msg("'%s' is not in the profile", changes[i][0]);
    struct sw_text yaml = SW_TEXT_EMPTY;
    sw_text_add_bytes(&yaml, whole, (size_t)(place - whole));
    sw_text_add(&yaml, changes[i][1]);
    sw_text_add(&yaml, place + strlen(changes[i][0]));
    seen[i] = digest_of_yaml(sw_text_string(&yaml));
    sw_text_free(&yaml);
  }
  seen[COUNT(changes)] = digest_of_yaml(whole);
  for (size_t i = 0; i <= COUNT(changes); i++)
    for (size_t j = 0; j < i; j++)
      if (strcmp(seen[i].hex, seen[j].hex) == 0) fail_msg("'%s' and change %zu: the same digest", changes[j][0], i);
}

/* The canonical text is the same profile. */
static void canonical(void** state) {
  (void)state;
  struct sw_profile* profile = read_profile(WHOLE);
  struct sw_digest before = digest_of(profile);
  struct sw_text text = SW_TEXT_EMPTY;
  sw_profile_write(profile, &text);
  assert_string_equal(digest_of_yaml(sw_text_string(&text)).hex, before.hex);
  sw_text_free(&text);
  sw_profile_free(profile);
}

/* A comma for a decimal point, where such a locale is installed, changes nothing. */
static void any_locale(void** state) {
  (void)state;
  struct sw_digest whole = digest_of_yaml(WHOLE);
  static const char* const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8", "C.UTF-8", ""};
  for (size_t i = 0; i < COUNT(names); i++) {
    setlocale(LC_ALL, names[i]);
    assert_string_equal(digest_of_yaml(WHOLE).hex, whole.hex);
  }
  setlocale(LC_ALL, "C");
}

/* --- the shipped profiles */

static const char* const shipped[] = {"gb10-roce-4x1-ring", "gb10-roce-8x1", "gb10-roce-8x1-switched",
                                      "rtx-pro-6000-pcie-8"};

/* With SW_TEST_UPDATE set, the file is written anew instead. */
static FILE* open_golden(void) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/test/golden/digests.txt", source_root());
  FILE* file = fopen(path, getenv("SW_TEST_UPDATE") ? "w+" : "r");
  if (!file) fail_msg("cannot open %s", path);
  return file;
}

static void golden(void** state) {
  (void)state;
  FILE* file = open_golden();
  for (size_t i = 0; i < COUNT(shipped); i++) {
    struct sw_profile* profile = read_shipped(shipped[i]);
    char line[128];
    char expected[128];
    snprintf(line, sizeof line, "%s %s\n", digest_of(profile).hex, shipped[i]);
    sw_profile_free(profile);
    if (getenv("SW_TEST_UPDATE")) {
      fputs(line, file);
      continue;
    }
    assert_non_null(fgets(expected, sizeof expected, file));
    assert_string_equal(line, expected);
  }
  if (!getenv("SW_TEST_UPDATE")) assert_int_equal(fgetc(file), EOF);
  fclose(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spellings), cmocka_unit_test(every_change_shows),
      cmocka_unit_test(canonical), cmocka_unit_test(any_locale),
      cmocka_unit_test(golden),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
