/*
 * All pieces of one shape of communicator: what a digest covers and a plan is made from. Compiling them is most of the
 * work of both, and a digest is computed first, so it can keep what it compiled for the plans to come.
 */
#ifndef SW_SHAPE_H
#define SW_SHAPE_H

#include "decide/pieces.h"
#include "nccl_tuner.h"

struct sw_shape {
  struct sw_arena arena; /* holds the pieces */
  uint32_t nodes;
  uint32_t ranks;
  struct sw_pieces pieces[NCCL_NUM_COLLECTIVES];
};

/* False when memory runs out. sw_shape_free frees it, unless a plan took it over. */
bool sw_shape_compile(const struct sw_profile* profile, enum sw_mode mode, uint32_t nodes, uint32_t ranks,
                      struct sw_shape* out);
void sw_shape_free(struct sw_shape* shape);

enum { SW_MOST_KEPT = 8, SW_MOST_KEPT_PIECES = 65536 };

/* A few shapes: a file can hold very many, and large ones. What does not fit is compiled again when it is asked for. */
struct sw_kept {
  struct sw_shape shapes[SW_MOST_KEPT];
  size_t count;
  size_t pieces;
};

/* Takes a shape over, to keep or, where there is no room, to free it. */
void sw_kept_add(struct sw_kept* kept, struct sw_shape* shape);

/* Hands a shape out, which then is kept no longer; false when it is not there. */
bool sw_kept_take(struct sw_kept* kept, uint32_t nodes, uint32_t ranks, struct sw_shape* out);
void sw_kept_free(struct sw_kept* kept);

#endif
