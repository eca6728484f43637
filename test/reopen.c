/*
 * Opens the plugin, initialises a communicator with a profile, asks, finalizes and closes it, over and over, as NCCL
 * may do: nothing may outlive dlclose, and nothing may be lost.
 *
 *     reopen PATH/libnccl-tuner-sizewise.so [ROUNDS]
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nccl_tuner.h"

static unsigned lines;

static void count_line(nccl_log_level level, unsigned long flags, const char* file, int line, const char* format, ...) {
  (void)level, (void)flags, (void)file, (void)line, (void)format;
  lines++;
}

/* The shipped profile for 8 nodes asks for 2 channels at 6 MiB. */
static int ask(const nccl_tuner_v5* tuner, void* context) {
  float table[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS];
  int channels = 0;
  for (int a = 0; a < NCCL_NUM_ALGORITHMS; a++)
    for (int p = 0; p < NCCL_NUM_PROTOCOLS; p++) table[a][p] = a == NCCL_ALGO_TREE || a == NCCL_ALGO_RING ? 20 : -1;
  tuner->getCollInfo(context, NCCL_ALLREDUCE, (size_t)6 << 20, 1, (float**)(void*)table, NCCL_NUM_ALGORITHMS,
                     NCCL_NUM_PROTOCOLS, 1, &channels);
  return channels;
}

/* A failed init on the way, so that its path is walked too. Returns what went wrong, or NULL. */
static const char* use(const nccl_tuner_v5* tuner) {
  void* context = NULL;
  setenv("NCCL_SIZEWISE_PROFILE", "gone", 1);
  if (tuner->init(&context, 1, 8, 8, count_line, NULL, NULL) == NCCL_SUCCESS) return "init with no profile succeeded";
  if (tuner->finalize(NULL) != NCCL_SUCCESS) return "finalize without a context failed";
  setenv("NCCL_SIZEWISE_PROFILE", "gb10-roce-8x1", 1);
  setenv("NCCL_ALGO", "allreduce:tree", 1);
  if (tuner->init(&context, 1, 8, 8, count_line, NULL, NULL) != NCCL_SUCCESS) return "init failed";
  if (ask(tuner, context) != 2) return "another answer than 2 channels";
  if (tuner->finalize(context) != NCCL_SUCCESS) return "finalize failed";
  return NULL;
}

static const char* open_and_use(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
  const nccl_tuner_v5* tuner = dlsym(library, "ncclTunerPlugin_v5");
  const char* wrong = tuner ? use(tuner) : "no symbol ncclTunerPlugin_v5";
  if (dlclose(library) != 0) return dlerror();
  if (dlopen(path, RTLD_NOW | RTLD_NOLOAD)) return "it is still loaded after dlclose";
  return wrong;
}

int main(int count, char** arguments) {
  long rounds = count > 2 ? strtol(arguments[2], NULL, 10) : 1000;
  if (count < 2 || rounds < 1) return fprintf(stderr, "usage: reopen LIBRARY [ROUNDS]\n"), 2;
  for (long round = 0; round < rounds; round++) {
    const char* wrong = open_and_use(arguments[1]);
    if (wrong) return fprintf(stderr, "round %ld: %s\n", round + 1, wrong), 1;
  }
  printf("%ld rounds, %u log lines\n", rounds, lines);
  return 0;
}
