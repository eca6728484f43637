/*
 * The shipped profiles against the published figures that they rest on, typed here a second time from those sources:
 * every row, in microseconds, and nothing more.
 */
#include "profile_text.h"

#include <dirent.h>
#include <limits.h>

#define CAP(n) "NCCL_BUFFSIZE=1048576 NCCL_LL128_BUFFSIZE=262144 NCCL_MAX_NCHANNELS=" n " NCCL_PROTO=^LL128"

struct row {
  uint64_t bytes;
  const char* choice;
  double us;
  const char* settings;
};

static const struct {
  const char* file;
  int nodes, ranks;
  const char *gpu, *net;
  struct row rows[20];
} shipped[] = {
    /* 8 x GB10: 12 KB (decode), 6 MiB, 96 MiB (prefill), published in ms */
    {"gb10-roce-8x1",
     8,
     8,
     "*GB10*",
     "roce",
     {{12288, "auto", 76, ""},
      {12288, "2 channels", 78, ""},
      {12288, "ll", 83, ""},
      {12288, "tree", 74, ""},
      {12288, "tree + ll, 2 channels", 79, ""},
      {6291456, "auto", 3750, ""},
      {6291456, "2 channels", 1140, ""},
      {100663296, "auto", 14700, ""},
      {100663296, "2 channels", 15100, ""},
      {100663296, "ll", 140700, ""},
      {100663296, "tree", 58200, ""},
      {100663296, "tree + ll, 2 channels", 67100, ""}}},
    /* 8 x RTX PRO 6000, PCIe only: 34% off 106.3 us */
    {"rtx-pro-6000-pcie-8", 1, 8, "*RTX PRO 6000*", NULL, {{12288, "auto", 106.3, ""}, {12288, "ll", 70.2, ""}}},
    /* 8 x GB10, switched: default, at most 8 channels, at most 16 */
    {"gb10-roce-8x1-switched",
     8,
     8,
     "*GB10*",
     "roce",
     {{20480, "auto", 136.5, ""},
      {20480, "8 channels", 137.7, CAP("8")},
      {20480, "16 channels", 135.2, CAP("16")},
      {122880, "auto", 166.3, ""},
      {122880, "8 channels", 168.4, CAP("8")},
      {122880, "16 channels", 169.6, CAP("16")},
      {983040, "auto", 1366.8, ""},
      {983040, "8 channels", 360.2, CAP("8")},
      {983040, "16 channels", 553.2, CAP("16")},
      {16777216, "auto", 2003.2, ""},
      {16777216, "8 channels", 1336.9, CAP("8")},
      {16777216, "16 channels", 1331.4, CAP("16")},
      {67108864, "auto", 5015.4, ""},
      {67108864, "8 channels", 5014.4, CAP("8")},
      {67108864, "16 channels", 5031.8, CAP("16")}}},
    /* 4 x GB10 in a ring: default, 4 channels */
    {"gb10-roce-4x1-ring",
     4,
     4,
     "*GB10*",
     "roce",
     {{524288, "auto", 390, ""},
      {524288, "4 channels", 145, ""},
      {1048576, "auto", 993, ""},
      {1048576, "4 channels", 188, ""}}},
};

static struct outcome read_shipped(const char* name) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/profiles/%s.yaml", source_root(), name);
  struct outcome outcome = read_file(path, name);
  assert_string_equal(sw_text_string(&outcome.report), "");
  return outcome;
}

static void assert_time(const struct sw_time* time, const struct row* row, const char* file) {
  TEXT(choice);
  TEXT(settings);
  sw_add_choice(&choice, time->choice);
  for (size_t i = 0; i < time->settings.count; i++)
    sw_text_printf(&settings, "%s%s=%s", i ? " " : "", time->settings.items[i].name, time->settings.items[i].value);
  bool same = strcmp(sw_text_string(&choice), row->choice) == 0 && time->median_ps == (uint64_t)(row->us * 1e6 + 0.5) &&
              strcmp(sw_text_string(&settings), row->settings) == 0;
  if (!same)
    fail_msg("%s, %llu bytes: %s takes %llu ps (%s), not %s %.1f us (%s)", file, (unsigned long long)row->bytes,
             sw_text_string(&choice), (unsigned long long)time->median_ps, sw_text_string(&settings), row->choice,
             row->us, row->settings);
  assert_int_equal(time->samples, 0); /* not published */
  assert_int_equal(time->spread, -1);
}

static void every_row(void** state) {
  (void)state;
  for (size_t s = 0; s < COUNT(shipped); s++) {
    struct outcome outcome = read_shipped(shipped[s].file);
    const struct sw_profile* profile = outcome.profile;
    assert_int_equal(profile->table_count, 1);
    const struct sw_table* table = profile->tables;
    assert_int_equal(table->collective, 4);
    assert_int_equal(table->nodes, shipped[s].nodes);
    assert_int_equal(table->ranks, shipped[s].ranks);
    const struct row* row = shipped[s].rows;
    for (size_t p = 0; p < table->count; p++)
      for (size_t t = 0; t < table->points[p].count; t++, row++) {
        if (!row->choice) fail_msg("%s: more than was published", shipped[s].file);
        assert_int_equal(table->points[p].bytes, row->bytes);
        assert_time(&table->points[p].times[t], row, shipped[s].file);
      }
    if (row->choice)
      fail_msg("%s: %s at %llu bytes is missing", shipped[s].file, row->choice, (unsigned long long)row->bytes);
    free_outcome(&outcome);
  }
}

static void what_they_claim(void** state) {
  (void)state;
  for (size_t s = 0; s < COUNT(shipped); s++) {
    struct outcome outcome = read_shipped(shipped[s].file);
    const struct sw_profile* profile = outcome.profile;
    assert_string_equal(profile->name, shipped[s].file);
    assert_int_equal(profile->kind, SW_KIND_PUBLISHED);
    assert_non_null(profile->provenance[SW_PROVENANCE_NOTE]);
    assert_int_equal(profile->rule_count, 0);
    assert_int_equal(profile->settings.count, 0);
    for (int key = 0; key < SW_MATCH_COUNT; key++) {
      const char* expected = key == SW_MATCH_GPU ? shipped[s].gpu : key == SW_MATCH_NET ? shipped[s].net : NULL;
      if (expected)
        assert_string_equal(profile->match[key], expected);
      else
        assert_null(profile->match[key]);
    }
    assert_memory_equal(&profile->policy, &sw_policy_default, sizeof profile->policy);
    free_outcome(&outcome);
  }
}

/* No profile ships that is not compared here. */
static void no_other(void** state) {
  (void)state;
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/profiles", source_root());
  DIR* folder = opendir(path);
  assert_non_null(folder);
  size_t found = 0;
  for (struct dirent* entry = readdir(folder); entry; entry = readdir(folder)) {
    size_t length = strlen(entry->d_name);
    if (length < 5 || strcmp(entry->d_name + length - 5, ".yaml") != 0) continue;
    size_t s = 0;
    while (s < COUNT(shipped) &&
           (strlen(shipped[s].file) != length - 5 || strncmp(shipped[s].file, entry->d_name, length - 5) != 0))
      s++;
    if (s == COUNT(shipped)) fail_msg("%s has no figures here", entry->d_name);
    found++;
  }
  closedir(folder);
  assert_int_equal(found, COUNT(shipped));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row),
      cmocka_unit_test(what_they_claim),
      cmocka_unit_test(no_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
