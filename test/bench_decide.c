/*
 * What one question costs NCCL: nanoseconds a call of v5's getCollInfo, by the number of measured sizes in the profile,
 * beside those of an empty function of the same signature, and the milliseconds of a communicator's init.
 *
 *     bench_decide PATH/libnccl-tuner-sizewise.so
 *
 * It states what it saw and judges nothing: the status is 0 whatever the times are.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nccl_tuner.h"

enum { ROUNDS = 9, CALLS = 1000000, SIZES = 4096, OCTAVES = 30, FIRST_BYTES = 1024, RANKS = 4, NODES = 2 };
enum { ENTRIES = NCCL_NUM_ALGORITHMS * NCCL_NUM_PROTOCOLS };

typedef nccl_result ask(void* context, nccl_collective coll, size_t bytes, int pipe_ops, float** table, int algorithms,
                        int protocols, int registered, int* channels);

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* --- a profile */

/* The i-th of `count` sizes, 1 KiB to 1 TiB: even steps inside each octave. */
static uint64_t size_at(int i, int count) {
  double octaves = (double)i * OCTAVES / count;
  int whole = (int)octaves;
  return (uint64_t)((double)((uint64_t)FIRST_BYTES << whole) * (1 + octaves - whole));
}

/* Auto and three choices; the one that takes half of auto's time is another every fourth size. */
static void write_point(FILE* file, int i, int count) {
  static const char* const choices[] = {"algo: tree, proto: ll", "algo: ring, proto: simple, channels: 4",
                                        "channels: 2"};
  uint64_t bytes = size_at(i, count);
  uint64_t auto_ns = 20000 + bytes / 10;
  fprintf(file, "  - bytes: %" PRIu64 "\n    times:\n    - {choice: auto, median: %" PRIu64 ".%03" PRIu64 "us}\n",
          bytes, auto_ns / 1000, auto_ns % 1000);
  for (int c = 0; c < 3; c++) {
    uint64_t ns = auto_ns * (c == i / 4 % 3 ? 50U : 70U + 10U * (unsigned)c) / 100;
    fprintf(file, "    - {%s, median: %" PRIu64 ".%03" PRIu64 "us}\n", choices[c], ns / 1000, ns % 1000);
  }
}

static int write_profile(const char* path, int points) {
  FILE* file = fopen(path, "w");
  if (!file) return 0;
  fprintf(file, "sizewise: 1\nname: bench\nprovenance: {kind: simulated, source: bench_decide}\nmatch: {}\n");
  fprintf(file, "tables:\n- collective: allreduce\n  nodes: %d\n  ranks: %d\n  points:\n", NODES, RANKS);
  for (int i = 0; i < points; i++) write_point(file, i, points);
  return fclose(file) == 0;
}

/* --- one round of calls */

static float fresh[ENTRIES]; /* Tree and Ring with LL and Simple are usable */
static size_t sizes[SIZES];
static unsigned long answered;

static void prepare_table(void) {
  for (int i = 0; i < ENTRIES; i++) fresh[i] = i < 6 && i % 3 != NCCL_PROTO_LL128 ? 20.0F + (float)i : -1.0F;
}

/* Sizes with an even chance for each measured interval; xorshift, so the same ones in every run. */
static void prepare_sizes(int points) {
  uint64_t random = 88172645463325252U;
  for (int i = 0; i < SIZES; i++) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    int at = (int)(random % (uint64_t)(points - 1));
    uint64_t from = size_at(at, points);
    sizes[i] = from + (random >> 32) % (size_at(at + 1, points) - from + 1);
  }
}

static nccl_result answer_nothing(void* context, nccl_collective coll, size_t bytes, int pipe_ops, float** table,
                                  int algorithms, int protocols, int registered, int* channels) {
  (void)context, (void)coll, (void)bytes, (void)pipe_ops, (void)table, (void)algorithms, (void)protocols;
  (void)registered, (void)channels;
  return NCCL_SUCCESS;
}

/* Nanoseconds a call. The table is put back before each call, whichever function is called: both pay for that. */
__attribute__((noinline)) static double time_calls(ask* volatile function, void* context) {
  float table[ENTRIES];
  ask* called = function;
  double start = now_ns();
  for (int i = 0; i < CALLS; i++) {
    int channels = 0;
    memcpy(table, fresh, sizeof table);
    called(context, NCCL_ALLREDUCE, sizes[i % SIZES], 1, (float**)(void*)table, NCCL_NUM_ALGORITHMS, NCCL_NUM_PROTOCOLS,
           i & 1, &channels);
    answered += channels != 0;
  }
  return (now_ns() - start) / CALLS;
}

static int compare(const void* a, const void* b) {
  double x = *(const double*)a;
  double y = *(const double*)b;
  return (x > y) - (x < y);
}

/* --- a table's row */

static void ignore(nccl_log_level level, unsigned long flags, const char* file, int line, const char* format, ...) {
  (void)level, (void)flags, (void)file, (void)line, (void)format;
}

/* Milliseconds, or below 0. */
static double start(const nccl_tuner_v5* tuner, void** context) {
  double begin = now_ns();
  nccl_result result = tuner->init(context, 1, RANKS, NODES, ignore, NULL, NULL);
  return result == NCCL_SUCCESS ? (now_ns() - begin) / 1e6 : -1;
}

static void measure(const nccl_tuner_v5* tuner, int points) {
  void* first = NULL;
  void* later = NULL;
  double first_ms = start(tuner, &first);
  double later_ms = start(tuner, &later);
  double called[ROUNDS];
  double empty[ROUNDS];
  if (first_ms < 0 || later_ms < 0) {
    printf("%8d  init failed\n", points);
    return;
  }
  prepare_sizes(points);
  time_calls(tuner->getCollInfo, first); /* to warm up; not counted */
  answered = 0;
  for (int i = 0; i < ROUNDS; i++) {
    called[i] = time_calls(tuner->getCollInfo, first);
    empty[i] = time_calls(answer_nothing, first);
  }
  qsort(called, ROUNDS, sizeof *called, compare);
  qsort(empty, ROUNDS, sizeof *empty, compare);
  double median = called[ROUNDS / 2];
  printf("%8d %9.1f %7.1f %7.1f %9.1f %7.1f %12.1f %11.2f %11.3f %9.0f%%\n", points, median, called[0],
         called[ROUNDS - 1], empty[ROUNDS / 2], empty[0], median - empty[ROUNDS / 2], first_ms, later_ms,
         100.0 * (double)answered / ROUNDS / CALLS);
  tuner->finalize(later);
  tuner->finalize(first);
}

static int measure_points(const char* library, const char* folder, int points) {
  char path[512];
  snprintf(path, sizeof path, "%s/bench.yaml", folder);
  if (!write_profile(path, points)) return perror(path), 1;
  setenv("NCCL_SIZEWISE_PROFILE", path, 1);
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  const nccl_tuner_v5* tuner = handle ? dlsym(handle, "ncclTunerPlugin_v5") : NULL;
  if (tuner)
    measure(tuner, points);
  else
    fprintf(stderr, "%s\n", dlerror());
  if (handle) dlclose(handle);
  unlink(path);
  return tuner == NULL;
}

int main(int count, char** arguments) {
  static const int points[] = {10, 100, 1000, 10000};
  char folder[] = "/tmp/sizewise-bench-XXXXXX";
  if (count != 2) return fprintf(stderr, "usage: bench_decide LIBRARY\n"), 2;
  if (!mkdtemp(folder)) return perror(folder), 1;
  unsetenv("NCCL_SIZEWISE_EXPECT");
  unsetenv("NCCL_SIZEWISE_STRICT");
  unsetenv("NCCL_SIZEWISE_DETERMINISTIC");
  prepare_table();
  printf(
      "ns a call of v5 getCollInfo, random sizes within the table; n = %d rounds of %d calls, taking turns with an\n"
      "empty function called through a pointer. Before every call of either the cost table is put back (84 bytes), "
      "and\n"
      "both times include that; more = the difference of the medians. Each profile is read anew: init in ms, n = "
      "1.\n\n",
      ROUNDS, CALLS);
  printf("  points    median     min     max     empty     min         more  first init  later init  channels\n");
  int failed = 0;
  for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
    failed |= measure_points(arguments[1], folder, points[i]);
  rmdir(folder);
  return failed;
}
