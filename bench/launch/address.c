#include "launch/address.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launch/wire.h"

union any_address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

/* All at once may knock: more than any job has ranks on one port. */
enum { BACKLOG = 1024 };

static int open_socket(int family, int type) {
  return socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int listen_at(const union any_address* address, socklen_t length) {
  int fd = open_socket(address->any.sa_family, SOCK_STREAM);
  if (fd < 0) return -1;
  int on = 1, off = 0;
  /* a port that the run before has just left is free; one that somebody listens on is not */
  (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address->any.sa_family == AF_INET6) (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (bind(fd, &address->any, length) == 0 && listen(fd, BACKLOG) == 0) return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

static uint16_t port_of(int fd) {
  union any_address address = {0};
  socklen_t length = sizeof address;
  if (getsockname(fd, &address.any, &length) != 0) return 0;
  return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

int address_listen(bool loopback, uint16_t* port, char* fault, size_t fault_size) {
  union any_address v6 = {.v6 = {.sin6_family = AF_INET6, .sin6_port = htons(*port), .sin6_addr = in6addr_any}};
  union any_address v4 = {.v4 = {.sin_family = AF_INET, .sin_port = htons(*port)}};
  v4.v4.sin_addr.s_addr = htonl(loopback ? INADDR_LOOPBACK : INADDR_ANY);
  int fd = loopback ? -1 : listen_at(&v6, sizeof v6.v6);
  /* without IPv6 in this kernel or container */
  if (fd < 0 && (loopback || errno != EADDRINUSE)) fd = listen_at(&v4, sizeof v4.v4);
  if (fd < 0) {
    snprintf(fault, fault_size, "cannot listen on port %u: %s; --master HOST:PORT names another", *port,
             strerror(errno));
    return -1;
  }
  *port = port_of(fd);
  return fd;
}

/* The error of an attempt: 0 when it is connected. */
static int connect_to(int fd, const struct addrinfo* address, int64_t deadline) {
  if (connect(fd, address->ai_addr, address->ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  if (!wire_wait(fd, POLLOUT, deadline)) return ETIMEDOUT;
  int error = 0;
  socklen_t length = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

static int connect_first(const struct addrinfo* addresses, int64_t deadline, int* error) {
  for (const struct addrinfo* address = addresses; address; address = address->ai_next) {
    int fd = open_socket(address->ai_family, address->ai_socktype);
    *error = fd < 0 ? errno : connect_to(fd, address, deadline);
    if (*error == 0) return fd;
    if (fd >= 0) close(fd);
  }
  return -1;
}

int address_connect(const char* host, uint16_t port, int64_t deadline, char* fault, size_t fault_size) {
  char service[8];
  snprintf(service, sizeof service, "%u", port);
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *addresses = NULL;
  int failure = getaddrinfo(host, service, &hints, &addresses);
  if (failure != 0) {
    snprintf(fault, fault_size, "cannot find the address of '%s': %s", host, gai_strerror(failure));
    return -1;
  }
  int error = 0;
  int fd = connect_first(addresses, deadline, &error);
  freeaddrinfo(addresses);
  if (fd < 0) snprintf(fault, fault_size, "cannot connect to %s port %u: %s", host, port, strerror(error));
  return fd;
}
