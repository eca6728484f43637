/* What the driver asks of a worker, as it goes over the wire. All processes are the same program on like processors. */
#ifndef SW_CALIBRATE_PROTOCOL_H
#define SW_CALIBRATE_PROTOCOL_H

#include "calibrate/proof.h"
#include "fabric/fabric.h"

enum ask {
  ASK_OPEN = 1,   /* text of a profile to load into the plugin, or nothing -> fabric_report */
  ASK_OPEN_BARE,  /* nothing -> fabric_report: NCCL without any tuner, so that it can time auto alone */
  ASK_DESCRIBE,   /* nothing -> fabric_report */
  ASK_NEW_ID,     /* nothing -> id */
  ASK_CONNECT,    /* fabric_place -> uint32_t */
  ASK_DISCONNECT, /* nothing -> uint32_t */
  ASK_PROBE,      /* ask_choice -> fabric_probe */
  ASK_PREPARE,    /* ask_choices -> uint32_t */
  ASK_ROUNDS,     /* uint32_t -> float[rounds][choices] */
  ASK_CHECK,      /* ask_choice -> uint32_t: 1 good */
  ASK_PROVE,      /* ask_shape -> rank_proof: of the profile that it was opened with */
  ASK_CLOSE       /* nothing -> uint32_t: the GPU is given back in good order; nothing is asked after that */
};

struct ask_choice {
  struct fabric_call call;
  struct sw_choice choice;
};

struct ask_choices {
  struct fabric_call call;
  uint32_t count;
  struct sw_choice choices[FABRIC_MOST_CHOICES];
};

struct ask_shape {
  uint32_t nodes;
  uint32_t ranks;
};

/* A round's samples of all choices, at most. */
enum { MOST_SAMPLES = 64 * FABRIC_MOST_CHOICES };

#endif
