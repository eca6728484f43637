#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "facts/facts.h"
#include "fabric/nccl_fabric.h"

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

bool nccl_fabric_cuda(struct nccl_fabric* f, int result, const char* what) {
  if (result == 0) return true;
  snprintf(f->fabric.fault, sizeof f->fabric.fault, "%s: %s (CUDA error %d)", what,
           f->libraries.cuda.GetErrorString(result), result);
  return false;
}

bool nccl_fabric_nccl(struct nccl_fabric* f, int result, const char* what) {
  if (result == 0) return true;
  snprintf(f->fabric.fault, sizeof f->fabric.fault, "%s: %s (NCCL result %d)", what,
           f->libraries.nccl.GetErrorString(result), result);
  return false;
}

/* --- calls ------------------------------------------------------------------------------------------------------- */

static const struct {
  size_t bytes;
  int nccl;
} types[] = {
    [FABRIC_BF16] = {2, NCCL_TYPE_BF16}, [FABRIC_FLOAT] = {4, NCCL_TYPE_FLOAT}, [FABRIC_INT32] = {4, NCCL_TYPE_INT32}};

size_t nccl_fabric_element(int type) {
  return types[type].bytes;
}

size_t nccl_fabric_count(const struct nccl_fabric* f, const struct fabric_call* call) {
  size_t elements = call->bytes / nccl_fabric_element(call->type);
  bool parts = call->collective == NCCL_ALLGATHER || call->collective == NCCL_REDUCESCATTER;
  return parts ? elements / f->place.ranks : elements;
}

static int issue(struct nccl_fabric* f, const struct fabric_call* call, unsigned turn) {
  const struct nccl_functions* nccl = &f->libraries.nccl;
  size_t count = nccl_fabric_count(f, call);
  int type = types[call->type].nccl;
  int root = (int)(turn % f->place.ranks);
  void* send = f->send[turn % (unsigned)f->slots];
  void* receive = f->receive[turn % (unsigned)f->slots];
  switch (call->collective) {
    case NCCL_BROADCAST:
      return nccl->Broadcast(send, receive, count, type, root, f->comm, f->stream);
    case NCCL_REDUCE:
      return nccl->Reduce(send, receive, count, type, NCCL_OP_SUM, root, f->comm, f->stream);
    case NCCL_ALLGATHER:
      return nccl->AllGather(send, receive, count, type, f->comm, f->stream);
    case NCCL_REDUCESCATTER:
      return nccl->ReduceScatter(send, receive, count, type, NCCL_OP_SUM, f->comm, f->stream);
    default:
      return nccl->AllReduce(send, receive, count, type, NCCL_OP_SUM, f->comm, f->stream);
  }
}

static bool refuse_without_plugin(struct nccl_fabric* f) {
  snprintf(f->fabric.fault, sizeof f->fabric.fault, FABRIC_NO_PLUGIN);
  return false;
}

/* The profile answers while nothing steers the tuner. */
static bool force(struct nccl_fabric* f, struct sw_choice choice) {
  if (!f->control) return sw_choice_is_auto(choice) || refuse_without_plugin(f);
  if (sw_choice_same(choice, FABRIC_BY_PROFILE))
    f->control->release(f->tuner);
  else
    f->control->force(f->control->newest(), choice);
  return true;
}

bool nccl_fabric_issue(struct nccl_fabric* f, const struct fabric_call* call, struct sw_choice choice, unsigned turn) {
  return force(f, choice) && nccl_fabric_nccl(f, issue(f, call, turn), "the collective");
}

bool nccl_fabric_barrier(struct nccl_fabric* f) {
  if (!force(f, SW_AUTO)) return false;
  int result = f->libraries.nccl.AllReduce(f->barrier, f->barrier, 1, NCCL_TYPE_FLOAT, NCCL_OP_SUM, f->comm, f->stream);
  return nccl_fabric_nccl(f, result, "the barrier");
}

/* --- buffers ----------------------------------------------------------------------------------------------------- */

static void free_buffers(struct nccl_fabric* f) {
  for (int i = 0; i < NCCL_FABRIC_SLOTS; i++) {
    if (f->send[i]) f->libraries.cuda.Free(f->send[i]);
    if (f->receive[i]) f->libraries.cuda.Free(f->receive[i]);
    f->send[i] = f->receive[i] = NULL;
  }
  f->buffer_bytes = 0;
  f->slots = 0;
  f->patterned_bytes = 0;
}

static bool allocate_slot(struct nccl_fabric* f, int slot, size_t bytes) {
  return nccl_fabric_cuda(f, f->libraries.cuda.Malloc(&f->send[slot], bytes), "a send buffer") &&
         nccl_fabric_cuda(f, f->libraries.cuda.Malloc(&f->receive[slot], bytes), "a receive buffer") &&
         nccl_fabric_cuda(f, f->libraries.cuda.Memset(f->send[slot], 0, bytes), "clearing a buffer");
}

bool nccl_fabric_buffers(struct nccl_fabric* f, size_t bytes) {
  size_t free_bytes;
  size_t all_bytes;
  if (bytes <= f->buffer_bytes) return true;
  free_buffers(f);
  if (!nccl_fabric_cuda(f, f->libraries.cuda.MemGetInfo(&free_bytes, &all_bytes), "free memory")) return false;
  size_t fitting = free_bytes / 4 / (2 * bytes);
  int slots = fitting < 1 ? 0 : fitting < NCCL_FABRIC_SLOTS ? (int)fitting : NCCL_FABRIC_SLOTS;
  if (!slots) {
    snprintf(f->fabric.fault, sizeof f->fabric.fault,
             "two buffers of %zu bytes are more than a quarter of the %zu free", bytes, free_bytes);
    return false;
  }
  for (int i = 0; i < slots; i++)
    if (!allocate_slot(f, i, bytes)) return false;
  f->buffer_bytes = bytes;
  f->slots = slots;
  return true;
}

/* --- communicators ----------------------------------------------------------------------------------------------- */

static bool new_id(struct fabric* fabric, unsigned char id[FABRIC_ID_BYTES]) {
  struct nccl_fabric* f = (struct nccl_fabric*)fabric;
  struct nccl_id fresh;
  if (!nccl_fabric_nccl(f, f->libraries.nccl.GetUniqueId(&fresh), "a communicator's id")) return false;
  memcpy(id, fresh.bytes, FABRIC_ID_BYTES);
  return true;
}

static bool steer(struct nccl_fabric* f) {
  if (!f->control) return true;
  f->tuner = f->control->newest();
  if (f->tuner) return true;
  snprintf(f->fabric.fault, sizeof f->fabric.fault,
           "NCCL did not load the plugin into this communicator (is NCCL older than 2.22?)");
  return false;
}

static bool connect_ranks(struct fabric* fabric, const struct fabric_place* place) {
  struct nccl_fabric* f = (struct nccl_fabric*)fabric;
  struct nccl_id id;
  memcpy(id.bytes, place->id, FABRIC_ID_BYTES);
  f->place = *place;
  int result = f->libraries.nccl.CommInitRank(&f->comm, (int)place->ranks, id, (int)place->rank);
  if (!nccl_fabric_nccl(f, result, "the communicator") || !steer(f)) return false;
  return nccl_fabric_barrier(f) &&
         nccl_fabric_cuda(f, f->libraries.cuda.StreamSynchronize(f->stream), "the first barrier");
}

static bool disconnect_ranks(struct fabric* fabric) {
  struct nccl_fabric* f = (struct nccl_fabric*)fabric;
  nccl_fabric_unprepare(f);
  free_buffers(f);
  nccl_comm comm = f->comm;
  f->comm = NULL;
  f->tuner = NULL;
  return !comm || nccl_fabric_nccl(f, f->libraries.nccl.CommDestroy(comm), "ending the communicator");
}

/* --- probing ----------------------------------------------------------------------------------------------------- */

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

static bool capture_one(struct nccl_fabric* f, const struct fabric_call* call, struct sw_choice choice,
                        cuda_graph* graph) {
  const struct cuda_functions* cuda = &f->libraries.cuda;
  if (!nccl_fabric_cuda(f, cuda->StreamBeginCapture(f->stream, CUDA_CAPTURE_THREAD_LOCAL), "beginning a capture"))
    return false;
  bool issued = nccl_fabric_issue(f, call, choice, 0);
  int ended = cuda->StreamEndCapture(f->stream, graph);
  return issued && nccl_fabric_cuda(f, ended, "ending a capture");
}

static bool probe(struct fabric* fabric, const struct fabric_call* call, struct sw_choice choice,
                  struct fabric_probe* out) {
  struct nccl_fabric* f = (struct nccl_fabric*)fabric;
  struct sw_control_answer before;
  struct sw_control_answer after;
  cuda_graph graph;
  memset(out, 0, sizeof *out);
  nccl_fabric_unprepare(f);
  if (!f->control) return refuse_without_plugin(f);
  if (!nccl_fabric_buffers(f, call->bytes)) return false;
  f->control->last(f->tuner, &before);
  if (!capture_one(f, call, choice, &graph)) return false;
  f->control->last(f->tuner, &after);
  memcpy(out->table, after.table, sizeof out->table);
  out->nodes = after.nodes;
  out->obeyed = after.questions == before.questions + 1 && after.obeyed == before.obeyed + 1 &&
                after.collective == call->collective && after.bytes == call->bytes;
  find_winner((const float(*)[NCCL_NUM_PROTOCOLS])after.written, out);
  bool good = read_kernel(f, graph, out);
  f->libraries.cuda.GraphDestroy(graph);
  return good;
}

/* --- life -------------------------------------------------------------------------------------------------------- */

static void describe(struct fabric* fabric, struct fabric_report* out) {
  struct nccl_fabric* f = (struct nccl_fabric*)fabric;
  struct sw_facts_source source = sw_facts_this_machine(true);
  struct sw_facts facts;
  size_t free_bytes = 0;
  size_t all_bytes = 0;
  int unified = 0;
  memset(out, 0, sizeof *out);
  sw_facts_gather(&source, &facts);
  snprintf(out->gpu, sizeof out->gpu, "%s", facts.gpu);
  snprintf(out->driver, sizeof out->driver, "%s", facts.driver);
  const char* node = getenv("NCCL_HOSTID");
  if (node && node[0])
    snprintf(out->host, sizeof out->host, "%s", node);
  else
    gethostname(out->host, sizeof out->host - 1);
  f->libraries.nccl.GetVersion(&out->nccl);
  f->libraries.cuda.RuntimeGetVersion(&out->cuda);
  f->libraries.cuda.MemGetInfo(&free_bytes, &all_bytes);
  f->libraries.cuda.DeviceGetAttribute(&unified, CUDA_ATTRIBUTE_INTEGRATED, f->device);
  out->free_device = free_bytes;
  out->free_host = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  out->unified = unified != 0;
  out->clock_us = now_us() - f->opened_us;
}

static void close_fabric(struct fabric* fabric) {
  struct nccl_fabric* f = (struct nccl_fabric*)fabric;
  disconnect_ranks(fabric);
  for (size_t i = 0; i < FABRIC_MOST_CHOICES; i++) {
    if (f->before[i]) f->libraries.cuda.EventDestroy(f->before[i]);
    if (f->after[i]) f->libraries.cuda.EventDestroy(f->after[i]);
  }
  if (f->barrier) f->libraries.cuda.Free(f->barrier);
  if (f->stream) f->libraries.cuda.StreamDestroy(f->stream);
  free(f);
}

static const struct fabric_kind kind = {close_fabric,        describe,           new_id,
                                        connect_ranks,       disconnect_ranks,   probe,
                                        nccl_fabric_prepare, nccl_fabric_rounds, nccl_fabric_check};

/* The same file under the same path is the same library for NCCL and for us. */
static bool open_control(struct nccl_fabric* f, const char* plugin) {
  if (!plugin) return true;
  void* library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  f->control = library ? dlsym(library, "sizewise_control") : NULL;
  if (f->control && f->control->version == SW_CONTROL_VERSION) return true;
  snprintf(f->fabric.fault, sizeof f->fabric.fault, "%.120s: %.120s", plugin,
           library ? "it is another release's plugin than this program's" : dlerror());
  return false;
}

static bool open_device(struct nccl_fabric* f) {
  const struct cuda_functions* cuda = &f->libraries.cuda;
  int devices = 0;
  if (!nccl_fabric_cuda(f, cuda->GetDeviceCount(&devices), "the GPUs") || devices < 1) return false;
  f->device %= devices; /* more ranks than GPUs share them, where NCCL takes them for other nodes */
  if (!nccl_fabric_cuda(f, cuda->SetDevice(f->device), "the GPU")) return false;
  if (!nccl_fabric_cuda(f, cuda->StreamCreateWithFlags(&f->stream, CUDA_STREAM_NON_BLOCKING), "a stream")) return false;
  if (!nccl_fabric_cuda(f, cuda->Malloc(&f->barrier, sizeof(float)), "memory")) return false;
  if (!nccl_fabric_cuda(f, cuda->Memset(f->barrier, 0, sizeof(float)), "clearing memory")) return false;
  for (size_t i = 0; i < FABRIC_MOST_CHOICES; i++)
    if (!nccl_fabric_cuda(f, cuda->EventCreate(&f->before[i]), "an event") ||
        !nccl_fabric_cuda(f, cuda->EventCreate(&f->after[i]), "an event"))
      return false;
  return true;
}

struct fabric* fabric_open_nccl(const struct fabric_paths* paths, int device, char* fault) {
  struct nccl_fabric* f = calloc(1, sizeof *f);
  if (!f) {
    snprintf(fault, 256, "out of memory");
    return NULL;
  }
  f->fabric.kind = &kind;
  f->device = device;
  f->opened_us = now_us();
  setenv("NCCL_TUNER_PLUGIN", paths->plugin ? paths->plugin : "none", 1);
  bool good = libraries_open(paths, &f->libraries, f->fabric.fault) && open_control(f, paths->plugin) && open_device(f);
  if (good) return &f->fabric;
  snprintf(fault, 256, "%s", f->fabric.fault);
  free(f); /* the process ends: the libraries stay as they are */
  return NULL;
}
