/*
 * The data check. What every rank sends is a pattern that repeats; what every rank must receive then repeats as well,
 * so one block of expected elements is compared with the whole buffer.
 *
 *     rank r sends       element i = (i % PERIOD + 1) * (r + 1)          integers: exact
 *     sums over R ranks  element i = (i % PERIOD + 1) * R (R + 1) / 2
 *
 * Float and bf16 send (i % PERIOD_SMALL + 1) * (r + 1): sums below 2^24 (float) or 2^8 (bf16) are exact whatever the
 * order of additions, beyond that each of the R - 1 additions rounds once: R * 2^-24 or R * 2^-8, relative.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/nccl_fabric.h"

enum { PERIOD = 4093, PERIOD_SMALL = 61 }; /* primes: no chunk or channel boundary repeats with them */

static double value_of(int type, size_t element) {
  return (double)(element % (type == FABRIC_INT32 ? PERIOD : PERIOD_SMALL) + 1);
}

static void store(int type, void* buffer, size_t element, double value) {
  if (type == FABRIC_INT32) {
    ((int32_t*)buffer)[element] = (int32_t)value;
  } else {
    float rounded = (float)value;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    if (type == FABRIC_FLOAT)
      ((float*)buffer)[element] = rounded;
    else
      ((uint16_t*)buffer)[element] = (uint16_t)(bits >> 16); /* small whole numbers lose nothing */
  }
}

static double load(int type, const void* buffer, size_t element) {
  if (type == FABRIC_INT32) return ((const int32_t*)buffer)[element];
  if (type == FABRIC_FLOAT) return ((const float*)buffer)[element];
  uint32_t bits = (uint32_t)((const uint16_t*)buffer)[element] << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The pattern from its element `from` on, times `scale`, in a block of PERIOD elements and the period's rest. */
static void fill_block(int type, void* block, size_t elements, size_t from, double scale) {
  for (size_t i = 0; i < elements; i++) store(type, block, i, value_of(type, from + i) * scale);
}

/* A stretch of a buffer and what it holds: the pattern from element `from` on, times `scale`. */
struct stretch {
  size_t start; /* element in the buffer */
  size_t elements;
  size_t from;
  double scale;
};

static bool is_equal(int type, const void* received, const void* block, size_t elements, double tolerance) {
  size_t bytes = nccl_fabric_element(type);
  if (memcmp(received, block, elements * bytes) == 0) return true;
  for (size_t i = 0; i < elements; i++) {
    double expected = load(type, block, i);
    if (!(fabs(load(type, received, i) - expected) <= tolerance * expected)) return false;
  }
  return true;
}

/* The longest stretch of whole periods that fits a block. */
static size_t period_of(int type) {
  return type == FABRIC_INT32 ? PERIOD : PERIOD / PERIOD_SMALL * PERIOD_SMALL;
}

/* A period at a time: every period is the same block. */
static bool holds(int type, const char* buffer, struct stretch stretch, double tolerance) {
  uint32_t block[PERIOD]; /* room for PERIOD elements of any type */
  size_t period = period_of(type);
  size_t bytes = nccl_fabric_element(type);
  fill_block(type, block, period, stretch.from, stretch.scale);
  for (size_t done = 0; done < stretch.elements; done += period) {
    size_t rest = stretch.elements - done;
    if (!is_equal(type, buffer + (stretch.start + done) * bytes, block, rest < period ? rest : period, tolerance))
      return false;
  }
  return true;
}

static double tolerance_of(const struct nccl_fabric* f, int type) {
  if (type == FABRIC_INT32) return 0;
  return f->place.ranks * (type == FABRIC_FLOAT ? 0x1p-24 : 0x1p-8);
}

/* Whether the receive buffer holds what the collective has to leave there, for this rank. */
static bool compare(const struct nccl_fabric* f, const struct fabric_call* call, uint32_t root, const char* received) {
  size_t count = nccl_fabric_count(f, call);
  double ranks = f->place.ranks;
  double sum = ranks * (ranks + 1) / 2;
  double tolerance = tolerance_of(f, call->type);
  struct stretch all = {0, count, 0, sum};
  switch (call->collective) {
    case NCCL_BROADCAST:
      all.scale = root + 1;
      break;
    case NCCL_REDUCE:
      if (f->place.rank != root) return true;
      break;
    case NCCL_REDUCESCATTER:
      all.from = f->place.rank * count;
      break;
    case NCCL_ALLGATHER:
      for (uint32_t r = 0; r < f->place.ranks; r++)
        if (!holds(call->type, received, (struct stretch){r * count, count, 0, r + 1.0}, tolerance)) return false;
      return true;
    default:
      break;
  }
  return holds(call->type, received, all, tolerance);
}

static size_t elements_sent(const struct nccl_fabric* f, const struct fabric_call* call) {
  size_t count = nccl_fabric_count(f, call);
  return call->collective == NCCL_REDUCESCATTER ? count * f->place.ranks : count;
}

static size_t elements_received(const struct nccl_fabric* f, const struct fabric_call* call) {
  size_t count = nccl_fabric_count(f, call);
  return call->collective == NCCL_ALLGATHER ? count * f->place.ranks : count;
}

/* The whole pattern in host memory: one period, then copies of what is there. */
static void fill_host(int type, char* host, size_t elements, double scale) {
  size_t bytes = nccl_fabric_element(type);
  size_t done = elements < period_of(type) ? elements : period_of(type);
  fill_block(type, host, done, 0, scale);
  while (done < elements) {
    size_t more = done < elements - done ? done : elements - done;
    memcpy(host + done * bytes, host, more * bytes);
    done += more;
  }
}

/* Nothing writes into a send buffer, so a pattern that was put there stays until the call is another one. */
static bool send_pattern(struct nccl_fabric* f, const struct fabric_call* call, void* host) {
  if (f->patterned_bytes == call->bytes && f->patterned_type == call->type &&
      f->patterned_collective == call->collective)
    return true;
  size_t elements = elements_sent(f, call);
  fill_host(call->type, host, elements, f->place.rank + 1.0);
  int result =
      f->libraries.cuda.Memcpy(f->send[0], host, elements * nccl_fabric_element(call->type), CUDA_COPY_TO_DEVICE);
  if (!nccl_fabric_cuda(f, result, "sending the pattern")) return false;
  f->patterned_bytes = call->bytes;
  f->patterned_type = call->type;
  f->patterned_collective = call->collective;
  return true;
}

/* Sends the pattern, poisons the receive buffer, runs the call once and fetches what arrived. */
static bool exchange(struct nccl_fabric* f, const struct fabric_call* call, struct sw_choice choice, void* host) {
  const struct cuda_functions* cuda = &f->libraries.cuda;
  size_t element = nccl_fabric_element(call->type);
  return send_pattern(f, call, host) &&
         nccl_fabric_cuda(f, cuda->Memset(f->receive[0], 0xa5, elements_received(f, call) * element),
                          "poisoning a buffer") &&
         nccl_fabric_barrier(f) && nccl_fabric_issue(f, call, choice, 0, 0) &&
         nccl_fabric_cuda(f, cuda->StreamSynchronize(f->stream), "the checked call") &&
         nccl_fabric_cuda(f, cuda->Memcpy(host, f->receive[0], elements_received(f, call) * element, CUDA_COPY_TO_HOST),
                          "fetching the result");
}

bool nccl_fabric_check(struct fabric* fabric, const struct fabric_call* call, struct sw_choice choice, bool* good) {
  struct nccl_fabric* f = (struct nccl_fabric*)fabric;
  void* host;
  nccl_fabric_unprepare(f);
  if (!nccl_fabric_buffers(f, call->bytes)) return false;
  if (!nccl_fabric_cuda(f, f->libraries.cuda.MallocHost(&host, call->bytes), "host memory")) return false;
  uint32_t root = 0;
  bool done = exchange(f, call, choice, host);
  if (done) *good = compare(f, call, root, host);
  f->libraries.cuda.FreeHost(host);
  return done;
}
