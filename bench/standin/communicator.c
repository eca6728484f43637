#include "standin/communicator.h"

#include <stdlib.h>

#include "standin/log.h"

struct standin_communicator {
  struct standin_shape shape;
  struct standin_settings settings;
  struct standin_rules rules;
  const struct standin_tuner* tuner;
  void* context;
  int channels;
  union standin_constants constants; /* in and out: lives as long as the communicator, as NCCL's does */
};

enum { CONSTANTS = sizeof(union standin_constants) / sizeof(double) };

static bool shape_is_possible(const struct standin_shape* shape, const struct standin_tuner* tuner) {
  return shape->nodes >= 1 && shape->ranks >= shape->nodes && shape->channels >= 1 &&
         shape->channels <= NCCL_MAX_CHANNELS && (!tuner || tuner->version == shape->version);
}

/* What can be worked out before the tuner is called. */
static nccl_result prepare(struct standin_communicator* c, const struct standin_shape* shape,
                           const struct standin_tuner* tuner) {
  c->shape = *shape;
  c->tuner = tuner;
  if (!c->shape.logger) c->shape.logger = standin_log;
  if (!shape_is_possible(shape, tuner)) return NCCL_INVALID_ARGUMENT;
  if (!standin_rules_of(shape->version, &c->rules)) return NCCL_INVALID_ARGUMENT;
  struct standin_problem problem = {0};
  if (!standin_settings_parse(&shape->environment, &c->settings, &problem)) {
    c->shape.logger(NCCL_LOG_WARN, NCCL_SUBSYS_INIT | NCCL_SUBSYS_ENV, __FILE__, __LINE__, "%s: %s at byte %zu",
                    problem.variable, problem.what, problem.offset);
    return NCCL_INVALID_USAGE;
  }
  c->shape.environment = (struct standin_environment){0};
  c->channels = standin_settings_bound(&c->settings, shape->channels);
  for (int i = 0; i < CONSTANTS; i++) c->constants.flat[i] = STANDIN_FIRST_CONSTANT + i;
  return NCCL_SUCCESS;
}

static nccl_result init_tuner(struct standin_communicator* c) {
  if (!c->tuner) return NCCL_SUCCESS;
  struct standin_init init = {c->shape.ranks,  c->shape.nodes,        c->shape.comm_id,
                              c->shape.logger, &c->shape.nvl_domains, &c->constants};
  nccl_result result = standin_tuner_init(c->tuner, &init, &c->context);
  if (result != NCCL_SUCCESS) {
    c->shape.logger(NCCL_LOG_WARN, NCCL_SUBSYS_INIT, __FILE__, __LINE__, "tuner %s: init failed with %d",
                    standin_tuner_name(c->tuner), (int)result);
    standin_tuner_finalize(c->tuner, NULL); /* NULL whatever init left, and the result is lost: so NCCL has it */
  }
  return result;
}

nccl_result standin_communicator_create(const struct standin_shape* shape, const struct standin_tuner* tuner,
                                        struct standin_communicator** communicator) {
  struct standin_communicator* c = calloc(1, sizeof *c);
  if (!c) return NCCL_SYSTEM_ERROR;
  nccl_result result = prepare(c, shape, tuner);
  if (result == NCCL_SUCCESS) result = init_tuner(c);
  if (result == NCCL_SUCCESS)
    *communicator = c;
  else
    free(c);
  return result;
}

nccl_result standin_communicator_destroy(struct standin_communicator* communicator) {
  if (!communicator) return NCCL_SUCCESS;
  nccl_result result = NCCL_SUCCESS;
  if (communicator->tuner) result = standin_tuner_finalize(communicator->tuner, communicator->context);
  free(communicator);
  return result;
}

const struct standin_shape* standin_communicator_shape(const struct standin_communicator* communicator) {
  return &communicator->shape;
}

const struct standin_settings* standin_communicator_settings(const struct standin_communicator* communicator) {
  return &communicator->settings;
}

const struct standin_rules* standin_communicator_rules(const struct standin_communicator* communicator) {
  return &communicator->rules;
}

int standin_communicator_channels(const struct standin_communicator* communicator) {
  return communicator->channels;
}

const struct standin_tuner* standin_communicator_tuner(const struct standin_communicator* communicator) {
  return communicator->tuner;
}

void* standin_communicator_context(const struct standin_communicator* communicator) {
  return communicator->context;
}

size_t standin_communicator_constants_changed(const struct standin_communicator* communicator) {
  size_t changed = 0;
  for (int i = 0; i < CONSTANTS; i++)
    if (communicator->constants.flat[i] != STANDIN_FIRST_CONSTANT + i) changed++;
  return changed;
}
