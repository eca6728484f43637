#include "calibrate/verify.h"

#include <string.h>

/* A rule without an end holds up to here, as far as comparing goes. */
static const uint64_t largest_bytes = UINT64_C(1) << 30;

static void add_group(uint32_t ranks, uint32_t most, uint32_t groups[STUDY_MOST_GROUPS], size_t* count) {
  size_t at = *count;
  if (ranks < 2 || ranks > most) return;
  for (size_t i = 0; i < *count; i++)
    if (groups[i] == ranks) return;
  if (*count == STUDY_MOST_GROUPS) return;
  for (; at > 0 && groups[at - 1] < ranks; at--) groups[at] = groups[at - 1];
  groups[at] = ranks;
  (*count)++;
}

size_t verify_groups(const struct sw_profile* profile, uint32_t ranks, uint32_t groups[STUDY_MOST_GROUPS]) {
  size_t count = 0;
  for (size_t i = 0; i < profile->table_count; i++) add_group(profile->tables[i].ranks, ranks, groups, &count);
  for (size_t i = 0; i < profile->rule_count; i++)
    add_group(profile->rules[i].ranks ? profile->rules[i].ranks : ranks, ranks, groups, &count);
  return count;
}

struct list {
  struct verify_size* items;
  size_t count;
  uint32_t ranks;
};

static void add_size(struct list* list, uint64_t bytes, bool measured) {
  uint64_t size = study_size(bytes, list->ranks);
  size_t at = 0;
  while (at < list->count && list->items[at].verified.bytes < size) at++;
  if (at < list->count && list->items[at].verified.bytes == size) {
    list->items[at].measured |= measured;
    return;
  }
  if (list->count == VERIFY_MOST_SIZES) return;
  memmove(&list->items[at + 1], &list->items[at], (list->count - at) * sizeof *list->items);
  list->items[at] = (struct verify_size){.measured = measured, .verified = {.bytes = size, .choice = SW_AUTO}};
  list->count++;
}

static void add_points(struct list* list, const struct sw_table* table) {
  for (size_t i = 0; table && i < table->count; i++) add_size(list, table->points[i].bytes, true);
  for (size_t i = 1; table && i < table->count; i++)
    add_size(list, table->points[i - 1].bytes / 2 + table->points[i].bytes / 2, false);
}

static bool rule_holds(const struct sw_rule* rule, int collective, uint32_t nodes, uint32_t ranks) {
  return rule->collective == collective && (!rule->nodes || rule->nodes == nodes) &&
         (!rule->ranks || rule->ranks == ranks);
}

size_t verify_sizes(const struct sw_profile* profile, int collective, uint32_t nodes, uint32_t ranks,
                    struct verify_size out[VERIFY_MOST_SIZES]) {
  struct list list = {out, 0, ranks};
  add_points(&list, sw_profile_table(profile, collective, nodes, ranks));
  for (size_t i = 0; i < profile->rule_count; i++) {
    const struct sw_rule* rule = &profile->rules[i];
    if (!rule_holds(rule, collective, nodes, ranks)) continue;
    if (rule->from > 0 && rule->from <= largest_bytes) add_size(&list, rule->from, false);
    add_size(&list, rule->to < largest_bytes ? rule->to : largest_bytes, false);
  }
  return list.count;
}
