/*
 * What the tests of the built plugin share: a temporary folder for profiles, the process's environment, a logger that
 * keeps what it is told, and the plugin loaded as some NCCL loads it.
 *
 *     host_set("NCCL_SIZEWISE_PROFILE=@/p.yaml|NCCL_ALGO=ring")    @ is the temporary folder, | parts the settings
 *
 * SW_BUILD names the folder that holds the plugin.
 */
#ifndef TEST_PLUGIN_HOST_H
#define TEST_PLUGIN_HOST_H

#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "decide/digest.h"
#include "standin/standin.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

extern char** environ;

/* --- profiles: a head, then TABLE and RULE as needed */

#define PROFILE(name, kind, match, rest) \
  "sizewise: 1\nname: " name "\nprovenance: {kind: " kind ", source: a test}\nmatch: {" match "}\n" rest "\n"
#define TABLE(collective, nodes, ranks, bytes, times)                                                     \
  "tables:\n  - {collective: " collective ", nodes: " nodes ", ranks: " ranks ", points: [{bytes: " bytes \
  ", times: ["                                                                                            \
  "{choice: auto, median: 100us}, " times "]}]}\n"
/* At 1 MiB, so from 512 KiB to 2 MiB: half of NCCL's own time. */
#define HALVED(choice) TABLE("allreduce", "2", "4", "1MiB", "{" choice ", median: 50us}")

/* --- a temporary folder */

static char host_folder_path[PATH_MAX];

static inline const char* host_folder(void) {
  if (!host_folder_path[0]) {
    const char* parent = getenv("TMPDIR");
    snprintf(host_folder_path, sizeof host_folder_path, "%s/sizewise-XXXXXX", parent && *parent ? parent : "/tmp");
    assert_non_null(mkdtemp(host_folder_path));
  }
  return host_folder_path;
}

static inline int host_remove_item(const char* path, const struct stat* status, int kind, struct FTW* walk) {
  (void)status, (void)kind;
  return walk->level > 0 ? remove(path) : 0;
}

/* Empties the folder. */
static inline void host_clean(void) {
  assert_int_equal(nftw(host_folder(), host_remove_item, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline int host_leave(void** state) {
  (void)state;
  host_clean();
  return rmdir(host_folder());
}

/* Writes a file of the folder; "sub/name" makes the folder sub. */
static inline void host_write(const char* name, const char* text) {
  char path[PATH_MAX + 256];
  snprintf(path, sizeof path, "%s/%s", host_folder(), name);
  char* slash = strrchr(path, '/');
  *slash = '\0';
  if (mkdir(path, 0700) != 0) assert_int_equal(access(path, W_OK), 0);
  *slash = '/';
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
  assert_int_equal(fclose(file), 0);
}

/* The digest that a profile's text has. */
static inline struct sw_digest host_digest(const char* text) {
  struct sw_diags diags;
  struct sw_digest digest;
  sw_diags_start(&diags, "test");
  struct sw_profile* profile = sw_profile_read(text, strlen(text), &diags);
  if (!profile) fail_msg("%s, in\n%s", diags.items[0].text, text);
  assert_true(sw_digest_compute(profile, &digest));
  sw_profile_free(profile);
  return digest;
}

/* --- texts: @ becomes the temporary folder */

static inline void host_expand(const char* text, char* out, size_t size) {
  size_t used = 0;
  for (; *text; text++) {
    int wrote = *text == '@' ? snprintf(out + used, size - used, "%s", host_folder())
                             : snprintf(out + used, size - used, "%c", *text);
    used += (size_t)wrote;
    assert_true(used < size);
  }
  out[used] = '\0';
}

/* --- the environment */

/* No NCCL_* variable but these; the searched folder is an empty one unless they say otherwise. */
static inline void host_set(const char* settings) {
  for (char** variable = environ; *variable;) {
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(*variable, "="), *variable);
    if (strncmp(name, "NCCL_", 5) == 0)
      unsetenv(name); /* moves the others up */
    else
      variable++;
  }
  char text[4096];
  char* rest = text;
  host_write("none/.keep", "");
  host_expand("NCCL_SIZEWISE_PATH=@/none|", text, sizeof text);
  host_expand(settings, text + strlen(text), sizeof text - strlen(text));
  for (char* pair = strtok_r(rest, "|", &rest); pair; pair = strtok_r(NULL, "|", &rest)) {
    char* value = strchr(pair, '=');
    assert_non_null(value);
    *value = '\0';
    assert_int_equal(setenv(pair, value + 1, 1), 0);
  }
}

/* --- the log: lines as NCCL would print them, in its 1024 bytes, with a letter before them: I or W */

enum { HOST_LINES = 64, HOST_LINE = 1024 };
static struct {
  pthread_mutex_t lock;
  size_t calls;
  char lines[HOST_LINES][HOST_LINE + 4];
} host_logged = {.lock = PTHREAD_MUTEX_INITIALIZER};

__attribute__((format(printf, 5, 6))) static inline void host_log(nccl_log_level level, unsigned long flags,
                                                                  const char* file, int line, const char* format, ...) {
  char text[HOST_LINE];
  va_list arguments;
  (void)flags, (void)line;
  if (strcmp(file, "sizewise") != 0) return; /* the stand-in's own */
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  pthread_mutex_lock(&host_logged.lock);
  if (host_logged.calls < HOST_LINES)
    snprintf(host_logged.lines[host_logged.calls], sizeof host_logged.lines[0], "%c %s",
             level == NCCL_LOG_WARN ? 'W' : 'I', text);
  host_logged.calls++;
  pthread_mutex_unlock(&host_logged.lock);
}

static inline void host_forget_log(void) {
  host_logged.calls = 0;
}

/* How many lines begin with this letter and hold this text. */
static inline size_t host_count_lines(char letter, const char* text) {
  size_t found = 0;
  for (size_t i = 0; i < host_logged.calls && i < HOST_LINES; i++)
    found += host_logged.lines[i][0] == letter && strstr(host_logged.lines[i], text) != NULL;
  return found;
}

static inline void host_print_log(void) {
  for (size_t i = 0; i < host_logged.calls && i < HOST_LINES; i++) print_message("  %s\n", host_logged.lines[i]);
}

/* Exactly one line of this letter, and it holds this text. */
static inline void host_assert_one_line(char letter, const char* text, const char* what) {
  char expected[2048];
  host_expand(text, expected, sizeof expected);
  if (host_count_lines(letter, "") == 1 && host_count_lines(letter, expected) == 1) return;
  host_print_log();
  fail_msg("%s: not exactly one line %c with '%s'", what, letter, expected);
}

static inline void host_assert_no_line(char letter, const char* what) {
  if (host_count_lines(letter, "") == 0) return;
  host_print_log();
  fail_msg("%s: a line %c", what, letter);
}

/* --- the plugin */

/* NCCLs whose newest interface is v2, v3, v3, v4, v4, v5, v5, v6, v6 and v7. */
static const int host_versions[] = {22105, 22203, 22304, 22403, 22703, 22809, 22907, 23007, 23100, 23300};

static inline struct standin_tuner* host_load(int version) {
  char path[PATH_MAX];
  struct standin_tuner* tuner = NULL;
  struct standin_load_report report;
  const char* build = getenv("SW_BUILD");
  if (!build) fail_msg("SW_BUILD has to name the folder of the plugin");
  snprintf(path, sizeof path, "%s/libnccl-tuner-sizewise.so", build);
  if (standin_load(version, path, NULL, &tuner, &report) != STANDIN_LOADED) fail_msg("%s: %s", path, report.words);
  return tuner;
}

static inline struct standin_shape host_shape(int version, size_t ranks, size_t nodes) {
  return (struct standin_shape){.version = version,
                                .ranks = ranks,
                                .nodes = nodes,
                                .comm_id = 1,
                                .channels = 8,
                                .nvl_domains = {(int)nodes, (int)(ranks / nodes), (int)(ranks / nodes)},
                                .logger = host_log};
}

static inline struct standin_communicator* host_create(const struct standin_tuner* tuner, size_t ranks, size_t nodes) {
  struct standin_communicator* c = NULL;
  struct standin_shape shape = host_shape(tuner->version, ranks, nodes);
  if (standin_communicator_create(&shape, tuner, &c) != NCCL_SUCCESS) {
    host_print_log();
    fail_msg("init failed for %zu ranks on %zu nodes", ranks, nodes);
  }
  return c;
}

/* A cost table with 21 numbers, algorithm by algorithm; the plugin sees `rows` of them. */
enum { HOST_ENTRIES = NCCL_NUM_ALGORITHMS * NCCL_NUM_PROTOCOLS };
struct host_answer {
  float table[HOST_ENTRIES];
  int algorithm, protocol, channels;
};

/* Asks as NCCL does, with nothing named and 0 channels; whatever the question, the plugin must succeed. */
static inline struct host_answer host_ask(const struct standin_tuner* tuner, const struct standin_communicator* c,
                                          int collective, size_t bytes, int pipe_ops, const float* table) {
  struct standin_rules rules;
  struct host_answer answer;
  assert_true(standin_rules_of(tuner->version, &rules));
  memcpy(answer.table, table, sizeof answer.table);
  struct standin_question question = {.collective = collective,
                                      .bytes = bytes,
                                      .pipe_ops = pipe_ops,
                                      .algorithms = rules.algorithms,
                                      .table = answer.table,
                                      .algorithm = -1,
                                      .protocol = -1};
  void* context = c ? standin_communicator_context(c) : NULL;
  assert_int_equal(standin_tuner_ask(tuner, context, &question), NCCL_SUCCESS);
  answer.algorithm = question.algorithm;
  answer.protocol = question.protocol;
  answer.channels = question.channels;
  return answer;
}

static inline bool host_is_untouched(const struct host_answer* answer, const float* table) {
  return memcmp(answer->table, table, sizeof answer->table) == 0 && answer->channels == 0 && answer->algorithm == -1 &&
         answer->protocol == -1;
}

/* Tree and Ring in all protocols but LL128; row by row LL, LL128, Simple. M is ring + LL. */
#define HOST_PLAIN_TABLE \
  { 30, -1, 80, 20, -1, 40, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 }

#endif
