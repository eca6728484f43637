#include "launch/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MAGIC UINT32_C(0x31577a53)

struct header {
  uint32_t magic;
  uint32_t type;
  uint32_t bytes;
};

int64_t wire_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool wire_wait(int fd, short events, int64_t deadline) {
  for (;;) {
    int64_t left = deadline - wire_clock();
    struct pollfd entry = {.fd = fd, .events = events};
    int ready = poll(&entry, 1, left <= 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left);
    if (ready > 0) return true;
    if (ready == 0 && left <= 0) return false;
    if (ready < 0 && errno != EINTR) return true; /* the read or write that follows names the error */
  }
}

/* A machine that lost its power sends no farewell: after some 40 s without a sign of life the kernel closes for it.
   A socketpair knows none of these options, and needs none. */
static void set_options(int fd) {
  static const struct {
    int level, name, value;
  } options[] = {
      {SOL_SOCKET, SO_KEEPALIVE, 1},   {IPPROTO_TCP, TCP_NODELAY, 1}, {IPPROTO_TCP, TCP_KEEPIDLE, 10},
      {IPPROTO_TCP, TCP_KEEPINTVL, 5}, {IPPROTO_TCP, TCP_KEEPCNT, 6}, {IPPROTO_TCP, TCP_USER_TIMEOUT, 40000},
  };
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
    (void)setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof options[i].value);
}

struct wire wire_open(int fd) {
  set_options(fd);
  (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
  int flags = fcntl(fd, F_GETFL);
  bool good = flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
  return (struct wire){.fd = fd, .limit = WIRE_LARGEST, .state = good ? WIRE_OK : WIRE_BROKEN};
}

void wire_close(struct wire* wire) {
  if (wire->fd >= 0) close(wire->fd);
  free(wire->in);
  *wire = WIRE_NONE;
}

/* From here on the wire is of no use. */
static enum wire_result ends(struct wire* wire, enum wire_result state) {
  return wire->state = state;
}

static bool peer_is_gone(void) {
  return errno == EPIPE || errno == ECONNRESET || errno == ETIMEDOUT;
}

/* --- sending */

/* Drops `sent` bytes from the front of the parts. */
static void advance(struct iovec* parts, size_t sent) {
  for (size_t i = 0; i < 2; i++) {
    size_t step = sent < parts[i].iov_len ? sent : parts[i].iov_len;
    parts[i].iov_base = (char*)parts[i].iov_base + step;
    parts[i].iov_len -= step;
    sent -= step;
  }
}

static enum wire_result send_parts(struct wire* wire, struct iovec* parts, int64_t deadline) {
  while (parts[0].iov_len + parts[1].iov_len > 0) {
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t sent = sendmsg(wire->fd, &message, MSG_NOSIGNAL);
    if (sent >= 0) {
      advance(parts, (size_t)sent);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wire_wait(wire->fd, POLLOUT, deadline)) {
        (void)ends(wire, WIRE_BROKEN);
        return WIRE_LATER;
      }
    } else if (errno != EINTR) {
      return ends(wire, peer_is_gone() ? WIRE_CLOSED : WIRE_BROKEN);
    }
  }
  return WIRE_OK;
}

enum wire_result wire_send(struct wire* wire, uint32_t type, const void* data, size_t bytes, int64_t deadline) {
  if (wire->fd < 0) return WIRE_CLOSED;
  if (wire->state != WIRE_OK) return wire->state;
  if (bytes > WIRE_LARGEST) return WIRE_BROKEN;
  struct header header = {MAGIC, type, (uint32_t)bytes};
  char nothing = 0; /* pointer arithmetic on NULL is undefined */
  struct iovec parts[2] = {{&header, sizeof header}, {&nothing, 0}};
  if (bytes > 0) {
    memcpy(&parts[1].iov_base, &data, sizeof data); /* iovec has no const */
    parts[1].iov_len = bytes;
  }
  return send_parts(wire, parts, deadline);
}

/* --- receiving */

static void drop_taken(struct wire* wire) {
  if (wire->taken == 0) return;
  memmove(wire->in, wire->in + wire->taken, wire->have - wire->taken);
  wire->have -= wire->taken;
  wire->taken = 0;
}

/* What stands at the front: WIRE_LATER while it is no whole message. A wrong word is found before all have come. */
static enum wire_result look(struct wire* wire, struct wire_message* out) {
  struct header header = {MAGIC, 0, 0};
  size_t seen = wire->have < sizeof header ? wire->have : sizeof header;
  if (seen > 0) memcpy(&header, wire->in, seen);
  if (seen >= sizeof header.magic && header.magic != MAGIC) return ends(wire, WIRE_BROKEN);
  if (seen < sizeof header) return WIRE_LATER;
  if (header.bytes > wire->limit) return ends(wire, WIRE_BROKEN);
  if (wire->have < sizeof header + header.bytes) return WIRE_LATER;
  wire->taken = sizeof header + header.bytes;
  *out = (struct wire_message){header.type, header.bytes, wire->in + sizeof header};
  return WIRE_OK;
}

/* Grows with what has come, not with what a header claims: a claim costs the peer nothing. */
static bool make_room(struct wire* wire) {
  if (wire->have < wire->room) return true;
  size_t room = wire->room == 0 ? 4096 : wire->room * 2;
  uint8_t* in = realloc(wire->in, room);
  if (!in) return false;
  wire->in = in;
  wire->room = room;
  return true;
}

/* Reads once. */
static enum wire_result fill(struct wire* wire) {
  if (!make_room(wire)) return ends(wire, WIRE_BROKEN);
  ssize_t got;
  do got = recv(wire->fd, wire->in + wire->have, wire->room - wire->have, 0);
  while (got < 0 && errno == EINTR);
  if (got > 0) wire->have += (size_t)got;
  if (got > 0) return WIRE_OK;
  if (got == 0) return ends(wire, WIRE_CLOSED);
  if (errno == EAGAIN || errno == EWOULDBLOCK) return WIRE_LATER;
  return ends(wire, peer_is_gone() ? WIRE_CLOSED : WIRE_BROKEN);
}

enum wire_result wire_take(struct wire* wire, struct wire_message* out) {
  if (wire->fd < 0) return WIRE_CLOSED;
  drop_taken(wire);
  for (;;) {
    enum wire_result result = look(wire, out);
    if (result != WIRE_LATER) return result;
    result = wire->state == WIRE_OK ? fill(wire) : wire->state;
    if (result != WIRE_OK) return result;
  }
}

enum wire_result wire_receive(struct wire* wire, struct wire_message* out, int64_t deadline) {
  for (;;) {
    enum wire_result result = wire_take(wire, out);
    if (result != WIRE_LATER || !wire_wait(wire->fd, POLLIN, deadline)) return result;
  }
}
