#include "fabric/sim_words.h"

const char* sim_function_name(int collective) {
  static const char* const names[NCCL_NUM_COLLECTIVES] = {
      [NCCL_BROADCAST] = "ncclBroadcast", [NCCL_REDUCE] = "ncclReduce",
      [NCCL_ALLGATHER] = "ncclAllGather", [NCCL_REDUCESCATTER] = "ncclReduceScatter",
      [NCCL_ALLREDUCE] = "ncclAllReduce",
  };
  return collective >= 0 && collective < NCCL_NUM_COLLECTIVES ? names[collective] : "ncclCollective";
}

const char* sim_result_words(nccl_result result) {
  static const char* const words[] = {
      [NCCL_SUCCESS] = "no error",
      [NCCL_UNHANDLED_CUDA_ERROR] = "unhandled cuda error",
      [NCCL_SYSTEM_ERROR] = "unhandled system error",
      [NCCL_INTERNAL_ERROR] = "internal error",
      [NCCL_INVALID_ARGUMENT] = "invalid argument",
      [NCCL_INVALID_USAGE] = "invalid usage",
  };
  return (size_t)result < sizeof words / sizeof words[0] ? words[result] : "unknown result code";
}
