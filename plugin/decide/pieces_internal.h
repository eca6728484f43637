/* Shared by the files that make pieces: table.c and between.c (measurements), overlay.c (rules). */
#ifndef SW_PIECES_INTERNAL_H
#define SW_PIECES_INTERNAL_H

#include "decide/pieces.h"

/* A list that grows in an arena; `failed` once there is no memory. */
struct sw_piece_list {
  struct sw_arena* arena;
  struct sw_piece* items; /* NULL: `capacity` is what they are going to be, roughly */
  size_t count;
  size_t capacity;
  bool failed;
};

void sw_pieces_add(struct sw_piece_list* list, const struct sw_piece* piece);

/* The pieces of a table; the ranked choices are in `arena`. */
void sw_pieces_of_table(struct sw_arena* arena, const struct sw_policy* policy, const struct sw_table* table,
                        struct sw_piece_list* list);

/* `base` with the rules that hold for the collective and shape laid over it; the earliest rule wins. */
void sw_pieces_overlay(struct sw_arena* arena, const struct sw_profile* profile, int collective, uint32_t nodes,
                       uint32_t ranks, const struct sw_piece_list* base, struct sw_piece_list* list);

/* Whether a rule is for a collective and shape. */
bool sw_rule_holds(const struct sw_rule* rule, int collective, uint32_t nodes, uint32_t ranks);

/* What is at hand while a table's pieces are made. */
struct sw_maker {
  struct sw_arena* arena;
  const struct sw_policy* policy;
  const struct sw_table* table;
  struct sw_piece_list* list;
  struct sw_contender* contenders; /* room for all choices of two neighbouring points */
  struct sw_line* lines;           /* as many */
};

/* What one choice takes at both ends of the space between two points, or at the one end where it was measured. */
struct sw_line {
  struct sw_choice choice;
  double left_log2; /* of picoseconds */
  double right_log2;
  double ratio; /* of auto's time, for a choice measured at one end only */
  enum { AT_BOTH, AT_LEFT, AT_RIGHT } end;
  int64_t spread;
  bool foreign;
  const struct sw_settings* settings;
  const char* excluded; /* at either end */
  uint64_t memory;      /* bytes, the larger of both ends */
};

/* How far each of two neighbouring points speaks for the sizes between them. */
struct sw_reaches {
  uint64_t left_to;    /* the left point: from itself to here */
  uint64_t right_from; /* the right point: from here to itself */
};

/* Where both would speak, the nearer in log(bytes) does; that change-over, too, lies on the grid. */
struct sw_reaches sw_find_reaches(const struct sw_policy* policy, uint64_t left, uint64_t right);

/* Auto's time at a point, or NULL: it is the first in sw_choice_compare's order. */
const struct sw_time* sw_auto_time(const struct sw_point* point);

/* A spread, 0 where none is stated. */
int64_t sw_stated(int64_t spread);

/* Judges the first `count` contenders and completes the piece with the answer. */
void sw_maker_decide(struct sw_maker* m, double auto_ps, int64_t auto_spread, size_t count, struct sw_piece* piece);

/* Adds the pieces between two neighbouring points that are joined. */
void sw_pieces_between(struct sw_maker* m, const struct sw_point* left, const struct sw_point* right);

#endif
