#include <jansson.h>
#include <stdlib.h>

#include "ground/names.h"
#include "json_text.h"
#include "predict/prediction.h"

#define PS_PER_US 1e6

static json_t* word_or_null(const struct sw_vocabulary* words, int value) {
  return value < 0 ? json_null() : json_string(sw_value_word(words, value));
}

static json_t* above_zero(double value) {
  return value > 0 ? json_real(value) : json_null();
}

static json_t* workload_object(const struct workload* workload) {
  json_t* object = json_object();
  json_object_set_new(object, "name", json_string(workload->name));
  json_object_set_new(object, "kind", json_text(workload->kind));
  json_object_set_new(object, "source", json_text(workload->source));
  json_object_set_new(object, "note", json_text(workload->note));
  return object;
}

static json_t* profile_object(const struct sw_profile* profile, const char* origin) {
  json_t* object = json_object();
  json_object_set_new(object, "name", json_string(profile->name));
  json_object_set_new(object, "origin", json_text(origin));
  json_object_set_new(object, "kind", json_string(sw_value_word(&sw_kinds, (int)profile->kind)));
  json_object_set_new(object, "source", json_text(profile->provenance[SW_PROVENANCE_SOURCE]));
  json_object_set_new(object, "note", json_text(profile->provenance[SW_PROVENANCE_NOTE]));
  return object;
}

static json_t* step_object(const struct prediction* prediction) {
  const struct workload_step* step = &prediction->workload->step;
  if (!step->known) return json_null();
  json_t* object = json_object();
  json_object_set_new(object, "what", json_text(step->what));
  json_object_set_new(object, "tokens", above_zero(step->tokens));
  json_object_set_new(object, "time_us", json_real(step->seconds * 1e6));
  json_object_set_new(object, "rest_us",
                      prediction->rest_known ? json_real(prediction->rest_ps / PS_PER_US) : json_null());
  return object;
}

static json_t* call_object(const struct workload_calls* calls, const struct call_price* price) {
  const struct sw_time* time = price->time;
  struct sw_choice choice = time ? time->choice : SW_AUTO;
  json_t* object = json_object();
  json_object_set_new(object, "collective", word_or_null(&sw_collectives, calls->collective));
  json_object_set_new(object, "bytes", json_integer((json_int_t)calls->bytes));
  json_object_set_new(object, "count", json_integer((json_int_t)calls->count));
  json_object_set_new(object, "algo", word_or_null(&sw_algorithms, choice.algo));
  json_object_set_new(object, "proto", word_or_null(&sw_protocols, choice.proto));
  json_object_set_new(object, "channels", choice.channels ? json_integer(choice.channels) : json_null());
  json_object_set_new(object, "time_us", time ? json_real((double)time->median_ps / PS_PER_US) : json_null());
  json_object_set_new(object, "remark", json_text(price->remark));
  return object;
}

static json_t* row_object(const struct prediction* prediction, const struct predict_row* row) {
  json_t* object = json_object();
  json_t* calls = json_array();
  json_object_set_new(object, "row", json_string(row->label));
  json_object_set_new(object, "setting", json_text(prediction_setting(prediction, row)));
  json_object_set_new(object, "step_us", above_zero(row->step_ps / PS_PER_US));
  json_object_set_new(object, "tokens_per_second", above_zero(prediction_rate(prediction, row)));
  json_object_set_new(object, "collectives_us", above_zero(row->collectives_ps / PS_PER_US));
  json_object_set_new(object, "to_auto", above_zero(prediction_to_auto(prediction, row)));
  for (size_t i = 0; i < prediction->workload->call_count; i++)
    json_array_append_new(calls, call_object(&prediction->workload->calls[i], &row->prices[i]));
  json_object_set_new(object, "calls", calls);
  return object;
}

bool prediction_as_json(const struct prediction* prediction, const char* origin, struct sw_text* out) {
  json_t* root = json_object();
  json_t* rows = json_array();
  json_t* notes = json_array();
  for (size_t i = 0; i < prediction->row_count; i++)
    json_array_append_new(rows, row_object(prediction, &prediction->rows[i]));
  for (size_t i = 0; i < prediction->note_count; i++) json_array_append_new(notes, json_text(prediction->notes[i]));
  json_object_set_new(root, "workload", workload_object(prediction->workload));
  json_object_set_new(root, "profile", profile_object(prediction->profile, origin));
  json_object_set_new(root, "nodes", json_integer(prediction->nodes));
  json_object_set_new(root, "ranks", json_integer(prediction->ranks));
  json_object_set_new(root, "step", step_object(prediction));
  json_object_set_new(root, "rows", rows);
  json_object_set_new(root, "notes", notes);
  char* text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
  json_decref(root);
  if (!text) return false;
  sw_text_printf(out, "%s\n", text);
  free(text);
  return true;
}
