/*
 * Any bytes as a profile and as a workload: no crash, no memory out of bounds, an error exactly when there is none, a
 * report that a terminal can show, and one that survives being written and read, twice the same.
 *
 * For libFuzzer: clang -fsanitize=fuzzer,address,undefined. Without it: -DSW_FUZZ_MAIN, with files or folders as
 * arguments. test/fixtures/profiles is the corpus.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "workload/workload.h"

#define CHECK(condition)                          \
  do {                                            \
    if (!(condition)) fail(#condition, __LINE__); \
  } while (0)

static void fail(const char* condition, int line) {
  fprintf(stderr, "test/fuzz/profile.c:%d: not %s\n", line, condition);
  abort();
}

static struct sw_profile* read_profile(const char* text, size_t length, struct sw_text* report) {
  struct sw_diags diags;
  sw_diags_start(&diags, "f");
  struct sw_profile* profile = sw_profile_read(text, length, &diags);
  CHECK((profile == NULL) == (diags.errors > 0));
  CHECK(diags.count <= SW_MOST_ERRORS + SW_MOST_WARNINGS);
  sw_add_diags(report, &diags);
  return profile;
}

/* A line is a message (at most 255 bytes), or 110 bytes of the source; there are at most 20 of three lines, and two. */
static void check_report(const struct sw_text* report) {
  CHECK(!report->failed);
  CHECK(report->length < 20 * 600 + 100);
  for (size_t i = 0; i < report->length; i++) {
    unsigned char c = (unsigned char)report->data[i];
    CHECK((c >= 0x20 || c == '\n') && c != 0x7f);
  }
}

static void check_written(const struct sw_profile* profile) {
  struct sw_text first = SW_TEXT_EMPTY;
  struct sw_text second = SW_TEXT_EMPTY;
  struct sw_text report = SW_TEXT_EMPTY;
  sw_profile_write(profile, &first);
  struct sw_profile* again = read_profile(sw_text_string(&first), first.length, &report);
  CHECK(again);
  sw_profile_write(again, &second);
  CHECK(strcmp(sw_text_string(&first), sw_text_string(&second)) == 0);
  sw_profile_free(again);
  sw_text_free(&first);
  sw_text_free(&second);
  sw_text_free(&report);
}

static bool read_workload(struct sw_arena* arena, const char* text, size_t length, struct sw_text* written) {
  struct sw_text report = SW_TEXT_EMPTY;
  struct sw_diags diags;
  struct workload workload;
  sw_diags_start(&diags, "f");
  bool good = workload_read(arena, text, length, &diags, &workload);
  CHECK(good == (diags.errors == 0));
  sw_add_diags(&report, &diags);
  check_report(&report);
  if (good) workload_write(&workload, written);
  sw_text_free(&report);
  return good;
}

static void check_workload(const char* text, size_t length) {
  struct sw_arena arena = SW_ARENA_EMPTY;
  struct sw_text first = SW_TEXT_EMPTY;
  struct sw_text second = SW_TEXT_EMPTY;
  if (read_workload(&arena, text, length, &first)) {
    CHECK(read_workload(&arena, sw_text_string(&first), first.length, &second));
    CHECK(strcmp(sw_text_string(&first), sw_text_string(&second)) == 0);
  }
  sw_text_free(&first);
  sw_text_free(&second);
  sw_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  struct sw_text report = SW_TEXT_EMPTY;
  struct sw_profile* profile = read_profile((const char*)data, size, &report);
  check_report(&report);
  if (profile) check_written(profile);
  sw_profile_free(profile);
  sw_text_free(&report);
  check_workload((const char*)data, size);
  return 0;
}

#ifdef SW_FUZZ_MAIN

#include <dirent.h>
#include <limits.h>

#include "ground/file.h"

/* The file as it is, cut at each of some places, and with each of some bytes changed. */
static void try_bytes(const char* data, size_t size) {
  LLVMFuzzerTestOneInput((const uint8_t*)data, size);
  static const char changes[] = {0, '\n', '\t', ' ', '"', '*', ':', '[', '{', '-', '0', '9', '.', '%', (char)0xc3};
  size_t step = size / 400 + 1;
  for (size_t at = 0; at < size; at += step) {
    uint8_t* copy = malloc(size);
    CHECK(copy);
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, at);
    copy[at] = (uint8_t)changes[at % sizeof changes];
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
  }
}

static int try_path(const char* path) {
  DIR* folder = opendir(path);
  if (folder) {
    int tried = 0;
    char below[PATH_MAX];
    for (struct dirent* entry = readdir(folder); entry; entry = readdir(folder)) {
      if (entry->d_name[0] == '.') continue;
      if (snprintf(below, sizeof below, "%s/%s", path, entry->d_name) < PATH_MAX) tried += try_path(below);
    }
    closedir(folder);
    return tried;
  }
  char* data;
  size_t size;
  if (sw_file_read(path, SW_PROFILE_LARGEST_FILE, &data, &size) != 0) return 0;
  try_bytes(data, size);
  free(data);
  return 1;
}

int main(int count, char** paths) {
  int tried = 0;
  for (int i = 1; i < count; i++) tried += try_path(paths[i]);
  printf("%d files\n", tried);
  return tried ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
