#include <string.h>

#include "fabric/nccl_fabric.h"

void nccl_fabric_unprepare(struct nccl_fabric* f) {
  if (f->exec) f->libraries.cuda.GraphExecDestroy(f->exec);
  if (f->graph) f->libraries.cuda.GraphDestroy(f->graph);
  f->exec = NULL;
  f->graph = NULL;
  f->count = 0;
}

/* Inside a graph an event is timed only when it is recorded as an external one. */
static bool record(struct nccl_fabric* f, cuda_event event) {
  const struct cuda_functions* cuda = &f->libraries.cuda;
  int result = f->call.mode == FABRIC_GRAPH ? cuda->EventRecordWithFlags(event, f->stream, CUDA_EVENT_RECORD_EXTERNAL)
                                            : cuda->EventRecord(event, f->stream);
  return nccl_fabric_cuda(f, result, "an event");
}

/* One round: each choice once, behind a barrier. */
static bool issue_round(struct nccl_fabric* f) {
  f->turn++;
  for (size_t i = 0; i < f->count; i++)
    if (!nccl_fabric_barrier(f) || !record(f, f->before[i]) ||
        !nccl_fabric_issue(f, &f->call, f->choices[i], f->turn) || !record(f, f->after[i]))
      return false;
  return true;
}

static bool capture_round(struct nccl_fabric* f) {
  const struct cuda_functions* cuda = &f->libraries.cuda;
  if (!nccl_fabric_cuda(f, cuda->StreamBeginCapture(f->stream, CUDA_CAPTURE_THREAD_LOCAL), "beginning a capture"))
    return false;
  bool issued = issue_round(f);
  int ended = cuda->StreamEndCapture(f->stream, &f->graph);
  return issued && nccl_fabric_cuda(f, ended, "ending a capture") &&
         nccl_fabric_cuda(f, cuda->GraphInstantiateWithFlags(&f->exec, f->graph, 0), "a graph");
}

static bool launch_round(struct nccl_fabric* f) {
  bool launched = f->call.mode == FABRIC_GRAPH
                      ? nccl_fabric_cuda(f, f->libraries.cuda.GraphLaunch(f->exec, f->stream), "launching a graph")
                      : issue_round(f);
  return launched && nccl_fabric_cuda(f, f->libraries.cuda.StreamSynchronize(f->stream), "a round");
}

bool nccl_fabric_prepare(struct fabric* fabric, const struct fabric_call* call, const struct sw_choice* choices,
                         size_t count) {
  struct nccl_fabric* f = (struct nccl_fabric*)fabric;
  nccl_fabric_unprepare(f);
  if (!nccl_fabric_buffers(f, call->bytes)) return false;
  f->call = *call;
  f->count = count;
  memcpy(f->choices, choices, count * sizeof *choices);
  /* One round outside the graph connects and warms what was never used; the first replay is a warm-up, too. */
  f->call.mode = FABRIC_STREAM;
  if (!launch_round(f)) return false;
  f->call.mode = call->mode;
  if (call->mode == FABRIC_GRAPH && !capture_round(f)) return false;
  return launch_round(f);
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
