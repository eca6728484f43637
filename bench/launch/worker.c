#include "launch/worker.h"

#include <string.h>

#include "launch/protocol.h"

/* A driver that takes no answer for this long is gone in all but name. */
enum { PATIENCE_ANSWER = 120000 };

bool worker_next(struct wire* to_driver, struct wire_message* out) {
  enum wire_result result;
  do result = wire_receive(to_driver, out, INT64_MAX);
  while (result == WIRE_LATER);
  return result == WIRE_OK && out->type < WIRE_FIRST_RESERVED;
}

static bool answer(struct wire* to_driver, uint32_t type, const void* data, size_t bytes) {
  return wire_send(to_driver, type, data, bytes, wire_clock() + PATIENCE_ANSWER) == WIRE_OK;
}

bool worker_reply(struct wire* to_driver, const void* data, size_t bytes) {
  return answer(to_driver, MESSAGE_ANSWER, data, bytes);
}

bool worker_fail(struct wire* to_driver, const char* text) {
  return answer(to_driver, MESSAGE_ERROR, text, strlen(text));
}
