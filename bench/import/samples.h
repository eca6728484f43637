/* What is gathered from nccl-tests output: one sample for each row that is used. */
#ifndef SW_IMPORT_SAMPLES_H
#define SW_IMPORT_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/setting.h"

struct sample {
  int collective;
  uint32_t nodes;
  uint32_t ranks;
  uint64_t bytes; /* nccl-tests' size column: what NCCL's tuner is asked with */
  double us;
  const struct import_setting* setting;
};

struct samples {
  struct sample* items;
  size_t count;
  size_t room;
  bool failed; /* memory ran out */
};

void samples_add(struct samples* samples, struct sample sample);
void samples_free(struct samples* samples);

/* By table, size, setting; then by time. */
void samples_sort(struct samples* samples);
bool samples_same_table(const struct sample* a, const struct sample* b);

#endif
