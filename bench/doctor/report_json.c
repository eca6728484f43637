#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/known.h"
#include "doctor/report.h"
#include "doctor/settings.h"
#include "ground/names.h"
#include "json_text.h"

static json_t* text_or_null(const struct sw_text* text) {
  return text->length ? json_text(sw_text_string(text)) : json_null();
}

static json_t* word_or_null(const char* word) {
  return word && word[0] ? json_text(word) : json_null();
}

static json_t* version_or_null(int version) {
  struct sw_text text = SW_TEXT_EMPTY;
  if (version) nccl_add_version(&text, version);
  json_t* value = text_or_null(&text);
  sw_text_free(&text);
  return value;
}

static json_t* lines_array(const struct sw_text* lines) {
  json_t* array = json_array();
  for (const char* line = sw_text_string(lines); *line;) {
    struct sw_text one = SW_TEXT_EMPTY;
    size_t length = strcspn(line, "\n");
    sw_text_add_bytes(&one, line, length);
    json_array_append_new(array, json_text(sw_text_string(&one)));
    sw_text_free(&one);
    line += length + (line[length] == '\n');
  }
  return array;
}

static json_t* machine_object(const struct diagnosis* diagnosis) {
  const struct sw_facts* machine = diagnosis->subject.machine;
  json_t* object = json_object();
  json_object_set_new(object, "gpu", word_or_null(machine->gpu));
  json_object_set_new(
      object, "net", machine->net == SW_NET_UNKNOWN ? json_null() : json_string(sw_value_word(&sw_nets, machine->net)));
  json_object_set_new(object, "arch", word_or_null(machine->arch));
  json_object_set_new(object, "driver", word_or_null(machine->driver));
  json_object_set_new(object, "nccl", version_or_null(diagnosis->nccl.version));
  json_object_set_new(object, "nccl_library", text_or_null(&diagnosis->nccl.path));
  return object;
}

static json_t* settings_array(const struct diagnosis* diagnosis) {
  json_t* array = json_array();
  for (size_t i = 0; i < diagnosis->set.count; i++) {
    struct env_variable* variable = &diagnosis->set.items[i];
    struct sw_text meaning = SW_TEXT_EMPTY;
    if (!known_find(variable->name) || !variable->value[0]) continue;
    settings_add_meaning(&meaning, variable);
    json_t* object = json_object();
    json_object_set_new(object, "name", json_text(variable->name));
    json_object_set_new(object, "value", json_text(variable->value));
    json_object_set_new(object, "from", json_text(variable->file));
    json_object_set_new(object, "line", variable->line ? json_integer(variable->line) : json_null());
    json_object_set_new(object, "meaning", text_or_null(&meaning));
    json_array_append_new(array, object);
    sw_text_free(&meaning);
  }
  return array;
}

static json_t* cost_object(const struct cost* cost) {
  json_t* object = json_object();
  json_object_set_new(object, "collective", json_string(sw_value_word(&sw_collectives, cost->collective)));
  json_object_set_new(object, "nodes", json_integer(cost->nodes));
  json_object_set_new(object, "ranks", json_integer(cost->ranks));
  json_object_set_new(object, "bytes", json_integer((json_int_t)cost->bytes));
  bool known = cost->price.known;
  double unit = (double)SW_PS_PER_US;
  json_object_set_new(object, "forced_us", known ? json_real((double)cost->price.time->median_ps / unit) : json_null());
  json_object_set_new(object, "auto_us", known ? json_real((double)cost->price.own->median_ps / unit) : json_null());
  json_object_set_new(object, "ratio", known ? json_real(cost_ratio(cost)) : json_null());
  bool counted = known && cost->price.time->choice.channels;
  json_object_set_new(object, "measured_channels",
                      counted ? json_integer(cost->price.time->choice.channels) : json_null());
  return object;
}

static json_t* costs_array(const struct costs* costs) {
  json_t* array = json_array();
  for (size_t i = 0; i < costs->count; i++) json_array_append_new(array, cost_object(&costs->items[i]));
  return array;
}

static json_t* tuner_object(const struct tuner_view* tuner) {
  json_t* object = json_object();
  json_t* interfaces = json_array();
  for (int v = 1; v <= ELF_LARGEST_TUNER; v++)
    if (tuner->exports.tuners >> v & 1U) json_array_append_new(interfaces, json_integer(v));
  json_object_set_new(object, "library", text_or_null(&tuner->path));
  json_object_set_new(object, "loaded", json_boolean(tuner->loaded));
  json_object_set_new(object, "asked_for", json_boolean(tuner->asked));
  json_object_set_new(object, "put_there_by", text_or_null(&tuner->who));
  json_object_set_new(object, "sizewise", json_boolean(tuner->exports.sizewise));
  json_object_set_new(object, "in_net_plugin", json_boolean(tuner->in_net));
  json_object_set_new(object, "interfaces", interfaces);
  json_object_set_new(object, "interface_used", tuner->interface ? json_integer(tuner->interface) : json_null());
  return object;
}

static json_t* findings_array(const struct findings* findings) {
  static const char* const sections[SECTION_COUNT] = {"settings", "tuner", "profile"};
  json_t* array = json_array();
  for (size_t i = 0; i < findings->count; i++) {
    const struct finding* finding = &findings->items[i];
    json_t* object = json_object();
    struct sw_text code = SW_TEXT_EMPTY;
    if (finding->code) sw_text_printf(&code, "SW-%d", finding->code);
    json_object_set_new(object, "section", json_string(sections[finding->section]));
    json_object_set_new(object, "severity", json_string(finding_severity(finding)));
    json_object_set_new(object, "code", text_or_null(&code));
    json_object_set_new(object, "what", text_or_null(&finding->what));
    json_object_set_new(object, "from", text_or_null(&finding->from));
    json_object_set_new(object, "says", lines_array(&finding->says));
    json_object_set_new(object, "cure", text_or_null(&finding->cure));
    json_array_append_new(array, object);
    sw_text_free(&code);
  }
  return array;
}

static json_t* set_object(const struct diagnosis* diagnosis) {
  const struct sw_profile* profile = diagnosis->subject.profile;
  struct sw_text verdict = SW_TEXT_EMPTY;
  struct sw_text decider = SW_TEXT_EMPTY;
  json_t* object = json_object();
  diagnosis_add_verdict(&verdict, diagnosis);
  diagnosis_add_decider(&decider, diagnosis);
  json_object_set_new(object, "title", json_text(diagnosis->title));
  json_object_set_new(object, "machine", machine_object(diagnosis));
  json_object_set_new(object, "settings", settings_array(diagnosis));
  json_object_set_new(object, "profile", profile ? json_string(profile->name) : json_null());
  json_object_set_new(object, "profile_kind",
                      profile ? json_string(sw_value_word(&sw_kinds, profile->kind)) : json_null());
  json_object_set_new(object, "costs", costs_array(&diagnosis->costs));
  json_object_set_new(object, "tuner", tuner_object(&diagnosis->tuner));
  json_object_set_new(object, "findings", findings_array(&diagnosis->findings));
  json_object_set_new(object, "errors", json_integer(findings_errors(&diagnosis->findings)));
  json_object_set_new(object, "warnings", json_integer(findings_warnings(&diagnosis->findings)));
  json_object_set_new(object, "who_decides", text_or_null(&decider));
  json_object_set_new(object, "verdict", text_or_null(&verdict));
  sw_text_free(&verdict);
  sw_text_free(&decider);
  return object;
}

bool report_as_json(const struct diagnosis* diagnoses, size_t count, struct sw_text* out) {
  json_t* sets = json_array();
  for (size_t i = 0; i < count; i++) json_array_append_new(sets, set_object(&diagnoses[i]));
  json_t* root = json_pack("{s:o}", "sets", sets);
  char* text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) : NULL;
  if (text) sw_text_printf(out, "%s\n", text);
  free(text);
  json_decref(root);
  return text != NULL;
}
