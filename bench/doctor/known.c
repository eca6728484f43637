#include "doctor/known.h"

#include <string.h>

#include "ground/nearest.h"

static const char* const threads[] = {"64", "128", "256", "512", NULL};

const struct known_variable known_variables[] = {
    {"NCCL_ALGO", "the algorithms that NCCL may use", NULL, true, true},
    {"NCCL_PROTO", "the protocols that NCCL may use", NULL, true, true},
    {"NCCL_MIN_NCHANNELS", "the fewest channels of a communicator", NULL, true, true},
    {"NCCL_MAX_NCHANNELS", "the most channels of a communicator", NULL, true, true},
    {"NCCL_MIN_CTAS", "the fewest channels of a communicator", NULL, true, true},
    {"NCCL_MAX_CTAS", "the most channels of a communicator", NULL, true, true},
    {"NCCL_NTHREADS", "threads of a CUDA block, one block a channel", threads, false, true},
    {"NCCL_BUFFSIZE", "bytes of the buffer between two GPUs; 4194304 unless set", NULL, false, true},
    {"NCCL_LL_BUFFSIZE", "the LL protocol's buffer; not documented", NULL, false, true},
    {"NCCL_LL128_BUFFSIZE", "the LL128 protocol's buffer; not documented", NULL, false, true},
    {"NCCL_P2P_DISABLE", "1: no direct access between GPUs, over NVLink or PCIe", NULL, false, true},
    {"NCCL_P2P_LEVEL", "how far apart GPUs may be for direct access", NULL, false, true},
    {"NCCL_SHM_DISABLE", "1: no shared memory between GPUs; the network instead", NULL, false, true},
    {"NCCL_NVLS_ENABLE", "0: no NVLink SHARP", NULL, false, true},
    {"NCCL_COLLNET_ENABLE", "1: the CollNet plugin is used", NULL, false, true},
    {"NCCL_IB_DISABLE", "1: no InfiniBand and no RoCE; IP sockets instead", NULL, false, true},
    {"NCCL_CTA_POLICY", "how many of a GPU's resources NCCL takes", NULL, false, true},
    {"NCCL_TUNER_PLUGIN", "the tuner that NCCL loads", NULL, false, false},
    {"NCCL_NET_PLUGIN", "the net plugin that NCCL loads; it can hold a tuner, too", NULL, false, false},
    {"NCCL_CONF_FILE", "the file that NCCL reads in the place of ~/.nccl.conf", NULL, false, false},
};
const size_t known_variable_count = sizeof known_variables / sizeof known_variables[0];

const struct known_variable* known_find(const char* name) {
  for (size_t i = 0; i < known_variable_count; i++)
    if (strcmp(known_variables[i].name, name) == 0) return &known_variables[i];
  return NULL;
}

/* NCCL_PROTOCOL, NCCL_ALGORITHMS */
static bool goes_on(const char* name, const char* known) {
  size_t length = strlen(known);
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return strncmp(name, known, length) == 0 && name[length] && strspn(name + length, letters) == strlen(name + length);
}

const char* known_meant(const char* name) {
  static const char* const worth[] = {"NCCL_ALGO",          "NCCL_PROTO",    "NCCL_MIN_NCHANNELS",
                                      "NCCL_MAX_NCHANNELS", "NCCL_MIN_CTAS", "NCCL_MAX_CTAS",
                                      "NCCL_TUNER_PLUGIN",  "NCCL_NTHREADS", "NCCL_BUFFSIZE"};
  enum { FARTHEST = 2 };
  if (strncmp(name, "NCCL_", 5) != 0 || known_find(name)) return NULL;
  struct sw_nearest nearest = sw_nearest_start(name, strlen(name));
  for (size_t i = 0; i < sizeof worth / sizeof worth[0]; i++) sw_nearest_offer(&nearest, worth[i]);
  if (nearest.best && nearest.distance <= FARTHEST) return nearest.best;
  return goes_on(name, worth[0]) ? worth[0] : goes_on(name, worth[1]) ? worth[1] : NULL;
}
