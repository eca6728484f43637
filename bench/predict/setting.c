#include "predict/setting.h"

#include <stdlib.h>
#include <string.h>

#include "ground/nearest.h"

enum { MOST_SETTINGS = 64 };
#define BLANKS " \t\n"

static const char* const understood[] = {"NCCL_ALGO",          "NCCL_PROTO",    "NCCL_MIN_NCHANNELS",
                                         "NCCL_MAX_NCHANNELS", "NCCL_MIN_CTAS", "NCCL_MAX_CTAS"};
enum { UNDERSTOOD = sizeof understood / sizeof understood[0] };

static bool is_understood(const char* name) {
  for (size_t i = 0; i < UNDERSTOOD; i++)
    if (strcmp(understood[i], name) == 0) return true;
  return false;
}

/* Without the NCCL_ that all have in common: else any two short names were near. */
const char* predict_setting_nearest(const char* name) {
  size_t common = strlen("NCCL_");
  if (strncmp(name, "NCCL_", common) != 0) return NULL;
  struct sw_nearest nearest = sw_nearest_start(name + common, strlen(name + common));
  for (size_t i = 0; i < UNDERSTOOD; i++) sw_nearest_offer(&nearest, understood[i] + common);
  return nearest.best ? nearest.best - common : NULL;
}

/* What sw_forced_read asks; it takes no context. */
static const struct sw_settings* asked;

static const char* answer(const char* name) {
  for (size_t i = 0; i < asked->count; i++)
    if (strcmp(asked->items[i].name, name) == 0) return asked->items[i].value;
  return NULL;
}

static int compare_names(const void* a, const void* b) {
  return strcmp(((const struct sw_setting*)a)->name, ((const struct sw_setting*)b)->name);
}

static const char* join(struct sw_arena* arena, const struct sw_settings* settings) {
  struct sw_text text = SW_TEXT_EMPTY;
  for (size_t i = 0; i < settings->count; i++)
    sw_text_printf(&text, "%s%s=%s", i ? " " : "", settings->items[i].name, settings->items[i].value);
  const char* joined = text.failed ? NULL : sw_arena_copy(arena, sw_text_string(&text), text.length);
  sw_text_free(&text);
  return joined;
}

bool predict_setting_take(struct sw_arena* arena, const struct sw_setting* items, size_t count,
                          struct predict_setting* out, struct sw_text* fault) {
  struct sw_setting* sorted = sw_arena_allocate(arena, count + 1, sizeof *sorted);
  struct sw_setting* rest = sw_arena_allocate(arena, count + 1, sizeof *rest);
  memset(out, 0, sizeof *out);
  if (!sorted || !rest) {
    sw_text_add(fault, "out of memory");
    return false;
  }
  for (size_t i = 0; i < count; i++) sorted[i] = items[i];
  qsort(sorted, count, sizeof *sorted, compare_names);
  out->all = (struct sw_settings){sorted, count};
  for (size_t i = 0; i < count; i++)
    if (!is_understood(sorted[i].name)) rest[out->rest.count++] = sorted[i];
  out->rest.items = rest;
  out->text = join(arena, &out->all);
  asked = &out->all;
  sw_forced_read(answer, &out->forced);
  const struct sw_forced_error* error = &out->forced.error;
  if (error->variable)
    sw_text_printf(fault, "%s=%.80s: column %zu of the value: %s", error->variable, answer(error->variable),
                   error->column, error->text);
  else if (!out->text)
    sw_text_add(fault, "out of memory");
  return !error->variable && out->text;
}

/* How long the name at the start of a word is; 0: none of an environment variable. */
static size_t name_length(const char* word) {
  size_t length = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
  return length && strchr("0123456789", word[0]) ? 0 : length;
}

/* One NAME=VALUE of `length`; a variable that is set to nothing is not set, and left out. */
static bool add_word(struct sw_arena* arena, const char* word, size_t length, struct sw_setting* items, size_t* count,
                     struct sw_text* fault) {
  size_t name = name_length(word);
  if (!name || name >= length || word[name] != '=') {
    sw_text_printf(fault, "'%.*s' is no NAME=VALUE such as NCCL_PROTO=LL", (int)(length < 60 ? length : 60), word);
    return false;
  }
  struct sw_setting item = {sw_arena_copy(arena, word, name), sw_arena_copy(arena, word + name + 1, length - name - 1)};
  if (!item.name || !item.value || *count == MOST_SETTINGS) {
    sw_text_add(fault, *count == MOST_SETTINGS ? "more than 64 settings" : "out of memory");
    return false;
  }
  for (size_t i = 0; i < *count; i++)
    if (strcmp(items[i].name, item.name) == 0) {
      sw_text_printf(fault, "%.64s is given twice", item.name);
      return false;
    }
  if (item.value[0]) items[(*count)++] = item;
  return true;
}

bool predict_setting_read(struct sw_arena* arena, const char* words, struct predict_setting* out,
                          struct sw_text* fault) {
  struct sw_setting items[MOST_SETTINGS];
  size_t count = 0;
  const char* at = words + strspn(words, BLANKS);
  while (*at) {
    size_t length = strcspn(at, BLANKS);
    if (!add_word(arena, at, length, items, &count, fault)) {
      sw_text_printf(fault, " (column %zu)", (size_t)(at - words) + 1);
      return false;
    }
    at += length;
    at += strspn(at, BLANKS);
  }
  return predict_setting_take(arena, items, count, out, fault);
}
