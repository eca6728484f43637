/*
 * What driver, supervisors and workers say to each other (wire.h carries it):
 *
 *     supervisor  HELLO  --------------->  driver     once, when it has connected
 *     supervisor  <----  WELCOME, REFUSED  driver     another job's process is turned away without a word
 *     supervisor  <----------  START       driver     start the worker of this attempt (uint32_t)
 *     worker      HELLO  --------------->  driver     over a connection of its own
 *     worker      <-------  any request    driver     types below WIRE_FIRST_RESERVED
 *     worker      ANSWER or ERROR  ----->  driver     one for each request; ERROR carries a text
 *     supervisor  ENDED  --------------->  driver     the worker ended by itself: how, and its last words on stderr
 *     supervisor  <----------  KILL        driver
 *     supervisor  IDLE or STUCK  ------->  driver     the answer to KILL: no worker is left, or it cannot be killed
 *     supervisor  TROUBLE  ------------->  driver     the worker cannot be started; a text
 *     supervisor  <----------  QUIT        driver     end in good order; a worker ends when its connection does
 */
#ifndef SW_PROTOCOL_H
#define SW_PROTOCOL_H

#include <stdint.h>

#include "launch/wire.h"

enum { PROTOCOL_VERSION = 1, PROTOCOL_HOST = 64, PROTOCOL_STDERR = 4096 };

#define MESSAGE_HELLO (WIRE_FIRST_RESERVED + 1)
#define MESSAGE_WELCOME (WIRE_FIRST_RESERVED + 2)
#define MESSAGE_REFUSED (WIRE_FIRST_RESERVED + 3)
#define MESSAGE_START (WIRE_FIRST_RESERVED + 4)
#define MESSAGE_KILL (WIRE_FIRST_RESERVED + 5)
#define MESSAGE_QUIT (WIRE_FIRST_RESERVED + 6)
#define MESSAGE_ENDED (WIRE_FIRST_RESERVED + 7)
#define MESSAGE_IDLE (WIRE_FIRST_RESERVED + 8)
#define MESSAGE_STUCK (WIRE_FIRST_RESERVED + 9)
#define MESSAGE_TROUBLE (WIRE_FIRST_RESERVED + 10)
#define MESSAGE_ANSWER (WIRE_FIRST_RESERVED + 11)
#define MESSAGE_ERROR (WIRE_FIRST_RESERVED + 12)

enum role { ROLE_SUPERVISOR, ROLE_WORKER };

/* No padding: it is sent as it stands. */
struct hello {
  uint32_t version; /* first in every version */
  uint32_t role;    /* enum role */
  uint64_t key;
  uint32_t rank;
  uint32_t ranks;
  uint32_t attempt; /* of a worker */
  uint32_t pid;
  char host[PROTOCOL_HOST];
};

/* ENDED; behind it up to PROTOCOL_STDERR bytes of stderr. */
struct ended {
  uint32_t attempt;
  int32_t status; /* as waitpid gives it */
};

/* How long things may take, in milliseconds. */
enum {
  PATIENCE_SEND = 10000,   /* a short message to a process that only waits for such */
  PATIENCE_HELLO = 10000,  /* from a connection to its HELLO, and to the answer */
  PATIENCE_RETRY = 200,    /* between attempts to reach the driver */
  PATIENCE_DEATH = 20000,  /* until a killed worker is gone: a GPU's driver takes seconds to clean up */
  PATIENCE_REPORT = 5000,  /* from a worker's closed connection to its supervisor's report */
  PATIENCE_GOODBYE = 3000, /* a worker that was told to end */
  PATIENCE_START = 60000,  /* from START to the last worker's HELLO: 64 processes on a small machine */
  PATIENCE_LINGER = 500    /* after an ERROR: whether another rank's death turns out to be its cause */
};

#endif
