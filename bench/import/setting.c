#include "import/setting.h"

#include <stdlib.h>
#include <string.h>

#include "ground/names.h"
#include "ground/nearest.h"
#include "nccl_tuner.h"

enum { MOST_VARIABLES = 16 };

struct reading {
  struct sw_arena* arena;
  struct import_setting* out;
  struct sw_text* fault;
  bool named_auto;
};

static bool read_vocabulary(struct reading* reading, const struct sw_vocabulary* words, const char* value,
                            size_t length, int8_t* out) {
  int number = sw_word_value(words, value, length);
  if (number >= 0) {
    *out = (int8_t)number;
    return true;
  }
  const char* nearest = sw_nearest_word(words, value, length);
  sw_text_printf(reading->fault, "unknown %s '%.*s'", words->what, (int)length, value);
  if (nearest) sw_text_printf(reading->fault, "; did you mean '%s'?", nearest);
  for (size_t i = 0; i < words->count && !nearest; i++)
    sw_text_printf(reading->fault, "%s%s", i ? ", " : "; it is one of ", words->words[i].word);
  return false;
}

static bool read_channels(struct reading* reading, const char* value, size_t length) {
  uint64_t channels;
  if (sw_read_whole(value, length, NCCL_MAX_CHANNELS, &channels) != SW_NUMBER_OK || channels == 0) {
    sw_text_printf(reading->fault, "channels '%.*s' is no number from 1 to %d", (int)length, value, NCCL_MAX_CHANNELS);
    return false;
  }
  reading->out->choice.channels = (uint8_t)channels;
  return true;
}

/* What a tuner sets itself has a key of its own: as an environment variable it would seem out of a tuner's reach. */
static const char* key_instead(const char* name, size_t length) {
  static const char* const keys[][2] = {{"NCCL_ALGO", "algo=tree"},           {"NCCL_PROTO", "proto=ll"},
                                        {"NCCL_MIN_NCHANNELS", "channels=8"}, {"NCCL_MAX_NCHANNELS", "channels=8"},
                                        {"NCCL_MIN_CTAS", "channels=8"},      {"NCCL_MAX_CTAS", "channels=8"}};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    if (strlen(keys[i][0]) == length && strncmp(keys[i][0], name, length) == 0) return keys[i][1];
  return NULL;
}

static bool is_variable(const char* name, size_t length) {
  return length && length <= 64 && strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == length &&
         (name[0] < '0' || name[0] > '9');
}

static bool add_variable(struct reading* reading, const char* name, size_t length, const char* value,
                         size_t value_length) {
  struct sw_settings* settings = &reading->out->settings;
  if (!settings->items) settings->items = sw_arena_allocate(reading->arena, MOST_VARIABLES, sizeof *settings->items);
  struct sw_setting* items = (struct sw_setting*)settings->items;
  if (!items || settings->count == MOST_VARIABLES) {
    sw_text_printf(reading->fault, items ? "more than %d environment variables" : "out of memory", MOST_VARIABLES);
    return false;
  }
  struct sw_setting* item = &items[settings->count++];
  item->name = sw_arena_copy(reading->arena, name, length);
  item->value = sw_arena_copy(reading->arena, value, value_length);
  if (item->name && item->value) return true;
  sw_text_add(reading->fault, "out of memory");
  return false;
}

static bool read_variable(struct reading* reading, const char* name, size_t length, const char* value,
                          size_t value_length) {
  const char* instead = key_instead(name, length);
  if (!value_length) {
    sw_text_printf(reading->fault, "%.*s has no value; leave it out", (int)length, name);
    return false;
  }
  if (instead) {
    sw_text_printf(reading->fault, "%.*s is what a tuner sets: write it as %s", (int)length, name, instead);
    return false;
  }
  if (is_variable(name, length)) return add_variable(reading, name, length, value, value_length);
  struct sw_nearest nearest = sw_nearest_start(name, length);
  sw_nearest_offer(&nearest, "algo");
  sw_nearest_offer(&nearest, "proto");
  sw_nearest_offer(&nearest, "channels");
  sw_text_printf(reading->fault, "unknown key '%.*s'", (int)length, name);
  if (nearest.best)
    sw_text_printf(reading->fault, "; did you mean '%s'?", nearest.best);
  else
    sw_text_add(reading->fault, "; keys are algo, proto, channels, and environment variables such as NCCL_BUFFSIZE");
  return false;
}

/* Whether a key that names a part of the choice has named it before. */
static bool is_taken(const struct reading* reading, const char* key, size_t length) {
  const struct sw_choice* choice = &reading->out->choice;
  return (length == 4 && strncmp(key, "algo", 4) == 0 && choice->algo >= 0) ||
         (length == 5 && strncmp(key, "proto", 5) == 0 && choice->proto >= 0) ||
         (length == 8 && strncmp(key, "channels", 8) == 0 && choice->channels);
}

static bool read_pair(struct reading* reading, const char* part, size_t length) {
  const char* equals = memchr(part, '=', length);
  if (!equals && length == 4 && strncmp(part, "auto", 4) == 0) {
    reading->named_auto = true;
    return true;
  }
  if (!equals) {
    sw_text_printf(reading->fault, "'%.*s' is no KEY=VALUE", (int)length, part);
    return false;
  }
  size_t name = (size_t)(equals - part);
  size_t value = length - name - 1;
  if (is_taken(reading, part, name)) {
    sw_text_printf(reading->fault, "%.*s is given twice", (int)name, part);
    return false;
  }
  if (name == 4 && strncmp(part, "algo", 4) == 0)
    return read_vocabulary(reading, &sw_algorithms, equals + 1, value, &reading->out->choice.algo);
  if (name == 5 && strncmp(part, "proto", 5) == 0)
    return read_vocabulary(reading, &sw_protocols, equals + 1, value, &reading->out->choice.proto);
  if (name == 8 && strncmp(part, "channels", 8) == 0) return read_channels(reading, equals + 1, value);
  return read_variable(reading, part, name, equals + 1, value);
}

/* Up to the next comma; of a variable ("A=x,y,B=z") up to the comma before the next KEY=. */
static size_t part_length(const char* part) {
  size_t length = strcspn(part, ",");
  while (part[0] >= 'A' && part[0] <= 'Z' && part[length]) {
    const char* next = part + length + 1;
    size_t more = strcspn(next, ",");
    if (memchr(next, '=', more)) break;
    length += 1 + more;
  }
  return length;
}

static int compare_names(const void* a, const void* b) {
  return strcmp(((const struct sw_setting*)a)->name, ((const struct sw_setting*)b)->name);
}

static bool check(struct reading* reading) {
  struct sw_settings* settings = &reading->out->settings;
  if (settings->count) qsort((void*)settings->items, settings->count, sizeof *settings->items, compare_names);
  for (size_t i = 1; i < settings->count; i++)
    if (strcmp(settings->items[i - 1].name, settings->items[i].name) == 0) {
      sw_text_printf(reading->fault, "%s is given twice", settings->items[i].name);
      return false;
    }
  bool named_choice = !sw_choice_is_auto(reading->out->choice);
  if (reading->named_auto != named_choice) return true;
  sw_text_add(reading->fault, named_choice
                                  ? "auto leaves everything to NCCL; algo, proto and channels cannot stand beside it"
                                  : "it names no choice; write auto where only the environment differed");
  return false;
}

bool setting_read(const char* word, struct sw_arena* arena, struct import_setting* out, struct sw_text* fault) {
  struct reading reading = {arena, out, fault, false};
  *out = (struct import_setting){.choice = SW_AUTO};
  while (*word) {
    size_t length = part_length(word);
    if (!read_pair(&reading, word, length)) return false;
    word += length + (word[length] == ',');
  }
  return check(&reading);
}

int setting_compare(const struct import_setting* a, const struct import_setting* b) {
  int order = sw_choice_compare(a->choice, b->choice);
  return order ? order : sw_settings_compare(&a->settings, &b->settings);
}
