/*
 * One communicator of the stand-in: its shape, the user's settings, and the tuner's context.
 */
#ifndef STANDIN_COMMUNICATOR_H
#define STANDIN_COMMUNICATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "standin/settings.h"
#include "standin/tuner.h"
#include "standin/version.h"

struct standin_communicator;

struct standin_shape {
  int version; /* NCCL's code; the same as the tuner was loaded for */
  size_t ranks;
  size_t nodes;
  uint64_t comm_id;
  int channels;      /* 1 to 64, before the user's limits */
  bool collnet;      /* CollNet is supported */
  bool nvls;         /* NVLink SHARP is supported */
  bool ll128;        /* every path allows LL128; NCCL_PROTO naming LL128 allows it anyway */
  bool symmetric;    /* symmetric kernels are supported */
  bool joint_search; /* NCCL_ENQUEUE_REARCH_ENABLE=1; only from 2.31 */
  nccl_nvl_domain_info nvl_domains;
  nccl_logger logger; /* NULL: standin_log */
  struct standin_environment environment;
};

/*
 * Checks the shape, reads the settings and calls the tuner's init (also for one rank). NULL as tuner: none was loaded.
 * Errors: NCCL_INVALID_ARGUMENT for an impossible shape; NCCL_INVALID_USAGE, and a WARN through the logger, for
 * settings that cannot be read; what the tuner's init returned, after its finalize was called with a NULL context, as
 * NCCL does; NCCL_SYSTEM_ERROR without memory. Written only on success.
 */
nccl_result standin_communicator_create(const struct standin_shape* shape, const struct standin_tuner* tuner,
                                        struct standin_communicator** communicator);

/* Calls the tuner's finalize and forwards its result. The communicator is gone either way. NULL is fine. */
nccl_result standin_communicator_destroy(struct standin_communicator* communicator);

/* As given, but without the environment's borrowed strings. */
const struct standin_shape* standin_communicator_shape(const struct standin_communicator* communicator);
const struct standin_settings* standin_communicator_settings(const struct standin_communicator* communicator);
const struct standin_rules* standin_communicator_rules(const struct standin_communicator* communicator);

/* The channel count within the user's limits: NCCL's own number, and the bound for Ring and Tree. */
int standin_communicator_channels(const struct standin_communicator* communicator);

/* NULL where no tuner is loaded. */
const struct standin_tuner* standin_communicator_tuner(const struct standin_communicator* communicator);

/* What the tuner's init left as its context. */
void* standin_communicator_context(const struct standin_communicator* communicator);

/*
 * How many doubles of the constants block no longer hold what they held before init. Double i starts as
 * STANDIN_FIRST_CONSTANT + i. The block always has v7's size, so that writing past v5's end is seen as well.
 */
enum { STANDIN_FIRST_CONSTANT = 1000 };
size_t standin_communicator_constants_changed(const struct standin_communicator* communicator);

#endif
