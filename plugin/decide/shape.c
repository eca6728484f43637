#include "decide/shape.h"

bool sw_shape_compile(const struct sw_profile* profile, enum sw_mode mode, uint32_t nodes, uint32_t ranks,
                      struct sw_shape* out) {
  struct sw_shape shape = {.nodes = nodes, .ranks = ranks};
  bool good = true;
  for (int c = 0; c < NCCL_NUM_COLLECTIVES && good; c++)
    good = (mode == SW_MODE_DETERMINISTIC ? sw_pieces_compile_uniform : sw_pieces_compile)(
        &shape.arena, profile, c, nodes, ranks, &shape.pieces[c]);
  if (good)
    *out = shape;
  else
    sw_shape_free(&shape);
  return good;
}

void sw_shape_free(struct sw_shape* shape) {
  sw_arena_free(&shape->arena);
  *shape = (struct sw_shape){0};
}

void sw_kept_add(struct sw_kept* kept, struct sw_shape* shape) {
  size_t pieces = 0;
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) pieces += shape->pieces[c].count;
  if (kept->count == SW_MOST_KEPT || pieces > SW_MOST_KEPT_PIECES - kept->pieces) {
    sw_shape_free(shape);
    return;
  }
  kept->shapes[kept->count++] = *shape;
  kept->pieces += pieces;
}

bool sw_kept_take(struct sw_kept* kept, uint32_t nodes, uint32_t ranks, struct sw_shape* out) {
  for (size_t i = 0; i < kept->count; i++) {
    if (kept->shapes[i].nodes != nodes || kept->shapes[i].ranks != ranks) continue;
    *out = kept->shapes[i];
    kept->shapes[i] = kept->shapes[--kept->count];
    return true;
  }
  return false;
}

void sw_kept_free(struct sw_kept* kept) {
  while (kept->count) sw_shape_free(&kept->shapes[--kept->count]);
}
