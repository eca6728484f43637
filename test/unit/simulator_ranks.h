/*
 * What the tests of the simulator share: simulated ranks in this process, and profiles in YAML. SW_BUILD names the
 * folder of the plugin, SW_TEST_SOURCE the repository.
 */
#ifndef TEST_SIMULATOR_RANKS_H
#define TEST_SIMULATOR_RANKS_H

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/simulator.h"
#include "unit/decide.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1024) * 1024)
#define CHOICE(algo, proto, channels) ((struct sw_choice){(algo), (proto), (channels)})
#define TREE_LL(channels) CHOICE(NCCL_ALGO_TREE, NCCL_PROTO_LL, channels)
#define CHANNELS(channels) CHOICE(-1, -1, channels)

static inline const char* plugin_path(void) {
  static char path[PATH_MAX];
  const char* build = getenv("SW_BUILD");
  if (!build) fail_msg("SW_BUILD has to name the folder of the plugin");
  snprintf(path, sizeof path, "%s/libnccl-tuner-sizewise.so", build);
  return path;
}

/* No profile, no limits: whatever the environment of the tests says. */
static inline int quiet_environment(void** state) {
  (void)state;
  unsetenv("NCCL_SIZEWISE_EXPECT");
  return setenv("NCCL_SIZEWISE_PROFILE", "off", 1);
}

static inline struct fabric_simulation simulation_of(const struct sw_profile* profile) {
  struct fabric_simulation simulation = fabric_simulation_default;
  simulation.profile = profile;
  simulation.seed = 1;
  return simulation;
}

/* Exact times on all ranks. */
static inline struct fabric_simulation quiet_simulation(const struct sw_profile* profile) {
  struct fabric_simulation simulation = simulation_of(profile);
  simulation.noise = simulation.rank_noise = 0;
  return simulation;
}

static inline struct fabric_place place_of(uint32_t ranks, uint32_t nodes, uint32_t rank) {
  return (struct fabric_place){.id = {7}, .ranks = ranks, .nodes = nodes, .rank = rank};
}

static inline struct fabric_call call_of(int collective, uint64_t bytes) {
  return (struct fabric_call){.collective = collective, .mode = FABRIC_GRAPH, .bytes = bytes};
}

static inline void add_fault(struct fabric_simulation* simulation, const char* spec) {
  char fault[256] = "";
  if (!fabric_simulation_fault(simulation, spec, fault)) fail_msg("%s: %s", spec, fault);
}

static inline struct fabric* must_open(const struct fabric_simulation* simulation) {
  char fault[256] = "";
  struct fabric* fabric = fabric_open_simulator(simulation, plugin_path(), fault);
  if (!fabric) fail_msg("%s", fault);
  return fabric;
}

#define must(fabric, command)                                           \
  do {                                                                  \
    if (!(command)) fail_msg("%s: %s", #command, fabric_fault(fabric)); \
  } while (0)

/* One rank of a communicator, connected. */
static inline struct fabric* must_join(const struct fabric_simulation* simulation, struct fabric_place place) {
  struct fabric* fabric = must_open(simulation);
  must(fabric, fabric_connect(fabric, &place));
  return fabric;
}

static inline struct fabric_probe must_probe(struct fabric* fabric, struct fabric_call call, struct sw_choice choice) {
  struct fabric_probe probe;
  must(fabric, fabric_probe(fabric, &call, choice, &probe));
  return probe;
}

static inline double clock_of(struct fabric* fabric) {
  struct fabric_report report;
  fabric_describe(fabric, &report);
  return report.clock_us;
}

/* One sample of a choice. */
static inline double must_time(struct fabric* fabric, struct fabric_call call, struct sw_choice choice) {
  float us = 0;
  must(fabric, fabric_prepare(fabric, &call, &choice, 1));
  must(fabric, fabric_rounds(fabric, 1, &us));
  return (double)us;
}

static inline void assert_near(double value, double expected, double tolerance, const char* what) {
  if (!(fabs(value / expected - 1) <= tolerance)) fail_msg("%s: %.9g, not %.9g", what, value, expected);
}

/* The words of a failed command, all of them. */
static inline void assert_fault(struct fabric* fabric, bool result, const char* words) {
  assert_false(result);
  assert_string_equal(fabric_fault(fabric), words);
}

#endif
