/*
 * Framed messages over one connected stream socket: TCP between machines, or a socketpair.
 *
 *     | magic | type | bytes | payload ... |      three 32-bit words of the host, then `bytes` bytes
 *
 * Driver and ranks run the same program on processors of the same byte order; what is no such program is found out by
 * its first word. No function waits without a deadline, and none raises SIGPIPE.
 */
#ifndef SW_WIRE_H
#define SW_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIRE_LARGEST = 16 << 20 }; /* bytes of payload */

/* Types from here on are launch's own (protocol.h). */
#define WIRE_FIRST_RESERVED UINT32_C(0xffff0000)

enum wire_result {
  WIRE_OK,
  WIRE_LATER,  /* not all of it by the deadline; what came is kept, what was half sent breaks the wire */
  WIRE_CLOSED, /* the other side is gone */
  WIRE_BROKEN  /* garbage, a message that is too long, no memory, an error of the socket */
};

struct wire {
  int fd;                 /* -1: none */
  uint8_t* in;            /* what has come, from the header of the message that is awaited */
  size_t have;            /* bytes of it */
  size_t room;            /* bytes allocated */
  size_t taken;           /* bytes of the message handed out last, dropped by the next receive */
  uint32_t limit;         /* longest payload that is accepted */
  enum wire_result state; /* WIRE_OK, or how it ended; whole messages that had come are still handed out */
};

struct wire_message {
  uint32_t type;
  uint32_t bytes;
  const uint8_t* data; /* valid until the next receive or close */
};

#define WIRE_NONE ((struct wire){.fd = -1})

/* Milliseconds on a clock that only goes forward: what deadlines are given in. */
int64_t wire_clock(void);

/* Waits until the descriptor has one of `events` (as poll has them) or the deadline has passed; false: it passed. */
bool wire_wait(int fd, short events, int64_t deadline);

/* Takes over a connected socket: it no longer blocks, is closed on exec, sends at once and notices a dead peer. */
struct wire wire_open(int fd);
void wire_close(struct wire* wire);

/* Sends one message; the deadline holds for all of it. */
enum wire_result wire_send(struct wire* wire, uint32_t type, const void* data, size_t bytes, int64_t deadline);

/* Takes what has come, without waiting. WIRE_OK: one whole message. Call again: there may be more. */
enum wire_result wire_take(struct wire* wire, struct wire_message* out);

/* Waits for one message. */
enum wire_result wire_receive(struct wire* wire, struct wire_message* out, int64_t deadline);

#endif
