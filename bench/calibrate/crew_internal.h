/* A crew from the inside: crew.c starts and joins it, crew_steps.c has it carry out steps. */
#ifndef SW_CREW_INTERNAL_H
#define SW_CREW_INTERNAL_H

#include "calibrate/crew.h"

/*
 * How long an answer may take. Opening libraries and connecting many ranks takes a while; a round is given the time
 * that its calls took before, many times over, and never less than a grace for a machine that is busy otherwise.
 */
enum { START_MS = 120000, CONNECT_MS = 120000, FIRST_STEP_MS = 60000, GRACE_MS = 10000, SLOWER_TIMES = 20 };

struct crew {
  struct team* team;
  struct team_failure failure;
  uint32_t ranks; /* of the job */
  uint32_t group; /* of each communicator; 0: not connected */
  uint32_t used;  /* ranks that take part: the largest multiple of group */
  uint32_t nodes;
  uint32_t simulated_nodes; /* 0: real ones */
  uint32_t starts;
  char* profile;      /* that the workers were given; NULL: none */
  bool lost;          /* a worker failed: nothing but a start does any good */
  bool bare;          /* the workers run without the plugin */
  int64_t started_ms; /* when the workers were started first, by wire_clock */
  struct fabric_report* reports;
  double clock_before;     /* of the attempts that are over */
  double clock_start;      /* the fabric's clock when this attempt began */
  struct fabric_call call; /* that is prepared, and its choices */
  struct sw_choice choices[FABRIC_MOST_CHOICES];
  size_t prepared;
  int64_t slowest_step_ms; /* of probes, preparations and checks; 0: there was none yet */
  double slowest_us;       /* of a round of what is prepared; 0: not known */
  uint32_t* all;           /* 0, 1, 2, ... */
  crew_listener listener;  /* NULL: nobody listens */
  void* listener_context;
};

/* Asks the ranks that take part; all of them get the same request, and the i-th answer comes to i * reply_bytes. */
bool crew_ask(struct crew* crew, uint32_t type, const void* request, size_t bytes, void* reply, size_t reply_bytes,
              uint32_t timeout_ms);

#endif
