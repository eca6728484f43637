#include "launch/reach.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launch/address.h"

static int64_t sooner(int64_t a, int64_t b) {
  return a < b ? a : b;
}

bool reach_greet(struct wire* wire, const struct job* job, uint32_t rank, enum role role, uint32_t attempt) {
  struct hello hello = {.version = PROTOCOL_VERSION,
                        .role = role,
                        .key = job->key,
                        .rank = rank,
                        .ranks = job->ranks,
                        .attempt = attempt,
                        .pid = (uint32_t)getpid()};
  (void)gethostname(hello.host, sizeof hello.host - 1);
  return wire_send(wire, MESSAGE_HELLO, &hello, sizeof hello, wire_clock() + PATIENCE_SEND) == WIRE_OK;
}

enum answer { WELCOME, REFUSED, NO_ANSWER };

/* Reads what the driver says to a hello. */
static enum answer read_answer(struct wire* wire, int64_t deadline, char* fault, size_t fault_size) {
  struct wire_message message;
  enum wire_result result = wire_receive(wire, &message, deadline);
  if (result == WIRE_OK && message.type == MESSAGE_WELCOME) return WELCOME;
  if (result == WIRE_OK && message.type == MESSAGE_REFUSED) {
    snprintf(fault, fault_size, "the driver turned this rank away: %.*s", (int)message.bytes,
             (const char*)message.data);
    return REFUSED;
  }
  const char* what = result == WIRE_LATER    ? "does not answer"
                     : result == WIRE_CLOSED ? "closes the connection: it belongs to another job, or to none"
                                             : "is not sizewise";
  snprintf(fault, fault_size, "what listens there %s", what);
  return NO_ANSWER;
}

static enum answer try_once(const struct job* job, uint32_t rank, int64_t deadline, struct wire* out, char* fault,
                            size_t fault_size) {
  int64_t soon = sooner(deadline, wire_clock() + PATIENCE_HELLO);
  int fd = address_connect(job->master, job->port, soon, fault, fault_size);
  if (fd < 0) return NO_ANSWER;
  struct wire wire = wire_open(fd);
  enum answer answer = NO_ANSWER;
  snprintf(fault, fault_size, "what listens there closes the connection");
  if (reach_greet(&wire, job, rank, ROLE_SUPERVISOR, 0)) answer = read_answer(&wire, soon, fault, fault_size);
  if (answer == WELCOME)
    *out = wire;
  else
    wire_close(&wire);
  return answer;
}

bool reach_driver(const struct job* job, uint32_t rank, struct wire* out, char* fault, size_t fault_size) {
  int64_t deadline = wire_clock() + job->wait_ms;
  char last[256] = "";
  for (;;) {
    enum answer answer = try_once(job, rank, deadline, out, last, sizeof last);
    if (answer == WELCOME) return true;
    if (answer == REFUSED) break;
    int64_t next = wire_clock() + PATIENCE_RETRY;
    if (next >= deadline) break;
    while (wire_clock() < next) (void)poll(NULL, 0, (int)(next - wire_clock()) + 1);
  }
  snprintf(fault, fault_size, "rank %u does not reach rank 0 at %s port %u: %s", rank, job->master, job->port, last);
  return false;
}

bool reach_for_worker(const struct job* job, struct wire* out, char* fault, size_t fault_size) {
  int fd = address_connect(job->master, job->port, wire_clock() + PATIENCE_HELLO, fault, fault_size);
  if (fd < 0) return false;
  *out = wire_open(fd);
  return true;
}
