#include "calibrate/report.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/exhaustive_report.h"
#include "decide/digest.h"
#include "ground/names.h"
#include "screen.h"

/* --- the end ----------------------------------------------------------------------------------------------------- */

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
  size_t best = study_winner(study, point);
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

static json_t* passthrough_array(const struct passthrough* passthrough) {
  json_t* array = json_array();
  for (size_t i = 0; passthrough && passthrough->pairs && i < passthrough->count; i++) {
    const struct passthrough_size* size = &passthrough->sizes[i];
    json_array_append_new(
        array, json_pack("{s:I,s:f,s:f,s:f,s:b}", "bytes", (json_int_t)size->call.bytes, "difference", size->difference,
                         "low", size->low, "high", size->high, "differs", passthrough_differs(size)));
  }
  return array;
}

static void print_json(const struct study* study, const struct exhaustive* exhaustive, const struct raw* raw) {
  json_t* root = json_object();
  json_t* points = json_array();
  for (size_t t = 0; t < study->count; t++)
    for (size_t i = 0; i < study->tables[t].count; i++) {
      const struct study_table* table = &study->tables[t];
      const struct measured* point = table->points[i];
      size_t best = study_winner(study, point);
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
  json_object_set_new(root, "passthrough", passthrough_array(study->passthrough));
  json_object_set_new(root, "measuring_s", json_real(study->measuring_us / 1e6));
  if (exhaustive) json_object_set_new(root, "exhaustive", exhaustive_json(exhaustive));
  if (raw->path)
    json_object_set_new(root, "raw", json_pack("{s:s,s:I}", "file", raw->path, "samples", (json_int_t)raw->samples));
  char* text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
  if (text) puts(text);
  free(text);
  json_decref(root);
}

static void add_raw(const struct raw* raw, struct sw_text* out) {
  if (raw->path) sw_text_printf(out, "%zu samples written to %s.\n", raw->samples, raw->path);
}

void report_print(const struct study* study, const struct exhaustive* exhaustive, const struct raw* raw, bool json) {
  struct sw_text out = SW_TEXT_EMPTY;
  if (json) {
    print_json(study, exhaustive, raw);
    return;
  }
  for (size_t i = 0; i < study->count; i++)
    if (study->tables[i].count) print_table(study, &study->tables[i], &out);
  add_worth(study, &out);
  if (study->passthrough) passthrough_add_words(study->passthrough, &out);
  if (study->passthrough) sw_text_add(&out, "\n");
  if (exhaustive) exhaustive_add(exhaustive, &out);
  add_raw(raw, &out);
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
