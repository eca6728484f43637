#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

void sw_profile_free(struct sw_profile* profile) {
  if (!profile) return;
  sw_arena_free(&profile->arena);
  free(profile);
}

int sw_table_compare(const struct sw_table* a, const struct sw_table* b) {
  if (a->collective != b->collective) return a->collective - b->collective;
  if (a->nodes != b->nodes) return a->nodes < b->nodes ? -1 : 1;
  return (a->ranks > b->ranks) - (a->ranks < b->ranks);
}

static int compare_tables(const void* a, const void* b) {
  return sw_table_compare(a, b);
}

const struct sw_table* sw_profile_table(const struct sw_profile* profile, int collective, uint32_t nodes,
                                        uint32_t ranks) {
  struct sw_table wanted = {.collective = collective, .nodes = nodes, .ranks = ranks};
  if (!profile->table_count) return NULL;
  return bsearch(&wanted, profile->tables, profile->table_count, sizeof wanted, compare_tables);
}

const struct sw_time* sw_point_time(const struct sw_point* point, struct sw_choice choice) {
  for (size_t i = 0; i < point->count; i++)
    if (sw_choice_same(point->times[i].choice, choice)) return &point->times[i];
  return NULL;
}

uint64_t sw_extra_memory(const struct sw_time* time, const struct sw_time* own) {
  bool known = time->ran.what.channels && own->ran.what.channels;
  return known && time->ran.what.algo == own->ran.what.algo ? 0 : time->memory;
}

int sw_settings_compare(const struct sw_settings* a, const struct sw_settings* b) {
  for (size_t i = 0; i < a->count && i < b->count; i++) {
    int order = strcmp(a->items[i].name, b->items[i].name);
    if (!order) order = strcmp(a->items[i].value, b->items[i].value);
    if (order) return order;
  }
  return (a->count > b->count) - (a->count < b->count);
}

bool sw_settings_same(const struct sw_settings* a, const struct sw_settings* b) {
  return sw_settings_compare(a, b) == 0;
}
