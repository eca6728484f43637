/* Files that mean harm, or were harmed: each ends with an error that has a place, within bounded time and memory. */
#include "profile_text.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- texts, made of a head, a part that is repeated, and a tail */

enum { MIB = 1024 * 1024 };

static const struct {
  const char* what;
  const char* head;
  const char* part;
  size_t times;
  const char* tail;
  unsigned code, line, column;
} hostile[] = {
    {"a megabyte of [", "", "[", MIB, "", 106, 1, 17},
    {"a megabyte of {", "", "{", MIB, "", 106, 1, 17},
    {"a megabyte of [{", "", "[{", MIB / 2, "", 106, 1, 17},
    {"a megabyte of '- '", "", "- ", MIB / 2, "", 106, 1, 33},
    {"a megabyte of '? '", "", "? ", MIB / 2, "", 106, 1, 33},
    {"a megabyte of ]", "", "]", MIB, "", 104, 1, 1},
    {"a megabyte of &", "", "&", MIB, "", 104, 1, 2},
    {"a megabyte of !", "", "!", MIB, "", 105, 1, 1},
    {"a megabyte of \"", "", "\"", MIB, "", 104, 1, 3},
    {"a megabyte of blanks", "", " ", MIB, "", 108, 0, 0},
    {"a megabyte of line ends", "", "\n", MIB, "", 108, 0, 0},
    {"a megabyte of colons", "", ": ", MIB / 2, "", 104, 1, 1},
    {"a megabyte of %", "", "%", MIB, "", 104, 1, 0},
    {"a megabyte of ---", "", "---\n", MIB / 4, "", 107, 2, 1},
    {"nested flow maps", "", "{a: ", 100000, "", 106, 1, 65},
    {"nested block maps", "a:\n b:\n  c:\n   d:\n    e:\n     f:\n      g:\n       h:\n        i:\n         j:\n",
     "          - ", 50000, "", 106, 11, 0},
    {"a word of 8 MiB", "sizewise: ", "1", 8 * MIB, "", 209, 1, 11},
    {"a text of 8 MiB that is not closed", "sizewise: \"", "x", 8 * MIB, "", 104, 1, 0},
    {"a key of 8 MiB", "", "k", 8 * MIB, ": 1\n", 104, 1, 0},
    {"a name of 8 MiB", "sizewise: 1\nname: ", "n", 8 * MIB, "\n", 213, 2, 7},
    {"a comment of 8 MiB", "#", "x", 8 * MIB, "\nname: 1", 203, 2, 1},
    {"a number of 8 MiB digits behind the point", "policy: {gap: 1.", "0", 8 * MIB, "x}", 206, 1, 15},
    {"a size of 8 MiB zeros", "rules: [{collective: reduce, channels: 1, bytes: ", "0", 8 * MIB, "KB}]", 208, 1, 50},
    {"thousands of unknown keys", "", "k: 1\n", 400000, "", 201, 1, 1},
    {"thousands of one key", "name: n\n", "name: n\n", 400000, "", 202, 2, 1},
    {"thousands of settings", "provenance: {settings: {A: 1", ", A: 1", 400000, "}}", 106, 1, 24},
    {"thousands of empty rules", "rules: [{}", ",{}", 500000, "]", 203, 1, 9},
    {"thousands of words for rules", "rules: [a", ",a", 400000, "]", 204, 1, 9},
    {"more values than any profile has", "rules: [a", ",a", 3000000, "]", 106, 1, 0},
    {"a laugh of aliases", "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n", "d: [*c,*c]\n", 1000, "", 105, 1, 4},
    {"a merge of aliases", "a: {<<: [*b", ", *b", 100000, "]}", 105, 1, 10},
    {"tags without end", "name: !", "a", MIB, " x", 105, 1, 7},
    {"anchors without end", "name: &", "a", MIB, " x", 105, 1, 7},
    {"line ends in a text", "name: \"", "\n\n", MIB / 2, "\"", 213, 1, 7},
    {"escapes without end", "name: \"", "\\u0041", MIB / 6, "\"", 213, 1, 7},
    {"half of UTF-8", "name: ", "\xc3\xa4", 100000, "\xc3", 103, 1, 100007},
    {"zeros", "name: ", "\x01", MIB, "", 103, 1, 7},
};

static void fill(size_t i, struct sw_text* text) {
  sw_text_add(text, hostile[i].head);
  for (size_t n = 0; n < hostile[i].times; n++) sw_text_add(text, hostile[i].part);
  sw_text_add(text, hostile[i].tail);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The first error has the code and the place (column 0: any, but there is one); the report stays readable. */
static void assert_first(const char* what, const struct outcome* outcome, unsigned code, unsigned line,
                         unsigned column) {
  assert_null(outcome->profile);
  const struct sw_diag* diag = &outcome->diags.items[0];
  bool placed = diag->place.line == line && (column ? diag->place.column == column
                                             : line ? diag->place.column > 0
                                                    : true);
  if ((unsigned)diag->code != code || !placed)
    fail_msg("%s: SW-%d at %u:%u, not SW-%u at %u:%u", what, (int)diag->code, diag->place.line, diag->place.column,
             code, line, column);
  if (outcome->report.length > 10000) fail_msg("%s: a report of %zu bytes", what, outcome->report.length);
}

static void each_hostile_text(void** state) {
  (void)state;
  for (size_t i = 0; i < COUNT(hostile); i++) {
    TEXT(text);
    fill(i, &text);
    double start = now();
    struct outcome outcome = read_text(sw_text_string(&text), text.length);
    double seconds = now() - start;
    assert_first(hostile[i].what, &outcome, hostile[i].code, hostile[i].line, hostile[i].column);
    if (seconds > 20) fail_msg("%s: %.1f s", hostile[i].what, seconds);
    free_outcome(&outcome);
  }
}

/* Every text, cut anywhere: an error or a profile, never a crash; and never a profile out of half a one. */
static void cut_anywhere(void** state) {
  (void)state;
  static const char whole[] =
      "sizewise: 1\nname: n\nprovenance: {kind: measured, source: \"s \\u00e4 \xc3\xa4\"}\n"
      "rules: [{collective: reduce, bytes: 1K..2K, channels: 2}]\n";
  for (size_t length = 0; length < sizeof whole; length++) {
    struct outcome outcome = read_text(whole, length);
    assert_int_equal(outcome.profile != NULL, length + 2 >= sizeof whole && length < sizeof whole);
    free_outcome(&outcome);
  }
}

static void bytes(void** state) {
  (void)state;
  static const struct {
    const char* what;
    const char* text;
    size_t length;
    unsigned code, line, column;
  } cases[] = {
      {"nothing", "", 0, 108, 0, 0},
      {"a NUL", "\0", 1, 103, 1, 1},
      {"a NUL within", "sizewise: 1\nname: a\0b\n", 22, 103, 2, 8},
      {"a NUL at the end", "sizewise: 1\n\0", 13, 103, 2, 1},
      {"UTF-16, low byte first", "\xff\xfes\0i\0z\0e\0", 10, 103, 1, 1},
      {"UTF-16, high byte first", "\xfe\xff\0s\0i\0z\0e", 10, 103, 1, 1},
      {"UTF-16 without a mark", "s\0i\0z\0e\0", 8, 103, 1, 2},
      {"UTF-32", "\xff\xfe\0\0s\0\0\0", 8, 103, 1, 1},
      {"gzip", "\x1f\x8b\x08\0\0\0\0\0\0\x03", 10, 103, 1, 1},
      {"ELF",
       "\x7f"
       "ELF\x02\x01\x01\0",
       8, 103, 1, 1},
      {"Latin-1", "name: J\xfcrgen\n", 13, 103, 1, 8},
      {"overlong UTF-8", "name: \xc0\xaf\n", 9, 103, 1, 7},
      {"a surrogate", "name: \xed\xa0\x80\n", 10, 103, 1, 7},
      {"beyond Unicode", "name: \xf4\x90\x80\x80\n", 11, 103, 1, 7},
      {"an escape", "name: \x1b[2J\n", 11, 103, 1, 7},
      {"an escaped surrogate", "name: \"\\ud800\"\n", 15, 104, 1, 0},
      {"two marks",
       "\xef\xbb\xbf\xef\xbb\xbf"
       "a: 1\n",
       11, 201, 1, 2},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct outcome outcome = read_text(cases[i].text, cases[i].length);
    assert_first(cases[i].what, &outcome, cases[i].code, cases[i].line, cases[i].column);
    for (const char* c = sw_text_string(&outcome.report); *c; c++)
      if ((unsigned char)*c < 0x20 && *c != '\n') fail_msg("%s: byte %d in the report", cases[i].what, *c);
    free_outcome(&outcome);
  }
}

/* --- files that are no files */

static char folder[64];

static int make_folder(void** state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/profile_hostile.XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void** state) {
  (void)state;
  return rmdir(folder);
}

static void assert_file(const char* path, const char* report) {
  struct outcome outcome = read_file(path, "p.yaml");
  check_report(path, sw_text_string(&outcome.report), report);
  free_outcome(&outcome);
}

static void no_files(void** state) {
  (void)state;
  char path[96];
  snprintf(path, sizeof path, "%s/x.yaml", folder);
  alarm(60); /* a reader that waits for a pipe's writer, or for the end of zeros, waits for ever */
  assert_file(path, "p.yaml: error: No such file or directory [SW-101]\n");
  assert_file(folder, "p.yaml: error: Is a directory [SW-101]\n");
  assert_file("/dev/zero", "p.yaml: error: no regular file [SW-101]\n");
  assert_file("/dev/null", "p.yaml: error: no regular file [SW-101]\n");
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_file(path, "p.yaml: error: no regular file [SW-101]\n");
  unlink(path);
  assert_int_equal(symlink(path, path), 0);
  assert_file(path, "p.yaml: error: Too many levels of symbolic links [SW-101]\n");
  unlink(path);
  alarm(0);
}

static void write_file(const char* path, size_t length) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  assert_true(file >= 0);
  static char blanks[MIB];
  memset(blanks, ' ', sizeof blanks);
  for (size_t at = 0; at < length; at += sizeof blanks) {
    size_t part = length - at < sizeof blanks ? length - at : sizeof blanks;
    assert_int_equal(write(file, blanks, part), part);
  }
  close(file);
}

static void file_sizes(void** state) {
  (void)state;
  char path[96];
  snprintf(path, sizeof path, "%s/x.yaml", folder);
  write_file(path, 0);
  assert_file(path, "p.yaml: error: the file is empty [SW-108]\n");
  write_file(path, 16 * MIB);
  assert_file(path, "p.yaml: error: the file is empty [SW-108]\n");
  write_file(path, 16 * MIB + 1);
  assert_file(path, "p.yaml: error: larger than 16 MiB [SW-102]\n");
  assert_int_equal(truncate(path, (off_t)1 << 40), 0);
  assert_file(path, "p.yaml: error: larger than 16 MiB [SW-102]\n");
  unlink(path);
}

#if defined __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

/* After all of the above: the most memory that was ever in use. A sanitizer's own memory counts too, so not with it. */
static void memory(void** state) {
  (void)state;
#ifdef SANITIZED
  skip();
#else
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  assert_true(usage.ru_maxrss < 512 * 1024);
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_hostile_text), cmocka_unit_test(cut_anywhere), cmocka_unit_test(bytes),
      cmocka_unit_test(no_files),          cmocka_unit_test(file_sizes),   cmocka_unit_test(memory),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
