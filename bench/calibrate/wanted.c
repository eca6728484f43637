#include "calibrate/wanted.h"

#include <string.h>

#include "ground/names.h"
#include "ground/number.h"

enum { GRID = 4 };

static bool refuse(struct sw_text* fault, const char* option, const char* word, const char* takes) {
  sw_text_printf(fault, "%s: '%s': it takes %s", option, word, takes);
  return false;
}

/* The same for sizes, where what was meant is plain. */
static bool refuse_size(struct sw_text* fault, const char* option, const char* text, const char* takes,
                        enum sw_number_fault number) {
  refuse(fault, option, text, takes);
  if (number == SW_NUMBER_DECIMAL_UNIT)
    sw_text_add(fault, "; KB, MB and GB mean 1000 to some and 1024 to others: write KiB, MiB, GiB");
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

void wanted_add_collective(struct study_plan* plan, int collective) {
  for (size_t i = 0; i < plan->collective_count; i++)
    if (plan->collectives[i] == collective) return;
  plan->collectives[plan->collective_count++] = collective;
}

static bool read_collectives(const struct calibrate_arguments* arguments, struct study_plan* plan,
                             struct sw_text* fault) {
  const char* list = arguments->collectives ? arguments->collectives : arguments->workload ? NULL : "allreduce";
  const char* word;
  size_t length;
  while (next_word(&list, &word, &length)) {
    int collective = sw_word_value(&sw_collectives, word, length);
    if (collective < 0)
      return refuse(fault, "--collective", arguments->collectives,
                    "allreduce, allgather, reducescatter, broadcast, reduce, separated by commas");
    wanted_add_collective(plan, collective);
  }
  return true;
}

bool wanted_add_size(struct study_plan* plan, uint64_t bytes) {
  size_t at = plan->size_count;
  for (size_t i = 0; i < plan->size_count; i++)
    if (plan->sizes[i] == bytes) return true;
  if (at == STUDY_MOST_SIZES) return false;
  for (; at > 0 && plan->sizes[at - 1] > bytes; at--) plan->sizes[at] = plan->sizes[at - 1];
  plan->sizes[at] = bytes;
  plan->size_count++;
  return true;
}

/* "1KiB..128MiB": every fourth power of two from the first, and the last. */
static bool read_size_range(const char* text, const char* dots, struct study_plan* plan, struct sw_text* fault) {
  uint64_t from;
  uint64_t to;
  enum sw_number_fault first = sw_read_size(text, (size_t)(dots - text), &from);
  enum sw_number_fault last = sw_read_size(dots + 2, strlen(dots + 2), &to);
  if (first || last || !from || from > to)
    return refuse_size(fault, "--sizes", text, "a range such as 1KiB..128MiB, or a list such as 12KiB,6MiB",
                       first ? first : last);
  for (uint64_t bytes = from; bytes < to && bytes <= UINT64_MAX / GRID; bytes *= GRID) wanted_add_size(plan, bytes);
  wanted_add_size(plan, to);
  plan->refine = true;
  return true;
}

static bool read_size_list(const char* text, struct study_plan* plan, struct sw_text* fault) {
  const char* list = text;
  const char* word;
  size_t length;
  uint64_t bytes;
  while (next_word(&list, &word, &length)) {
    enum sw_number_fault number = sw_read_size(word, length, &bytes);
    if (number || bytes == 0 || !wanted_add_size(plan, bytes))
      return refuse_size(fault, "--sizes", text, "a range such as 1KiB..128MiB, or up to 48 sizes: 12KiB,6MiB", number);
  }
  return true;
}

static bool read_sizes(const struct calibrate_arguments* arguments, uint32_t ranks, struct study_plan* plan,
                       struct sw_text* fault) {
  const char* text = arguments->sizes ? arguments->sizes : "1KiB..128MiB";
  if (arguments->workload && arguments->sizes) {
    sw_text_add(fault, "--sizes and --sizes-from: give one of them; the workload says which sizes");
    return false;
  }
  if (arguments->workload) return wanted_from_workload(arguments->workload, ranks, plan, fault);
  const char* dots = strstr(text, "..");
  return dots ? read_size_range(text, dots, plan, fault) : read_size_list(text, plan, fault);
}

static bool read_memory(const struct calibrate_arguments* arguments, struct study_plan* plan, struct sw_text* fault) {
  const char* text = arguments->max_extra_memory;
  if (!text) return true;
  enum sw_number_fault number = sw_read_size(text, strlen(text), &plan->max_extra_memory);
  bool good = !number && plan->max_extra_memory > 0;
  return good || refuse_size(fault, "--max-extra-memory", text, "a size such as 256MiB", number);
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

/* As plugin/profile/read.c reads policies. */
static bool check_min_gain(const struct calibrate_arguments* arguments, struct sw_text* fault) {
  if (arguments->min_gain <= 0.99) return true;
  sw_text_printf(fault, "--min-gain: '%g%%': it takes a share from 0%% to 99%%", arguments->min_gain * 100);
  return false;
}

bool wanted_check(const struct calibrate_arguments* arguments, struct sw_text* fault) {
  struct study_plan plan = {.refine = false};
  bool later = arguments->workload && !arguments->sizes; /* its sizes are rounded for the ranks */
  return read_collectives(arguments, &plan, fault) && (later || read_sizes(arguments, 1, &plan, fault)) &&
         read_memory(arguments, &plan, fault) && check_name(arguments, fault) && check_min_gain(arguments, fault);
}

bool wanted_read(const struct calibrate_arguments* arguments, uint32_t ranks, struct study_plan* plan,
                 struct sw_text* fault) {
  plan->budget_us = arguments->budget * 1e6;
  plan->min_gain = (int64_t)(arguments->min_gain * (double)SW_ONE + 0.5);
  return read_collectives(arguments, plan, fault) && read_groups(arguments, ranks, plan, fault) &&
         read_sizes(arguments, ranks, plan, fault) && read_memory(arguments, plan, fault) &&
         check_name(arguments, fault) && check_min_gain(arguments, fault);
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
