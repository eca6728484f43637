/*
 * Decisions for people: neighbouring pieces with the same choice are one segment, with a time that was measured and
 * the reason in words. NCCL's own choice is one segment for each reason.
 */
#ifndef SW_SEGMENTS_H
#define SW_SEGMENTS_H

#include "decide/pieces.h"
#include "ground/text.h"

struct sw_segment {
  uint64_t from; /* bytes, both ends inclusive */
  uint64_t to;   /* UINT64_MAX: no end */
  struct sw_choice choice;
  uint64_t at_bytes; /* the size that the two times belong to; 0: no time is known */
  double time_ps;    /* 0: not known */
  double auto_ps;    /* 0: not known */
  const struct sw_piece* first;
  const struct sw_piece* last;
};

/*
 * The segments of `pieces`, ascending, in malloc'ed memory that the caller frees; NULL when there is none.
 * They refer to the pieces.
 */
struct sw_segment* sw_segments_make(const struct sw_pieces* pieces, size_t* count);

/* One size's decision as a segment of its own, with the times that hold at that size (interpolated where need be). */
struct sw_segment sw_segment_at(const struct sw_pieces* pieces, uint64_t bytes);

/* Why: "measured at 6 MiB", "tree at 12 KiB: gain 2.6% is under min_gain 3%", ... */
void sw_add_reason(struct sw_text* text, const struct sw_policy* policy, const struct sw_segment* segment);

/* "12 KiB to 6 MiB", "from 6 MiB", "every size". */
void sw_add_range(struct sw_text* text, uint64_t from, uint64_t to);

#endif
