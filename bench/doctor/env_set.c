#include "doctor/env_set.h"

#include <stdlib.h>
#include <string.h>

static const struct env_set* in_use;

/* --- by name: there can be tens of thousands, where a cluster's services all have theirs ------------------------- */

/* The place of a name in the index, or the free one where it belongs. FNV-1a. */
static uint32_t* index_of(const struct env_set* set, const char* name) {
  uint32_t hash = UINT32_C(2166136261);
  for (const char* c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * UINT32_C(16777619);
  size_t at = hash & (set->index_size - 1);
  while (set->index[at] && strcmp(set->items[set->index[at] - 1].name, name) != 0)
    at = (at + 1) & (set->index_size - 1);
  return &set->index[at];
}

/* Room for one more variable; half of the index stays free. */
static bool grow(struct env_set* set) {
  if (2 * (set->count + 1) <= set->index_size) return true;
  size_t size = set->index_size ? 2 * set->index_size : 64;
  struct env_variable* items = realloc(set->items, size / 2 * sizeof *items);
  if (items) set->items = items;
  uint32_t* index = items ? calloc(size, sizeof *index) : NULL;
  if (!index) return false;
  free(set->index);
  set->index = index;
  set->index_size = size;
  for (size_t i = 0; i < set->count; i++) *index_of(set, set->items[i].name) = (uint32_t)i + 1;
  return true;
}

/* A set of one variable that stands on its own has no index. */
static struct env_variable* find(const struct env_set* set, const char* name) {
  if (set->index) {
    uint32_t place = *index_of(set, name);
    return place ? &set->items[place - 1] : NULL;
  }
  for (size_t i = 0; i < set->count; i++)
    if (strcmp(set->items[i].name, name) == 0) return &set->items[i];
  return NULL;
}

/* --- setting ----------------------------------------------------------------------------------------------------- */

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
  if (!grow(set)) return NULL;
  *index_of(set, name) = (uint32_t)++set->count;
  return &set->items[set->count - 1];
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
  struct env_variable* room = good ? make_room(set, variable.name) : NULL;
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
  if (!name)
    set->failed = true;
  else if (!find(set, name))
    env_set_put(set, name, equals + 1, file, line);
  free(name);
}

bool env_set_has(const struct env_set* set, const char* name) {
  return find(set, name) != NULL;
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
  free(set->index);
  *set = ENV_SET_EMPTY;
}
