#include "decide/log2.h"
#include "decide/pieces_internal.h"

static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static struct sw_line line_of(const struct sw_time* time, const struct sw_time* own) {
  return (struct sw_line){.choice = time->choice,
                          .ratio = (double)time->median_ps / (double)own->median_ps,
                          .spread = sw_stated(time->spread),
                          .foreign = !sw_settings_same(&time->settings, &own->settings),
                          .settings = &time->settings,
                          .excluded = time->excluded,
                          .memory = sw_extra_memory(time, own)};
}

/* A choice's times at two points, and auto's at each. */
static struct sw_line line_between(const struct sw_time* left, const struct sw_time* left_own,
                                   const struct sw_time* right, const struct sw_time* right_own) {
  struct sw_line line = line_of(left, left_own);
  uint64_t right_memory = sw_extra_memory(right, right_own);
  line.end = AT_BOTH;
  line.left_log2 = sw_log2((double)left->median_ps);
  line.right_log2 = sw_log2((double)right->median_ps);
  line.spread = larger(sw_stated(left->spread), sw_stated(right->spread));
  line.excluded = left->excluded ? left->excluded : right->excluded;
  if (right_memory > line.memory) line.memory = right_memory;
  return line;
}

/* The same choice under the same settings: negative, 0 or positive as in the order of a point's times. */
static int compare_times(const struct sw_time* a, const struct sw_time* b) {
  int order = sw_choice_compare(a->choice, b->choice);
  return order ? order : sw_settings_compare(&a->settings, &b->settings);
}

/* An excluded choice may never have been timed: it has no line then. */
static bool is_timed(const struct sw_time* left, const struct sw_time* right, int order) {
  return (order > 0 || left->median_ps) && (order < 0 || right->median_ps);
}

/* Merges the times of two points, auto's apart, into lines. */
static size_t make_lines(struct sw_maker* m, const struct sw_point* left, const struct sw_point* right) {
  size_t count = 0;
  size_t l = 1;
  size_t r = 1;
  while (l < left->count || r < right->count) {
    const struct sw_time* a = &left->times[l];
    const struct sw_time* b = &right->times[r];
    int order = l == left->count ? 1 : r == right->count ? -1 : compare_times(a, b);
    l += order <= 0;
    r += order >= 0;
    if (!is_timed(a, b, order)) continue;
    struct sw_line* line = &m->lines[count++];
    *line = order == 0  ? line_between(a, &left->times[0], b, &right->times[0])
            : order < 0 ? line_of(a, &left->times[0])
                        : line_of(b, &right->times[0]);
    if (order) line->end = order < 0 ? AT_LEFT : AT_RIGHT;
  }
  return count;
}

struct span {
  const struct sw_point* left;
  const struct sw_point* right;
  double left_log2; /* of bytes */
  double right_log2;
  struct sw_line own; /* auto */
  size_t lines;
  struct sw_reaches reaches;
};

static double time_at(const struct sw_line* line, double weight) {
  return sw_exp2(line->left_log2 + (line->right_log2 - line->left_log2) * weight);
}

static struct sw_piece decide_between(struct sw_maker* m, const struct span* span, uint64_t from, uint64_t to,
                                      double at) {
  struct sw_piece piece = {.from = from, .to = to, .basis = SW_BASIS_BETWEEN, .left = span->left, .right = span->right};
  double width = span->right_log2 - span->left_log2;
  double weight = width > 0 ? (at - span->left_log2) / width : 0; /* huge neighbours can be one double */
  double auto_ps = time_at(&span->own, weight);
  size_t count = 0;
  for (size_t i = 0; i < span->lines; i++) {
    const struct sw_line* line = &m->lines[i];
    if (line->end == AT_LEFT && to > span->reaches.left_to) continue;
    if (line->end == AT_RIGHT && from < span->reaches.right_from) continue;
    double time_ps = line->end == AT_BOTH ? time_at(line, weight) : auto_ps * line->ratio;
    m->contenders[count++] = (struct sw_contender){.choice = line->choice,
                                                   .time_ps = time_ps,
                                                   .spread = line->spread,
                                                   .foreign = line->foreign,
                                                   .settings = line->settings,
                                                   .excluded = line->excluded,
                                                   .memory = line->memory};
  }
  sw_maker_decide(m, auto_ps, span->own.spread, count, &piece);
  return piece;
}

/*
 * The place in log2(bytes) where a piece within a grid cell is decided: the cell's middle, but between the two measured
 * sizes, and where the piece is cut at the end of a reach, not beyond it.
 */
static double middle_of(const struct span* span, int cell, uint64_t from, uint64_t to) {
  bool first = from == span->left->bytes + 1;
  bool last = to + 1 == span->right->bytes;
  bool begins = !first && (from == span->reaches.left_to + 1 || from == span->reaches.right_from);
  bool ends = !last && (to == span->reaches.left_to || to + 1 == span->reaches.right_from);
  double middle = (cell + 0.5) / SW_GRID_PER_OCTAVE;
  double low = begins ? sw_log2((double)from) : span->left_log2;
  double high = ends ? sw_log2((double)to) : span->right_log2;
  return middle < low ? low : middle > high ? high : middle;
}

/* Reaches end at no place where nothing was measured at one end only. */
static struct sw_reaches find_reaches(const struct sw_maker* m, const struct span* span) {
  bool at_left = false;
  bool at_right = false;
  for (size_t i = 0; i < span->lines; i++) {
    at_left = at_left || m->lines[i].end == AT_LEFT;
    at_right = at_right || m->lines[i].end == AT_RIGHT;
  }
  struct sw_reaches reaches = {0};
  if (at_left || at_right) reaches = sw_find_reaches(m->policy, span->left->bytes, span->right->bytes);
  if (!at_left) reaches.left_to = span->right->bytes - 1;
  if (!at_right) reaches.right_from = span->left->bytes + 1;
  return reaches;
}

static uint64_t next_cut(const struct span* span, uint64_t from, int cell) {
  uint64_t cut = sw_grid_bytes(cell + 1);
  uint64_t left_end = span->reaches.left_to + 1;
  uint64_t right_start = span->reaches.right_from;
  if (left_end > from && left_end < cut) cut = left_end;
  if (right_start > from && right_start < cut) cut = right_start;
  return cut < span->right->bytes ? cut : span->right->bytes;
}

void sw_pieces_between(struct sw_maker* m, const struct sw_point* left, const struct sw_point* right) {
  const struct sw_time* left_own = sw_auto_time(left);
  const struct sw_time* right_own = sw_auto_time(right);
  struct span span = {.left = left,
                      .right = right,
                      .left_log2 = sw_log2((double)left->bytes),
                      .right_log2 = sw_log2((double)right->bytes),
                      .own = line_between(left_own, left_own, right_own, right_own),
                      .lines = make_lines(m, left, right)};
  span.reaches = find_reaches(m, &span);
  uint64_t from = left->bytes + 1;
  while (from < right->bytes) {
    int cell = sw_grid_cell(from);
    uint64_t to = next_cut(&span, from, cell) - 1;
    struct sw_piece piece = decide_between(m, &span, from, to, middle_of(&span, cell, from, to));
    sw_pieces_add(m->list, &piece);
    from = to + 1;
  }
}
