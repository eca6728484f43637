/*
 * What the tests of the stand-in share: loading one of the fake tuners that standin.c lists, and a plain communicator.
 */
#ifndef TEST_STANDIN_FAKES_H
#define TEST_STANDIN_FAKES_H

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host/fake_tuner.h"
#include "standin/standin.h"

/* Loads SW_TEST_BUILD/libfake-<fake>.so as NCCL `version` would. */
static inline enum standin_load_status load_fake(int version, const char* fake, struct standin_tuner** tuner) {
  char path[1024];
  snprintf(path, sizeof path, "%s/libfake-%s.so", getenv("SW_TEST_BUILD"), fake);
  return standin_load(version, path, NULL, tuner, NULL);
}

/* The same where it has to succeed; NULL as fake: no tuner. */
static inline struct standin_tuner* must_load(int version, const char* fake) {
  struct standin_tuner* tuner = NULL;
  if (fake) assert_int_equal(load_fake(version, fake, &tuner), STANDIN_LOADED);
  return tuner;
}

/* The fake's counters, for as long as the fake stays loaded. */
static inline struct fake_counts* counts_of(const struct standin_tuner* tuner) {
  struct fake_counts* counts = dlsym(tuner->library, "fake_counts");
  assert_non_null(counts);
  return counts;
}

/* 8 ranks on 2 nodes with 8 channels and NVLS. */
static inline struct standin_shape shape_of(int version) {
  return (struct standin_shape){.version = version,
                                .ranks = 8,
                                .nodes = 2,
                                .comm_id = 0xfeedfacecafe,
                                .channels = 8,
                                .nvls = true,
                                .nvl_domains = {2, 3, 5}};
}

static inline struct standin_communicator* must_create(const struct standin_shape* shape,
                                                       const struct standin_tuner* tuner) {
  struct standin_communicator* communicator = NULL;
  assert_int_equal(standin_communicator_create(shape, tuner, &communicator), NCCL_SUCCESS);
  return communicator;
}

#endif
