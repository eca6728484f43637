#include "fabric/simulator.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/sim_noise.h"
#include "fabric/sim_plugin.h"
#include "fabric/sim_truth.h"
#include "fabric/sim_words.h"

/* What the commands take, in microseconds of virtual time. */
static const double connect_us = 500e3;
static const double probe_us = 1e3;
static const double check_us = 5e3;

/* Memory of a made-up machine; a communicator takes some, and each algorithm that it connects takes more. */
#define MIB UINT64_C(0x100000)
static const uint64_t device_bytes = 96 * 1024 * MIB;
static const uint64_t host_bytes = 256 * 1024 * MIB;
static const uint64_t communicator_bytes = 64 * MIB;
static const uint64_t channel_bytes = 8 * MIB; /* of one algorithm */

struct simulator {
  struct fabric fabric; /* first */
  struct fabric_simulation simulation;
  struct sim_plugin plugin;
  struct fabric_place place;
  struct sim_truth* truth; /* NULL: not connected */
  unsigned algorithms;     /* connected so far, a bit each */
  double clock_us;         /* the same on all ranks: no rank's own noise is in it */
  uint64_t samples;        /* drawn so far */
  uint64_t ids;
  struct fabric_call call; /* that is made ready, and its choices with their true times; a probe or check ends it */
  struct sw_choice choices[FABRIC_MOST_CHOICES];
  double truth_us[FABRIC_MOST_CHOICES];
  size_t count;
};

static struct simulator* simulator_of(struct fabric* fabric) {
  return (struct simulator*)(void*)fabric;
}

__attribute__((format(printf, 2, 3))) static bool fail(struct simulator* s, const char* format, ...) {
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
  if (s->truth) return fail(s, "ncclCommInitRank: one communicator at a time");
  if (memcmp(place->id, none, sizeof none) == 0) return fail(s, "ncclCommInitRank: the id is empty");
  if (place->nodes >= 1 && place->ranks >= place->nodes && place->rank < place->ranks) return true;
  return fail(s, "ncclCommInitRank: there is no rank %u of %u on %u nodes", place->rank, place->ranks, place->nodes);
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
  if (!s->truth) return fail(s, "out of memory");
  s->place = *place;
  s->algorithms = 1u << NCCL_ALGO_RING;
  s->clock_us += connect_us;
  log_notes(s);
  return true;
}

static bool leave(struct fabric* fabric) {
  struct simulator* s = simulator_of(fabric);
  if (!s->truth) return fail(s, "ncclCommDestroy: there is no communicator");
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

static uint64_t algorithm_bytes(const struct simulator* s) {
  return channel_bytes * (uint64_t)sim_shape(&s->simulation, &s->place).channels;
}

static uint64_t used_bytes(const struct simulator* s) {
  if (!s->truth) return 0;
  return communicator_bytes + algorithm_bytes(s) * (uint64_t)__builtin_popcount(s->algorithms);
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

/* --- one call ---------------------------------------------------------------------------------------------------- */

static bool call_is_good(struct simulator* s, const struct fabric_call* call) {
  if (!s->truth) return fail(s, "%s: there is no communicator", sim_function_name(call->collective));
  if (call->collective >= 0 && call->collective < NCCL_NUM_COLLECTIVES) return true;
  return fail(s, "there is no collective %d", call->collective);
}

static bool ask(struct simulator* s, const struct fabric_call* call, struct sw_choice choice,
                struct standin_choice* answer, bool* obeyed) {
  float table[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS];
  struct standin_operation operation = sim_operation(call);
  if (sim_faults_has_own_table(&s->simulation.faults, s->place.rank)) {
    standin_estimate(s->plugin.communicator, &operation, 1, table);
    sim_faults_twist_table(table);
    operation.table = &table[0][0];
  }
  if (!sim_plugin_ask(&s->plugin, &operation, choice, answer, obeyed, s->fabric.fault)) return false;
  if (answer->algorithm >= 0) s->algorithms |= 1u << answer->algorithm;
  return true;
}

static struct sim_key key_of(const struct standin_choice* answer) {
  return (struct sim_key){answer->algorithm, answer->protocol, answer->channels};
}

static bool strike(struct simulator* s, const struct fabric_call* call, struct sw_choice choice) {
  return sim_faults_strike(&s->simulation.faults, call, choice, s->fabric.fault);
}

static int threads(int protocol) {
  static const int of[NCCL_NUM_PROTOCOLS] = {
      [NCCL_PROTO_LL] = 512, [NCCL_PROTO_LL128] = 640, [NCCL_PROTO_SIMPLE] = 544};
  return protocol < 0 ? 0 : of[protocol];
}

static bool probe(struct fabric* fabric, const struct fabric_call* call, struct sw_choice choice,
                  struct fabric_probe* out) {
  struct simulator* s = simulator_of(fabric);
  struct standin_choice answer;
  bool obeyed;
  s->count = 0;
  if (!s->plugin.control) return fail(s, "%s", FABRIC_NO_PLUGIN);
  if (!call_is_good(s, call) || !strike(s, call, choice)) return false;
  if (!ask(s, call, choice, &answer, &obeyed)) return false;
  s->clock_us += probe_us;
  *out = (struct fabric_probe){.algo = answer.algorithm,
                               .proto = answer.protocol,
                               .channels = answer.channels,
                               .threads = threads(answer.protocol),
                               .obeyed = obeyed,
                               .nodes = s->place.nodes};
  if (answer.algorithm >= 0 && answer.algorithm != NCCL_ALGO_RING) out->memory = algorithm_bytes(s);
  memcpy(out->table, answer.before, sizeof out->table);
  return true;
}

static bool check(struct fabric* fabric, const struct fabric_call* call, struct sw_choice choice, bool* good) {
  struct simulator* s = simulator_of(fabric);
  struct standin_choice answer;
  bool obeyed;
  s->count = 0;
  if (!call_is_good(s, call) || !strike(s, call, choice) || !ask(s, call, choice, &answer, &obeyed)) return false;
  s->clock_us += check_us + sim_truth_us(s->truth, call, key_of(&answer));
  *good = !sim_faults_corrupt(&s->simulation.faults, call, choice);
  return true;
}

/* --- rounds ------------------------------------------------------------------------------------------------------ */

static bool prepare(struct fabric* fabric, const struct fabric_call* call, const struct sw_choice* choices,
                    size_t count) {
  struct simulator* s = simulator_of(fabric);
  s->count = 0;
  if (!call_is_good(s, call)) return false;
  if (count == 0 || count > FABRIC_MOST_CHOICES)
    return fail(s, "%zu choices: 1 to %d can be timed together", count, FABRIC_MOST_CHOICES);
  for (size_t i = 0; i < count; i++) {
    struct standin_choice answer;
    bool obeyed;
    if (!ask(s, call, choices[i], &answer, &obeyed)) return false;
    s->choices[i] = choices[i];
    s->truth_us[i] = sim_truth_us(s->truth, call, key_of(&answer));
  }
  s->call = *call;
  s->count = count;
  return true;
}

/* A draw that all ranks share, or a rank's own. */
static double noise(const struct simulator* s, enum sim_purpose purpose, uint32_t rank, double sigma) {
  const uint64_t words[] = {purpose, s->simulation.seed, s->simulation.attempt, s->samples, rank};
  return sim_lognormal(sim_hash(words, sizeof words / sizeof words[0]), sigma);
}

static float sample(struct simulator* s, double true_us) {
  double common_us = true_us * noise(s, SIM_FOR_SAMPLE, 0, s->simulation.noise);
  double own = noise(s, SIM_FOR_RANK, s->place.rank, s->simulation.rank_noise);
  s->clock_us += common_us + sim_truth_barrier_us(s->truth, s->call.collective);
  s->samples++;
  return (float)(common_us * own * sim_faults_slowness(&s->simulation.faults, s->place.rank));
}

static bool run_rounds(struct fabric* fabric, size_t rounds, float* us) {
  struct simulator* s = simulator_of(fabric);
  if (!s->count) return fail(s, "no call was made ready to be timed");
  for (size_t round = 0; round < rounds; round++) {
    double drift = sim_faults_drift(&s->simulation.faults, s->clock_us); /* one for the round: it hits all alike */
    for (size_t i = 0; i < s->count; i++) {
      if (!strike(s, &s->call, s->choices[i])) return false;
      us[round * s->count + i] = sample(s, s->truth_us[i] * drift);
    }
  }
  return true;
}

/* --- opening ----------------------------------------------------------------------------------------------------- */

static const struct fabric_kind kind = {
    .close = close_simulator,
    .describe = describe,
    .new_id = new_id,
    .connect = connect_place,
    .disconnect = leave,
    .probe = probe,
    .prepare = prepare,
    .rounds = run_rounds,
    .check = check,
};

static bool noise_is_good(double sigma) {
  return sigma >= 0 && sigma <= 1;
}

static bool open_parts(struct simulator* s, const char* plugin) {
  if (!s->simulation.profile) return fail(s, "a simulation needs a profile");
  if (!noise_is_good(s->simulation.noise) || !noise_is_good(s->simulation.rank_noise))
    return fail(s, "the noise of a simulation goes from 0 to 1");
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
