#include "explain_json.h"

#include <stdlib.h>

#include "ground/names.h"

static json_t* word_or_null(const struct sw_vocabulary* words, int value) {
  return value < 0 ? json_null() : json_string(sw_value_word(words, value));
}

static json_t* count_or_null(uint64_t count) {
  return count ? json_integer((json_int_t)count) : json_null();
}

json_t* explain_microseconds(double picoseconds) {
  return picoseconds > 0 ? json_real(picoseconds / (double)SW_PS_PER_US) : json_null();
}

void explain_set_choice(json_t* object, struct sw_choice choice) {
  json_object_set_new(object, "algo", word_or_null(&sw_algorithms, choice.algo));
  json_object_set_new(object, "proto", word_or_null(&sw_protocols, choice.proto));
  json_object_set_new(object, "channels", count_or_null(choice.channels));
}

static json_t* settings_object(const struct sw_settings* settings) {
  json_t* object = json_object();
  for (size_t i = 0; i < settings->count; i++)
    json_object_set_new(object, settings->items[i].name, json_string(settings->items[i].value));
  return object;
}

void explain_set_place(json_t* object, const struct part* part) {
  json_object_set_new(object, "collective", json_string(sw_value_word(&sw_collectives, part->collective)));
  json_object_set_new(object, "nodes", count_or_null(part->plan->nodes));
  json_object_set_new(object, "ranks", count_or_null(part->plan->ranks));
}

static void set_decision(json_t* object, const struct sw_policy* policy, const struct sw_segment* segment) {
  struct sw_text reason = SW_TEXT_EMPTY;
  bool overrides = !sw_choice_is_auto(segment->choice) && segment->auto_ps > 0;
  explain_set_choice(object, segment->choice);
  json_object_set_new(object, "time_us", explain_microseconds(segment->time_ps));
  json_object_set_new(object, "auto_us", explain_microseconds(segment->auto_ps));
  json_object_set_new(object, "gain", overrides ? json_real(1 - segment->time_ps / segment->auto_ps) : json_null());
  json_object_set_new(object, "at_bytes", count_or_null(segment->at_bytes));
  sw_add_reason(&reason, policy, segment);
  json_object_set_new(object, "reason", json_string(sw_text_string(&reason)));
  sw_text_free(&reason);
}

static json_t* segment_object(const struct part* part, const struct sw_policy* policy,
                              const struct sw_segment* segment) {
  json_t* object = json_object();
  explain_set_place(object, part);
  json_object_set_new(object, "from_bytes", json_integer((json_int_t)segment->from));
  json_object_set_new(object, "to_bytes",
                      segment->to == UINT64_MAX ? json_null() : json_integer((json_int_t)segment->to));
  set_decision(object, policy, segment);
  return object;
}

static json_t* size_object(const struct part* part, const struct sw_policy* policy, uint64_t bytes) {
  struct sw_segment at = sw_segment_at(&part->plan->pieces[part->collective], bytes);
  json_t* object = json_object();
  explain_set_place(object, part);
  json_object_set_new(object, "bytes", json_integer((json_int_t)bytes));
  set_decision(object, policy, &at);
  return object;
}

static json_t* foreign_object(const struct part* part, const struct sw_point* point, const struct sw_time* time) {
  json_t* object = json_object();
  explain_set_place(object, part);
  json_object_set_new(object, "bytes", json_integer((json_int_t)point->bytes));
  explain_set_choice(object, time->choice);
  json_object_set_new(object, "time_us", explain_microseconds((double)time->median_ps));
  json_object_set_new(object, "auto_us", explain_microseconds((double)point->times[0].median_ps));
  json_object_set_new(object, "environment", settings_object(&time->settings));
  return object;
}

static void add_part(const struct explanation* explanation, const struct part* part, json_t* segments, json_t* sizes,
                     json_t* foreign) {
  const struct sw_policy* policy = &explanation->opened->profile->policy;
  for (size_t i = 0; i < part->count; i++)
    if (explain_shows(explanation, &part->segments[i]))
      json_array_append_new(segments, segment_object(part, policy, &part->segments[i]));
  for (size_t i = 0; i < explanation->sizes->count; i++)
    json_array_append_new(sizes, size_object(part, policy, explanation->sizes->items[i]));
  for (size_t i = 0; part->table && i < part->table->count; i++) {
    const struct sw_time* time = explain_foreign(explanation, part, &part->table->points[i]);
    if (time) json_array_append_new(foreign, foreign_object(part, &part->table->points[i], time));
  }
}

static json_t* keyed_object(const struct sw_vocabulary* keys, const char* const* texts) {
  json_t* object = json_object();
  for (size_t i = 0; i < keys->count; i++)
    if (texts[keys->words[i].value])
      json_object_set_new(object, keys->words[i].word, json_string(texts[keys->words[i].value]));
  return object;
}

static json_t* policy_object(const struct sw_policy* policy) {
  json_t* object = json_pack("{s:f,s:f,s:f}", "min_gain", (double)policy->min_gain / (double)SW_ONE, "reach",
                             (double)policy->reach / (double)SW_ONE, "gap", (double)policy->gap / (double)SW_ONE);
  if (policy->max_extra_memory != UINT64_MAX)
    json_object_set_new(object, "max_extra_memory", json_integer((json_int_t)policy->max_extra_memory));
  return object;
}

static json_t* head_object(const struct opened* opened) {
  const struct sw_profile* profile = opened->profile;
  json_t* object = json_object();
  json_object_set_new(object, "profile", json_string(profile->name));
  json_object_set_new(object, "origin", json_string(sw_text_string(&opened->origin)));
  json_object_set_new(object, "kind", json_string(sw_value_word(&sw_kinds, profile->kind)));
  json_object_set_new(object, "digest", json_string(opened->digest.hex));
  json_object_set_new(object, "rules_version", json_integer(SW_RULES_VERSION));
  json_object_set_new(object, "provenance", keyed_object(&sw_provenance_keys, profile->provenance));
  json_object_set_new(object, "match", keyed_object(&sw_match_keys, profile->match));
  json_object_set_new(object, "policy", policy_object(&profile->policy));
  return object;
}

static void set_uniform(json_t* root, const struct explanation* explanation) {
  json_t* collectives = json_array();
  for (size_t i = 0; i < explanation->count; i++)
    json_array_append_new(collectives, explain_uniform_as_json(explanation, &explanation->parts[i]));
  json_object_set_new(root, "collectives", collectives);
}

static void set_by_size(json_t* root, const struct explanation* explanation) {
  json_t* segments = json_array();
  json_t* sizes = json_array();
  json_t* foreign = json_array();
  for (size_t i = 0; i < explanation->count; i++)
    add_part(explanation, &explanation->parts[i], segments, sizes, foreign);
  json_object_set_new(root, "segments", segments);
  if (explanation->sizes->count)
    json_object_set_new(root, "sizes", sizes);
  else
    json_decref(sizes);
  json_object_set_new(root, "needs_environment", foreign);
}

bool explain_as_json(const struct explanation* explanation, struct sw_text* out) {
  json_t* root = head_object(explanation->opened);
  json_object_set_new(root, "mode", json_string(explanation->deterministic ? "deterministic" : "by size"));
  if (explanation->deterministic)
    set_uniform(root, explanation);
  else
    set_by_size(root, explanation);
  char* text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
  if (text) sw_text_printf(out, "%s\n", text);
  free(text);
  json_decref(root);
  return text != NULL;
}
