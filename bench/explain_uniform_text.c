#include "explain.h"
#include "screen.h"

static void add_time(struct grid* grid, double time_ps) {
  struct sw_text cell = SW_TEXT_EMPTY;
  if (time_ps > 0)
    sw_add_time_words(&cell, (uint64_t)(time_ps + 0.5));
  else
    sw_text_add(&cell, "-");
  grid_take(grid, &cell);
}

static void add_ratio(struct grid* grid, double time_ps, double other_ps) {
  struct sw_text cell = SW_TEXT_EMPTY;
  if (time_ps > 0 && other_ps > 0)
    sw_add_fixed(&cell, (uint64_t)(time_ps / other_ps * 100 + 0.5), 2);
  else
    sw_text_add(&cell, "-");
  grid_take(grid, &cell);
}

static void add_row(struct grid* grid, const struct uniform_row* row) {
  struct sw_text cell = SW_TEXT_EMPTY;
  sw_add_size_words(&cell, row->bytes);
  grid_take(grid, &cell);
  add_time(grid, row->time_ps);
  add_time(grid, row->auto_ps);
  add_ratio(grid, row->time_ps, row->auto_ps);
  add_time(grid, row->by_size_ps);
  add_ratio(grid, row->time_ps, row->by_size_ps);
  sw_add_choice(&cell, row->by_size);
  grid_take(grid, &cell);
}

static void add_rows(const struct explanation* explanation, const struct part* part, const struct sw_uniform* uniform,
                     struct sw_text* out) {
  static const char* const titles[] = {"at", "time", "auto", "x auto", "by size", "x by size", "choice by size"};
  struct grid grid = grid_start(7);
  uint64_t bytes;
  for (size_t i = 0; i < 7; i++) grid_add(&grid, titles[i]);
  for (size_t i = 0; explain_uniform_size(explanation, part, i, &bytes); i++) {
    struct uniform_row row = explain_uniform_row(explanation, part, uniform, bytes);
    add_row(&grid, &row);
  }
  grid_finish(&grid, 2, out);
}

void explain_uniform_as_text(const struct explanation* explanation, const struct part* part, struct sw_text* out) {
  const struct sw_profile* profile = explanation->opened->profile;
  struct sw_uniform uniform = sw_uniform_find(profile, part->collective, part->plan->nodes, part->plan->ranks);
  bool found = sw_uniform_is_found(&uniform);
  struct sw_text line = SW_TEXT_EMPTY;
  bool sums = sw_uniform_sums(part->collective);
  sw_text_add(&line, found ? "every size: " : sums ? "the mode does not hold, NCCL decides: " : "NCCL decides: ");
  if (found) sw_add_choice(&line, uniform.choice);
  if (found) sw_text_add(&line, " (");
  sw_add_uniform_reason(&line, &profile->policy, &uniform);
  if (found) sw_text_add(&line, ")");
  screen_paragraph(out, 2, "", sw_text_string(&line));
  sw_text_free(&line);
  sw_add_uniform_doubt(&line, &uniform);
  if (line.length) screen_paragraph(out, 2, "", sw_text_string(&line));
  sw_text_free(&line);
  if (!sums)
    sw_text_printf(out, "  %s only copies: its results depend on no choice\n",
                   sw_value_word(&sw_collectives, part->collective));
  if (uniform.ignored_rules) sw_text_printf(out, "  rules that are ignored in this mode: %zu\n", uniform.ignored_rules);
  if (found) add_rows(explanation, part, &uniform, out);
}
