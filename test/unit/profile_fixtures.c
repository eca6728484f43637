/*
 * test/fixtures/profiles: beside each profile a .txt with what is said about it, word for word, and, for a good one,
 * its canonical spelling, which has to be its own. SW_TEST_UPDATE=1 writes the .txt files anew.
 */
#include "profile_text.h"

#include <dirent.h>
#include <limits.h>

#include "ground/file.h"

#define FOLDER "/test/fixtures/profiles"

typedef void (*try_fixture)(const char* path, const char* name);

static int is_profile(const struct dirent* entry) {
  const char* dot = strrchr(entry->d_name, '.');
  return dot && strcmp(dot, ".yaml") == 0;
}

/* Calls `try` for the profiles of a folder whose names begin so; returns how many there were. */
static size_t each_profile(const char* folder, const char* beginning, try_fixture try) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s%s", source_root(), folder);
  struct dirent** entries;
  int found = scandir(path, &entries, is_profile, alphasort);
  if (found < 0) fail_msg("no folder %s", path);
  size_t tried = 0;
  for (int i = 0; i < found; i++) {
    const char* name = entries[i]->d_name;
    if (strncmp(name, beginning, strlen(beginning)) == 0) {
      snprintf(path, sizeof path, "%s%s/%s", source_root(), folder, name);
      try(path, name);
      tried++;
    }
    free(entries[i]);
  }
  free(entries);
  return tried;
}

/* Compares with the file of the same name that ends in .txt. */
static void assert_golden(const char* path, const struct sw_text* text) {
  char golden[PATH_MAX];
  snprintf(golden, sizeof golden, "%.*s.txt", (int)(strlen(path) - strlen(".yaml")), path);
  if (getenv("SW_TEST_UPDATE")) {
    FILE* file = fopen(golden, "w");
    assert_non_null(file);
    fputs(sw_text_string(text), file);
    fclose(file);
  }
  char* expected;
  size_t length;
  if (sw_file_read(golden, 1 << 20, &expected, &length) != 0) fail_msg("no file %s", golden);
  check_report(path, sw_text_string(text), expected);
  free(expected);
}

static void assert_fixed_point(const char* path, const char* written) {
  TEXT(again);
  struct outcome outcome = read_text(written, strlen(written));
  if (!outcome.profile) fail_msg("%s, written and read: %s", path, sw_text_string(&outcome.report));
  sw_profile_write(outcome.profile, &again);
  assert_string_equal(sw_text_string(&again), written);
  free_outcome(&outcome);
}

static void try_bad(const char* path, const char* name) {
  struct outcome outcome = read_file(path, name);
  if (outcome.profile) fail_msg("%s is taken", name);
  assert_golden(path, &outcome.report);
  free_outcome(&outcome);
}

static void try_good(const char* path, const char* name) {
  TEXT(written);
  struct outcome outcome = read_file(path, name);
  if (!outcome.profile) fail_msg("%s", sw_text_string(&outcome.report));
  sw_profile_write(outcome.profile, &written);
  assert_fixed_point(path, sw_text_string(&written));
  sw_text_add(&outcome.report, sw_text_string(&written));
  assert_golden(path, &outcome.report);
  free_outcome(&outcome);
}

static void try_shipped(const char* path, const char* name) {
  TEXT(written);
  struct outcome outcome = read_file(path, name);
  assert_string_equal(sw_text_string(&outcome.report), "");
  sw_profile_write(outcome.profile, &written);
  assert_fixed_point(path, sw_text_string(&written));
  free_outcome(&outcome);
}

static void bad(void** state) {
  (void)state;
  assert_true(each_profile(FOLDER, "bad-", try_bad) >= 28);
}

static void good(void** state) {
  (void)state;
  assert_true(each_profile(FOLDER, "good-", try_good) >= 8);
}

static void shipped(void** state) {
  (void)state;
  assert_true(each_profile("/profiles", "", try_shipped) >= 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad),
      cmocka_unit_test(good),
      cmocka_unit_test(shipped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
