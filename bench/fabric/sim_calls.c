#include <string.h>

#include "fabric/sim_noise.h"
#include "fabric/sim_words.h"
#include "fabric/simulator_internal.h"

/* What the commands take, in microseconds of virtual time. */
static const double probe_us = 1e3;
static const double check_us = 5e3;

/* --- one call ---------------------------------------------------------------------------------------------------- */

static bool call_is_good(struct simulator* s, const struct fabric_call* call) {
  if (!s->truth) return simulator_fail(s, "%s: there is no communicator", sim_function_name(call->collective));
  if (call->collective >= 0 && call->collective < NCCL_NUM_COLLECTIVES) return true;
  return simulator_fail(s, "there is no collective %d", call->collective);
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

static bool strike(struct simulator* s, const struct fabric_call* call, struct sw_choice choice, bool timed) {
  return sim_faults_strike(&s->simulation.faults, call, choice, timed, s->fabric.fault);
}

static int threads(int protocol) {
  static const int of[NCCL_NUM_PROTOCOLS] = {
      [NCCL_PROTO_LL] = 512, [NCCL_PROTO_LL128] = 640, [NCCL_PROTO_SIMPLE] = 544};
  return protocol < 0 ? 0 : of[protocol];
}

bool sim_probe(struct fabric* fabric, const struct fabric_call* call, struct sw_choice choice,
               struct fabric_probe* out) {
  struct simulator* s = simulator_of(fabric);
  struct standin_choice answer;
  bool obeyed;
  s->count = 0;
  if (!s->plugin.control) return simulator_fail(s, "%s", FABRIC_NO_PLUGIN);
  if (!call_is_good(s, call) || !strike(s, call, choice, false)) return false;
  if (!ask(s, call, choice, &answer, &obeyed)) return false;
  s->clock_us += probe_us;
  *out = (struct fabric_probe){.algo = answer.algorithm,
                               .proto = answer.protocol,
                               .channels = answer.channels,
                               .threads = threads(answer.protocol),
                               .obeyed = obeyed,
                               .nodes = s->place.nodes};
  if (answer.algorithm >= 0 && answer.algorithm != NCCL_ALGO_RING) out->memory = simulator_algorithm_bytes(s);
  memcpy(out->table, answer.before, sizeof out->table);
  return true;
}

bool sim_check(struct fabric* fabric, const struct fabric_call* call, struct sw_choice choice, bool* good) {
  struct simulator* s = simulator_of(fabric);
  struct standin_choice answer;
  bool obeyed;
  s->count = 0;
  if (!call_is_good(s, call) || !strike(s, call, choice, false) || !ask(s, call, choice, &answer, &obeyed))
    return false;
  s->clock_us += check_us + sim_truth_us(s->truth, call, key_of(&answer));
  *good = !sim_faults_corrupt(&s->simulation.faults, call, choice);
  return true;
}

/* --- rounds ------------------------------------------------------------------------------------------------------ */

bool sim_prepare(struct fabric* fabric, const struct fabric_call* call, const struct sw_choice* choices, size_t count) {
  struct simulator* s = simulator_of(fabric);
  s->count = 0;
  if (!call_is_good(s, call)) return false;
  if (count == 0 || count > FABRIC_MOST_CHOICES)
    return simulator_fail(s, "%zu choices: 1 to %d can be timed together", count, FABRIC_MOST_CHOICES);
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

bool sim_rounds(struct fabric* fabric, size_t rounds, float* us) {
  struct simulator* s = simulator_of(fabric);
  if (!s->count) return simulator_fail(s, "no call was made ready to be timed");
  for (size_t round = 0; round < rounds; round++) {
    double drift = sim_faults_drift(&s->simulation.faults, s->clock_us); /* one for the round: it hits all alike */
    for (size_t i = 0; i < s->count; i++) {
      if (!strike(s, &s->call, s->choices[i], true)) return false;
      us[round * s->count + i] = sample(s, s->truth_us[i] * drift);
    }
  }
  return true;
}
