#include "fabric/simulator.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/sim_noise.h"
#include "fabric/simulator_internal.h"

static const double connect_us = 500e3; /* of virtual time */

/* Memory of a made-up machine; a communicator takes some, and each algorithm that it connects takes more. */
#define MIB UINT64_C(0x100000)
static const uint64_t device_bytes = 96 * 1024 * MIB;
static const uint64_t host_bytes = 256 * 1024 * MIB;
static const uint64_t communicator_bytes = 64 * MIB;
static const uint64_t channel_bytes = 8 * MIB; /* of one algorithm */

struct simulator* simulator_of(struct fabric* fabric) {
  return (struct simulator*)(void*)fabric;
}

bool simulator_fail(struct simulator* s, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(s->fabric.fault, sizeof s->fabric.fault, format, arguments);
  va_end(arguments);
  return false;
}

/* --- joining and leaving ----------------------------------------------------------------------------------------- */

static bool new_id(struct fabric* fabric, unsigned char id[FABRIC_ID_BYTES]) {
  struct simulator* s = simulator_of(fabric);
  uint64_t words[] = {SIM_FOR_ID, s->simulation.seed, s->simulation.attempt, s->ids++, 0};
  for (size_t i = 0; i < FABRIC_ID_BYTES; i++) {
    words[4] = i;
    id[i] = (unsigned char)(sim_hash(words, sizeof words / sizeof words[0]) % 255 + 1);
  }
  return true;
}

static uint64_t id_number(const unsigned char id[FABRIC_ID_BYTES]) {
  uint64_t words[FABRIC_ID_BYTES];
  for (size_t i = 0; i < FABRIC_ID_BYTES; i++) words[i] = id[i];
  return sim_hash(words, FABRIC_ID_BYTES);
}

static bool place_is_good(struct simulator* s, const struct fabric_place* place) {
  static const unsigned char none[FABRIC_ID_BYTES];
  if (s->truth) return simulator_fail(s, "ncclCommInitRank: one communicator at a time");
  if (memcmp(place->id, none, sizeof none) == 0) return simulator_fail(s, "ncclCommInitRank: the id is empty");
  if (place->nodes >= 1 && place->ranks >= place->nodes && place->rank < place->ranks) return true;
  return simulator_fail(s, "ncclCommInitRank: there is no rank %u of %u on %u nodes", place->rank, place->ranks,
                        place->nodes);
}

static void log_notes(const struct simulator* s) {
  struct sw_text notes = SW_TEXT_EMPTY;
  fabric_simulation_notes(&s->simulation, &s->place, &notes);
  for (const char* line = sw_text_string(&notes); *line;) {
    size_t length = strcspn(line, "\n");
    standin_log(NCCL_LOG_INFO, NCCL_SUBSYS_INIT, __FILE__, __LINE__, "simulator: %.*s", (int)length, line);
    line += length + (line[length] == '\n');
  }
  sw_text_free(&notes);
}

/* NCCL connects rings when the communicator is made, and the other algorithms when they are first used. */
static bool connect_place(struct fabric* fabric, const struct fabric_place* place) {
  struct simulator* s = simulator_of(fabric);
  if (!place_is_good(s, place)) return false;
  struct standin_shape shape = sim_shape(&s->simulation, place);
  shape.comm_id = id_number(place->id);
  if (!sim_plugin_connect(&s->plugin, &shape, s->fabric.fault)) return false;
  s->truth = sim_truth_open(&s->simulation, place);
  if (!s->truth) return simulator_fail(s, "out of memory");
  s->place = *place;
  s->algorithms = 1u << NCCL_ALGO_RING;
  s->clock_us += connect_us;
  log_notes(s);
  return true;
}

static bool leave(struct fabric* fabric) {
  struct simulator* s = simulator_of(fabric);
  if (!s->truth) return simulator_fail(s, "ncclCommDestroy: there is no communicator");
  sim_truth_close(s->truth);
  s->truth = NULL;
  s->count = 0;
  return sim_plugin_disconnect(&s->plugin, s->fabric.fault);
}

static void close_simulator(struct fabric* fabric) {
  struct simulator* s = simulator_of(fabric);
  sim_truth_close(s->truth);
  sim_plugin_close(&s->plugin);
  free(s);
}

uint64_t simulator_algorithm_bytes(const struct simulator* s) {
  return channel_bytes * (uint64_t)sim_shape(&s->simulation, &s->place).channels;
}

static uint64_t used_bytes(const struct simulator* s) {
  if (!s->truth) return 0;
  return communicator_bytes + simulator_algorithm_bytes(s) * (uint64_t)__builtin_popcount(s->algorithms);
}

static void describe(struct fabric* fabric, struct fabric_report* out) {
  struct simulator* s = simulator_of(fabric);
  *out = (struct fabric_report){.gpu = "simulated GPU",
                                .driver = "simulated",
                                .host = "simulated",
                                .nccl = s->simulation.nccl_version,
                                .cuda = 13000,
                                .free_device = device_bytes - used_bytes(s),
                                .free_host = host_bytes,
                                .clock_us = s->clock_us};
}

/* --- opening ----------------------------------------------------------------------------------------------------- */

static const struct fabric_kind kind = {
    .close = close_simulator,
    .describe = describe,
    .new_id = new_id,
    .connect = connect_place,
    .disconnect = leave,
    .probe = sim_probe,
    .prepare = sim_prepare,
    .rounds = sim_rounds,
    .check = sim_check,
};

static bool noise_is_good(double sigma) {
  return sigma >= 0 && sigma <= 1;
}

static bool open_parts(struct simulator* s, const char* plugin) {
  if (!s->simulation.profile) return simulator_fail(s, "a simulation needs a profile");
  if (!noise_is_good(s->simulation.noise) || !noise_is_good(s->simulation.rank_noise))
    return simulator_fail(s, "the noise of a simulation goes from 0 to 1");
  return sim_plugin_open(&s->plugin, s->simulation.nccl_version, plugin, s->fabric.fault);
}

struct fabric* fabric_open_simulator(const struct fabric_simulation* simulation, const char* plugin, char* fault) {
  struct simulator* s = calloc(1, sizeof *s);
  if (!s) {
    snprintf(fault, sizeof s->fabric.fault, "out of memory");
    return NULL;
  }
  s->fabric.kind = &kind;
  s->simulation = *simulation;
  if (open_parts(s, plugin)) return &s->fabric;
  memcpy(fault, s->fabric.fault, sizeof s->fabric.fault);
  close_simulator(&s->fabric);
  return NULL;
}

const struct fabric_simulation fabric_simulation_default = {.noise = 0.05, .rank_noise = 0.005, .nccl_version = 22809};

bool fabric_simulation_fault(struct fabric_simulation* simulation, const char* spec, char* fault) {
  return sim_faults_add(&simulation->faults, spec, fault);
}
