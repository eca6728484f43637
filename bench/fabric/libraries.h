/*
 * NCCL, the CUDA runtime and the CUDA driver, opened at run time: tables of the functions that the bench calls, with
 * our own declarations of them. What each function does is NVIDIA's documentation's to say.
 */
#ifndef SW_LIBRARIES_H
#define SW_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

#include "fabric/fabric.h"

/* NCCL's numbers. */
enum { NCCL_TYPE_INT32 = 2, NCCL_TYPE_FLOAT = 7, NCCL_TYPE_BF16 = 9, NCCL_OP_SUM = 0 };

struct nccl_id {
  char bytes[FABRIC_ID_BYTES];
};
typedef struct nccl_comm* nccl_comm;
typedef struct cuda_stream* cuda_stream;
typedef struct cuda_event* cuda_event;
typedef struct cuda_graph* cuda_graph;
typedef struct cuda_graph_node* cuda_graph_node;
typedef struct cuda_graph_exec* cuda_graph_exec;

/* CUDA's numbers. */
enum {
  CUDA_COPY_TO_DEVICE = 1,
  CUDA_COPY_TO_HOST = 2,
  CUDA_STREAM_NON_BLOCKING = 1,
  CUDA_CAPTURE_THREAD_LOCAL = 1,
  CUDA_EVENT_RECORD_EXTERNAL = 1,
  CUDA_NODE_KERNEL = 0,
  CUDA_ATTRIBUTE_INTEGRATED = 18
};

/* The first members of the driver's kernel node parameters; later versions append to them. */
struct cuda_kernel_node {
  void* function;
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void* rest[6];
};

#define NCCL_FUNCTIONS(F)                                                             \
  F(int, GetVersion, (int*))                                                          \
  F(int, GetUniqueId, (struct nccl_id*))                                              \
  F(int, CommInitRank, (nccl_comm*, int, struct nccl_id, int))                        \
  F(int, CommDestroy, (nccl_comm))                                                    \
  F(const char*, GetErrorString, (int))                                               \
  F(int, AllReduce, (const void*, void*, size_t, int, int, nccl_comm, cuda_stream))   \
  F(int, Broadcast, (const void*, void*, size_t, int, int, nccl_comm, cuda_stream))   \
  F(int, Reduce, (const void*, void*, size_t, int, int, int, nccl_comm, cuda_stream)) \
  F(int, AllGather, (const void*, void*, size_t, int, nccl_comm, cuda_stream))        \
  F(int, ReduceScatter, (const void*, void*, size_t, int, int, nccl_comm, cuda_stream))

#define CUDA_FUNCTIONS(F)                                                               \
  F(int, DeviceReset, (void))                                                           \
  F(int, SetDevice, (int))                                                              \
  F(int, GetDeviceCount, (int*))                                                        \
  F(int, DeviceGetAttribute, (int*, int, int))                                          \
  F(int, RuntimeGetVersion, (int*))                                                     \
  F(int, MemGetInfo, (size_t*, size_t*))                                                \
  F(int, Malloc, (void**, size_t))                                                      \
  F(int, Free, (void*))                                                                 \
  F(int, MallocHost, (void**, size_t))                                                  \
  F(int, FreeHost, (void*))                                                             \
  F(int, Memcpy, (void*, const void*, size_t, int))                                     \
  F(int, Memset, (void*, int, size_t))                                                  \
  F(int, StreamCreateWithFlags, (cuda_stream*, unsigned))                               \
  F(int, StreamDestroy, (cuda_stream))                                                  \
  F(int, StreamSynchronize, (cuda_stream))                                              \
  F(int, StreamBeginCapture, (cuda_stream, int))                                        \
  F(int, StreamEndCapture, (cuda_stream, cuda_graph*))                                  \
  F(int, EventCreate, (cuda_event*))                                                    \
  F(int, EventDestroy, (cuda_event))                                                    \
  F(int, EventRecord, (cuda_event, cuda_stream))                                        \
  F(int, EventRecordWithFlags, (cuda_event, cuda_stream, unsigned))                     \
  F(int, EventElapsedTime, (float*, cuda_event, cuda_event))                            \
  F(int, GraphInstantiateWithFlags, (cuda_graph_exec*, cuda_graph, unsigned long long)) \
  F(int, GraphLaunch, (cuda_graph_exec, cuda_stream))                                   \
  F(int, GraphExecDestroy, (cuda_graph_exec))                                           \
  F(int, GraphDestroy, (cuda_graph))                                                    \
  F(int, GraphGetNodes, (cuda_graph, cuda_graph_node*, size_t*))                        \
  F(int, GraphNodeGetType, (cuda_graph_node, int*))                                     \
  F(const char*, GetErrorString, (int))

#define MEMBER(result, name, arguments) result(*name) arguments;
struct nccl_functions {
  NCCL_FUNCTIONS(MEMBER)
};
struct cuda_functions {
  CUDA_FUNCTIONS(MEMBER)
};
#undef MEMBER

enum { LIBRARY_PATH = 512 };

struct libraries {
  struct nccl_functions nccl;
  struct cuda_functions cuda;
  int (*kernel_node)(cuda_graph_node, struct cuda_kernel_node*); /* of the driver */
  char nccl_path[LIBRARY_PATH];                                  /* as they were really opened */
  char cudart_path[LIBRARY_PATH];
};

/*
 * Opens the libraries, at the paths given or where the usual search finds them: the active Python environment's wheels
 * (what its PyTorch uses), the loader's path, other wheels. They stay open. False with one line in `fault` (256 bytes).
 */
bool libraries_open(const struct fabric_paths* paths, struct libraries* out, char* fault);

#endif
