#include "calibrate/in_force.h"

#include <stdlib.h>
#include <string.h>

/* As many as a profile may hold, and as long as their names may be. */
enum { MOST_SETTINGS = 64, LONGEST_NAME = 64 };

static bool begins(const char* text, const char* with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static bool is_name(const char* name, size_t length) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return length <= LONGEST_NAME && strspn(name, letters) == length;
}

/* The variable's value where it counts, else NULL. */
static const char* value_of(const char* variable) {
  const char* equals = strchr(variable, '=');
  bool counts = equals && equals[1] && begins(variable, "NCCL_") && !begins(variable, "NCCL_SIZEWISE_") &&
                !begins(variable, "NCCL_TUNER_PLUGIN=") && !begins(variable, "NCCL_DEBUG");
  return counts && is_name(variable, (size_t)(equals - variable)) ? equals + 1 : NULL;
}

static char* printable(struct sw_arena* arena, const char* text) {
  size_t length = strlen(text);
  char* copy = sw_arena_copy(arena, text, length);
  for (size_t i = 0; copy && i < length; i++)
    if (copy[i] < 0x20 || copy[i] > 0x7e) copy[i] = '?';
  return copy;
}

static int compare(const void* a, const void* b) {
  return strcmp(((const struct sw_setting*)a)->name, ((const struct sw_setting*)b)->name);
}

struct sw_settings in_force_read(char* const* environment, struct sw_arena* arena) {
  struct sw_setting* items = sw_arena_allocate(arena, MOST_SETTINGS, sizeof *items);
  size_t count = 0;
  for (; items && *environment && count < MOST_SETTINGS; environment++) {
    const char* value = value_of(*environment);
    if (!value) continue;
    items[count].name = sw_arena_copy(arena, *environment, (size_t)(value - 1 - *environment));
    items[count].value = printable(arena, value);
    count += items[count].name && items[count].value;
  }
  if (count) qsort(items, count, sizeof *items, compare);
  return (struct sw_settings){items, count};
}

void in_force_add(struct sw_text* out, const struct sw_settings* settings) {
  if (!settings->count) sw_text_add(out, "none");
  for (size_t i = 0; i < settings->count; i++)
    sw_text_printf(out, "%s%s=%s", i ? ", " : "", settings->items[i].name, settings->items[i].value);
}
