#include "decide/log2.h"
#include "explain.h"
#include "nccl_tuner.h"

static const struct sw_time* auto_at(const struct sw_point* point) {
  return point->count && sw_choice_is_auto(point->times[0].choice) ? &point->times[0] : NULL;
}

/* A choice's time at a measured size; 0 where there is none. */
static double time_at(const struct sw_policy* policy, const struct sw_point* point, struct sw_choice choice) {
  const struct sw_time* own = auto_at(point);
  uint64_t time_ps = 0;
  if (!own) return 0;
  if (sw_choice_is_auto(choice)) return (double)own->median_ps;
  return sw_uniform_time(policy, point, choice, &time_ps) == SW_UNIFORM_TIMED ? (double)time_ps : 0;
}

/* The curve through the times at both ends of the place where `piece` was decided; 0 where there is none. */
static double time_of(const struct sw_policy* policy, const struct sw_piece* piece, struct sw_choice choice,
                      uint64_t bytes) {
  bool measured = piece->basis == SW_BASIS_MEASURED;
  if (measured) return time_at(policy, piece->left, choice);
  if (piece->basis != SW_BASIS_BETWEEN) return 0;
  double left = time_at(policy, piece->left, choice);
  double right = time_at(policy, piece->right, choice);
  if (left <= 0 || right <= 0) return 0;
  double low = sw_log2((double)piece->left->bytes);
  double weight = (sw_log2((double)bytes) - low) / (sw_log2((double)piece->right->bytes) - low);
  return sw_exp2(sw_log2(left) + (sw_log2(right) - sw_log2(left)) * weight);
}

struct uniform_row explain_uniform_row(const struct explanation* explanation, const struct part* part,
                                       const struct sw_uniform* uniform, uint64_t bytes) {
  const struct sw_policy* policy = &explanation->opened->profile->policy;
  const struct sw_pieces* pieces = &part->plan->pieces[part->collective];
  const struct sw_piece* piece = sw_pieces_find(pieces, bytes);
  struct sw_segment by_size = sw_segment_at(pieces, bytes);
  bool found = sw_uniform_is_found(uniform);
  struct uniform_row row = {.bytes = bytes, .by_size = by_size.choice};
  row.auto_ps = time_of(policy, piece, SW_AUTO, bytes);
  if (found) row.time_ps = time_of(policy, piece, uniform->choice, bytes);
  if (row.auto_ps > 0) row.by_size_ps = by_size.time_ps;
  return row;
}

bool explain_uniform_size(const struct explanation* explanation, const struct part* part, size_t index,
                          uint64_t* bytes) {
  if (explanation->sizes->count) {
    if (index >= explanation->sizes->count) return false;
    *bytes = explanation->sizes->items[index];
    return true;
  }
  for (size_t i = 0; part->table && i < part->table->count; i++) {
    if (!auto_at(&part->table->points[i]) || index--) continue;
    *bytes = part->table->points[i].bytes;
    return true;
  }
  return false;
}
