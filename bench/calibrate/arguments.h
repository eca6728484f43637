/* What `sizewise calibrate` and `sizewise verify` were called with; options that were left out are NULL, 0 or false. */
#ifndef SW_ARGUMENTS_H
#define SW_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

struct calibrate_arguments {
  const char* output;
  const char* collectives;
  const char* sizes;
  const char* workload; /* that the sizes are from */
  const char* max_extra_memory;
  const char* ranks;
  const char* name;
  const char* raw;
  const char* plugin;
  const char* nccl;
  const char* cudart;
  const char* master;
  const char* simulate;
  uint32_t gpus;
  double budget;
  double noise;
  double min_gain;
  uint64_t seed;
  struct words faults;
  double memory;
  bool resume;
  bool exhaustive;
  bool within_settings;
  bool json;
};

/* The options of every command that runs ranks: where the libraries are, how the ranks find each other, a simulation in
   their place. For a table of options; `arguments` is a struct calibrate_arguments. */
#define SET_UP_OPTIONS(arguments)                                                                                     \
  {"--within-settings", NULL, OPTION_FLAG, &(arguments).within_settings, "even inside NCCL_ALGO, NCCL_PROTO, ..."},   \
      {"--plugin", "FILE", OPTION_TEXT, &(arguments).plugin, "the plugin; default: the one beside this program"},     \
      {"--nccl", "FILE", OPTION_TEXT, &(arguments).nccl, "libnccl.so.2; default: the usual search, wheels included"}, \
      {"--cudart", "FILE", OPTION_TEXT, &(arguments).cudart, "libcudart; default: likewise"},                         \
      {"--master", "HOST[:PORT]", OPTION_TEXT, &(arguments).master,                                                   \
       "host of rank 0, where the launcher does not tell"},                                                           \
      {"--json", NULL, OPTION_FLAG, &(arguments).json, "the result as JSON, for programs"},                           \
      {"--simulate", "PROFILE", OPTION_TEXT, &(arguments).simulate,                                                   \
       "no GPU: simulate a cluster with this profile's times"},                                                       \
      {"--seed", "N", OPTION_NUMBER, &(arguments).seed, "of the simulation; default 0"},                              \
      {"--noise", "SHARE", OPTION_SHARE, &(arguments).noise, "of the simulation; default 5%"}, {                      \
    "--fault", "SPEC", OPTION_TEXTS, &(arguments).faults,                                                             \
        "of the simulation: hang:tree, crash:ll, corrupt:tree+ll, ..."                                                \
  }

#endif
