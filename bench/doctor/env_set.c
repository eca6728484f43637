#include "doctor/env_set.h"

#include <stdlib.h>
#include <string.h>

static const struct env_set* in_use;

static struct env_variable* find(const struct env_set* set, const char* name) {
  for (size_t i = 0; i < set->count; i++)
    if (strcmp(set->items[i].name, name) == 0) return &set->items[i];
  return NULL;
}

static void free_variable(struct env_variable* variable) {
  free(variable->name);
  free(variable->value);
  free(variable->file);
}

/* A place for a variable of this name: its own, or a new one; NULL when memory runs out. */
static struct env_variable* make_room(struct env_set* set, const char* name) {
  struct env_variable* there = find(set, name);
  if (there) {
    free_variable(there);
    return there;
  }
  struct env_variable* items = realloc(set->items, (set->count + 1) * sizeof *items);
  if (!items) return NULL;
  set->items = items;
  return &items[set->count++];
}

/* A copy without control characters; NULL when memory runs out. */
static char* copy_printable(const char* text) {
  char* copy = strdup(text);
  for (char* c = copy; c && *c; c++)
    if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
  return copy;
}

void env_set_put(struct env_set* set, const char* name, const char* value, const char* file, unsigned line) {
  struct env_variable variable = {copy_printable(name), copy_printable(value), strdup(file), line};
  bool good = variable.name && variable.value && variable.file;
  struct env_variable* room = good ? make_room(set, name) : NULL;
  if (room) {
    *room = variable;
  } else {
    free_variable(&variable);
    set->failed = true;
  }
}

void env_set_put_pair(struct env_set* set, const char* pair, const char* file, unsigned line) {
  const char* equals = strchr(pair, '=');
  if (!equals || equals == pair) return;
  char* name = strndup(pair, (size_t)(equals - pair));
  if (name)
    env_set_put(set, name, equals + 1, file, line);
  else
    set->failed = true;
  free(name);
}

const struct env_variable* env_set_find(const struct env_set* set, const char* name) {
  const struct env_variable* variable = find(set, name);
  return variable && variable->value[0] ? variable : NULL;
}

const char* env_set_value(const struct env_set* set, const char* name) {
  const struct env_variable* variable = env_set_find(set, name);
  return variable ? variable->value : NULL;
}

void env_set_add_place(struct sw_text* text, const struct env_variable* variable) {
  sw_text_add(text, variable->file);
  if (variable->line) sw_text_printf(text, ":%u", variable->line);
}

void env_set_use(const struct env_set* set) {
  in_use = set;
}

const char* env_set_getenv(const char* name) {
  return in_use ? env_set_value(in_use, name) : NULL;
}

void env_set_free(struct env_set* set) {
  for (size_t i = 0; i < set->count; i++) free_variable(&set->items[i]);
  free(set->items);
  *set = ENV_SET_EMPTY;
}
