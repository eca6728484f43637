/* What `sizewise calibrate` was called with; options that were left out are NULL, 0 or false. */
#ifndef SW_ARGUMENTS_H
#define SW_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

struct calibrate_arguments {
  const char* output;
  const char* collectives;
  const char* sizes;
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
  bool within_settings;
  bool json;
};

#endif
