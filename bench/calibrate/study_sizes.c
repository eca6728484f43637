#include "calibrate/study.h"

/* Decode sends 8 KiB to 1 MiB from captured graphs, prefill 16 MiB and more call by call. */
enum { GRAPH_UP_TO = 4 << 20 };

enum fabric_mode study_mode(uint64_t bytes) {
  return bytes <= GRAPH_UP_TO ? FABRIC_GRAPH : FABRIC_STREAM;
}

uint64_t study_size(uint64_t bytes, uint32_t ranks) {
  uint64_t grain = 4 * (uint64_t)ranks;
  return bytes < grain ? grain : bytes / grain * grain;
}
