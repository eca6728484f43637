#include "import/samples.h"

#include <stdlib.h>

#include "profile/profile.h"

void samples_add(struct samples* samples, struct sample sample) {
  if (samples->count == samples->room) {
    size_t room = samples->room ? 2 * samples->room : 64;
    struct sample* items = realloc(samples->items, room * sizeof *items);
    samples->failed = samples->failed || !items;
    if (!items) return;
    samples->items = items;
    samples->room = room;
  }
  samples->items[samples->count++] = sample;
}

void samples_free(struct samples* samples) {
  free(samples->items);
  *samples = (struct samples){0};
}

static int compare_tables(const struct sample* a, const struct sample* b) {
  struct sw_table x = {.collective = a->collective, .nodes = a->nodes, .ranks = a->ranks};
  struct sw_table y = {.collective = b->collective, .nodes = b->nodes, .ranks = b->ranks};
  return sw_table_compare(&x, &y);
}

static int compare(const void* left, const void* right) {
  const struct sample* a = left;
  const struct sample* b = right;
  int order = compare_tables(a, b);
  if (!order && a->bytes != b->bytes) order = a->bytes < b->bytes ? -1 : 1;
  if (!order) order = setting_compare(a->setting, b->setting);
  return order ? order : (a->us > b->us) - (a->us < b->us);
}

void samples_sort(struct samples* samples) {
  if (samples->count) qsort(samples->items, samples->count, sizeof *samples->items, compare);
}

bool samples_same_table(const struct sample* a, const struct sample* b) {
  return compare_tables(a, b) == 0;
}
