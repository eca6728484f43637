#include "fabric/sim_truth.h"

#include <stdlib.h>

#include "cost.h"
#include "fabric/sim_curve.h"
#include "fabric/sim_noise.h"

enum { CHANNELS_ONE_NODE = 24, CHANNELS_SEVERAL_NODES = 16, BARRIER_BYTES = 4 };
static const double stream_us = 2;
static const double unmeasured_barrier_us = 10;
static const double least_factor = 1.1;
static const double most_factor = 3;

/* A choice with a curve, and what it runs at the size that was looked at last. */
struct known {
  struct sw_choice choice;
  struct sim_key key;
  bool runs;
};

struct sim_truth {
  const struct fabric_simulation* simulation;
  struct standin_communicator* communicator; /* without a tuner: it picks from tables that were written already */
  const struct sw_table* tables[NCCL_NUM_COLLECTIVES]; /* NULL: nothing was measured */
  struct known* known;                                 /* auto first, then in the profile's order */
  size_t known_count;
  int32_t known_collective; /* -1: none yet */
  uint64_t known_bytes;
};

/* --- the communicator -------------------------------------------------------------------------------------------- */

static void need(struct standin_shape* shape, struct sw_choice choice) {
  if (choice.channels > shape->channels) shape->channels = choice.channels;
  shape->nvls = shape->nvls || choice.algo == NCCL_ALGO_NVLS || choice.algo == NCCL_ALGO_NVLS_TREE;
  shape->collnet = shape->collnet || choice.algo == NCCL_ALGO_COLLNET_DIRECT || choice.algo == NCCL_ALGO_COLLNET_CHAIN;
  shape->ll128 = shape->ll128 || choice.proto == NCCL_PROTO_LL128;
}

/* NCCL lets nodes of one GPU have LL128 without NVLink. */
struct standin_shape sim_shape(const struct fabric_simulation* simulation, const struct fabric_place* place) {
  const struct sw_profile* profile = simulation->profile;
  bool several = place->nodes > 1;
  int each = (int)(place->ranks / (place->nodes ? place->nodes : 1));
  struct standin_shape shape = {.version = simulation->nccl_version,
                                .ranks = place->ranks,
                                .nodes = place->nodes,
                                .channels = several ? CHANNELS_SEVERAL_NODES : CHANNELS_ONE_NODE,
                                .ll128 = several && place->ranks == place->nodes,
                                .nvl_domains = {(int)place->nodes, each, each}};
  for (size_t i = 0; i < profile->table_count; i++) {
    const struct sw_table* table = &profile->tables[i];
    struct sw_choice choice = SW_AUTO;
    while ((table->nodes > 1) == several && sim_curve_next(table, &choice)) need(&shape, choice);
  }
  return shape;
}

struct standin_operation sim_operation(const struct fabric_call* call) {
  return (struct standin_operation){
      .collective = call->collective, .bytes = (size_t)call->bytes, .reg_buff = call->mode == FABRIC_GRAPH};
}

static size_t count_curves(const struct sw_table* table) {
  struct sw_choice choice = SW_AUTO;
  size_t count = 1;
  while (table && sim_curve_next(table, &choice)) count++;
  return count;
}

struct sim_truth* sim_truth_open(const struct fabric_simulation* simulation, const struct fabric_place* place) {
  struct sim_truth* truth = calloc(1, sizeof *truth);
  struct standin_shape shape = sim_shape(simulation, place);
  size_t most = 1;
  if (!truth) return NULL;
  truth->simulation = simulation;
  truth->known_collective = -1;
  bool good = standin_communicator_create(&shape, NULL, &truth->communicator) == NCCL_SUCCESS;
  for (int c = 0; good && c < NCCL_NUM_COLLECTIVES; c++) {
    truth->tables[c] = sim_table_for(simulation->profile, c, place->nodes, place->ranks);
    size_t count = count_curves(truth->tables[c]);
    if (count > most) most = count;
  }
  if (good) truth->known = calloc(most, sizeof *truth->known);
  if (truth->known) return truth;
  sim_truth_close(truth);
  return NULL;
}

void sim_truth_close(struct sim_truth* truth) {
  if (!truth) return;
  standin_communicator_destroy(truth->communicator);
  free(truth->known);
  free(truth);
}

/* --- what a choice runs as --------------------------------------------------------------------------------------- */

/* Writes the choice into NCCL's table by the same rule as the plugin. */
static void write_choice(const struct sim_truth* truth, struct sw_choice choice, float* table, int* channels) {
  struct sw_cost_table costs = {table, standin_communicator_rules(truth->communicator)->algorithms, NCCL_NUM_PROTOCOLS,
                                standin_communicator_shape(truth->communicator)->nodes > 1};
  struct sw_ranked ranked = {choice, SW_RULE_RATIO};
  struct sw_decision decision = {&ranked, !sw_choice_is_auto(choice)};
  sw_cost_apply(&costs, decision, channels);
}

bool sim_truth_key(const struct sim_truth* truth, const struct fabric_call* call, struct sw_choice choice,
                   struct sim_key* key) {
  float table[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS];
  struct standin_operation operation = sim_operation(call);
  struct standin_choice picked;
  int channels = 0;
  standin_estimate(truth->communicator, &operation, 1, table);
  write_choice(truth, choice, &table[0][0], &channels);
  operation.table = &table[0][0];
  if (standin_ask(truth->communicator, &operation, &picked) != NCCL_SUCCESS) return false;
  if (picked.algorithm >= 0)
    picked.channels = standin_channels(truth->communicator, &operation, picked.algorithm, picked.protocol, channels);
  *key = (struct sim_key){picked.algorithm, picked.protocol, picked.channels};
  return true;
}

/* --- what it takes ----------------------------------------------------------------------------------------------- */

static bool same_key(struct sim_key a, struct sim_key b) {
  return a.algo == b.algo && a.proto == b.proto && a.channels == b.channels;
}

static void know(struct sim_truth* truth, const struct fabric_call* call, struct sw_choice choice) {
  struct known* next = &truth->known[truth->known_count++];
  next->choice = choice;
  next->runs = sim_truth_key(truth, call, choice, &next->key);
}

/* Kept for the next question: a race asks about many choices for one call. */
static void look_at(struct sim_truth* truth, const struct fabric_call* call) {
  const struct sw_table* table = truth->tables[call->collective];
  struct sw_choice choice = SW_AUTO;
  if (truth->known_collective == call->collective && truth->known_bytes == call->bytes) return;
  truth->known_collective = call->collective;
  truth->known_bytes = call->bytes;
  truth->known_count = 0;
  know(truth, call, choice);
  while (table && sim_curve_next(table, &choice)) know(truth, call, choice);
}

static double choice_us(const struct sim_truth* truth, int collective, struct sw_choice choice, uint64_t bytes) {
  const struct sw_table* table = truth->tables[collective];
  if (table) return sim_curve_us(table, choice, bytes);
  return sim_plain_us(standin_communicator_shape(truth->communicator)->nodes > 1, bytes);
}

/* Not of the size, so that what has no curve gets a smooth one, too. */
static double factor(const struct sim_truth* truth, int collective, struct sim_key key) {
  const uint64_t words[] = {SIM_FOR_FACTOR,     truth->simulation->seed, (uint64_t)collective,
                            (uint64_t)key.algo, (uint64_t)key.proto,     (uint64_t)key.channels};
  return least_factor + (most_factor - least_factor) * sim_uniform(sim_hash(words, sizeof words / sizeof words[0]));
}

double sim_truth_us(struct sim_truth* truth, const struct fabric_call* call, struct sim_key key) {
  double overhead = call->mode == FABRIC_STREAM ? stream_us : 0;
  look_at(truth, call);
  for (size_t i = 0; i < truth->known_count; i++)
    if (truth->known[i].runs && same_key(truth->known[i].key, key))
      return overhead + choice_us(truth, call->collective, truth->known[i].choice, call->bytes);
  double own = choice_us(truth, call->collective, SW_AUTO, call->bytes);
  return overhead + own * factor(truth, call->collective, key);
}

double sim_truth_barrier_us(const struct sim_truth* truth, int collective) {
  return truth->tables[collective] ? choice_us(truth, collective, SW_AUTO, BARRIER_BYTES) : unmeasured_barrier_us;
}

/* --- in one go --------------------------------------------------------------------------------------------------- */

double fabric_simulation_truth(const struct fabric_simulation* simulation, const struct fabric_call* call,
                               const struct fabric_place* place, struct sw_choice choice) {
  struct sim_truth* truth = sim_truth_open(simulation, place);
  struct sim_key key;
  double us = -1;
  bool can_be = call->collective >= 0 && call->collective < NCCL_NUM_COLLECTIVES;
  bool is_known = !sw_choice_same(choice, FABRIC_BY_PROFILE);
  if (truth && can_be && is_known && sim_truth_key(truth, call, choice, &key)) us = sim_truth_us(truth, call, key);
  sim_truth_close(truth);
  return us;
}
