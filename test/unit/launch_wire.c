/* bench/launch/wire and address: messages whole, in pieces, wrong, too long, too late; peers that go away. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/address.h"
#include "launch/wire.h"
#include "launch/words.h"

enum { SOON = 50, LONG = 20000 };

static int64_t in_ms(int ms) {
  return wire_clock() + ms;
}

struct pair {
  struct wire wire;
  int other; /* raw */
};

static struct pair make_pair(void) {
  int ends[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  return (struct pair){wire_open(ends[0]), ends[1]};
}

static void end_pair(struct pair* pair) {
  wire_close(&pair->wire);
  if (pair->other >= 0) close(pair->other);
}

/* The bytes that a message of `bytes` times 'x' is on the wire. */
static size_t bytes_of(uint32_t type, size_t bytes, char* out, size_t room) {
  struct pair pair = make_pair();
  char* payload = malloc(bytes + 1);
  memset(payload, 'x', bytes);
  assert_int_equal(wire_send(&pair.wire, type, payload, bytes, in_ms(LONG)), WIRE_OK);
  ssize_t got = recv(pair.other, out, room, 0);
  assert_true(got > 0);
  free(payload);
  end_pair(&pair);
  return (size_t)got;
}

static void pieces(void** state) {
  (void)state;
  char raw[256];
  size_t length = bytes_of(7, 20, raw, sizeof raw);
  assert_int_equal(length, 32);
  struct pair pair = make_pair();
  struct wire_message message;
  for (size_t i = 0; i < length; i++) {
    assert_int_equal(wire_take(&pair.wire, &message), WIRE_LATER);
    assert_int_equal(write(pair.other, raw + i, 1), 1);
  }
  assert_int_equal(wire_take(&pair.wire, &message), WIRE_OK);
  assert_int_equal(message.type, 7);
  assert_int_equal(message.bytes, 20);
  assert_memory_equal(message.data, raw + 12, 20);
  assert_int_equal(wire_take(&pair.wire, &message), WIRE_LATER);
  end_pair(&pair);
}

static void several_at_once(void** state) {
  (void)state;
  char raw[512];
  size_t first = bytes_of(1, 0, raw, sizeof raw);
  size_t second = bytes_of(2, 100, raw + first, sizeof raw - first);
  size_t third = bytes_of(3, 5, raw + first + second, sizeof raw - first - second);
  struct pair pair = make_pair();
  struct wire_message message;
  assert_int_equal(write(pair.other, raw, first + second + third), first + second + third);
  close(pair.other); /* what had come whole is still handed out */
  pair.other = -1;
  for (uint32_t type = 1; type <= 3; type++) {
    assert_int_equal(wire_receive(&pair.wire, &message, in_ms(LONG)), WIRE_OK);
    assert_int_equal(message.type, type);
    assert_int_equal(message.bytes, type == 1 ? 0 : type == 2 ? 100 : 5);
  }
  assert_int_equal(wire_receive(&pair.wire, &message, in_ms(LONG)), WIRE_CLOSED);
  assert_int_equal(wire_take(&pair.wire, &message), WIRE_CLOSED);
  end_pair(&pair);
}

/* A child sends, in as many small writes as the socket makes of it. */
static void large(void** state) {
  (void)state;
  struct pair pair = make_pair();
  int small = 4096;
  setsockopt(pair.other, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  pid_t child = fork();
  if (child == 0) {
    struct wire wire = wire_open(pair.other);
    uint32_t* data = malloc(WIRE_LARGEST);
    for (uint32_t i = 0; i < WIRE_LARGEST / 4; i++) data[i] = i * 2654435761U;
    bool good = wire_send(&wire, 9, data, WIRE_LARGEST, in_ms(LONG)) == WIRE_OK &&
                wire_send(&wire, 10, data, WIRE_LARGEST + 1, in_ms(LONG)) == WIRE_BROKEN;
    _exit(!good);
  }
  struct wire_message message;
  assert_int_equal(wire_receive(&pair.wire, &message, in_ms(LONG)), WIRE_OK);
  assert_int_equal(message.bytes, WIRE_LARGEST);
  for (uint32_t i = 0; i < WIRE_LARGEST / 4; i++) {
    uint32_t word;
    memcpy(&word, message.data + 4 * (size_t)i, 4);
    if (word != i * 2654435761U) fail_msg("word %u", i);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  end_pair(&pair);
}

static void put(char* raw, size_t at, uint32_t word) {
  memcpy(raw + at, &word, sizeof word);
}

static void assert_broken(const char* raw, size_t length, uint32_t limit) {
  struct pair pair = make_pair();
  struct wire_message message;
  pair.wire.limit = limit;
  assert_int_equal(write(pair.other, raw, length), length);
  assert_int_equal(wire_receive(&pair.wire, &message, in_ms(LONG)), WIRE_BROKEN);
  assert_int_equal(wire_take(&pair.wire, &message), WIRE_BROKEN);
  assert_int_equal(wire_send(&pair.wire, 1, NULL, 0, in_ms(LONG)), WIRE_BROKEN);
  assert_true(pair.wire.room <= 4096);
  end_pair(&pair);
}

static void garbage(void** state) {
  (void)state;
  char raw[64];
  assert_broken("GET / HTTP/1.1\r\n", 16, WIRE_LARGEST);
  assert_broken("SSH-", 4, WIRE_LARGEST); /* found before there is a whole header */
  bytes_of(1, 8, raw, sizeof raw);
  put(raw, 8, WIRE_LARGEST + 1);
  assert_broken(raw, 12, WIRE_LARGEST);
  put(raw, 8, UINT32_MAX);
  assert_broken(raw, 12, WIRE_LARGEST);
  put(raw, 8, 8);
  assert_broken(raw, 20, 7);
}

static void lengths_that_are_claimed(void** state) {
  (void)state;
  char raw[64];
  bytes_of(1, 8, raw, sizeof raw);
  put(raw, 8, WIRE_LARGEST);
  struct pair pair = make_pair();
  struct wire_message message;
  assert_int_equal(write(pair.other, raw, 20), 20);
  assert_int_equal(wire_receive(&pair.wire, &message, in_ms(SOON)), WIRE_LATER);
  assert_true(pair.wire.room <= 4096); /* 16 MiB that only a header speaks of are not allocated */
  close(pair.other);
  pair.other = -1;
  assert_int_equal(wire_receive(&pair.wire, &message, in_ms(LONG)), WIRE_CLOSED);
  end_pair(&pair);
}

static void deadlines(void** state) {
  (void)state;
  struct pair pair = make_pair();
  struct wire_message message;
  int64_t before = wire_clock();
  assert_int_equal(wire_receive(&pair.wire, &message, in_ms(SOON)), WIRE_LATER);
  assert_in_range(wire_clock() - before, SOON - 1, LONG / 4);
  char* much = calloc(1, WIRE_LARGEST);
  before = wire_clock();
  assert_int_equal(wire_send(&pair.wire, 1, much, WIRE_LARGEST, in_ms(SOON)), WIRE_LATER);
  assert_in_range(wire_clock() - before, SOON - 1, LONG / 4);
  assert_int_equal(wire_send(&pair.wire, 1, NULL, 0, in_ms(SOON)), WIRE_BROKEN); /* it stands in the middle */
  free(much);
  end_pair(&pair);
}

static void closed_peers(void** state) {
  (void)state;
  struct pair pair = make_pair();
  close(pair.other);
  pair.other = -1;
  signal(SIGPIPE, SIG_DFL); /* would end the test */
  assert_int_equal(wire_send(&pair.wire, 1, "x", 1, in_ms(LONG)), WIRE_CLOSED);
  end_pair(&pair);
  struct wire none = WIRE_NONE;
  struct wire_message message;
  assert_int_equal(wire_send(&none, 1, NULL, 0, in_ms(LONG)), WIRE_CLOSED);
  assert_int_equal(wire_take(&none, &message), WIRE_CLOSED);
  wire_close(&none);
}

static volatile sig_atomic_t alarms;
static void on_alarm(int number) {
  (void)number;
  alarms++;
}

/* Signals that interrupt every call: nothing is lost, and the deadline stays where it was. */
static void interrupted_calls(void** state) {
  (void)state;
  struct sigaction action = {.sa_handler = on_alarm};
  sigaction(SIGALRM, &action, NULL);
  struct pair pair = make_pair();
  struct wire_message message;
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    for (int i = 0; i < 20; i++) {
      kill(parent, SIGALRM);
      poll(NULL, 0, 10);
    }
    struct wire wire = wire_open(pair.other);
    _exit(wire_send(&wire, 5, "hello", 5, in_ms(LONG)) != WIRE_OK);
  }
  int64_t before = wire_clock();
  assert_int_equal(wire_receive(&pair.wire, &message, in_ms(SOON)), WIRE_LATER);
  assert_in_range(wire_clock() - before, SOON - 1, LONG / 4);
  assert_int_equal(wire_receive(&pair.wire, &message, in_ms(LONG)), WIRE_OK);
  assert_memory_equal(message.data, "hello", 5);
  assert_true(alarms > 3);
  waitpid(child, NULL, 0);
  end_pair(&pair);
}

static int option(int fd, int level, int name) {
  int value = 0;
  socklen_t length = sizeof value;
  assert_int_equal(getsockopt(fd, level, name, &value, &length), 0);
  return value;
}

static void over_tcp(void** state) {
  (void)state;
  char fault[256];
  uint16_t port = 0;
  int listener = address_listen(true, &port, fault, sizeof fault);
  assert_true(listener >= 0);
  assert_true(port > 0);
  assert_true(fcntl(listener, F_GETFD) & FD_CLOEXEC);
  uint16_t again = port;
  assert_int_equal(address_listen(true, &again, fault, sizeof fault), -1);
  assert_non_null(strstr(fault, "cannot listen on port"));
  struct wire client = wire_open(address_connect("127.0.0.1", port, in_ms(LONG), fault, sizeof fault));
  assert_true(wire_wait(listener, POLLIN, in_ms(LONG)));
  struct wire server = wire_open(accept(listener, NULL, NULL));
  assert_true(option(server.fd, IPPROTO_TCP, TCP_NODELAY));
  assert_true(option(client.fd, SOL_SOCKET, SO_KEEPALIVE));
  assert_true(fcntl(server.fd, F_GETFD) & FD_CLOEXEC);
  assert_true(fcntl(server.fd, F_GETFL) & O_NONBLOCK);
  struct wire_message message;
  assert_int_equal(wire_send(&client, 3, "abc", 3, in_ms(LONG)), WIRE_OK);
  assert_int_equal(wire_receive(&server, &message, in_ms(LONG)), WIRE_OK);
  assert_memory_equal(message.data, "abc", 3);
  wire_close(&client);
  assert_int_equal(wire_receive(&server, &message, in_ms(LONG)), WIRE_CLOSED);
  wire_close(&server);
  close(listener);
  assert_int_equal(address_connect("127.0.0.1", port, in_ms(LONG), fault, sizeof fault), -1);
  assert_non_null(strstr(fault, "cannot connect to 127.0.0.1 port"));
  assert_int_equal(address_connect("no such host", port, in_ms(LONG), fault, sizeof fault), -1);
  assert_non_null(strstr(fault, "cannot find the address of 'no such host'"));
}

static void on_all_addresses(void** state) {
  (void)state;
  char fault[256];
  uint16_t port = 0;
  int listener = address_listen(false, &port, fault, sizeof fault);
  assert_true(listener >= 0 && port > 0);
  int fd = address_connect("127.0.0.1", port, in_ms(LONG), fault, sizeof fault);
  assert_true(fd >= 0);
  int other = address_connect("127.1.2.3", port, in_ms(LONG), fault, sizeof fault);
  assert_true(other >= 0);
  close(fd), close(other), close(listener);
  listener = address_listen(true, &port, fault, sizeof fault);
  assert_true(listener >= 0);
  assert_int_equal(address_connect("127.1.2.3", port, in_ms(LONG), fault, sizeof fault), -1);
  close(listener);
}

/* "0110": ranks 1 and 2 are marked */
static void assert_ranks(const char* marks, size_t size, const char* expected) {
  bool marked[64];
  char text[64];
  for (size_t i = 0; marks[i]; i++) marked[i] = marks[i] == '1';
  words_ranks(text, size, marked, (uint32_t)strlen(marks));
  assert_string_equal(text, expected);
}

static void words(void** state) {
  (void)state;
  assert_ranks("0000", 64, "");
  assert_ranks("0010010100", 64, "2, 5, 7");
  assert_ranks("0110", 64, "1, 2");
  assert_ranks("1110", 64, "0-2");
  assert_ranks("1101111", 64, "0, 1, 3-6");
  assert_ranks("101010101010", 12, "0, 2, ...");
  char text[128];
  words_end(text, sizeof text, 3 << 8);
  assert_string_equal(text, "ended with status 3");
  words_end(text, sizeof text, SIGSEGV);
  assert_string_equal(text, "was killed by signal 11 (Segmentation fault)");
  words_end(text, sizeof text, SIGKILL);
  assert_non_null(strstr(text, "memory runs out"));
  words_last_line(text, sizeof text, "one\ntwo words\n \n");
  assert_string_equal(text, "two words");
  words_last_line(text, 4, "one\ntwo words");
  assert_string_equal(text, "two");
  words_last_line(text, sizeof text, "\n");
  assert_string_equal(text, "");
  strcpy(text, "\x1b[31mred\tx\x7f\n");
  words_clean(text);
  assert_string_equal(text, "?[31mred x?\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces),
      cmocka_unit_test(several_at_once),
      cmocka_unit_test(large),
      cmocka_unit_test(garbage),
      cmocka_unit_test(lengths_that_are_claimed),
      cmocka_unit_test(deadlines),
      cmocka_unit_test(closed_peers),
      cmocka_unit_test(interrupted_calls),
      cmocka_unit_test(over_tcp),
      cmocka_unit_test(on_all_addresses),
      cmocka_unit_test(words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
