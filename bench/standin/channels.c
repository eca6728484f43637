#include "standin/channels.h"

#include <stdint.h>

static size_t multiply(size_t a, size_t b) {
  size_t product;
  return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

size_t standin_traffic(nccl_collective collective, size_t bytes, int protocol) {
  size_t traffic = multiply(bytes, collective == NCCL_ALLREDUCE ? 2 : 1);
  return protocol == NCCL_PROTO_LL ? multiply(traffic, 4) : traffic;
}

/* What a conversion to int8_t gives; spelt out because C leaves the wrap to the compiler. */
static int as_signed_byte(int number) {
  int byte = (int)((unsigned)number & 0xff);
  return byte > 127 ? byte - 256 : byte;
}

static bool is_budget(const struct standin_shape* shape, int algorithm) {
  switch (algorithm) {
    case NCCL_ALGO_COLLNET_DIRECT:
    case NCCL_ALGO_COLLNET_CHAIN:
      return false;
    case NCCL_ALGO_NVLS:
    case NCCL_ALGO_NVLS_TREE:
      return shape->nodes == 1;
    default:
      return true;
  }
}

int standin_channels(const struct standin_communicator* communicator, const struct standin_operation* operation,
                     int algorithm, int protocol, int asked) {
  const struct standin_shape* shape = standin_communicator_shape(communicator);
  const struct standin_rules* rules = standin_communicator_rules(communicator);
  int own = standin_communicator_channels(communicator);
  if (asked == 0 || (rules->only_lowers && asked > own)) asked = own;
  int channels = as_signed_byte(asked);
  if (channels < 1 || !is_budget(shape, algorithm)) return channels;
  if (channels > own) channels = own;
  size_t traffic = standin_traffic(operation->collective, operation->bytes, protocol);
  size_t earned = traffic / rules->bytes_per_channel;
  if (earned >= (size_t)channels) return channels;
  return earned ? (int)earned : 1;
}
