#include "import/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nccl_tuner.h"

bool figure_read(struct word word, struct figure* out) {
  char text[32];
  if (!word.length || word.length >= sizeof text) return false;
  memcpy(text, word.start, word.length);
  text[word.length] = '\0';
  size_t mantissa = strspn(text, "0123456789.");
  const char* exponent = text + mantissa;
  if (!mantissa || text[0] == '.' || strspn(text, "0123456789.e+-") != word.length) return false;
  if (*exponent && *exponent != 'e') return false;
  char* end;
  double value = strtod(text, &end);
  if (*end || !isfinite(value)) return false;
  const char* point = memchr(text, '.', mantissa);
  double decimals = point ? (double)(exponent - point - 1) : 0;
  double power = *exponent ? strtod(exponent + 1, NULL) : 0;
  *out = (struct figure){value, 0.5 * pow(10, power - decimals)};
  return true;
}

double busbw_factor(int collective, uint32_t ranks) {
  double share = (double)(ranks - 1) / (double)ranks;
  if (collective == NCCL_ALLREDUCE) return 2 * share;
  return collective == NCCL_ALLGATHER || collective == NCCL_REDUCESCATTER ? share : 1;
}

double bandwidth_of(uint64_t bytes, struct figure time, double factor) {
  return (double)bytes * factor / time.value / 1000;
}

bool bandwidth_fits(uint64_t bytes, struct figure time, double factor, struct figure bandwidth) {
  const double rounding = 1e-9; /* of the doubles here */
  double most = (double)bytes * factor / (time.value - time.half) / 1000 * (1 + rounding);
  double least = (double)bytes * factor / (time.value + time.half) / 1000 * (1 - rounding);
  bool unbounded = time.half >= time.value;
  return bandwidth.value + bandwidth.half * (1 + rounding) >= least &&
         (unbounded || bandwidth.value - bandwidth.half * (1 + rounding) <= most);
}

unsigned element_bytes(uint64_t bytes, struct figure time, struct figure bandwidth) {
  for (unsigned size = 2; size <= 8; size *= 2)
    if (bandwidth_fits(bytes * size, time, 1, bandwidth)) return size;
  return 0;
}
