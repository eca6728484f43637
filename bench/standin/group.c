#include "standin/group.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A group on its way through: which operation leads each one's question. */
struct group {
  const struct standin_operation* operations;
  size_t count;
  size_t* leader; /* [count]: index of the largest operation of the same question, or untaken */
};

static const size_t untaken = (size_t)-1;

static bool same_kind(const struct standin_operation* a, const struct standin_operation* b) {
  return a->collective == b->collective && a->fp8 == b->fp8 && a->symmetric == b->symmetric;
}

static bool within_ratio(size_t large, size_t small) {
  return small >= large / STANDIN_MERGE_RATIO + (large % STANDIN_MERGE_RATIO != 0);
}

/* The largest operation that no question covers yet; of equals the first; untaken at the end. */
static size_t largest_left(const struct group* group) {
  size_t best = untaken;
  for (size_t i = 0; i < group->count; i++) {
    if (group->leader[i] != untaken) continue;
    if (best == untaken || group->operations[i].bytes > group->operations[best].bytes) best = i;
  }
  return best;
}

/* Gathers everything that fits the leading operation, and returns the one question for all of it. */
static struct standin_operation merge(struct group* group, size_t lead, size_t* merged) {
  struct standin_operation question = group->operations[lead];
  group->leader[lead] = lead;
  *merged = 1;
  for (size_t i = 0; i < group->count; i++) {
    const struct standin_operation* other = &group->operations[i];
    if (group->leader[i] != untaken || !same_kind(&group->operations[lead], other)) continue;
    if (!within_ratio(group->operations[lead].bytes, other->bytes)) continue;
    group->leader[i] = lead;
    question.bytes = question.bytes > SIZE_MAX - other->bytes ? SIZE_MAX : question.bytes + other->bytes;
    question.reg_buff = question.reg_buff && other->reg_buff;
    (*merged)++;
  }
  return question;
}

static int merged_pipe_ops(const struct standin_communicator* communicator, size_t merged) {
  if (merged == 1) return 1;
  size_t each = merged / (size_t)standin_communicator_channels(communicator);
  if (each > 1 << 20) each = 1 << 20;
  return each < 2 ? 2 : (int)each;
}

static nccl_result ask_all(const struct standin_communicator* communicator, struct group* group,
                           struct standin_choice* choices, size_t* questions) {
  for (size_t lead = largest_left(group); lead != untaken; lead = largest_left(group)) {
    size_t merged;
    struct standin_operation question = merge(group, lead, &merged);
    if (!question.pipe_ops) question.pipe_ops = merged_pipe_ops(communicator, merged);
    nccl_result result = standin_ask(communicator, &question, &choices[lead]);
    if (result != NCCL_SUCCESS) return result;
    choices[lead].merged = merged;
    (*questions)++;
  }
  for (size_t i = 0; i < group->count; i++) choices[i] = choices[group->leader[i]];
  return NCCL_SUCCESS;
}

nccl_result standin_ask_group(const struct standin_communicator* communicator,
                              const struct standin_operation* operations, size_t count, struct standin_choice* choices,
                              size_t* questions) {
  if (!count) {
    if (questions) *questions = 0;
    return NCCL_SUCCESS;
  }
  struct group group = {operations, count, malloc(count * sizeof(size_t))};
  struct standin_choice* made = calloc(count, sizeof *made);
  size_t asked = 0;
  nccl_result result = NCCL_SYSTEM_ERROR;
  if (group.leader && made) {
    for (size_t i = 0; i < count; i++) group.leader[i] = untaken;
    result = ask_all(communicator, &group, made, &asked);
  }
  if (result == NCCL_SUCCESS) {
    memcpy(choices, made, count * sizeof *made);
    if (questions) *questions = asked;
  }
  free(made);
  free(group.leader);
  return result;
}
