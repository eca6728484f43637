#include "decide/segments.h"

#include <stdlib.h>

#include "decide/log2.h"

static struct sw_choice winner(const struct sw_piece* piece) {
  return piece->count ? piece->ranked[0].choice : SW_AUTO;
}

/* NCCL's own choice is told apart by its reason: each measured size's verdict is a segment of its own. */
static bool same_segment(const struct sw_piece* last, const struct sw_piece* next) {
  if (last->rule || next->rule) return last->rule == next->rule;
  if (!sw_choice_same(winner(last), winner(next))) return false;
  if (next->count) return true;
  if (last->basis == SW_BASIS_OUTSIDE || next->basis == SW_BASIS_OUTSIDE) return last->basis == next->basis;
  if (last->basis == SW_BASIS_NO_TABLE) return true;
  return last->left == next->left;
}

/* The piece whose times a segment shows: the first that was measured, else the one in the middle. */
static const struct sw_piece* shown_piece(const struct sw_segment* segment) {
  for (const struct sw_piece* piece = segment->first; piece <= segment->last; piece++)
    if (piece->basis == SW_BASIS_MEASURED) return piece;
  return segment->first + (segment->last - segment->first) / 2;
}

static uint64_t middle_size(const struct sw_piece* piece) {
  return piece->from + (piece->to - piece->from) / 2;
}

/* A choice's time at a point, under the settings that auto's has there. */
static const struct sw_time* time_like_auto(const struct sw_point* point, struct sw_choice choice) {
  for (size_t i = 0; i < point->count; i++)
    if (sw_choice_same(point->times[i].choice, choice) &&
        sw_settings_same(&point->times[i].settings, &point->times[0].settings))
      return &point->times[i];
  return NULL;
}

/* A choice's time on the curve between a piece's two points; 0 where it was not measured at both. */
static double time_between(const struct sw_piece* piece, struct sw_choice choice, uint64_t bytes) {
  const struct sw_time* left = time_like_auto(piece->left, choice);
  const struct sw_time* right = time_like_auto(piece->right, choice);
  if (!left || !right) return 0;
  double low = sw_log2((double)piece->left->bytes);
  double width = sw_log2((double)piece->right->bytes) - low;
  double weight = width > 0 ? (sw_log2((double)bytes) - low) / width : 0;
  double from = sw_log2((double)left->median_ps);
  return sw_exp2(from + (sw_log2((double)right->median_ps) - from) * weight);
}

/* The times that a piece stands for: those of its measured size, or, between two, those at `bytes`. */
static void set_times(struct sw_segment* segment, const struct sw_piece* piece, uint64_t bytes) {
  if (!(piece->auto_ps > 0)) return;
  bool between = piece->basis == SW_BASIS_BETWEEN;
  double time_ps = between ? time_between(piece, winner(piece), bytes) : 0;
  segment->at_bytes = between ? bytes : piece->left->bytes;
  segment->auto_ps = between ? time_between(piece, SW_AUTO, bytes) : piece->auto_ps;
  segment->time_ps = time_ps > 0 ? time_ps : segment->auto_ps * (piece->count ? piece->ranked[0].ratio : 1);
}

static size_t count_segments(const struct sw_pieces* pieces) {
  size_t count = 1;
  for (size_t i = 1; i < pieces->count; i++) count += !same_segment(&pieces->items[i - 1], &pieces->items[i]);
  return count;
}

struct sw_segment* sw_segments_make(const struct sw_pieces* pieces, size_t* count) {
  struct sw_segment* segments = calloc(count_segments(pieces), sizeof *segments);
  if (!segments) return NULL;
  size_t made = 0;
  for (size_t i = 0; i < pieces->count; i++) {
    const struct sw_piece* piece = &pieces->items[i];
    if (!made || !same_segment(segments[made - 1].last, piece))
      segments[made++] = (struct sw_segment){.from = piece->from, .choice = winner(piece), .first = piece};
    segments[made - 1].last = piece;
    segments[made - 1].to = piece->to;
  }
  for (size_t i = 0; i < made; i++) {
    const struct sw_piece* shown = shown_piece(&segments[i]);
    set_times(&segments[i], shown, middle_size(shown));
  }
  *count = made;
  return segments;
}

struct sw_segment sw_segment_at(const struct sw_pieces* pieces, uint64_t bytes) {
  const struct sw_piece* piece = sw_pieces_find(pieces, bytes);
  struct sw_segment segment = {.from = bytes, .to = bytes, .choice = winner(piece), .first = piece, .last = piece};
  set_times(&segment, piece, bytes);
  return segment;
}

void sw_add_range(struct sw_text* text, uint64_t from, uint64_t to) {
  if (from == 0 && to == UINT64_MAX) {
    sw_text_add(text, "every size");
  } else if (to == UINT64_MAX) {
    sw_text_add(text, "from ");
    sw_add_size_words(text, from);
  } else {
    sw_add_size_words(text, from);
    if (from == to) return;
    sw_text_add(text, " to ");
    sw_add_size_words(text, to);
  }
}

static void add_settings(struct sw_text* text, const struct sw_settings* settings) {
  for (size_t i = 0; i < settings->count; i++)
    sw_text_printf(text, "%s%s=%s", i ? " " : "", settings->items[i].name, settings->items[i].value);
}

static void add_verdict(struct sw_text* text, const struct sw_policy* policy, const struct sw_runner_up* second) {
  if (second->verdict == SW_NOT_FASTER) {
    sw_text_add(text, "nothing measured is faster than auto");
    return;
  }
  sw_add_choice(text, second->choice);
  sw_text_add(text, ": gain ");
  sw_add_percent_words(text, 1 - second->ratio);
  if (second->verdict == SW_UNDER_MIN_GAIN) {
    sw_text_add(text, " is under min_gain ");
    sw_add_percent(text, policy->min_gain);
  } else if (second->verdict == SW_WITHIN_SPREAD) {
    sw_text_add(text, " is within the spread ");
    sw_add_percent_words(text, (double)second->spread / (double)SW_ONE);
  } else if (second->verdict == SW_EXCLUDED) {
    sw_text_printf(text, ", but excluded: %s", second->excluded);
  } else if (second->verdict == SW_NEEDS_MEMORY) {
    sw_text_add(text, ", but its connections take ");
    sw_add_size_words(text, second->memory);
    sw_text_add(text, ", more than max_extra_memory ");
    sw_add_size_words(text, policy->max_extra_memory);
  } else if (!second->settings->count) {
    sw_text_add(text, " was measured without the settings that auto had");
  } else {
    sw_text_add(text, " needs ");
    add_settings(text, second->settings);
    sw_text_add(text, ", which a tuner cannot set");
  }
}

static void add_auto_reason(struct sw_text* text, const struct sw_policy* policy, const struct sw_piece* piece) {
  bool between = piece->basis == SW_BASIS_BETWEEN;
  sw_text_add(text, between ? "between " : "at ");
  sw_add_size_words(text, piece->left->bytes);
  if (between) {
    sw_text_add(text, " and ");
    sw_add_size_words(text, piece->right->bytes);
  }
  sw_text_add(text, ", ");
  if (!(piece->auto_ps > 0))
    sw_text_add(text, "auto was not measured");
  else if (!piece->runner_up)
    sw_text_add(text, "no choice but auto was measured");
  else
    add_verdict(text, policy, piece->runner_up);
}

/* "measured at 512 KiB and 1 MiB", "measured at 13 sizes, 1 KiB to 4 MiB". */
static void add_measured(struct sw_text* text, const struct sw_segment* segment) {
  const struct sw_point* points[3];
  size_t count = 0;
  for (const struct sw_piece* piece = segment->first; piece <= segment->last; piece++) {
    if (piece->basis != SW_BASIS_MEASURED && piece->basis != SW_BASIS_REACH) continue;
    bool again = count && points[count < 3 ? count - 1 : 2] == piece->left;
    if (again) continue;
    points[count < 3 ? count : 2] = piece->left;
    count++;
  }
  if (!count) {
    sw_text_add(text, "interpolated between ");
    sw_add_size_words(text, segment->first->left->bytes);
    sw_text_add(text, " and ");
    sw_add_size_words(text, segment->last->right->bytes);
    return;
  }
  sw_text_add(text, "measured at ");
  if (count > 2) sw_text_printf(text, "%zu sizes, ", count);
  sw_add_size_words(text, points[0]->bytes);
  if (count > 1) sw_text_add(text, count > 2 ? " to " : " and ");
  if (count > 1) sw_add_size_words(text, points[count > 2 ? 2 : 1]->bytes);
}

void sw_add_reason(struct sw_text* text, const struct sw_policy* policy, const struct sw_segment* segment) {
  const struct sw_piece* piece = shown_piece(segment);
  if (piece->rule) {
    sw_text_printf(text, "rule on line %u, written by hand", piece->rule->place.line);
  } else if (piece->basis == SW_BASIS_UNIFORM) {
    sw_text_add(text, piece->count ? "the same at every size" : "no choice qualifies at every size");
  } else if (piece->basis == SW_BASIS_NO_TABLE) {
    sw_text_add(text, "no table for this collective and shape");
  } else if (piece->basis == SW_BASIS_OUTSIDE) {
    sw_text_add(text, "more than ");
    sw_add_fixed(text, (uint64_t)policy->reach, 8);
    sw_text_add(text, "x from any measured size");
  } else if (sw_choice_is_auto(segment->choice)) {
    add_auto_reason(text, policy, piece);
  } else {
    add_measured(text, segment);
  }
}
