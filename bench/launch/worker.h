/* A worker's side of the conversation: a request comes, one answer goes. */
#ifndef SW_WORKER_H
#define SW_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launch/wire.h"

/*
 * Waits for the next request; data in `out` is valid until the next call. false: no more will come, return.
 */
bool worker_next(struct wire* to_driver, struct wire_message* out);

/* Answers it. false: the driver is gone, return. */
bool worker_reply(struct wire* to_driver, const void* data, size_t bytes);

/* Answers that it failed, in one line for people: the driver starts all workers anew then. Wait for the next request
   (none comes) or return, whatever is easier. */
bool worker_fail(struct wire* to_driver, const char* text);

#endif
