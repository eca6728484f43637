#include <jansson.h>
#include <stdlib.h>

#include "calibrate/verify_report.h"
#include "ground/names.h"

static json_t* word_or_null(const struct sw_vocabulary* words, int value) {
  return value < 0 ? json_null() : json_string(sw_value_word(words, value));
}

static json_t* outcome_word(enum verify_outcome outcome) {
  static const char* const words[] = {[VERIFY_NOT_REACHED] = "not_compared",
                                      [VERIFY_LEFT] = "left_to_nccl",
                                      [VERIFY_HOLDS] = "holds",
                                      [VERIFY_FAILS] = "fails",
                                      [VERIFY_UNFIT] = "not_offered",
                                      [VERIFY_BROKE] = "failed",
                                      [VERIFY_TOO_LARGE] = "too_large"};
  return json_string(words[outcome]);
}

static void set_pair(json_t* object, const struct measured_pair* pair) {
  json_object_set_new(object, "auto_us", json_real(pair->own.median_us));
  json_object_set_new(object, "time_us", json_real(pair->other.median_us));
  json_object_set_new(object, "gain", json_real(pair->gain));
  json_object_set_new(object, "gain_low", json_real(pair->low));
  json_object_set_new(object, "gain_high", json_real(pair->high));
}

static json_t* size_object(const struct verify_table* table, const struct verify_size* size) {
  json_t* object = json_object();
  struct sw_choice choice = size->verified.choice;
  json_object_set_new(object, "collective", json_string(sw_value_word(&sw_collectives, table->collective)));
  json_object_set_new(object, "nodes", json_integer(table->nodes));
  json_object_set_new(object, "ranks", json_integer(table->ranks));
  json_object_set_new(object, "bytes", json_integer((json_int_t)size->verified.bytes));
  json_object_set_new(object, "measured", json_boolean(size->measured));
  json_object_set_new(object, "algo", word_or_null(&sw_algorithms, choice.algo));
  json_object_set_new(object, "proto", word_or_null(&sw_protocols, choice.proto));
  json_object_set_new(object, "channels", choice.channels ? json_integer(choice.channels) : json_null());
  json_object_set_new(object, "outcome", outcome_word(size->outcome));
  if (size->outcome == VERIFY_HOLDS || size->outcome == VERIFY_FAILS) set_pair(object, &size->verified.pair);
  if (size->outcome == VERIFY_BROKE) json_object_set_new(object, "why", json_string(size->why));
  return object;
}

static json_t* differing_object(const struct verify_differing* d) {
  static const char* const words[] = {[PROOF_UNREADABLE] = "unreadable",
                                      [PROOF_OTHER_DIGEST] = "other_digest",
                                      [PROOF_OTHER_DECISIONS] = "other_decisions",
                                      [PROOF_OTHER_FILE] = "other_file"};
  json_t* object = json_object();
  json_object_set_new(object, "rank", json_integer(d->rank));
  json_object_set_new(object, "fault", json_string(words[d->fault]));
  json_object_set_new(object, "digest", json_string(d->fault == PROOF_OTHER_FILE ? d->proof.own : d->proof.given));
  return object;
}

static json_t* failure_object(const struct verification* v) {
  const struct team_failure* failure = crew_failure(v->crew);
  json_t* object = json_object();
  json_object_set_new(object, "while", json_string(v->at));
  json_object_set_new(object, "rank", json_integer(failure->rank));
  json_object_set_new(object, "text", json_string(failure->text));
  return object;
}

void verify_add_json(const struct verification* v, struct sw_text* out) {
  json_t* root = json_object();
  json_t* sizes = json_array();
  json_t* differing = json_array();
  for (size_t i = 0; i < v->count; i++)
    for (size_t k = 0; k < v->tables[i].count; k++)
      json_array_append_new(sizes, size_object(&v->tables[i], &v->tables[i].sizes[k]));
  for (size_t i = 0; i < v->differing_count; i++) json_array_append_new(differing, differing_object(&v->differing[i]));
  json_object_set_new(root, "profile", json_string(v->plan->name));
  json_object_set_new(root, "digest", json_string(v->plan->digest.hex));
  json_object_set_new(root, "holds", json_boolean(verify_is_good(v)));
  json_object_set_new(root, "failure", v->lost ? failure_object(v) : json_null());
  json_object_set_new(root, "sizes", sizes);
  json_object_set_new(root, "differing_ranks", differing);
  char* text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
  if (text) sw_text_printf(out, "%s\n", text);
  free(text);
  json_decref(root);
}
