#include <ctype.h>
#include <string.h>

#include "import/perf.h"
#include "nccl_tuner.h"

/* --- words of the head ------------------------------------------------------------------------------------------- */

/* Copies up to the next character of `ends`, without blanks at the end. */
static void copy_until(char out[PERF_TEXT], const char* from, const char* ends) {
  size_t length = strcspn(from, ends);
  while (length && from[length - 1] == ' ') length--;
  if (length >= PERF_TEXT) length = PERF_TEXT - 1;
  memcpy(out, from, length);
  out[length] = '\0';
}

/* Keeps what all files say alike; `differ` once they do not. */
static void keep(char kept[PERF_TEXT], const char* said, bool* differ) {
  if (!said[0]) return;
  if (!kept[0])
    copy_until(kept, said, "");
  else if (strcmp(kept, said) != 0)
    *differ = true;
}

/* 22907 is 2.29.7; up to NCCL 2.8 the code had one digit less: 2804 is 2.8.4. */
static void keep_version_code(struct perf* perf, const char* digits) {
  uint64_t code;
  struct word word = {digits, strspn(digits, "0123456789")};
  if (!word_whole(word, &code) || code < 1000 || code > 9999999) return;
  struct sw_text version = SW_TEXT_EMPTY;
  if (code < 10000)
    sw_text_printf(&version, "%u.%u.%u", (unsigned)(code / 1000), (unsigned)(code / 100 % 10), (unsigned)(code % 100));
  else
    sw_text_printf(&version, "%u.%u.%u", (unsigned)(code / 10000), (unsigned)(code / 100 % 100),
                   (unsigned)(code % 100));
  keep(perf->facts->nccl, sw_text_string(&version), &perf->facts->nccls_differ);
  sw_text_free(&version);
}

static void tool_line(struct perf* perf, const struct line* line, const char* version) {
  (void)line;
  char said[PERF_TEXT];
  bool ignored = false;
  copy_until(said, version, " ");
  keep(perf->facts->tool, said, &ignored);
  const char* library = strstr(version, "nccl-library=");
  if (library) keep_version_code(perf, library + strlen("nccl-library="));
}

static void nccl_line(struct perf* perf, const struct line* line, const char* version) {
  char said[PERF_TEXT];
  (void)line;
  if (!isdigit((unsigned char)version[0])) return;
  copy_until(said, version, "+ ");
  keep(perf->facts->nccl, said, &perf->facts->nccls_differ);
}

/* "warmup iters: 1 iters: 20 agg iters: 1" */
static void calls_line(struct perf* perf, const struct line* line, const char* rest) {
  uint64_t calls;
  const char* timed = strstr(rest, " iters: ");
  (void)line;
  if (!timed) return;
  const char* digits = timed + strlen(" iters: ");
  struct word word = {digits, strspn(digits, "0123456789")};
  if (!word_whole(word, &calls)) return;
  if (perf->facts->calls && perf->facts->calls != calls) perf->facts->calls_differ = true;
  perf->facts->calls = calls;
}

/* --- who took part ----------------------------------------------------------------------------------------------- */

/* Containers of several nodes can all be named alike; then a GPU's PCI address comes back. Old releases print no more
   than its bus ("[0x1]"), which several GPUs of one node can have. */
static void check_host(struct perf_devices* devices, const struct perf_host* host, struct word gpu) {
  if (memchr(gpu.start, ':', gpu.length) && word_is(gpu, host->gpu))
    devices->doubt = "two of its ranks have one host name and one GPU, as where nodes share a name";
}

static void add_host(struct perf* perf, struct word host, struct word gpu) {
  struct perf_devices* devices = &perf->devices;
  for (uint32_t i = 0; i < devices->nodes; i++)
    if (word_is(host, devices->hosts[i].name)) {
      check_host(devices, &devices->hosts[i], gpu);
      return;
    }
  if (devices->nodes == PERF_MOST_HOSTS) {
    devices->doubt = "it has too many hosts to count";
    return;
  }
  struct perf_host more = {sw_arena_copy(perf->arena, host.start, host.length),
                           sw_arena_copy(perf->arena, gpu.start, gpu.length)};
  if (more.name && more.gpu) devices->hosts[devices->nodes++] = more;
}

/* `gpu`: its address and name, "[000f:01:00] NVIDIA GB10". */
static void add_rank(struct perf* perf, uint64_t group, struct word host, const char* gpu) {
  char name[PERF_TEXT];
  if (!perf->devices.ranks) perf->devices.group = group;
  if (perf->devices.group != group) return;
  perf->devices.ranks++;
  const char* behind = strstr(gpu, "] ");
  add_host(perf, host, (struct word){gpu, (size_t)(behind + 1 - gpu)});
  copy_until(name, behind + 2, "");
  keep(perf->facts->gpu, name, &perf->facts->gpus_differ);
}

/* "Rank 0 Group 0 Pid 5101 on node-a device 0 [000f:01:00] NVIDIA GB10" */
static bool rank_line(struct perf* perf, const struct line* line) {
  struct line_words words;
  uint64_t number;
  uint64_t group = 0;
  size_t at = 0;
  if (!strstr(line->text, "Rank ") || !strstr(line->text, " device ")) return false;
  line_split(line, &words);
  while (at < words.count && !word_is(words.items[at], "Rank")) at++;
  if (at + 8 >= words.count || !word_whole(words.items[at + 1], &number)) return false;
  if (word_is(words.items[at + 2], "Group") && word_whole(words.items[at + 3], &group)) at += 2;
  if (at + 8 >= words.count || !word_is(words.items[at + 2], "Pid") || !word_is(words.items[at + 4], "on"))
    return false;
  const char* gpu = strchr(words.items[at + 6].start, '[');
  if (!word_is(words.items[at + 6], "device") || !gpu || !strstr(gpu, "] ")) return false;
  add_rank(perf, group, words.items[at + 5], gpu);
  return true;
}

static void devices_line(struct perf* perf, const struct line* line, const char* rest) {
  (void)rest;
  perf_end_table(perf, line);
  perf->devices = (struct perf_devices){0};
}

/* --- the collective ---------------------------------------------------------------------------------------------- */

static int collective_of(const char* test) {
  static const struct {
    const char* start;
    int collective;
  } tests[] = {{"all_reduce_perf", NCCL_ALLREDUCE},
               {"all_gather_perf", NCCL_ALLGATHER},
               {"reduce_scatter_perf", NCCL_REDUCESCATTER},
               {"broadcast_perf", NCCL_BROADCAST},
               {"reduce_perf", NCCL_REDUCE}};
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
    if (strncmp(test, tests[i].start, strlen(tests[i].start)) == 0) return tests[i].collective;
  return PERF_NOT_TUNED;
}

static void test_line(struct perf* perf, const struct line* line, const char* name) {
  perf_end_table(perf, line);
  copy_until(perf->test, name, " ");
  perf->said = collective_of(perf->test);
}

/* --- the end of a table ------------------------------------------------------------------------------------------ */

static void end_line(struct perf* perf, const struct line* line, const char* rest) {
  uint64_t wrong;
  const char* digits = rest + strspn(rest, " :");
  struct word word = {digits, strspn(digits, "0123456789")};
  bool skipped = perf->skipping;
  perf->in_table = false;
  if (!word_whole(word, &wrong) || wrong == 0 || skipped) return;
  sw_report(perf->diags, SW_WRONG_DATA, word_place(line, word),
            "%llu out of bounds: the data was wrong, so these times measure nothing", (unsigned long long)wrong);
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

/* What a line is known by, and what takes what stands behind that. The first that fits counts. */
static const struct {
  const char* words;
  void (*take)(struct perf* perf, const struct line* line, const char* rest);
} heads[] = {
    {"nccl-tests version ", tool_line}, {"Collective test starting: ", test_line}, {"NCCL version ", nccl_line},
    {"warmup iters: ", calls_line},     {"Using devices", devices_line},           {"Out of bounds values", end_line},
};

bool perf_head_line(struct perf* perf, const struct line* line) {
  for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
    const char* at = strstr(line->text, heads[i].words);
    if (!at) continue;
    heads[i].take(perf, line, at + strlen(heads[i].words));
    return true;
  }
  return rank_line(perf, line);
}
