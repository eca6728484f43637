#include "doctor/costs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/known.h"
#include "ground/names.h"

/* Whether the settings take anything from a collective: channel limits hold for all. */
static bool restricts(const struct sw_forced* forced, int collective) {
  return forced->algo_set[collective] || forced->proto_set[collective] || forced->min_channels > 0 ||
         forced->max_channels > 0;
}

static const char* setting_of(const struct sw_settings* settings, const char* name) {
  for (size_t i = 0; i < settings->count; i++)
    if (strcmp(settings->items[i].name, name) == 0) return settings->items[i].value;
  return NULL;
}

/* Whether a time was measured under all that is forced here, and nothing that it was measured under differs here. */
static bool measured_so(const struct sw_settings* settings, const struct env_set* set) {
  for (size_t i = 0; i < known_variable_count; i++) {
    const char* here = env_set_value(set, known_variables[i].name);
    const char* there = setting_of(settings, known_variables[i].name);
    if (known_variables[i].forces && (here != NULL) != (there != NULL)) return false;
    if (here && there && strcmp(here, there) != 0) return false;
  }
  return settings->count > 0;
}

static void price_by_settings(const struct env_set* set, const struct sw_point* point, struct cost* cost) {
  if (!point->count || !sw_choice_is_auto(point->times[0].choice)) return;
  for (size_t i = 1; i < point->count && !cost->price.known; i++) {
    const struct sw_time* time = &point->times[i];
    if (!time->median_ps || time->excluded || !measured_so(&time->settings, set)) continue;
    cost->price = (struct sw_price){true, time, &point->times[0]};
    cost->measured_under = &time->settings;
  }
}

static void add_cost(struct costs* costs, const struct cost* cost) {
  struct cost* items = realloc(costs->items, (costs->count + 1) * sizeof *items);
  if (!items) {
    costs->failed = true;
    return;
  }
  costs->items = items;
  items[costs->count++] = *cost;
}

static void price_table(const struct env_set* set, const struct sw_forced* forced, const struct sw_profile* profile,
                        const struct sw_table* table, struct costs* costs) {
  for (size_t i = 0; i < table->count; i++) {
    const struct sw_point* point = &table->points[i];
    struct cost cost = {.collective = table->collective,
                        .nodes = table->nodes,
                        .ranks = table->ranks,
                        .bytes = point->bytes,
                        .set = set,
                        .forced = sw_forced_choice(forced, table->collective)};
    cost.limits = !cost.forced.channels && (forced->min_channels > 0 || forced->max_channels > 0);
    cost.price = sw_forced_price(point, cost.forced);
    if (!cost.price.known) price_by_settings(set, point, &cost);
    cost.hurts = sw_price_hurts(&profile->policy, &cost.price);
    add_cost(costs, &cost);
  }
}

static int compare_costs(const void* a, const void* b) {
  const struct cost* x = a;
  const struct cost* y = b;
  double ratios[2] = {cost_ratio(x), cost_ratio(y)};
  if (ratios[0] != ratios[1]) return ratios[0] > ratios[1] ? -1 : 1;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
  struct sw_table tables[2] = {{.collective = x->collective, .nodes = x->nodes, .ranks = x->ranks},
                               {.collective = y->collective, .nodes = y->nodes, .ranks = y->ranks}};
  return sw_table_compare(&tables[0], &tables[1]);
}

struct costs costs_of(const struct env_set* set, const struct sw_profile* profile, struct shape_filter filter) {
  struct costs costs = {0};
  struct sw_forced forced;
  env_set_use(set);
  sw_forced_read(env_set_getenv, &forced);
  for (size_t i = 0; i < profile->table_count; i++) {
    const struct sw_table* table = &profile->tables[i];
    bool wanted = (!filter.nodes || filter.nodes == table->nodes) && (!filter.ranks || filter.ranks == table->ranks);
    if (wanted && restricts(&forced, table->collective)) price_table(set, &forced, profile, table, &costs);
  }
  if (costs.count) qsort(costs.items, costs.count, sizeof *costs.items, compare_costs);
  return costs;
}

void costs_free(struct costs* costs) {
  free(costs->items);
  *costs = (struct costs){0};
}

double cost_ratio(const struct cost* cost) {
  return cost->price.known ? (double)cost->price.time->median_ps / (double)cost->price.own->median_ps : 0;
}

void cost_add_ratio(struct sw_text* text, double ratio) {
  char word[32];
  snprintf(word, sizeof word, ratio >= 1.1 ? "%.1fx" : "%.2fx", ratio);
  sw_text_add(text, word);
}

/* Settings that it was measured under and that are not in force here. */
static void add_further(struct sw_text* text, const struct cost* cost) {
  const struct sw_settings* settings = cost->measured_under;
  bool any = false;
  for (size_t i = 0; i < settings->count; i++) {
    if (env_set_value(cost->set, settings->items[i].name)) continue;
    sw_text_printf(text, "%s %s=%s", any ? "" : ", measured with", settings->items[i].name, settings->items[i].value);
    any = true;
  }
}

/* The measured choice ran with other channels than the forced one, or under further settings. */
static void add_reservations(struct sw_text* text, const struct cost* cost) {
  unsigned channels = cost->price.time->choice.channels;
  if (cost->measured_under)
    add_further(text, cost);
  else if (cost->limits && !channels)
    sw_text_add(text, ", measured with NCCL's own channels");
  else if (channels != cost->forced.channels)
    sw_text_printf(text, ", measured with %u channel%s", channels, channels == 1 ? "" : "s");
}

void cost_add(struct sw_text* text, const struct cost* cost, const struct sw_profile* profile) {
  sw_text_add(text, "at ");
  sw_add_size_words(text, cost->bytes);
  if (!cost->price.known) {
    sw_text_add(text, ": not measured");
    return;
  }
  sw_text_add(text, ": ");
  sw_add_time_words(text, cost->price.time->median_ps);
  sw_text_add(text, " against ");
  sw_add_time_words(text, cost->price.own->median_ps);
  sw_text_add(text, ", ");
  cost_add_ratio(text, cost_ratio(cost));
  double gain = 1 - cost_ratio(cost);
  if (gain >= (double)profile->policy.min_gain / (double)SW_ONE) {
    sw_text_add(text, ", a gain of ");
    sw_add_percent_words(text, gain);
  }
  sw_text_printf(text, " (%s", sw_value_word(&sw_kinds, profile->kind));
  add_reservations(text, cost);
  sw_text_add(text, ")");
}
