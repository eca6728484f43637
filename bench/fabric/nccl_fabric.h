/* The real kind of fabric, shared by its files: nccl.c (life), nccl_probe.c (what a choice
 * becomes), nccl_time.c (rounds), nccl_check.c (data). */
#ifndef SW_NCCL_FABRIC_H
#define SW_NCCL_FABRIC_H

#include "control.h"
#include "fabric/libraries.h"

/* Buffers take turns, so that no choice lives on what another left in the caches. */
enum { NCCL_FABRIC_SLOTS = 3 };

struct nccl_fabric {
  struct fabric fabric; /* first */
  struct libraries libraries;
  const struct sw_control* control; /* NULL: opened without the plugin */
  int device;
  nccl_comm comm;
  void* tuner; /* the communicator's, steered */
  struct fabric_place place;
  unsigned connected;                       /* algorithms that were used in this communicator, a bit each */
  uint64_t connecting[NCCL_NUM_ALGORITHMS]; /* bytes of device memory that the first use took */
  cuda_stream stream;
  void* barrier; /* one float, for the untimed all-reduce that lets all ranks start together */

  void* send[NCCL_FABRIC_SLOTS];
  void* receive[NCCL_FABRIC_SLOTS];
  size_t buffer_bytes;      /* of each buffer */
  int slots;                /* that there was memory for */
  uint64_t patterned_bytes; /* the call whose check pattern lies in send[0]; 0: none */
  int32_t patterned_type;
  int32_t patterned_collective;

  /* What is prepared: `count` choices for `call`. */
  struct fabric_call call;
  struct sw_choice choices[FABRIC_MOST_CHOICES];
  size_t count;
  cuda_event before[FABRIC_MOST_CHOICES];
  cuda_event after[FABRIC_MOST_CHOICES];
  cuda_graph graph[2]; /* one round forwards, one backwards */
  cuda_graph_exec exec[2];
  unsigned round; /* rises with every round: turns order and roots */
  unsigned slot;  /* rises with every call: turns buffers */
  double opened_us;
};

/* Report what failed in fabric.fault; true where nothing did. */
bool nccl_fabric_cuda(struct nccl_fabric* f, int result, const char* what);
bool nccl_fabric_nccl(struct nccl_fabric* f, int result, const char* what);

/* Says in fault that it takes the plugin; always false. */
bool nccl_fabric_refuse(struct nccl_fabric* f);

/* The device's free memory in bytes; 0: not known. */
size_t nccl_fabric_free(struct nccl_fabric* f);

/* What was called last used an algorithm; if that was its first use, the memory that is gone since there was
   `free_before` is what connecting it took. Returns the algorithm; -1: not known. */
int nccl_fabric_connected(struct nccl_fabric* f, size_t free_before);

/* Makes sure of `bytes` in each send and receive buffer, in as many slots as fabric_limit allows. */
bool nccl_fabric_buffers(struct nccl_fabric* f, size_t bytes);

/* Issues the call into the stream with the choice forced, on the buffers of `slot`, from or to rank `root`. */
bool nccl_fabric_issue(struct nccl_fabric* f, const struct fabric_call* call, struct sw_choice choice, unsigned slot,
                       unsigned root);

/* Issues the untimed barrier. */
bool nccl_fabric_barrier(struct nccl_fabric* f);

/* The bytes of one element, and the elements that one rank's count names (its part for allgather, reducescatter). */
size_t nccl_fabric_element(int type);
size_t nccl_fabric_count(const struct nccl_fabric* f, const struct fabric_call* call);

bool nccl_fabric_probe(struct fabric* fabric, const struct fabric_call* call, struct sw_choice choice,
                       struct fabric_probe* out);
bool nccl_fabric_prepare(struct fabric* fabric, const struct fabric_call* call, const struct sw_choice* choices,
                         size_t count);
bool nccl_fabric_rounds(struct fabric* fabric, size_t rounds, float* us);
void nccl_fabric_unprepare(struct nccl_fabric* f);
bool nccl_fabric_check(struct fabric* fabric, const struct fabric_call* call, struct sw_choice choice, bool* good);

#endif
