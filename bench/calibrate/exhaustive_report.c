#include "calibrate/exhaustive_report.h"

#include "ground/names.h"
#include "ground/number.h"
#include "screen.h"

/* --- for people -------------------------------------------------------------------------------------------------- */

static void add_choice(struct grid* grid, struct sw_choice choice) {
  struct sw_text cell = SW_TEXT_EMPTY;
  sw_add_choice(&cell, choice);
  grid_take(grid, &cell);
}

static void add_gain(struct grid* grid, double gain) {
  struct sw_text cell = SW_TEXT_EMPTY;
  sw_text_printf(&cell, "%.1f%%", gain * 100);
  grid_take(grid, &cell);
}

/* What was not compared, as it is the same thing as auto, gains 0 without an interval. */
static bool is_auto(struct fresh_gain gain) {
  return gain.low == 0 && gain.high == 0;
}

static void add_fresh(struct grid* grid, struct fresh_gain gain) {
  struct sw_text cell = SW_TEXT_EMPTY;
  if (is_auto(gain))
    sw_text_add(&cell, "as auto");
  else
    sw_text_printf(&cell, "%.1f%% (%.1f to %.1f)", gain.gain * 100, gain.low * 100, gain.high * 100);
  grid_take(grid, &cell);
}

static void add_point(struct grid* grid, const struct exhaustive_point* point) {
  struct sw_text cell = SW_TEXT_EMPTY;
  sw_add_size_words(&cell, point->call.bytes);
  grid_take(grid, &cell);
  add_choice(grid, point->best);
  add_gain(grid, point->best_gain);
  add_fresh(grid, point->best_fresh);
  add_choice(grid, point->decided);
  add_gain(grid, point->decided_gain);
  add_fresh(grid, point->decided_fresh);
}

static bool same_table(const struct exhaustive_point* a, const struct exhaustive_point* b) {
  return a->call.collective == b->call.collective && a->ranks == b->ranks && a->nodes == b->nodes;
}

/* The rows from `from` on that belong together; returns where the next ones begin. */
static size_t add_table(const struct exhaustive* exhaustive, size_t from, struct sw_text* out) {
  static const char* const titles[] = {"size", "exhaustive: best", "gain", "afresh (95%)", "calibrate decides",
                                       "gain", "afresh (95%)"};
  const struct exhaustive_point* first = &exhaustive->points[from];
  struct grid grid = grid_start(7);
  sw_text_printf(out, "\n%s, %u ranks on %u node%s: the exhaustive sweep, and what calibrate decides\n",
                 sw_value_word(&sw_collectives, first->call.collective), first->ranks, first->nodes,
                 first->nodes == 1 ? "" : "s");
  for (size_t i = 0; i < 7; i++) grid_add(&grid, titles[i]);
  while (from < exhaustive->count && same_table(first, &exhaustive->points[from]))
    add_point(&grid, &exhaustive->points[from++]);
  grid_finish(&grid, 2, out);
  return from;
}

static void add_cost(const struct exhaustive* exhaustive, struct sw_text* out) {
  sw_text_printf(out, "\nThe sweep took %.3f s of calls", exhaustive->sweep_us / 1e6);
  if (exhaustive->kept)
    sw_text_printf(out, "; calibrate's cost is not known: an earlier run measured %zu of these sizes.\n",
                   exhaustive->kept);
  else
    sw_text_printf(out, ", calibrate %.3f s: %.1f times less.\n", exhaustive->calibrate_us / 1e6,
                   exhaustive->sweep_us / exhaustive->calibrate_us);
}

/* What lies above auto is a harder measure than the speed-up; it says little where there is next to nothing above. */
static void add_reach(const struct exhaustive* exhaustive, struct sw_text* out) {
  struct speedups speedups = exhaustive_speedups(exhaustive);
  sw_text_printf(out,
                 "Afresh, auto's time / the choice's is %.4f for the sweep's best and %.4f for the profile (geometric\n"
                 "means over %zu size%s): calibrate reaches %.1f%% of the exhaustive sweep's gain",
                 speedups.best, speedups.decided, exhaustive->count, exhaustive->count == 1 ? "" : "s",
                 speedups.decided / speedups.best * 100);
  if (speedups.best > 1.001)
    sw_text_printf(out, ",\nthe ratio of the two; of what lies above auto it reaches %.1f%%",
                   (speedups.decided - 1) / (speedups.best - 1) * 100);
  sw_text_add(out, ".\n");
}

/* Where the profile is slower than auto even at the better end of the interval, if anywhere. */
static void add_worst(const struct exhaustive* exhaustive, struct sw_text* out) {
  const struct exhaustive_point* worst = &exhaustive->points[0];
  for (size_t i = 1; i < exhaustive->count; i++)
    if (exhaustive->points[i].decided_fresh.high < worst->decided_fresh.high) worst = &exhaustive->points[i];
  if (worst->decided_fresh.high >= 0) {
    sw_text_add(out, "The profile is nowhere slower than auto beyond its interval.\n");
    return;
  }
  sw_text_add(out, "The profile is slower than auto at most by ");
  sw_text_printf(out, "%.1f%% beyond its interval, at ", -worst->decided_fresh.high * 100);
  sw_add_size_words(out, worst->call.bytes);
  sw_text_add(out, ".\n");
}

void exhaustive_add(const struct exhaustive* exhaustive, struct sw_text* out) {
  for (size_t from = 0; from < exhaustive->count;) from = add_table(exhaustive, from, out);
  if (exhaustive->count) add_cost(exhaustive, out);
  if (exhaustive->count) add_reach(exhaustive, out);
  if (exhaustive->count) add_worst(exhaustive, out);
  if (!exhaustive->wanted) sw_text_add(out, "\nThe run ended before the exhaustive sweep.\n");
  if (exhaustive->count < exhaustive->wanted)
    sw_text_printf(out, "The exhaustive sweep ended after %zu of %zu sizes.\n", exhaustive->count, exhaustive->wanted);
}

/* --- for programs ------------------------------------------------------------------------------------------------ */

static json_t* choice_json(struct sw_choice choice, double gain, struct fresh_gain fresh) {
  struct sw_text text = SW_TEXT_EMPTY;
  sw_add_choice(&text, choice);
  json_t* object = json_pack("{s:s,s:f,s:f,s:f,s:f}", "choice", sw_text_string(&text), "gain", gain, "fresh_gain",
                             fresh.gain, "fresh_low", fresh.low, "fresh_high", fresh.high);
  sw_text_free(&text);
  return object;
}

static json_t* point_json(const struct exhaustive_point* point) {
  return json_pack("{s:s,s:i,s:i,s:I,s:s,s:I,s:f,s:I,s:o,s:o}", "collective",
                   sw_value_word(&sw_collectives, point->call.collective), "ranks", (int)point->ranks, "nodes",
                   (int)point->nodes, "bytes", (json_int_t)point->call.bytes, "mode",
                   point->call.mode == FABRIC_GRAPH ? "graph" : "stream", "choices", (json_int_t)point->choices,
                   "measuring_s", point->sweep_us / 1e6, "fresh_rounds", (json_int_t)point->fresh_rounds, "exhaustive",
                   choice_json(point->best, point->best_gain, point->best_fresh), "calibrate",
                   choice_json(point->decided, point->decided_gain, point->decided_fresh));
}

/* A number, or null where there is none yet. */
static json_t* number_or_null(bool known, double number) {
  return known ? json_real(number) : json_null();
}

json_t* exhaustive_json(const struct exhaustive* exhaustive) {
  struct speedups speedups = exhaustive_speedups(exhaustive);
  bool any = exhaustive->count > 0;
  bool known = any && !exhaustive->kept;
  json_t* points = json_array();
  for (size_t i = 0; i < exhaustive->count; i++) json_array_append_new(points, point_json(&exhaustive->points[i]));
  json_t* object =
      json_pack("{s:o,s:b,s:f,s:i}", "points", points, "complete", any && exhaustive->count == exhaustive->wanted,
                "measuring_s", exhaustive->sweep_us / 1e6, "rounds", EXHAUSTIVE_ROUNDS);
  json_object_set_new(object, "calibrate_measuring_s", number_or_null(known, exhaustive->calibrate_us / 1e6));
  json_object_set_new(object, "measuring_ratio",
                      number_or_null(known, known ? exhaustive->sweep_us / exhaustive->calibrate_us : 0));
  json_object_set_new(object, "exhaustive_speedup", number_or_null(any, speedups.best));
  json_object_set_new(object, "calibrate_speedup", number_or_null(any, speedups.decided));
  json_object_set_new(object, "reached", number_or_null(any, speedups.decided / speedups.best));
  return object;
}
