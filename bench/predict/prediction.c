#include "predict/prediction.h"

#include <stdio.h>

#include "ground/names.h"
#include "select/price.h"

#define PS_PER_SECOND 1e12

bool prediction_prices(const struct workload_calls* calls) {
  return calls->collective != WORKLOAD_ANY_COLLECTIVE;
}

void prediction_add_call(struct sw_text* text, const struct workload_calls* calls) {
  sw_text_printf(text, "%s ",
                 prediction_prices(calls) ? sw_value_word(&sw_collectives, calls->collective) : "any collective");
  sw_add_size_words(text, calls->bytes);
}

const char* prediction_setting(const struct prediction* prediction, const struct predict_row* row) {
  if (row->kind == PREDICT_PROFILE) return prediction->profile->name;
  return row->setting && row->setting->text[0] ? row->setting->text : "nothing forced";
}

double prediction_rate(const struct prediction* prediction, const struct predict_row* row) {
  return row->step_ps > 0 ? prediction->workload->step.tokens / (row->step_ps / PS_PER_SECOND) : 0;
}

static const struct predict_row* find_row(const struct prediction* prediction, enum predict_kind kind) {
  for (size_t i = 0; i < prediction->row_count; i++)
    if (prediction->rows[i].kind == kind) return &prediction->rows[i];
  return NULL;
}

double prediction_to_auto(const struct prediction* prediction, const struct predict_row* row) {
  const struct predict_row* own = find_row(prediction, PREDICT_AUTO);
  return own->complete && row->complete && own->collectives_ps > 0 ? row->collectives_ps / own->collectives_ps : 0;
}

/* --- what is computed with --------------------------------------------------------------------------------------- */

struct work {
  struct sw_arena* arena;
  struct prediction* out;
  struct sw_plan* plan;
  const struct sw_point** points; /* one for each call; NULL: its size was not measured */
  size_t note_room;
  bool failed; /* memory ran out */
};

/* Takes a note over. */
static void note(struct work* work, struct sw_text* text) {
  const char* kept = text->failed ? NULL : sw_arena_copy(work->arena, sw_text_string(text), text->length);
  sw_text_free(text);
  if (kept && work->out->note_count < work->note_room)
    work->out->notes[work->out->note_count++] = kept;
  else
    work->failed = true;
}

static void note_words(struct work* work, const char* words) {
  struct sw_text text = SW_TEXT_EMPTY;
  sw_text_add(&text, words);
  note(work, &text);
}

static const struct sw_table* table_of(const struct prediction* prediction, const struct workload_calls* calls) {
  return prediction_prices(calls)
             ? sw_profile_table(prediction->profile, calls->collective, prediction->nodes, prediction->ranks)
             : NULL;
}

/* Points ascend. */
static const struct sw_point* point_of(const struct sw_table* table, uint64_t bytes) {
  size_t low = 0;
  size_t high = table ? table->count : 0;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (table->points[middle].bytes < bytes)
      low = middle + 1;
    else
      high = middle;
  }
  return table && low < table->count && table->points[low].bytes == bytes ? &table->points[low] : NULL;
}

/* "12 KiB, 6 MiB, 96 MiB", of a long table its ends. */
static void add_measured(struct sw_text* text, const struct sw_table* table) {
  enum { MOST_LISTED = 8 };
  size_t step = table->count > MOST_LISTED ? table->count - 1 : 1;
  for (size_t i = 0; i < table->count; i += step) {
    sw_text_add(text, i == 0 ? "" : step > 1 ? " to " : ", ");
    sw_add_size_words(text, table->points[i].bytes);
  }
}

static void note_missing_size(struct work* work, const struct workload_calls* calls) {
  const struct sw_table* table = table_of(work->out, calls);
  struct sw_text text = SW_TEXT_EMPTY;
  prediction_add_call(&text, calls);
  if (!prediction_prices(calls)) {
    sw_text_printf(&text, ": the workload does not name the collective, so it is not priced%s",
                   work->out->workload->step.known ? " and stays in the rest" : "");
  } else if (table && table->count) {
    sw_text_add(&text, ": not measured; the profile has ");
    add_measured(&text, table);
  } else {
    sw_text_printf(&text, ": not measured; the profile has no %s for ",
                   sw_value_word(&sw_collectives, calls->collective));
    sw_add_shape(&text, work->out->ranks, work->out->nodes);
  }
  note(work, &text);
}

static void find_points(struct work* work) {
  const struct workload* workload = work->out->workload;
  bool missing = false;
  for (size_t i = 0; i < workload->call_count; i++) {
    const struct workload_calls* calls = &workload->calls[i];
    work->points[i] = point_of(table_of(work->out, calls), calls->bytes);
    if (!work->points[i]) note_missing_size(work, calls);
    missing = missing || (!work->points[i] && prediction_prices(calls));
  }
  if (missing) note_words(work, "'sizewise calibrate --sizes-from WORKLOAD' measures the sizes of a workload");
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

static struct call_price price(const struct work* work, const struct predict_row* row, size_t call) {
  const struct sw_point* point = work->points[call];
  int collective = work->out->workload->calls[call].collective;
  switch (row->kind) {
    case PREDICT_GIVEN:
    case PREDICT_SET:
      return price_setting(work->arena, work->out->profile, point, collective, row->setting);
    case PREDICT_AUTO:
      return price_auto(point);
    case PREDICT_PROFILE:
      break;
  }
  return price_plan(work->arena, point, collective, work->plan);
}

/* Says what a price is not. */
static void note_price(struct work* work, const struct predict_row* row, size_t call, const struct call_price* price) {
  if (price->time && !price->remark && !price->time->excluded) return;
  struct sw_text text = SW_TEXT_EMPTY;
  sw_text_printf(&text, "%s: ", row->label);
  prediction_add_call(&text, &work->out->workload->calls[call]);
  sw_text_add(&text, " under ");
  if (!price->time) {
    sw_text_printf(&text, "%.200s: not measured", price->remark ? price->remark : "these settings");
  } else {
    sw_add_choice(&text, (struct sw_choice){price->time->choice.algo, price->time->choice.proto, 0});
    sw_text_printf(&text, ": %s", price->remark ? price->remark : "");
    if (price->time->excluded)
      sw_text_printf(&text, "%sthe profile excludes it, %.120s", price->remark ? "; " : "", price->time->excluded);
  }
  note(work, &text);
}

static void add_row(struct work* work, enum predict_kind kind, const char* label,
                    const struct predict_setting* setting) {
  const struct workload* workload = work->out->workload;
  struct predict_row* row = &work->out->rows[work->out->row_count++];
  struct call_price* prices = sw_arena_allocate(work->arena, workload->call_count + 1, sizeof *prices);
  *row = (struct predict_row){.kind = kind, .setting = setting, .prices = prices};
  snprintf(row->label, sizeof row->label, "%s", label);
  if (!prices) {
    work->failed = true;
    return;
  }
  size_t priced = 0;
  bool missing = false;
  for (size_t i = 0; i < workload->call_count; i++) {
    if (!prediction_prices(&workload->calls[i])) continue;
    if (work->points[i]) {
      prices[i] = price(work, row, i);
      note_price(work, row, i, &prices[i]);
    }
    priced++;
    missing = missing || !prices[i].time;
    if (prices[i].time) row->collectives_ps += (double)workload->calls[i].count * (double)prices[i].time->median_ps;
  }
  row->complete = priced && !missing;
  if (!row->complete) row->collectives_ps = 0;
}

static void add_rows(struct work* work, const struct predict_setting* given, const struct predict_setting* sets,
                     size_t set_count) {
  if (work->out->workload->step.known) add_row(work, PREDICT_GIVEN, "given", given);
  add_row(work, PREDICT_AUTO, "auto", NULL);
  for (size_t i = 0; i < set_count; i++) {
    char label[sizeof work->out->rows[0].label];
    snprintf(label, sizeof label, "set %zu", i + 1);
    add_row(work, PREDICT_SET, label, &sets[i]);
  }
  add_row(work, PREDICT_PROFILE, "profile", NULL);
}

/* --- the step ---------------------------------------------------------------------------------------------------- */

static void add_steps(struct work* work) {
  struct prediction* out = work->out;
  const struct predict_row* given = find_row(out, PREDICT_GIVEN);
  if (!given) return;
  if (!given->complete) {
    note_words(work, "no step time: what the collectives take in the step as given is not known");
    return;
  }
  out->rest_ps = out->workload->step.seconds * PS_PER_SECOND - given->collectives_ps;
  out->rest_known = true;
  if (out->rest_ps < 0) {
    note_words(work,
               "no step time: as given, the collectives alone take longer than the whole step. The workload and the "
               "profile contradict each other");
    return;
  }
  for (size_t i = 0; i < out->row_count; i++)
    if (out->rows[i].complete) out->rows[i].step_ps = out->rest_ps + out->rows[i].collectives_ps;
}

static bool is_good(const struct prediction* prediction) {
  for (size_t i = 0; i < prediction->row_count; i++) {
    const struct predict_row* row = &prediction->rows[i];
    if (!row->complete || (prediction->workload->step.known && row->step_ps <= 0)) return false;
  }
  return true;
}

bool prediction_compute(struct sw_arena* arena, const struct predict_setting* given, const struct predict_setting* sets,
                        size_t set_count, struct prediction* out) {
  size_t calls = out->workload->call_count;
  struct work work = {.arena = arena, .out = out, .note_room = calls * (PREDICT_MOST_ROWS + 1) + 2};
  work.plan = sw_plan_compile(out->profile, out->nodes, out->ranks);
  work.points = sw_arena_allocate(arena, calls + 1, sizeof *work.points);
  out->notes = sw_arena_allocate(arena, work.note_room, sizeof *out->notes);
  bool good = work.plan && work.points && out->notes;
  if (good) {
    find_points(&work);
    add_rows(&work, given, sets, set_count);
    add_steps(&work);
    out->good = is_good(out);
  }
  sw_plan_free(work.plan);
  return good && !work.failed;
}
