#include "ground/names.h"
#include "predict/prediction.h"
#include "screen.h"

enum { LABEL = 10, MOST_LISTED_CALLS = 3, MOST_NOTES = 20 };

/* Sums of a whole job can lie beyond what a time in picoseconds can be; nobody reads digits there. */
static void add_time(struct sw_text* text, double picoseconds) {
  if (picoseconds < 1e18)
    sw_add_time_words(text, (uint64_t)(picoseconds + 0.5));
  else
    sw_text_printf(text, "%.3g s", picoseconds / 1e12);
}

/* Three to four digits: 1508, 399, 57, 6.25. */
static void add_number(struct sw_text* text, double number) {
  unsigned decimals = number >= 100 ? 0 : number >= 10 ? 1 : 2;
  double scale = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
  if (number < 1e15)
    sw_add_fixed(text, (uint64_t)(number * scale + 0.5), decimals);
  else
    sw_text_printf(text, "%.3g", number);
}

/* --- the head ---------------------------------------------------------------------------------------------------- */

static void add_paragraph(struct sw_text* out, const char* label, struct sw_text* text) {
  screen_paragraph(out, LABEL, label, sw_text_string(text));
  sw_text_free(text);
}

static void add_workload(const struct prediction* prediction, struct sw_text* out) {
  const struct workload* workload = prediction->workload;
  struct sw_text text = SW_TEXT_EMPTY;
  sw_text_printf(&text, "%s (%s)", workload->name, workload->kind ? workload->kind : "provenance not said");
  if (workload->step.what) sw_text_printf(&text, ": %s", workload->step.what);
  sw_text_add(&text, ", ");
  sw_add_shape(&text, prediction->ranks, prediction->nodes);
  if (!workload->nodes || !workload->ranks) sw_text_add(&text, " (the only shape of the profile that fits)");
  add_paragraph(out, "workload", &text);
  if (workload->note) screen_paragraph(out, LABEL, "", workload->note);
}

static void add_times_used(const struct prediction* prediction, const char* origin, struct sw_text* out) {
  const struct sw_profile* profile = prediction->profile;
  struct sw_text text = SW_TEXT_EMPTY;
  sw_text_printf(&text, "%s, by profile %s (%s)", sw_value_word(&sw_kinds, (int)profile->kind), profile->name, origin);
  add_paragraph(out, "times", &text);
  const char* note = profile->provenance[SW_PROVENANCE_NOTE];
  if (note) screen_paragraph(out, LABEL, "", note);
}

/* "120 x 67.1 ms + 4 x 76 us = 8.052 s" */
static void add_sum(const struct prediction* prediction, const struct predict_row* row, struct sw_text* text) {
  const struct workload* workload = prediction->workload;
  size_t listed = 0;
  if (workload->call_count <= MOST_LISTED_CALLS) {
    for (size_t i = 0; i < workload->call_count; i++) {
      if (!row->prices[i].time) continue;
      sw_text_add(text, listed++ ? " + " : "");
      sw_text_add_whole(text, workload->calls[i].count, 1);
      sw_text_add(text, " x ");
      add_time(text, (double)row->prices[i].time->median_ps);
    }
    sw_text_add(text, " = ");
  }
  add_time(text, row->collectives_ps);
}

static void add_computed(const struct prediction* prediction, struct sw_text* out) {
  const struct predict_row* given = &prediction->rows[0];
  struct sw_text text = SW_TEXT_EMPTY;
  if (!prediction->workload->step.known) {
    sw_text_add(&text, "each row is the sum of count x time over all calls listed; the workload gives no step time");
  } else if (!prediction->rest_known) {
    sw_text_add(&text, "the rest of the step as given is not known, so no row has a step time: see below");
  } else {
    add_time(&text, prediction->workload->step.seconds * 1e12);
    sw_text_add(&text, " a step as given, less ");
    add_sum(prediction, given, &text);
    sw_text_add(&text, " in collectives, leaves ");
    if (prediction->rest_ps < 0) sw_text_add(&text, "-");
    add_time(&text, prediction->rest_ps < 0 ? -prediction->rest_ps : prediction->rest_ps);
    sw_text_add(&text, " for the rest; each row adds its own time in collectives to that");
  }
  add_paragraph(out, "computed", &text);
}

/* --- the rows ---------------------------------------------------------------------------------------------------- */

static void add_cell(struct grid* grid, void (*add)(struct sw_text* text, double value), double value,
                     const char* behind) {
  struct sw_text cell = SW_TEXT_EMPTY;
  if (value > 0) {
    add(&cell, value);
    sw_text_add(&cell, behind);
  } else {
    sw_text_add(&cell, "-");
  }
  grid_take(grid, &cell);
}

static void add_to_auto(struct sw_text* text, double ratio) {
  sw_add_fixed(text, (uint64_t)(ratio * 100 + 0.5), 2);
}

static void add_rows(const struct prediction* prediction, struct sw_text* out) {
  bool steps = prediction->workload->step.known;
  bool tokens = steps && prediction->workload->step.tokens > 0;
  struct grid grid = grid_start(4 + (size_t)steps + (size_t)tokens);
  grid_add(&grid, "");
  if (steps) grid_add(&grid, "step");
  if (tokens) grid_add(&grid, "tokens/s");
  grid_add(&grid, "collectives");
  grid_add(&grid, "to auto");
  grid_add(&grid, "setting");
  for (size_t i = 0; i < prediction->row_count; i++) {
    const struct predict_row* row = &prediction->rows[i];
    grid_add(&grid, row->label);
    if (steps) add_cell(&grid, add_time, row->step_ps, "");
    if (tokens) add_cell(&grid, add_number, prediction_rate(prediction, row), "");
    add_cell(&grid, add_time, row->collectives_ps, "");
    add_cell(&grid, add_to_auto, prediction_to_auto(prediction, row), "x");
    grid_add(&grid, prediction_setting(prediction, row));
  }
  sw_text_add(out, "\n");
  grid_finish(&grid, 2, out);
}

/* --- one call ---------------------------------------------------------------------------------------------------- */

static void add_calls(const struct prediction* prediction, struct sw_text* out) {
  struct grid grid = grid_start(prediction->row_count + 2);
  grid_add(&grid, "calls");
  grid_add(&grid, "one call");
  for (size_t i = 0; i < prediction->row_count; i++) grid_add(&grid, prediction->rows[i].label);
  for (size_t i = 0; i < prediction->workload->call_count; i++) {
    const struct workload_calls* calls = &prediction->workload->calls[i];
    struct sw_text cell = SW_TEXT_EMPTY;
    sw_text_add_whole(&cell, calls->count, 1);
    grid_take(&grid, &cell);
    prediction_add_call(&cell, calls);
    grid_take(&grid, &cell);
    for (size_t k = 0; k < prediction->row_count; k++) {
      const struct sw_time* time = prediction->rows[k].prices[i].time;
      add_cell(&grid, add_time, time ? (double)time->median_ps : 0, "");
    }
  }
  sw_text_add(out, "\n");
  grid_finish(&grid, 2, out);
}

static void add_notes(const struct prediction* prediction, struct sw_text* out) {
  size_t count = prediction->note_count;
  if (count) sw_text_add(out, "\n");
  for (size_t i = 0; i < count && i < MOST_NOTES; i++) screen_paragraph(out, 2, "-", prediction->notes[i]);
  if (count > MOST_NOTES) sw_text_printf(out, "- and %zu more; --json has all\n", count - MOST_NOTES);
}

void prediction_as_text(const struct prediction* prediction, const char* origin, struct sw_text* out) {
  add_workload(prediction, out);
  add_times_used(prediction, origin, out);
  add_computed(prediction, out);
  add_rows(prediction, out);
  add_calls(prediction, out);
  add_notes(prediction, out);
}
