#include "env/json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static json_t* help_object(const struct env_help* help) {
  json_t* settings = json_object();
  json_t* object = json_object();
  for (size_t i = 0; i < help->settings->count; i++)
    json_object_set_new(settings, help->settings->items[i].name, json_string(help->settings->items[i].value));
  json_object_set_new(object, "settings", settings);
  json_object_set_new(object, "collective", json_string(sw_value_word(&sw_collectives, help->table->collective)));
  json_object_set_new(object, "nodes", json_integer(help->table->nodes));
  json_object_set_new(object, "ranks", json_integer(help->table->ranks));
  json_object_set_new(object, "bytes", json_integer((json_int_t)help->point->bytes));
  json_object_set_new(object, "time_us",
                      help->time ? json_real((double)help->time->median_ps / (double)SW_PS_PER_US) : json_null());
  json_object_set_new(object, "decided_us", json_real(help->decided_ps / (double)SW_PS_PER_US));
  json_object_set_new(object, "gains", json_boolean(help->gains));
  return object;
}

static json_t* lines_array(const char* text) {
  json_t* lines = json_array();
  while (*text) {
    size_t length = strcspn(text, "\n");
    json_array_append_new(lines, json_stringn(text, length));
    text += length + (text[length] == '\n');
  }
  return lines;
}

bool env_as_json(const struct env_line* lines, size_t count, const char* remarks, const struct env_helps* helps,
                 struct sw_text* out) {
  json_t* root = json_object();
  json_t* environment = json_object();
  json_t* needs = json_array();
  for (size_t i = 0; i < count; i++) json_object_set_new(environment, lines[i].name, json_string(lines[i].value));
  for (size_t i = 0; i < helps->count; i++) json_array_append_new(needs, help_object(&helps->items[i]));
  json_object_set_new(root, "environment", environment);
  json_object_set_new(root, "remarks", lines_array(remarks));
  json_object_set_new(root, "needs_environment", needs);
  char* text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
  if (text) sw_text_printf(out, "%s\n", text);
  free(text);
  json_decref(root);
  return text != NULL;
}
