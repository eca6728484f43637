#include "calibrate/report.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decide/digest.h"
#include "ground/names.h"
#include "screen.h"

static bool on_terminal(void) {
  return isatty(STDERR_FILENO);
}

static void clear_line(void) {
  if (on_terminal()) fputs("\r\033[K", stderr);
}

void report_waiting(void* context, const char* text) {
  (void)context;
  clear_line();
  if (on_terminal()) fprintf(stderr, "%.100s", text);
}

static uint64_t largest_size(const struct study_plan* plan) {
  return plan->size_count ? plan->sizes[plan->size_count - 1] : 0;
}

void report_start(struct crew* crew, const struct study_plan* plan) {
  const struct fabric_report* report = crew_report(crew, 0);
  struct sw_text text = SW_TEXT_EMPTY;
  clear_line();
  sw_text_printf(&text, "%u x %s, NCCL %d.%d.%d, driver %s; %zu sizes, ", crew_ranks(crew), report->gpu,
                 report->nccl / 10000, report->nccl / 100 % 100, report->nccl % 100, report->driver, plan->size_count);
  sw_add_size_words(&text, plan->sizes[0]);
  sw_text_add(&text, " to ");
  sw_add_size_words(&text, largest_size(plan));
  sw_text_printf(&text, "; budget %.0f s; up to ", plan->budget_us / 1e6);
  sw_add_size_words(&text, 6 * largest_size(plan));
  sw_text_add(&text, " of device memory a rank\n");
  fputs(sw_text_string(&text), stderr);
  sw_text_free(&text);
}

static void add_call(struct sw_text* text, const struct fabric_call* call) {
  sw_text_printf(text, "%s ", sw_value_word(&sw_collectives, call->collective));
  sw_add_size_words(text, call->bytes);
}

static void in_flight(void* context, const struct fabric_call* call, struct sw_choice choice) {
  (void)context;
  if (!on_terminal()) return;
  struct sw_text text = SW_TEXT_EMPTY;
  add_call(&text, call);
  sw_text_add(&text, ": checking ");
  sw_add_choice(&text, choice);
  clear_line();
  fputs(sw_text_string(&text), stderr);
  sw_text_free(&text);
}

static void looked(void* context, const struct fabric_call* call, const struct race* race, size_t left) {
  struct race_result own;
  struct race_result best;
  (void)context;
  if (!on_terminal()) return;
  struct sw_text text = SW_TEXT_EMPTY;
  race_result(race, 0, &own);
  race_result(race, race_leader(race), &best);
  add_call(&text, call);
  sw_text_printf(&text, ": auto %.1f us, best so far %.1f us, %zu choices in the race", own.median_us, best.median_us,
                 left);
  clear_line();
  fputs(sw_text_string(&text), stderr);
  sw_text_free(&text);
}

static void excluded(void* context, const struct fabric_call* call, struct sw_choice choice, const char* why) {
  (void)context;
  struct sw_text text = SW_TEXT_EMPTY;
  clear_line();
  add_call(&text, call);
  sw_text_add(&text, ": ");
  sw_add_choice(&text, choice);
  fprintf(stderr, "%s excluded: %s\n", sw_text_string(&text), why);
  sw_text_free(&text);
}

struct measure_watch report_watch(void) {
  return (struct measure_watch){.in_flight = in_flight, .looked = looked, .excluded = excluded};
}

void report_end(void) {
  clear_line();
}

/* --- the end ----------------------------------------------------------------------------------------------------- */

/* The best choice that would win at a point; 0: auto. */
static size_t winner_of(const struct study* study, const struct measured* point) {
  double min_gain = (double)study->plan->min_gain / (double)SW_ONE;
  size_t best = 0;
  for (size_t i = 1; i < point->count; i++) {
    const struct measured_choice* choice = &point->choices[i];
    bool can = !choice->candidate.excluded[0] && choice->result.samples >= 6;
    bool gains = choice->result.median_us <= point->choices[0].result.median_us * (1 - min_gain);
    if (can && gains && choice->result.median_us < point->choices[best].result.median_us) best = i;
  }
  return best;
}

static const struct verified* verified_at(const struct study_table* table, uint64_t bytes) {
  for (size_t i = 0; i < table->verified_count; i++)
    if (table->verified[i].bytes == bytes) return &table->verified[i];
  return NULL;
}

static void add_us(struct grid* grid, double us) {
  struct sw_text cell = SW_TEXT_EMPTY;
  sw_add_time_words(&cell, (uint64_t)(us * 1e6 + 0.5));
  grid_take(grid, &cell);
}

static void add_point(struct grid* grid, const struct study* study, const struct study_table* table,
                      const struct measured* point) {
  struct sw_text cell = SW_TEXT_EMPTY;
  size_t best = winner_of(study, point);
  const struct verified* v = verified_at(table, point->call.bytes);
  sw_add_size_words(&cell, point->call.bytes);
  grid_take(grid, &cell);
  add_us(grid, point->choices[0].result.median_us);
  sw_add_choice(&cell, point->choices[0].candidate.probe.algo < 0
                           ? SW_AUTO
                           : (struct sw_choice){(int8_t)point->choices[0].candidate.probe.algo,
                                                (int8_t)point->choices[0].candidate.probe.proto,
                                                (uint8_t)point->choices[0].candidate.probe.channels});
  grid_take(grid, &cell);
  sw_add_choice(&cell, point->choices[best].candidate.choice);
  grid_take(grid, &cell);
  add_us(grid, point->choices[best].result.median_us);
  if (v)
    sw_text_printf(&cell, "%.1f%% (%.1f to %.1f)", v->pair.gain * 100, v->pair.low * 100, v->pair.high * 100);
  else
    sw_text_add(&cell, "-");
  grid_take(grid, &cell);
  grid_add(grid, !v ? "" : v->holds ? "holds" : "withdrawn");
}

static void print_table(const struct study* study, const struct study_table* table, struct sw_text* out) {
  static const char* const titles[] = {"size", "auto", "which ran", "best choice", "time", "gain afresh (95%)", ""};
  struct grid grid = grid_start(7);
  sw_text_printf(out, "\n%s, %u ranks on %u node%s\n", sw_value_word(&sw_collectives, table->collective), table->ranks,
                 table->nodes, table->nodes == 1 ? "" : "s");
  for (size_t i = 0; i < 7; i++) grid_add(&grid, titles[i]);
  for (size_t i = 0; i < table->count; i++) add_point(&grid, study, table, table->points[i]);
  grid_finish(&grid, 2, out);
}

static void count_verified(const struct study* study, size_t* held, size_t* withdrawn, double* least, double* most) {
  *held = *withdrawn = 0;
  for (size_t i = 0; i < study->count; i++)
    for (size_t k = 0; k < study->tables[i].verified_count; k++) {
      const struct verified* v = &study->tables[i].verified[k];
      if (!v->holds) {
        (*withdrawn)++;
        continue;
      }
      if (!(*held)++) *least = *most = v->pair.gain;
      if (v->pair.gain < *least) *least = v->pair.gain;
      if (v->pair.gain > *most) *most = v->pair.gain;
    }
}

static bool has_points(const struct study* study) {
  for (size_t i = 0; i < study->count; i++)
    if (study->tables[i].count) return true;
  return false;
}

static void add_worth(const struct study* study, struct sw_text* out) {
  size_t held;
  size_t withdrawn;
  double least = 0;
  double most = 0;
  count_verified(study, &held, &withdrawn, &least, &most);
  if (!has_points(study)) {
    sw_text_add(out, "Nothing was measured.\n");
    return;
  }
  if (held)
    sw_text_printf(out, "\nDeploying it gains %.1f%% to %.1f%% at the %zu sizes where it was compared afresh and held",
                   least * 100, most * 100, held);
  else if (study->end != STUDY_DONE)
    sw_text_add(out, "\nNot compared afresh: the run ended before that");
  else
    sw_text_add(out, "\nNothing to gain here: NCCL's own choices are as good as any at the sizes measured");
  if (withdrawn) sw_text_printf(out, "; withdrawn at %zu", withdrawn);
  sw_text_printf(out, ".\nMeasuring took %.1f s of calls, comparing %.1f s; the workers were started %u time%s.\n",
                 study->measuring_us / 1e6, study->verifying_us / 1e6, crew_starts(study->crew),
                 crew_starts(study->crew) == 1 ? "" : "s");
}

static void print_json(const struct study* study) {
  json_t* root = json_object();
  json_t* points = json_array();
  for (size_t t = 0; t < study->count; t++)
    for (size_t i = 0; i < study->tables[t].count; i++) {
      const struct study_table* table = &study->tables[t];
      const struct measured* point = table->points[i];
      size_t best = winner_of(study, point);
      const struct verified* v = verified_at(table, point->call.bytes);
      struct sw_text choice = SW_TEXT_EMPTY;
      sw_add_choice(&choice, point->choices[best].candidate.choice);
      json_array_append_new(
          points, json_pack("{s:s,s:i,s:i,s:I,s:f,s:s,s:f,s:o}", "collective",
                            sw_value_word(&sw_collectives, table->collective), "ranks", (int)table->ranks, "nodes",
                            (int)table->nodes, "bytes", (json_int_t)point->call.bytes, "auto_us",
                            point->choices[0].result.median_us, "choice", sw_text_string(&choice), "time_us",
                            point->choices[best].result.median_us, "verified_gain",
                            v && v->holds ? json_real(v->pair.gain) : json_null()));
      sw_text_free(&choice);
    }
  json_object_set_new(root, "points", points);
  json_object_set_new(root, "measuring_s", json_real(study->measuring_us / 1e6));
  char* text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
  if (text) puts(text);
  free(text);
  json_decref(root);
}

void report_print(const struct study* study, bool json) {
  struct sw_text out = SW_TEXT_EMPTY;
  if (json) {
    print_json(study);
    return;
  }
  for (size_t i = 0; i < study->count; i++)
    if (study->tables[i].count) print_table(study, &study->tables[i], &out);
  add_worth(study, &out);
  fputs(sw_text_string(&out), stdout);
  sw_text_free(&out);
}

void report_deployment(const char* path, const char* profile) {
  static struct sw_diags diags;
  struct sw_digest digest;
  sw_diags_start(&diags, path);
  struct sw_profile* read = profile ? sw_profile_read(profile, strlen(profile), &diags) : NULL;
  if (read && sw_digest_compute(read, &digest))
    printf(
        "\nWritten to %s. On every rank:\n  NCCL_TUNER_PLUGIN=sizewise\n  NCCL_SIZEWISE_PROFILE=%s\n"
        "  NCCL_SIZEWISE_EXPECT=%s\n",
        path, path, digest.hex);
  sw_profile_free(read);
}
