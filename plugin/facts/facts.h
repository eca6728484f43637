/*
 * What this machine is: GPU, network, CPU, driver, and what a communicator adds to that.
 *
 *     struct sw_facts_source                      struct sw_facts
 *       root   -> proc, sys, arch   --gather-->     gpu, net, arch, driver     the machine
 *       getenv -> NCCL_*                            ranks, nodes, NVLink       set_shape, set_domains
 *                                                   nccl                       nccl_version
 *
 * A fact that cannot be found stays unknown; nothing here fails, prints, allocates for good or keeps state. Files
 * are read up to 4 KiB, folders up to their first SW_FACTS_ENTRIES entries. Any number of threads can gather at once.
 */
#ifndef SW_FACTS_H
#define SW_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "ground/names.h"
#include "nccl_tuner.h"

struct sw_facts {
  char gpu[96];      /* model, "NVIDIA H200"; "" unknown. The calling thread's device where the driver could be
                        asked, else the node's first by bus address */
  int compute_major; /* compute capability, 9 of 9.0; 0 unknown (then minor is 0 too) */
  int compute_minor;
  int gpus;       /* GPUs of the node as proc lists them; 0 unknown */
  bool gpu_mixed; /* proc lists GPUs of more than one model */

  enum sw_net net;     /* what carries traffic between nodes; SW_NET_UNKNOWN where NCCL's settings leave none */
  int net_mbps;        /* speed of net_device in Mb/s; 0 unknown */
  char net_device[64]; /* "mlx5_0", "rocep1s0f0", "eth0"; "" unknown */
  char arch[32];       /* as uname -m: "x86_64", "aarch64"; "" unknown */
  char driver[32];     /* GPU driver, "580.159.04"; "" unknown */

  int nccl;           /* version code of the NCCL that loaded us, 22809 for 2.28.9; 0 unknown */
  int ranks;          /* 0 unknown */
  int nodes;          /* 0 unknown */
  int ranks_per_node; /* 0 unknown, or ranks are no multiple of nodes */
  int nvl_domains;    /* NVLink domains and the fewest and most ranks in one; all 0 unknown */
  int nvl_min_ranks;
  int nvl_max_ranks;
};

/*
 * Where facts are read from. Every file is read below `root`: "" is the real machine, anything else a folder that
 * holds such files (a captured machine). Below a folder the architecture is the word in <root>/arch, where the real
 * machine asks uname, and the GPU driver is never called.
 */
struct sw_facts_source {
  const char* root;
  const char* (*getenv)(const char* name); /* NULL, or an answer of NULL or "": not set */
  bool load_driver; /* may load and start the CUDA driver (a command line); a plugin only asks a loaded one */
};

enum { SW_FACTS_ENTRIES = 128 };

/* The real machine and the process's environment. */
struct sw_facts_source sw_facts_this_machine(bool load_driver);

/* Fills in the machine's part of `out`; the communicator's part becomes unknown. */
void sw_facts_gather(const struct sw_facts_source* source, struct sw_facts* out);

/* A communicator's ranks and nodes, as the tuner's init is told them. Numbers beyond an int count as unknown. */
void sw_facts_set_shape(struct sw_facts* facts, size_t ranks, size_t nodes);

/* A communicator's NVLink domains; NULL (interfaces before v5) and contradicting numbers count as unknown. */
void sw_facts_set_domains(struct sw_facts* facts, const nccl_nvl_domain_info* domains);

/*
 * The version code of the NCCL whose logging function this is (a process can hold two), asked from ncclGetVersion in
 * the very object that holds the function. 0 where that object exports none, or `logger` is NULL.
 */
int sw_facts_nccl_version(nccl_logger logger);

#endif
