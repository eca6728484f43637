#include <stdlib.h>

#include "calibrate/exhaustive_report.h"
#include "calibrate/report_internal.h"
#include "ground/names.h"

static json_t* place_of(int collective, uint32_t ranks, uint64_t bytes) {
  return json_pack("{s:s,s:i,s:I}", "collective", sw_value_word(&sw_collectives, collective), "ranks", (int)ranks,
                   "bytes", (json_int_t)bytes);
}

static json_t* choice_of(struct sw_choice choice) {
  struct sw_text words = SW_TEXT_EMPTY;
  sw_add_choice(&words, choice);
  json_t* string = json_string(sw_text_string(&words));
  sw_text_free(&words);
  return string;
}

static json_t* decision_of(const struct study_table* table, const struct study_decision* d) {
  json_t* object = place_of(table->collective, table->ranks, d->bytes);
  bool is_auto = sw_choice_is_auto(d->choice);
  const struct measured_choice* best = d->point ? &d->point->choices[study_index_of(d->point, d->choice)] : NULL;
  json_object_set_new(object, "nodes", json_integer(table->nodes));
  json_object_set_new(object, "measured", json_boolean(d->point != NULL));
  json_object_set_new(object, "auto_us", d->point ? json_real(d->point->choices[0].result.median_us) : json_null());
  json_object_set_new(object, "choice", choice_of(d->choice));
  json_object_set_new(object, "time_us", best ? json_real(best->result.median_us) : json_null());
  json_object_set_new(object, "verified", is_auto ? json_null() : json_boolean(d->verified != NULL));
  json_object_set_new(object, "verified_gain", d->verified ? json_real(d->verified->pair.gain) : json_null());
  return object;
}

static json_t* points_of(const struct finished* finished) {
  struct study_decision decisions[STUDY_MOST_DECISIONS];
  json_t* array = json_array();
  for (size_t t = 0; t < finished->study->count; t++) {
    size_t count = report_decisions(finished, t, decisions);
    for (size_t i = 0; i < count; i++)
      if (decisions[i].point || !sw_choice_is_auto(decisions[i].choice))
        json_array_append_new(array, decision_of(&finished->study->tables[t], &decisions[i]));
  }
  return array;
}

/* --- what there is not ------------------------------------------------------------------------------------------- */

static json_t* unmeasured_of(const struct study* study) {
  const struct study_plan* plan = study->plan;
  json_t* array = json_array();
  for (size_t g = 0; g < plan->group_count; g++)
    for (size_t c = 0; c < plan->collective_count; c++)
      for (size_t i = 0; i < plan->size_count; i++)
        if (study_is_left(study, plan->collectives[c], plan->groups[g], plan->sizes[i]))
          json_array_append_new(
              array, place_of(plan->collectives[c], plan->groups[g], study_size(plan->sizes[i], plan->groups[g])));
  return array;
}

static json_t* failed_of(const struct study* study) {
  json_t* array = json_array();
  for (size_t i = 0; i < study->trouble_count; i++) {
    const struct study_trouble* trouble = &study->troubles[i];
    json_t* object = place_of(trouble->collective, trouble->ranks, trouble->bytes);
    json_object_set_new(object, "while", json_string(trouble->comparing ? "verifying" : "measuring"));
    json_object_set_new(object, "why", json_string(trouble->why));
    json_array_append_new(array, object);
  }
  return array;
}

static const char* word_of_end(const struct study* study) {
  static const char* const words[] = {[STUDY_GOES_ON] = "lost",
                                      [STUDY_DONE] = "done",
                                      [STUDY_SPENT] = "budget_spent",
                                      [STUDY_INTERRUPTED] = "interrupted",
                                      [STUDY_LOST] = "lost"};
  return words[study->end];
}

/* --- with the plugin and without --------------------------------------------------------------------------------- */

static json_t* passthrough_of(const struct passthrough* p) {
  static const char* const words[] = {
      [PASSTHROUGH_EQUAL] = "equal", [PASSTHROUGH_OPEN] = "not_shown_equal", [PASSTHROUGH_DIFFERS] = "differs"};
  if (!p || !p->pairs)
    return json_pack("{s:s,s:s,s:[]}", "verdict", "not_compared", "why", p && p->why[0] ? p->why : "the run ended",
                     "sizes");
  json_t* sizes = json_array();
  for (size_t i = 0; i < p->count; i++) {
    const struct passthrough_size* size = &p->sizes[i];
    json_array_append_new(
        sizes, json_pack("{s:I,s:f,s:f,s:f,s:s}", "bytes", (json_int_t)size->call.bytes, "difference", size->difference,
                         "low", size->low, "high", size->high, "verdict", words[passthrough_verdict(size)]));
  }
  return json_pack("{s:s,s:n,s:o}", "verdict", words[passthrough_worst(p)], "why", "sizes", sizes);
}

json_t* report_json(const struct finished* finished, const struct report_extras* extras) {
  const struct study* study = finished->study;
  const struct raw* raw = extras->raw;
  json_t* root = json_object();
  json_object_set_new(root, "end", json_string(word_of_end(study)));
  json_object_set_new(root, "points", points_of(finished));
  json_object_set_new(root, "not_measured", unmeasured_of(study));
  json_object_set_new(root, "failed", failed_of(study));
  json_object_set_new(root, "passthrough", passthrough_of(study->passthrough));
  json_object_set_new(root, "measuring_s", json_real(study->measuring_us / 1e6));
  if (extras->text) json_object_set_new(root, "profile", json_string(extras->text));
  if (extras->exhaustive) json_object_set_new(root, "exhaustive", exhaustive_json(extras->exhaustive));
  if (raw->path)
    json_object_set_new(root, "raw", json_pack("{s:s,s:I}", "file", raw->path, "samples", (json_int_t)raw->samples));
  return root;
}
