/*
 * From measurements to decisions: all sizes of one collective on one shape, cut into pieces with one decision each.
 *
 *     bytes 0 ............ p0 ...................... p1 ............................. p2 ............... no end
 *          outside | reach | p0 | between, between.. | p1 | reach | outside   | reach | p2 | reach | outside
 *                           `-- at most `gap` apart --'    `---- further apart -------'
 *
 * A piece between two points is a cell of the grid 2^(k/16), decided at the cell's middle: that puts each change-over
 * on the grid line nearest to the place where the curves cross. It is cut shorter only by measured sizes and by the
 * end of what a choice measured at one point alone may reach. Rules written by hand are laid over the pieces.
 */
#ifndef SW_PIECES_H
#define SW_PIECES_H

#include "decide/compete.h"

enum sw_basis {
  SW_BASIS_NO_TABLE, /* nothing was measured for this collective and shape */
  SW_BASIS_OUTSIDE,  /* further from any measured size than `reach` */
  SW_BASIS_MEASURED, /* at `left`, exactly */
  SW_BASIS_REACH,    /* what `left` decides, elsewhere within `reach` */
  SW_BASIS_BETWEEN,  /* interpolated between `left` and `right` */
  SW_BASIS_RULE,     /* written by hand */
  SW_BASIS_UNIFORM   /* the same at every size: uniform.h */
};

/* What decisions are for. */
enum sw_mode {
  SW_MODE_BY_SIZE,
  SW_MODE_DETERMINISTIC /* one choice for every size: uniform.h */
};

/* The choice that came nearest to winning where auto won, for the reason that is shown. */
struct sw_runner_up {
  struct sw_choice choice;
  enum sw_verdict verdict;
  double ratio;                       /* its time as a part of auto's */
  int64_t spread;                     /* combined with auto's, of SW_ONE */
  const struct sw_settings* settings; /* where the verdict is SW_NEEDS_SETTINGS */
  const char* excluded;               /* where it is SW_EXCLUDED */
  uint64_t memory;                    /* bytes; where it is SW_NEEDS_MEMORY */
};

struct sw_piece {
  uint64_t from; /* bytes, both ends inclusive; a list of pieces covers 0 to UINT64_MAX without a hole */
  uint64_t to;
  enum sw_basis basis;
  uint32_t count; /* of `ranked` */
  const struct sw_point* left;
  const struct sw_point* right;
  const struct sw_rule* rule;
  double auto_ps;                       /* auto's time where the piece was decided; 0: not known */
  const struct sw_ranked* ranked;       /* best first; none: auto */
  const struct sw_runner_up* runner_up; /* NULL: auto does not win, or no other choice was measured */
};

struct sw_pieces {
  const struct sw_piece* items;
  size_t count;
};

/*
 * All pieces of a collective on a shape, in `arena`. nodes and ranks 0: a shape that no table has, for which only
 * rules without a shape hold. False when memory runs out.
 */
bool sw_pieces_compile(struct sw_arena* arena, const struct sw_profile* profile, int collective, uint32_t nodes,
                       uint32_t ranks, struct sw_pieces* out);

/* The same for the deterministic mode: one piece. */
bool sw_pieces_compile_uniform(struct sw_arena* arena, const struct sw_profile* profile, int collective, uint32_t nodes,
                               uint32_t ranks, struct sw_pieces* out);

/* The piece that holds a size. */
const struct sw_piece* sw_pieces_find(const struct sw_pieces* pieces, uint64_t bytes);

/* What a choice that only a rule names is taken to gain: half of auto's time. */
#define SW_RULE_RATIO 0.5

#endif
