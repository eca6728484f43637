#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "facts/facts.h"
#include "fabric/host_memory.h"
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

static int issue(struct nccl_fabric* f, const struct fabric_call* call, unsigned slot, unsigned rank) {
  const struct nccl_functions* nccl = &f->libraries.nccl;
  size_t count = nccl_fabric_count(f, call);
  int type = types[call->type].nccl;
  int root = (int)(rank % f->place.ranks);
  void* send = f->send[slot % (unsigned)f->slots];
  void* receive = f->receive[slot % (unsigned)f->slots];
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

bool nccl_fabric_refuse(struct nccl_fabric* f) {
  snprintf(f->fabric.fault, sizeof f->fabric.fault, FABRIC_NO_PLUGIN);
  return false;
}

/* The profile answers while nothing steers the tuner. */
static bool force(struct nccl_fabric* f, struct sw_choice choice) {
  if (!f->control) return sw_choice_is_auto(choice) || nccl_fabric_refuse(f);
  if (sw_choice_same(choice, FABRIC_BY_PROFILE))
    f->control->release(f->tuner);
  else
    f->control->force(f->control->newest(), choice);
  return true;
}

bool nccl_fabric_issue(struct nccl_fabric* f, const struct fabric_call* call, struct sw_choice choice, unsigned slot,
                       unsigned root) {
  return force(f, choice) && nccl_fabric_nccl(f, issue(f, call, slot, root), "the collective");
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

size_t nccl_fabric_free(struct nccl_fabric* f) {
  size_t free_bytes = 0;
  size_t all_bytes;
  f->libraries.cuda.MemGetInfo(&free_bytes, &all_bytes);
  return free_bytes;
}

bool nccl_fabric_buffers(struct nccl_fabric* f, size_t bytes) {
  if (bytes <= f->buffer_bytes) return true;
  free_buffers(f);
  size_t allowed = f->fabric.buffers ? f->fabric.buffers : nccl_fabric_free(f) / 4;
  size_t fitting = allowed / (2 * bytes);
  int slots = fitting < 1 ? 0 : fitting < NCCL_FABRIC_SLOTS ? (int)fitting : NCCL_FABRIC_SLOTS;
  if (!slots) {
    snprintf(f->fabric.fault, sizeof f->fabric.fault,
             "two buffers of %zu bytes are more than the %zu that may be taken", bytes, allowed);
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
  size_t free_before = nccl_fabric_free(f);
  bool good = nccl_fabric_barrier(f) &&
              nccl_fabric_cuda(f, f->libraries.cuda.StreamSynchronize(f->stream), "the first barrier");
  if (good && f->control) nccl_fabric_connected(f, free_before);
  return good;
}

static bool disconnect_ranks(struct fabric* fabric) {
  struct nccl_fabric* f = (struct nccl_fabric*)fabric;
  nccl_fabric_unprepare(f);
  free_buffers(f);
  nccl_comm comm = f->comm;
  f->comm = NULL;
  f->connected = 0;
  f->tuner = NULL;
  return !comm || nccl_fabric_nccl(f, f->libraries.nccl.CommDestroy(comm), "ending the communicator");
}

/* --- life -------------------------------------------------------------------------------------------------------- */

static void describe(struct fabric* fabric, struct fabric_report* out) {
  struct nccl_fabric* f = (struct nccl_fabric*)fabric;
  struct sw_facts_source source = sw_facts_this_machine(true);
  struct sw_facts facts;
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
  f->libraries.cuda.DeviceGetAttribute(&unified, CUDA_ATTRIBUTE_INTEGRATED, f->device);
  out->free_device = nccl_fabric_free(f);
  out->free_host = host_memory_free();
  out->unified = unified != 0;
  out->clock_us = now_us() - f->opened_us;
  snprintf(out->nccl_path, sizeof out->nccl_path, "%.255s", f->libraries.nccl_path);
  snprintf(out->cudart_path, sizeof out->cudart_path, "%.255s", f->libraries.cudart_path);
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
  f->libraries.cuda.DeviceReset();
  free(f);
}

static const struct fabric_kind kind = {close_fabric,        describe,           new_id,
                                        connect_ranks,       disconnect_ranks,   nccl_fabric_probe,
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
