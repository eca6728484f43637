/*
 * A crew of a few local ranks on a simulated cluster, for the tests of what calibrates with it: without noise, unless a
 * test wants some, so that times are exact. Each rank is two processes, as in a real run.
 */
#ifndef TEST_SIMULATED_CREW_H
#define TEST_SIMULATED_CREW_H

#include <signal.h>

#include "calibrate/crew.h"
#include "ground/names.h"
#include "launch/wire.h"
#include "unit/simulator_ranks.h"

struct simulated {
  struct sw_profile* profile;
  struct fabric_simulation simulation;
  struct job job;
  struct work_context work;
  volatile sig_atomic_t interrupted;
  struct team_settings settings;
  struct crew* crew;
};

/* As many nodes as ranks; `faults` ends with NULL. */
static inline struct simulated* start_simulated(const char* yaml, uint32_t ranks, double noise, const char** faults) {
  struct simulated* s = calloc(1, sizeof *s);
  char fault[TEAM_TEXT] = "";
  assert_non_null(s);
  s->profile = read_profile(yaml);
  s->simulation = quiet_simulation(s->profile);
  s->simulation.noise = noise;
  for (; faults && *faults; faults++) add_fault(&s->simulation, *faults);
  s->job = (struct job){.ranks = ranks,
                        .local_ranks = ranks,
                        .launcher = "local",
                        .master = "127.0.0.1",
                        .key = (uint64_t)getpid() << 32 | (uint64_t)wire_clock(),
                        .wait_ms = 20000};
  s->work = (struct work_context){
      .paths.plugin = plugin_path(), .simulation = &s->simulation, .simulated_nodes = ranks, .job = &s->job};
  s->settings = (struct team_settings){.interrupted = &s->interrupted};
  s->crew = crew_open(&s->job, &s->work, &s->settings, fault);
  if (!s->crew) fail_msg("%s", fault);
  if (!crew_start(s->crew, NULL)) fail_msg("%s", crew_failure(s->crew)->text);
  return s;
}

/* The same, joined in one communicator. */
static inline struct simulated* join_simulated(const char* yaml, uint32_t ranks, double noise, const char** faults) {
  struct simulated* s = start_simulated(yaml, ranks, noise, faults);
  if (!crew_connect(s->crew, ranks)) fail_msg("%s", crew_failure(s->crew)->text);
  return s;
}

static inline void end_simulated(struct simulated* s) {
  crew_close(s->crew);
  sw_profile_free(s->profile);
  free(s);
}

#define FAULTS(...) ((const char*[]){__VA_ARGS__, NULL})

/* NCCL's names of what the tests choose. */
#define RING(proto, channels) CHOICE(NCCL_ALGO_RING, NCCL_PROTO_##proto, channels)
#define TREE(proto, channels) CHOICE(NCCL_ALGO_TREE, NCCL_PROTO_##proto, channels)

/* Two nodes: auto takes 100 us at every size, ring + LL on two channels 50 us, and tree + Simple on four 52 us. */
#define TWO_GAINS                                                                                                  \
  "{choice: auto, median: 100us}, {algo: ring, proto: ll, channels: 2, median: 50us}, {algo: tree, proto: simple," \
  " channels: 4, median: 52us}"
#define GAINS HEAD TABLES(TABLE(POINT("1KiB", TWO_GAINS) POINT("64MiB", TWO_GAINS)))

#endif
