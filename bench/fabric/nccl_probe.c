#include <string.h>

#include "fabric/nccl_fabric.h"

/* The kernel of a captured call; over some networks a host node stands beside it. */
static bool read_kernel(struct nccl_fabric* f, cuda_graph graph, struct fabric_probe* out) {
  cuda_graph_node nodes[64];
  size_t count = sizeof nodes / sizeof nodes[0];
  if (!nccl_fabric_cuda(f, f->libraries.cuda.GraphGetNodes(graph, nodes, &count), "the captured call")) return false;
  out->channels = 0;
  for (size_t i = 0; i < count; i++) {
    int type;
    struct cuda_kernel_node kernel;
    memset(&kernel, 0, sizeof kernel);
    if (f->libraries.cuda.GraphNodeGetType(nodes[i], &type) != 0 || type != CUDA_NODE_KERNEL) continue;
    if (f->libraries.kernel_node(nodes[i], &kernel) != 0) continue;
    out->channels = (int32_t)kernel.grid[0];
    out->threads = (int32_t)kernel.block[0];
  }
  return true;
}

/* The entry that NCCL takes: the smallest usable one after the plugin wrote. */
static void find_winner(const float written[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS], struct fabric_probe* out) {
  float least = -1;
  out->algo = out->proto = -1;
  for (int a = 0; a < NCCL_NUM_ALGORITHMS; a++)
    for (int p = 0; p < NCCL_NUM_PROTOCOLS; p++)
      if (written[a][p] >= 0 && (least < 0 || written[a][p] < least)) {
        least = written[a][p];
        out->algo = a;
        out->proto = p;
      }
}

int nccl_fabric_connected(struct nccl_fabric* f, size_t free_before) {
  struct sw_control_answer answer;
  struct fabric_probe ran;
  f->control->last(f->tuner, &answer);
  find_winner((const float(*)[NCCL_NUM_PROTOCOLS])answer.written, &ran);
  if (ran.algo < 0 || f->connected >> ran.algo & 1) return ran.algo;
  size_t free_after = nccl_fabric_free(f);
  f->connected |= 1u << ran.algo;
  f->connecting[ran.algo] = free_before > free_after ? free_before - free_after : 0;
  return ran.algo;
}

static bool capture_one(struct nccl_fabric* f, const struct fabric_call* call, struct sw_choice choice,
                        cuda_graph* graph) {
  const struct cuda_functions* cuda = &f->libraries.cuda;
  if (!nccl_fabric_cuda(f, cuda->StreamBeginCapture(f->stream, CUDA_CAPTURE_THREAD_LOCAL), "beginning a capture"))
    return false;
  bool issued = nccl_fabric_issue(f, call, choice, 0, 0);
  int ended = cuda->StreamEndCapture(f->stream, graph);
  return issued && nccl_fabric_cuda(f, ended, "ending a capture");
}

bool nccl_fabric_probe(struct fabric* fabric, const struct fabric_call* call, struct sw_choice choice,
                       struct fabric_probe* out) {
  struct nccl_fabric* f = (struct nccl_fabric*)fabric;
  struct sw_control_answer before = {0}; /* stays so after FABRIC_BY_PROFILE: the tuner is steered anew, from 0 on */
  struct sw_control_answer after = {0};
  cuda_graph graph;
  memset(out, 0, sizeof *out);
  nccl_fabric_unprepare(f);
  if (!f->control) return nccl_fabric_refuse(f);
  if (!nccl_fabric_buffers(f, call->bytes)) return false;
  f->control->last(f->tuner, &before);
  size_t free_before = nccl_fabric_free(f);
  if (!capture_one(f, call, choice, &graph)) return false;
  f->control->last(f->tuner, &after);
  memcpy(out->table, after.table, sizeof out->table);
  out->nodes = after.nodes;
  out->obeyed = after.questions == before.questions + 1 && after.obeyed == before.obeyed + 1 &&
                after.collective == call->collective && after.bytes == call->bytes;
  find_winner((const float(*)[NCCL_NUM_PROTOCOLS])after.written, out);
  int connected = nccl_fabric_connected(f, free_before);
  out->memory = connected < 0 ? 0 : f->connecting[connected];
  bool good = read_kernel(f, graph, out);
  f->libraries.cuda.GraphDestroy(graph);
  return good;
}
