#include "standin/tuner.h"

/* Casts for the six structs: the symbol was looked up under the name that fixes its type. */
#define AS(tuner, abi) ((const nccl_tuner_v##abi*)(tuner)->symbol)

const char* standin_tuner_name(const struct standin_tuner* tuner) {
  return *(const char* const*)tuner->symbol; /* the first member of all six */
}

nccl_result standin_tuner_init(const struct standin_tuner* tuner, const struct standin_init* i, void** context) {
  switch (tuner->abi) {
    case 2:
      return AS(tuner, 2)->init(i->ranks, i->nodes, i->logger, context);
    case 3:
      return AS(tuner, 3)->init(i->ranks, i->nodes, i->logger, context);
    case 4:
      return AS(tuner, 4)->init(i->ranks, i->nodes, i->logger, context);
    case 5:
      return AS(tuner, 5)->init(context, i->comm_id, i->ranks, i->nodes, i->logger, i->nvl_domains, &i->constants->v5);
    case 6:
      return AS(tuner, 6)->init(context, i->comm_id, i->ranks, i->nodes, i->logger, i->nvl_domains, &i->constants->v5);
    case 7:
      return AS(tuner, 7)->init(context, i->comm_id, i->ranks, i->nodes, i->logger, i->nvl_domains, &i->constants->v7);
  }
  return NCCL_INTERNAL_ERROR;
}

/* What the parameter's type calls float** is one flat array; NCCL casts the same way. */
static float** declared_table(const struct standin_question* question) {
  return (float**)(void*)question->table;
}

static nccl_result ask_v2(const nccl_tuner_v2* tuner, void* context, struct standin_question* q) {
  return tuner->getCollInfo(context, q->collective, q->bytes, q->collnet, q->nvls, q->pipe_ops, &q->algorithm,
                            &q->protocol, &q->channels);
}

static nccl_result ask_v3(const nccl_tuner_v3* tuner, void* context, struct standin_question* q) {
  return tuner->getCollInfo(context, q->collective, q->bytes, q->pipe_ops, declared_table(q), q->algorithms,
                            NCCL_NUM_PROTOCOLS, &q->channels);
}

nccl_result standin_tuner_ask(const struct standin_tuner* tuner, void* context, struct standin_question* q) {
  nccl_result (*ask)(void*, nccl_collective, size_t, int, float**, int, int, int, int*) = NULL;
  switch (tuner->abi) {
    case 2:
      return ask_v2(AS(tuner, 2), context, q);
    case 3:
      return ask_v3(AS(tuner, 3), context, q);
    case 4:
      ask = AS(tuner, 4)->getCollInfo;
      break;
    case 5:
      ask = AS(tuner, 5)->getCollInfo;
      break;
    case 6:
      ask = AS(tuner, 6)->getCollInfo;
      break;
    case 7:
      ask = AS(tuner, 7)->getCollInfo;
      break;
    default:
      return NCCL_INTERNAL_ERROR;
  }
  return ask(context, q->collective, q->bytes, q->pipe_ops, declared_table(q), q->algorithms, NCCL_NUM_PROTOCOLS,
             q->reg_buff, &q->channels);
}

nccl_result standin_tuner_finalize(const struct standin_tuner* tuner, void* context) {
  switch (tuner->abi) {
    case 2:
      return AS(tuner, 2)->destroy(context);
    case 3:
      return AS(tuner, 3)->destroy(context);
    case 4:
      return AS(tuner, 4)->destroy(context);
    case 5:
      return AS(tuner, 5)->finalize(context);
    case 6:
      return AS(tuner, 6)->finalize(context);
    case 7:
      return AS(tuner, 7)->finalize(context);
  }
  return NCCL_INTERNAL_ERROR;
}

nccl_get_chunk_size standin_tuner_chunk_size(const struct standin_tuner* tuner) {
  if (tuner->abi == 6) return AS(tuner, 6)->getChunkSize;
  if (tuner->abi == 7) return AS(tuner, 7)->getChunkSize;
  return NULL;
}
