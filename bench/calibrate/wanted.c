#include "calibrate/wanted.h"

#include <string.h>

#include "ground/names.h"
#include "ground/number.h"

enum { GRID = 4 };

static bool refuse(struct sw_text* fault, const char* option, const char* word, const char* takes) {
  sw_text_printf(fault, "%s: '%s': it takes %s", option, word, takes);
  return false;
}

/* Each word of a comma-separated list in turn, empty ones as well; false at its end. */
static bool next_word(const char** list, const char** word, size_t* length) {
  if (!*list) return false;
  *word = *list;
  *length = strcspn(*list, ",");
  *list = (*list)[*length] ? *list + *length + 1 : NULL;
  return true;
}

static void add_collective(struct study_plan* plan, int collective) {
  for (size_t i = 0; i < plan->collective_count; i++)
    if (plan->collectives[i] == collective) return;
  plan->collectives[plan->collective_count++] = collective;
}

static bool read_collectives(const struct calibrate_arguments* arguments, struct study_plan* plan,
                             struct sw_text* fault) {
  const char* list = arguments->collectives;
  const char* word;
  size_t length;
  while (next_word(&list, &word, &length)) {
    int collective = sw_word_value(&sw_collectives, word, length);
    if (collective < 0)
      return refuse(fault, "--collective", arguments->collectives,
                    "allreduce, allgather, reducescatter, broadcast, reduce, separated by commas");
    add_collective(plan, collective);
  }
  return true;
}

static void add_size(struct study_plan* plan, uint64_t bytes) {
  size_t at = plan->size_count;
  if (at == STUDY_MOST_SIZES || bytes == 0) return;
  for (size_t i = 0; i < plan->size_count; i++)
    if (plan->sizes[i] == bytes) return;
  for (; at > 0 && plan->sizes[at - 1] > bytes; at--) plan->sizes[at] = plan->sizes[at - 1];
  plan->sizes[at] = bytes;
  plan->size_count++;
}

/* "1KiB..128MiB": every fourth power of two from the first, and the last. */
static bool read_size_range(const struct calibrate_arguments* arguments, const char* dots, struct study_plan* plan,
                            struct sw_text* fault) {
  uint64_t from;
  uint64_t to;
  const char* text = arguments->sizes;
  bool good = sw_read_size(text, (size_t)(dots - text), &from) == SW_NUMBER_OK &&
              sw_read_size(dots + 2, strlen(dots + 2), &to) == SW_NUMBER_OK && from > 0 && from <= to;
  if (!good) return refuse(fault, "--sizes", text, "a range such as 1KiB..128MiB, or a list such as 12KiB,6MiB");
  for (uint64_t bytes = from; bytes < to && bytes <= UINT64_MAX / GRID; bytes *= GRID) add_size(plan, bytes);
  add_size(plan, to);
  plan->refine = true;
  return true;
}

static bool read_sizes(const struct calibrate_arguments* arguments, struct study_plan* plan, struct sw_text* fault) {
  const char* dots = strstr(arguments->sizes, "..");
  if (dots) return read_size_range(arguments, dots, plan, fault);
  const char* list = arguments->sizes;
  const char* word;
  size_t length;
  uint64_t bytes;
  while (next_word(&list, &word, &length)) {
    if (sw_read_size(word, length, &bytes) != SW_NUMBER_OK || bytes == 0 || plan->size_count == STUDY_MOST_SIZES)
      return refuse(fault, "--sizes", arguments->sizes, "a range such as 1KiB..128MiB, or up to 48 sizes: 12KiB,6MiB");
    add_size(plan, bytes);
  }
  return true;
}

static void add_group(struct study_plan* plan, uint32_t ranks) {
  for (size_t i = 0; i < plan->group_count; i++)
    if (plan->groups[i] == ranks) return;
  plan->groups[plan->group_count++] = ranks;
}

static bool read_groups(const struct calibrate_arguments* arguments, uint32_t all, struct study_plan* plan,
                        struct sw_text* fault) {
  const char* list = arguments->ranks[0] ? arguments->ranks : NULL;
  const char* word;
  size_t length;
  uint64_t ranks;
  add_group(plan, all);
  while (next_word(&list, &word, &length)) {
    bool good = sw_read_whole(word, length, all, &ranks) == SW_NUMBER_OK && ranks >= 2;
    if (!good || plan->group_count == STUDY_MOST_GROUPS) {
      sw_text_printf(fault, "--ranks: '%s': it takes sizes of communicators from 2 to %u, such as 2,4",
                     arguments->ranks, all);
      return false;
    }
    add_group(plan, (uint32_t)ranks);
  }
  return true;
}

/* As plugin/profile/fields.c reads names: what a profile cannot hold is refused before hours of measuring. */
static bool check_name(const struct calibrate_arguments* arguments, struct sw_text* fault) {
  enum { LONGEST_NAME = 64 };
  static const char known[] = "._-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const char* name = arguments->name;
  if (!name) return true;
  size_t length = strlen(name);
  if (length && length <= LONGEST_NAME && !strchr("._-", name[0]) && strspn(name, known) == length) return true;
  return refuse(fault, "--name", name, "letters, digits, '.', '_' and '-', 64 at most, a letter or digit first");
}

bool wanted_read(const struct calibrate_arguments* arguments, uint32_t ranks, struct study_plan* plan,
                 struct sw_text* fault) {
  plan->budget_us = arguments->budget * 1e6;
  plan->min_gain = (int64_t)(arguments->min_gain * (double)SW_ONE + 0.5);
  return read_collectives(arguments, plan, fault) && read_sizes(arguments, plan, fault) &&
         read_groups(arguments, ranks, plan, fault) && check_name(arguments, fault);
}

void wanted_fit(struct study_plan* plan, uint64_t buffers, struct sw_text* left_out) {
  size_t fitting = 0;
  for (size_t i = 0; i < plan->size_count; i++) {
    if (plan->sizes[i] <= buffers / 2) {
      plan->sizes[fitting++] = plan->sizes[i];
      continue;
    }
    if (left_out->length) sw_text_add(left_out, ", ");
    sw_add_size_words(left_out, plan->sizes[i]);
  }
  plan->size_count = fitting;
}
