/*
 * One rank's collectives behind one small interface: real NCCL, opened at run time, or the simulator. Everything above
 * is the same for both: who measures what, and when, is decided elsewhere (calibrate/), the same commands reach all
 * ranks in the same order, and each rank carries them out here.
 *
 *     open -> connect -> probe -> prepare -> round, round, ... -> check -> ... -> disconnect -> close
 *
 * A choice is forced call by call through our own tuner plugin, which both kinds load as NCCL loads it. Opened without
 * the plugin a fabric can only time auto: it cannot probe, nor force a choice, and says so.
 * All functions return true on success; otherwise fabric_fault() says in one line what failed. After a failure the
 * process is of no use any more: it is ended and started anew.
 */
#ifndef SW_FABRIC_H
#define SW_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nccl_tuner.h"
#include "profile/choice.h"

enum { FABRIC_ID_BYTES = 128, FABRIC_MOST_CHOICES = 96 };

/* As a choice: what the profile that the plugin loaded decides. */
#define FABRIC_BY_PROFILE ((struct sw_choice){-2, -2, 0})

/* How calls are issued while they are timed: captured into a CUDA graph and replayed (as decode does), or one by one
   into a stream (as prefill does). */
enum fabric_mode { FABRIC_GRAPH, FABRIC_STREAM };

enum fabric_type { FABRIC_BF16, FABRIC_FLOAT, FABRIC_INT32 };

/* One rank's place in a communicator. */
struct fabric_place {
  unsigned char id[FABRIC_ID_BYTES]; /* ncclUniqueId, fresh for each communicator and attempt */
  uint32_t ranks;
  uint32_t rank;
  uint32_t nodes; /* for the simulator; real NCCL finds out itself */
};

/* One collective at one size. */
struct fabric_call {
  int32_t collective;
  int32_t type;   /* enum fabric_type */
  int32_t mode;   /* enum fabric_mode */
  uint64_t bytes; /* as NCCL counts them: include/nccl_tuner.h */
};

/* What one choice really is for a call, read from a captured call that is not launched. */
struct fabric_probe {
  float table[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS]; /* NCCL's estimates in microseconds, before the plugin wrote */
  int32_t algo;                                         /* that runs; -1: not known */
  int32_t proto;
  int32_t channels; /* that really run: the kernel's grid */
  int32_t threads;  /* a block */
  uint8_t obeyed;   /* the plugin was asked for this very call, and the choice fitted */
  uint32_t nodes;   /* of the communicator, as NCCL counts them */
  uint64_t memory;  /* of the device, in bytes: what connecting the algorithm took; 0: none, or not known */
};

/* What a communicator costs and what it is. */
struct fabric_report {
  char gpu[96];
  char driver[32];
  char host[64];        /* NCCL_HOSTID where it is set: what NCCL takes for a node */
  int32_t nccl;         /* version code, 22809 */
  int32_t cuda;         /* runtime version, 13000 */
  uint64_t free_device; /* bytes, now */
  uint64_t free_host;   /* bytes, now */
  uint8_t unified;      /* device and host memory are one */
  double clock_us;      /* wall time, or the simulator's virtual time, since open */
  uint64_t buffers;     /* bytes that send and receive buffers may take together: fabric_limit */
  char nccl_path[256];  /* of the libraries that were opened; "": there are none */
  char cudart_path[256];
};

struct fabric; /* one rank; not for several threads at once */

/* Where the libraries are; NULL: the usual search, pip wheels included. */
struct fabric_paths {
  const char* nccl;
  const char* cudart;
  const char* plugin; /* NULL: no tuner at all, NCCL_TUNER_PLUGIN=none */
};

/* Real NCCL on a local device. NULL with one line in `fault` (of 256 bytes). */
struct fabric* fabric_open_nccl(const struct fabric_paths* paths, int device, char* fault);

/* The simulator: see fabric/simulator.h. `plugin` NULL: no tuner, so that the stand-in's own choice runs. */
struct fabric_simulation;
struct fabric* fabric_open_simulator(const struct fabric_simulation* simulation, const char* plugin, char* fault);

void fabric_close(struct fabric* fabric);
const char* fabric_fault(const struct fabric* fabric);
void fabric_describe(struct fabric* fabric, struct fabric_report* out);

/* From now on buffers take at most this share of the device memory that is free now, and of the host's where they are
   one. Without it they take a quarter of what is free when they are made. */
void fabric_limit(struct fabric* fabric, double share);

/* A fresh id for a communicator, on the rank that is to be its rank 0. */
bool fabric_new_id(struct fabric* fabric, unsigned char id[FABRIC_ID_BYTES]);

/* Joins a communicator; every rank of it calls. One at a time. */
bool fabric_connect(struct fabric* fabric, const struct fabric_place* place);
bool fabric_disconnect(struct fabric* fabric);

/* Captures the call with the choice forced and reads what it became. Connects an algorithm that was not used before. */
bool fabric_probe(struct fabric* fabric, const struct fabric_call* call, struct sw_choice choice,
                  struct fabric_probe* out);

/*
 * Makes ready to time `count` choices for a call: buffers, and for FABRIC_GRAPH one graph that holds one round. A round
 * runs each choice once, in order, each behind an untimed barrier that lets all ranks start together.
 */
bool fabric_prepare(struct fabric* fabric, const struct fabric_call* call, const struct sw_choice* choices,
                    size_t count);

/* Runs `rounds` rounds; us[round * count + choice] is this rank's time in microseconds. */
bool fabric_rounds(struct fabric* fabric, size_t rounds, float* us);

/* Runs the call once with the choice forced and compares every element with the exact result (integers), or with it
   within the known rounding bound (float, bf16). `good` tells; false as return value is an NCCL or CUDA error. */
bool fabric_check(struct fabric* fabric, const struct fabric_call* call, struct sw_choice choice, bool* good);

/* The kind behind the interface: one table of functions each. */
struct fabric_kind {
  void (*close)(struct fabric*);
  void (*describe)(struct fabric*, struct fabric_report*);
  bool (*new_id)(struct fabric*, unsigned char id[FABRIC_ID_BYTES]);
  bool (*connect)(struct fabric*, const struct fabric_place*);
  bool (*disconnect)(struct fabric*);
  bool (*probe)(struct fabric*, const struct fabric_call*, struct sw_choice, struct fabric_probe*);
  bool (*prepare)(struct fabric*, const struct fabric_call*, const struct sw_choice*, size_t);
  bool (*rounds)(struct fabric*, size_t, float*);
  bool (*check)(struct fabric*, const struct fabric_call*, struct sw_choice, bool*);
};

/* What a fabric without the plugin answers where it would need one. */
#define FABRIC_NO_PLUGIN "opened without the plugin: nothing can be probed or forced, only auto timed"

/* First member of each kind's own struct. */
struct fabric {
  const struct fabric_kind* kind;
  uint64_t buffers; /* fabric_limit's bytes; 0: it was not called */
  char fault[256];
};

#endif
