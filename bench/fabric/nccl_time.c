/*
 * Timing. What comes first in a round is slower: the GPU was idle, and the caches hold something else. On two H200s the
 * first of three equal calls took 5% to 13% longer than the others. So a round begins with calls that are not timed,
 * each call works on other buffers than the one before it, and every second round runs in the opposite order.
 */
#include <string.h>

#include "fabric/nccl_fabric.h"

void nccl_fabric_unprepare(struct nccl_fabric* f) {
  for (int i = 0; i < 2; i++) {
    if (f->exec[i]) f->libraries.cuda.GraphExecDestroy(f->exec[i]);
    if (f->graph[i]) f->libraries.cuda.GraphDestroy(f->graph[i]);
    f->exec[i] = NULL;
    f->graph[i] = NULL;
  }
  f->count = 0;
}

/* Inside a graph an event is timed only when it is recorded as an external one. */
static bool record(struct nccl_fabric* f, cuda_event event) {
  const struct cuda_functions* cuda = &f->libraries.cuda;
  int result = f->call.mode == FABRIC_GRAPH ? cuda->EventRecordWithFlags(event, f->stream, CUDA_EVENT_RECORD_EXTERNAL)
                                            : cuda->EventRecord(event, f->stream);
  return nccl_fabric_cuda(f, result, "an event");
}

static bool issue(struct nccl_fabric* f, struct sw_choice choice) {
  return nccl_fabric_issue(f, &f->call, choice, f->slot++, f->round);
}

static bool issue_timed(struct nccl_fabric* f, size_t i) {
  return nccl_fabric_barrier(f) && record(f, f->before[i]) && issue(f, f->choices[i]) && record(f, f->after[i]);
}

/* A few small calls cost nothing, and a graph's first nodes run while the GPU still fetches the others. */
enum { UNTIMED_SMALL = 4, UNTIMED_LARGE = 1, SMALL_BYTES = 1 << 20 };

/* One round: untimed calls, then each choice once, behind a barrier. */
static bool issue_round(struct nccl_fabric* f, bool backwards) {
  int untimed = f->call.bytes <= SMALL_BYTES ? UNTIMED_SMALL : UNTIMED_LARGE;
  for (int i = 0; i < untimed; i++)
    if (!nccl_fabric_barrier(f) || !issue(f, SW_AUTO)) return false;
  for (size_t i = 0; i < f->count; i++)
    if (!issue_timed(f, backwards ? f->count - 1 - i : i)) return false;
  return true;
}

static bool capture_round(struct nccl_fabric* f, bool backwards) {
  const struct cuda_functions* cuda = &f->libraries.cuda;
  if (!nccl_fabric_cuda(f, cuda->StreamBeginCapture(f->stream, CUDA_CAPTURE_THREAD_LOCAL), "beginning a capture"))
    return false;
  bool issued = issue_round(f, backwards);
  int ended = cuda->StreamEndCapture(f->stream, &f->graph[backwards]);
  return issued && nccl_fabric_cuda(f, ended, "ending a capture") &&
         nccl_fabric_cuda(f, cuda->GraphInstantiateWithFlags(&f->exec[backwards], f->graph[backwards], 0), "a graph");
}

static bool launch_round(struct nccl_fabric* f) {
  bool backwards = f->round++ % 2;
  bool launched = f->call.mode == FABRIC_GRAPH
                      ? nccl_fabric_cuda(f, f->libraries.cuda.GraphLaunch(f->exec[backwards], f->stream), "a graph")
                      : issue_round(f, backwards);
  return launched && nccl_fabric_cuda(f, f->libraries.cuda.StreamSynchronize(f->stream), "a round");
}

/* One round outside a graph connects and warms what was never used; the first replay of each graph is a warm-up. */
bool nccl_fabric_prepare(struct fabric* fabric, const struct fabric_call* call, const struct sw_choice* choices,
                         size_t count) {
  struct nccl_fabric* f = (struct nccl_fabric*)fabric;
  nccl_fabric_unprepare(f);
  if (!nccl_fabric_buffers(f, call->bytes)) return false;
  f->call = *call;
  f->count = count;
  memcpy(f->choices, choices, count * sizeof *choices);
  f->call.mode = FABRIC_STREAM;
  if (!launch_round(f)) return false;
  f->call.mode = call->mode;
  if (call->mode == FABRIC_STREAM) return true;
  return capture_round(f, false) && capture_round(f, true) && launch_round(f) && launch_round(f);
}

bool nccl_fabric_rounds(struct fabric* fabric, size_t rounds, float* us) {
  struct nccl_fabric* f = (struct nccl_fabric*)fabric;
  for (size_t round = 0; round < rounds; round++) {
    if (!launch_round(f)) return false;
    for (size_t i = 0; i < f->count; i++) {
      float ms;
      int result = f->libraries.cuda.EventElapsedTime(&ms, f->before[i], f->after[i]);
      if (!nccl_fabric_cuda(f, result, "reading a time")) return false;
      us[round * f->count + i] = ms * 1000;
    }
  }
  return true;
}
