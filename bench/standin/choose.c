#include "standin/choose.h"

#include <string.h>

#include "standin/channels.h"
#include "standin/estimate.h"

enum { PROTOCOLS = NCCL_NUM_PROTOCOLS, ENTRIES = NCCL_NUM_ALGORITHMS * NCCL_NUM_PROTOCOLS, NONE = -1 };

/* What a row past the table's end holds; a tuner that writes there is caught. */
static const float guard = -77.0f;

/* The table's first entry, for going through it as one flat array. */
static float* flat(float table[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS]) {
  return (float*)(void*)table;
}

static float cost_before(const struct standin_choice* choice, int entry) {
  return choice->before[entry / PROTOCOLS][entry % PROTOCOLS];
}

static float cost_after(const struct standin_choice* choice, int entry) {
  return choice->after[entry / PROTOCOLS][entry % PROTOCOLS];
}

static void fill(float* entries, int from, int to, float value) {
  for (int i = from; i < to; i++) entries[i] = value;
}

static void fill_before(const struct standin_communicator* c, const struct standin_operation* operation, int pipe_ops,
                        struct standin_choice* choice) {
  if (!operation->table) {
    standin_estimate(c, operation, pipe_ops > 1 ? pipe_ops : 1, choice->before);
    return;
  }
  int given = standin_communicator_rules(c)->algorithms * PROTOCOLS;
  memcpy(choice->before, operation->table, (size_t)given * sizeof(float));
  fill(flat(choice->before), given, ENTRIES, STANDIN_UNUSABLE);
}

/* v2 names an entry instead of writing costs. 2.21 takes it at its word; later versions, which think in tables, make a
 * usable one the cheapest. Only a complete answer counts. *named: the entry that 2.21 then runs. */
static nccl_result take_v2_answer(const struct standin_rules* rules, const struct standin_question* question,
                                  struct standin_choice* choice, int* named) {
  if (question->algorithm == NONE || question->protocol == NONE) return NCCL_SUCCESS;
  if (question->algorithm < 0 || question->algorithm >= rules->algorithms) return NCCL_INTERNAL_ERROR;
  if (question->protocol < 0 || question->protocol >= PROTOCOLS) return NCCL_INTERNAL_ERROR;
  float* cost = &choice->after[question->algorithm][question->protocol];
  if (rules->newest_abi == 2)
    *named = question->algorithm * PROTOCOLS + question->protocol;
  else if (*cost >= 0)
    *cost = 0;
  return NCCL_SUCCESS;
}

static void note_answer(struct standin_choice* choice, const struct standin_question* question, int named) {
  choice->asked = true;
  choice->tuner_channels = question->channels;
  bool wrote = memcmp(choice->before, choice->after, sizeof choice->after) != 0;
  if (wrote || question->channels != 0 || named != NONE) choice->decider = STANDIN_BY_TUNER;
}

/* Everything as it comes in: nothing named yet, and 0 channels. */
static struct standin_question question_for(const struct standin_communicator* c,
                                            const struct standin_operation* operation, int pipe_ops, float* table) {
  const struct standin_shape* shape = standin_communicator_shape(c);
  return (struct standin_question){
      .collective = operation->collective,
      .bytes = operation->bytes,
      .collnet = shape->collnet,
      .nvls = shape->nvls,
      .pipe_ops = pipe_ops,
      .reg_buff = operation->reg_buff,
      .algorithms = standin_communicator_rules(c)->algorithms,
      .table = table,
      .algorithm = NONE,
      .protocol = NONE,
  };
}

/* Puts choice->before to the tuner, choice->after is what comes back. */
static nccl_result put_question(const struct standin_communicator* c, const struct standin_operation* operation,
                                struct standin_choice* choice, int* named) {
  const struct standin_rules* rules = standin_communicator_rules(c);
  float table[ENTRIES + PROTOCOLS], untouched[ENTRIES + PROTOCOLS];
  int shown = rules->algorithms * PROTOCOLS;
  fill(untouched, 0, ENTRIES + PROTOCOLS, guard);
  memcpy(table, untouched, sizeof table);
  memcpy(table, choice->before, (size_t)shown * sizeof(float));
  struct standin_question question = question_for(c, operation, choice->pipe_ops, table);
  nccl_result result = standin_tuner_ask(standin_communicator_tuner(c), standin_communicator_context(c), &question);
  if (result != NCCL_SUCCESS) return result;
  memcpy(choice->after, table, (size_t)shown * sizeof(float));
  choice->wrote_outside = memcmp(table + shown, untouched + shown, sizeof table - (size_t)shown * sizeof(float)) != 0;
  result = take_v2_answer(rules, &question, choice, named);
  note_answer(choice, &question, *named);
  return result;
}

/* The winning entry or NONE. The joint search goes through the entries that were usable before the tuner, and then
 * takes whatever number it finds there, a negative one too. */
static int pick(const struct standin_rules* rules, bool joint, const struct standin_choice* choice) {
  int best = NONE;
  for (int i = 0; i < rules->algorithms * PROTOCOLS; i++) {
    float usable = joint ? cost_before(choice, i) : cost_after(choice, i);
    if (!(usable >= 0)) continue; /* so written, it skips NaN too */
    float cost = cost_after(choice, i), least = best == NONE ? 0 : cost_after(choice, best);
    if (best == NONE || cost < least || (cost == least && rules->last_tie_wins)) best = i;
  }
  return best;
}

static void settle_symmetric(struct standin_choice* choice, float estimate_us) {
  choice->decider = STANDIN_BY_SYMMETRY;
  choice->estimate_us = estimate_us;
}

static void settle_entry(const struct standin_communicator* c, const struct standin_operation* operation, int entry,
                         struct standin_choice* choice) {
  choice->algorithm = entry / PROTOCOLS;
  choice->protocol = entry % PROTOCOLS;
  choice->estimate_us = cost_after(choice, entry);
  choice->picked_unusable = !(cost_before(choice, entry) >= 0);
  choice->channels = standin_channels(c, operation, choice->algorithm, choice->protocol, choice->tuner_channels);
}

static float symmetric_us(const struct standin_communicator* c, const struct standin_operation* operation) {
  return operation->symmetric_us > 0 ? operation->symmetric_us : standin_estimate_symmetric(c, operation);
}

/* A symmetric kernel is certain: the question, if there is one, is a formality. */
static nccl_result ask_symmetric(const struct standin_communicator* c, const struct standin_operation* operation,
                                 struct standin_choice* choice) {
  nccl_result result = NCCL_SUCCESS;
  int named = NONE;
  choice->pipe_ops = 0;
  fill(flat(choice->before), 0, ENTRIES, STANDIN_UNUSABLE);
  memcpy(choice->after, choice->before, sizeof choice->after);
  if (standin_communicator_rules(c)->asks_symmetric && standin_communicator_tuner(c))
    result = put_question(c, operation, choice, &named);
  settle_symmetric(choice, symmetric_us(c, operation));
  return result;
}

static nccl_result ask_ordinary(const struct standin_communicator* c, const struct standin_operation* operation,
                                bool joint, bool symmetric, struct standin_choice* choice) {
  int named = NONE;
  choice->pipe_ops = operation->pipe_ops ? operation->pipe_ops : 1;
  fill_before(c, operation, choice->pipe_ops, choice);
  memcpy(choice->after, choice->before, sizeof choice->after);
  if (standin_communicator_tuner(c)) {
    nccl_result result = put_question(c, operation, choice, &named);
    if (result != NCCL_SUCCESS) return result;
  }
  int entry = named != NONE ? named : pick(standin_communicator_rules(c), joint, choice);
  if (symmetric && (entry == NONE || symmetric_us(c, operation) < cost_after(choice, entry)))
    settle_symmetric(choice, symmetric_us(c, operation));
  else if (entry == NONE)
    return NCCL_INVALID_USAGE;
  else
    settle_entry(c, operation, entry, choice);
  return NCCL_SUCCESS;
}

nccl_result standin_ask(const struct standin_communicator* communicator, const struct standin_operation* operation,
                        struct standin_choice* choice) {
  if (operation->collective < 0 || operation->collective >= NCCL_NUM_COLLECTIVES) return NCCL_INVALID_ARGUMENT;
  const struct standin_shape* shape = standin_communicator_shape(communicator);
  bool joint = shape->joint_search && standin_communicator_rules(communicator)->has_joint_search;
  bool symmetric = operation->symmetric && shape->symmetric;
  struct standin_choice made = {.algorithm = NONE, .protocol = NONE, .merged = 1};
  nccl_result result = NCCL_SUCCESS;
  if (shape->ranks == 1) { /* a copy on the spot: the table stays empty and nobody is asked */
    fill(flat(made.before), 0, ENTRIES, STANDIN_UNUSABLE);
    memcpy(made.after, made.before, sizeof made.after);
  } else if (symmetric && !joint) {
    result = ask_symmetric(communicator, operation, &made);
  } else {
    result = ask_ordinary(communicator, operation, joint, symmetric, &made);
  }
  if (result == NCCL_SUCCESS) *choice = made;
  return result;
}
