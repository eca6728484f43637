#include <stdlib.h>
#include <string.h>

#include "decide/log2.h"
#include "decide/pieces_internal.h"

int64_t sw_stated(int64_t spread) {
  return spread < 0 ? 0 : spread;
}

const struct sw_time* sw_auto_time(const struct sw_point* point) {
  return point->count && sw_choice_is_auto(point->times[0].choice) ? &point->times[0] : NULL;
}

/* The largest size that a factor (of SW_ONE) above `bytes` reaches, inclusive; UINT64_MAX where it is larger. */
static uint64_t factor_up(uint64_t bytes, int64_t factor) {
  uint64_t one = (uint64_t)SW_ONE;
  uint64_t whole = (uint64_t)factor / one;
  uint64_t rest = (uint64_t)factor % one;
  uint64_t part = bytes / one * rest + bytes % one * rest / one;
  return bytes > (UINT64_MAX - part) / whole ? UINT64_MAX : bytes * whole + part;
}

/* The smallest size from which a factor (of SW_ONE) reaches `bytes`, inclusive. */
static uint64_t factor_down(uint64_t bytes, int64_t factor) {
  uint64_t one = (uint64_t)SW_ONE;
  uint64_t per = (uint64_t)factor;
  return bytes / per * one + (bytes % per * one + per - 1) / per;
}

/* --- one decision ------------------------------------------------------------------------------------------------ */

static const struct sw_ranked* keep_ranked(struct sw_maker* m, double auto_ps, size_t count) {
  if (!count) return NULL;
  struct sw_ranked* ranked = sw_arena_allocate(m->arena, count, sizeof *ranked);
  m->list->failed = m->list->failed || !ranked;
  for (size_t i = 0; ranked && i < count; i++)
    ranked[i] = (struct sw_ranked){m->contenders[i].choice, m->contenders[i].time_ps / auto_ps};
  return ranked;
}

/* None competes, so the contenders are in ascending time. */
static const struct sw_runner_up* keep_runner_up(struct sw_maker* m, double auto_ps, int64_t auto_spread,
                                                 size_t count) {
  if (!count) return NULL;
  const struct sw_contender* c = &m->contenders[0];
  struct sw_runner_up* second = sw_arena_allocate(m->arena, 1, sizeof *second);
  m->list->failed = m->list->failed || !second;
  if (second)
    *second = (struct sw_runner_up){.choice = c->choice,
                                    .verdict = c->verdict,
                                    .ratio = c->time_ps / auto_ps,
                                    .spread = sw_combined_spread(auto_spread, c->spread),
                                    .settings = c->verdict == SW_NEEDS_SETTINGS ? c->settings : NULL,
                                    .excluded = c->verdict == SW_EXCLUDED ? c->excluded : NULL,
                                    .memory = c->memory};
  return second;
}

void sw_maker_decide(struct sw_maker* m, double auto_ps, int64_t auto_spread, size_t count, struct sw_piece* piece) {
  size_t ranked = sw_compete(m->policy, auto_ps, auto_spread, m->contenders, count);
  piece->auto_ps = auto_ps;
  piece->ranked = keep_ranked(m, auto_ps, ranked);
  piece->count = piece->ranked ? (uint32_t)ranked : 0;
  if (!ranked) piece->runner_up = keep_runner_up(m, auto_ps, auto_spread, count);
}

/* --- at a measured size ------------------------------------------------------------------------------------------ */

static struct sw_piece at_point(struct sw_maker* m, const struct sw_point* point) {
  struct sw_piece piece = {.from = point->bytes, .to = point->bytes, .basis = SW_BASIS_MEASURED, .left = point};
  const struct sw_time* own = sw_auto_time(point);
  if (!own) return piece;
  size_t count = 0;
  for (size_t i = 1; i < point->count; i++) {
    const struct sw_time* time = &point->times[i];
    if (!time->median_ps) continue;
    m->contenders[count++] = (struct sw_contender){.choice = time->choice,
                                                   .time_ps = (double)time->median_ps,
                                                   .spread = sw_stated(time->spread),
                                                   .foreign = !sw_settings_same(&time->settings, &own->settings),
                                                   .settings = &time->settings,
                                                   .excluded = time->excluded,
                                                   .memory = sw_extra_memory(time, own)};
  }
  sw_maker_decide(m, (double)own->median_ps, sw_stated(own->spread), count, &piece);
  return piece;
}

/* --- beyond the measured sizes ----------------------------------------------------------------------------------- */

static void add_outside(struct sw_maker* m, uint64_t from, uint64_t to) {
  if (from > to) return;
  struct sw_piece piece = {.from = from, .to = to, .basis = SW_BASIS_OUTSIDE};
  sw_pieces_add(m->list, &piece);
}

static void add_reach(struct sw_maker* m, const struct sw_piece* point, uint64_t from, uint64_t to) {
  if (from > to) return;
  struct sw_piece piece = *point;
  piece.from = from;
  piece.to = to;
  piece.basis = SW_BASIS_REACH;
  sw_pieces_add(m->list, &piece);
}

struct sw_reaches sw_find_reaches(const struct sw_policy* policy, uint64_t left, uint64_t right) {
  uint64_t up = factor_up(left, policy->reach);
  uint64_t down = factor_down(right, policy->reach);
  if (up > right - 1) up = right - 1;
  if (down < left + 1) down = left + 1;
  if (up < down) return (struct sw_reaches){up, down};
  double middle = (sw_log2((double)left) + sw_log2((double)right)) / 2;
  uint64_t change = sw_grid_bytes((int)(middle * SW_GRID_PER_OCTAVE + 0.5));
  if (change < down) change = down;
  if (change > up + 1) change = up + 1;
  return (struct sw_reaches){change - 1, change};
}

static void add_gap(struct sw_maker* m, const struct sw_piece* left, const struct sw_piece* right) {
  struct sw_reaches reaches = sw_find_reaches(m->policy, left->to, right->from);
  add_reach(m, left, left->to + 1, reaches.left_to);
  add_outside(m, reaches.left_to + 1, reaches.right_from - 1);
  add_reach(m, right, reaches.right_from, right->from - 1);
}

/* Neighbours are interpolated when they are near enough and auto was measured at both under the same settings. */
static bool are_joined(const struct sw_policy* policy, const struct sw_point* left, const struct sw_point* right) {
  const struct sw_time* a = sw_auto_time(left);
  const struct sw_time* b = sw_auto_time(right);
  return a && b && right->bytes <= factor_up(left->bytes, policy->gap) && sw_settings_same(&a->settings, &b->settings);
}

/* --- the whole table --------------------------------------------------------------------------------------------- */

static void add_table(struct sw_maker* m) {
  const struct sw_point* points = m->table->points;
  if (!m->table->count) {
    add_outside(m, 0, UINT64_MAX);
    return;
  }
  size_t last = m->table->count - 1;
  struct sw_piece at = at_point(m, &points[0]);
  uint64_t first = factor_down(at.from, m->policy->reach);
  add_outside(m, 0, first - 1);
  add_reach(m, &at, first, at.from - 1);
  sw_pieces_add(m->list, &at);
  for (size_t i = 1; i <= last; i++) {
    struct sw_piece next = at_point(m, &points[i]);
    if (are_joined(m->policy, &points[i - 1], &points[i]))
      sw_pieces_between(m, &points[i - 1], &points[i]);
    else
      add_gap(m, &at, &next);
    sw_pieces_add(m->list, &next);
    at = next;
  }
  uint64_t end = factor_up(at.to, m->policy->reach);
  add_reach(m, &at, at.to + 1, end);
  if (end < UINT64_MAX) add_outside(m, end + 1, UINT64_MAX);
}

static size_t most_choices(const struct sw_table* table) {
  size_t most = 0;
  for (size_t i = 0; i < table->count; i++)
    if (table->points[i].count > most) most = table->points[i].count;
  return most;
}

void sw_pieces_of_table(struct sw_arena* arena, const struct sw_policy* policy, const struct sw_table* table,
                        struct sw_piece_list* list) {
  size_t room = 2 * most_choices(table) + 1;
  struct sw_maker m = {.arena = arena,
                       .policy = policy,
                       .table = table,
                       .list = list,
                       .contenders = calloc(room, sizeof *m.contenders),
                       .lines = calloc(room, sizeof *m.lines)};
  if (m.contenders && m.lines)
    add_table(&m);
  else
    list->failed = true;
  free(m.contenders);
  free(m.lines);
}
