#include "explain_json.h"

#include "ground/names.h"

static const char* const sources[] = {[SW_UNIFORM_NO_TABLE] = "no_table",
                                      [SW_UNIFORM_NONE] = "none",
                                      [SW_UNIFORM_MEASURED] = "measured",
                                      [SW_UNIFORM_RULE] = "rule"};

static json_t* row_object(const struct uniform_row* row) {
  bool known = row->time_ps > 0 && row->auto_ps > 0;
  json_t* by_size = json_object();
  json_t* object = json_object();
  explain_set_choice(by_size, row->by_size);
  json_object_set_new(by_size, "time_us", explain_microseconds(row->by_size_ps));
  json_object_set_new(object, "bytes", json_integer((json_int_t)row->bytes));
  json_object_set_new(object, "auto_us", explain_microseconds(row->auto_ps));
  json_object_set_new(object, "time_us", explain_microseconds(row->time_ps));
  json_object_set_new(object, "ratio", known ? json_real(row->time_ps / row->auto_ps) : json_null());
  json_object_set_new(object, "by_size", by_size);
  return object;
}

static json_t* rows_array(const struct explanation* explanation, const struct part* part,
                          const struct sw_uniform* uniform) {
  json_t* rows = json_array();
  uint64_t bytes;
  for (size_t i = 0; explain_uniform_size(explanation, part, i, &bytes); i++) {
    struct uniform_row row = explain_uniform_row(explanation, part, uniform, bytes);
    json_array_append_new(rows, row_object(&row));
  }
  return rows;
}

static json_t* words_or_null(struct sw_text* text) {
  json_t* words = text->length ? json_string(sw_text_string(text)) : json_null();
  sw_text_free(text);
  return words;
}

json_t* explain_uniform_as_json(const struct explanation* explanation, const struct part* part) {
  const struct sw_profile* profile = explanation->opened->profile;
  struct sw_uniform uniform = sw_uniform_find(profile, part->collective, part->plan->nodes, part->plan->ranks);
  bool found = sw_uniform_is_found(&uniform);
  bool timed = uniform.source == SW_UNIFORM_MEASURED;
  struct sw_text text = SW_TEXT_EMPTY;
  json_t* object = json_object();
  explain_set_place(object, part);
  json_object_set_new(object, "source", json_string(sources[uniform.source]));
  explain_set_choice(object, found ? uniform.choice : SW_AUTO);
  json_object_set_new(object, "size_independent_sums", json_boolean(found && uniform.firm));
  json_object_set_new(object, "measured_sizes", json_integer((json_int_t)uniform.sizes));
  json_object_set_new(object, "worst_ratio", timed ? json_real(uniform.worst) : json_null());
  json_object_set_new(object, "worst_bytes", timed ? json_integer((json_int_t)uniform.at->bytes) : json_null());
  sw_add_uniform_reason(&text, &profile->policy, &uniform);
  json_object_set_new(object, "reason", words_or_null(&text));
  sw_add_uniform_doubt(&text, &uniform);
  json_object_set_new(object, "doubt", words_or_null(&text));
  json_object_set_new(object, "ignored_rules", json_integer((json_int_t)uniform.ignored_rules));
  json_object_set_new(object, "sizes", rows_array(explanation, part, &uniform));
  return object;
}
