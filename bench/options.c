#include "options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "ground/names.h"
#include "ground/nearest.h"
#include "ground/number.h"

int misuse(const struct command* command, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "sizewise%s%s: ", command ? " " : "", command ? command->name : "");
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  if (command)
    fprintf(stderr, "\nTry 'sizewise help %s'.\n", command->name);
  else
    fputs("\nTry 'sizewise help'.\n", stderr);
  return SW_EXIT_MISUSE;
}

static const struct option* find(const struct command* command, const char* name, size_t length) {
  for (const struct option* option = command->options; option->name; option++)
    if (strlen(option->name) == length && strncmp(option->name, name, length) == 0) return option;
  return NULL;
}

static void refuse_unknown(const struct command* command, const char* name, size_t length) {
  struct sw_nearest nearest = sw_nearest_start(name, length);
  for (const struct option* option = command->options; option->name; option++) sw_nearest_offer(&nearest, option->name);
  if (nearest.best)
    misuse(command, "unknown option '%.*s'; did you mean '%s'?", (int)length, name, nearest.best);
  else
    misuse(command, "unknown option '%.*s'", (int)length, name);
}

static const char* fault_words(enum sw_number_fault fault) {
  return fault == SW_NUMBER_DECIMAL_UNIT   ? "KB, MB and GB mean 1000 to some and 1024 to others; write K or KiB (1024)"
         : fault == SW_NUMBER_OUT_OF_RANGE ? "the largest is 1 EiB"
                                           : "write 12288, 12K or 12KiB";
}

static bool read_size(const struct command* command, const struct option* option, const char* word, size_t length) {
  struct size_list* list = option->target;
  uint64_t bytes;
  enum sw_number_fault fault = sw_read_size(word, length, &bytes);
  if (fault) {
    misuse(command, "%s: '%.*s' is no size: %s", option->name, (int)length, word, fault_words(fault));
    return false;
  }
  if (list->count == sizeof list->items / sizeof list->items[0]) {
    misuse(command, "%s: more than %zu sizes", option->name, list->count);
    return false;
  }
  list->items[list->count++] = bytes;
  return true;
}

static bool read_sizes(const struct command* command, const struct option* option, const char* word) {
  while (*word) {
    size_t length = strcspn(word, ",");
    if (!read_size(command, option, word, length)) return false;
    word += length + (word[length] == ',');
  }
  return true;
}

static bool keep_word(const struct command* command, const struct option* option, const char* word) {
  struct words* words = option->target;
  if (words->count == sizeof words->items / sizeof words->items[0]) {
    misuse(command, "%s: given more than %zu times", option->name, words->count);
    return false;
  }
  words->items[words->count++] = word;
  return true;
}

static bool read_seconds(const struct command* command, const struct option* option, const char* word) {
  static const struct {
    char unit;
    double seconds;
  } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}};
  size_t length = strlen(word);
  uint64_t number;
  double scale = 0;
  for (size_t i = 0; i < 3 && length > 1; i++)
    if (word[length - 1] == units[i].unit) scale = units[i].seconds;
  if (scale > 0 && sw_read_whole(word, length - 1, 1000000, &number) == SW_NUMBER_OK && number > 0) {
    *(double*)option->target = (double)number * scale;
    return true;
  }
  misuse(command, "%s: '%s' is no duration; write 90s, 5m or 1h", option->name, word);
  return false;
}

static bool read_share(const struct command* command, const struct option* option, const char* word) {
  int64_t share;
  if (sw_read_fraction(word, strlen(word), &share) == SW_NUMBER_OK && share <= SW_ONE) {
    *(double*)option->target = (double)share / (double)SW_ONE;
    return true;
  }
  misuse(command, "%s: '%s' is no share; write 5%% or 0.05", option->name, word);
  return false;
}

static bool read_value(const struct command* command, const struct option* option, const char* word) {
  uint64_t number;
  int value;
  switch (option->kind) {
    case OPTION_FLAG:
      break;
    case OPTION_TEXT:
      *(const char**)option->target = word;
      break;
    case OPTION_TEXTS:
      return keep_word(command, option, word);
    case OPTION_SECONDS:
      return read_seconds(command, option, word);
    case OPTION_NUMBER:
      if (sw_read_whole(word, strlen(word), UINT64_MAX, option->target) == SW_NUMBER_OK) return true;
      misuse(command, "%s: '%s' is no whole number", option->name, word);
      return false;
    case OPTION_SHARE:
      return read_share(command, option, word);
    case OPTION_SIZES:
      return read_sizes(command, option, word);
    case OPTION_COUNT:
      if (sw_read_whole(word, strlen(word), 1000000, &number) == SW_NUMBER_OK && number > 0) {
        *(uint32_t*)option->target = (uint32_t)number;
        return true;
      }
      misuse(command, "%s: '%s' is no whole number from 1 to 1000000", option->name, word);
      return false;
    case OPTION_COLLECTIVE:
      value = sw_word_value(&sw_collectives, word, strlen(word));
      if (value >= 0) {
        *(int*)option->target = value;
        return true;
      }
      const char* nearest = sw_nearest_word(&sw_collectives, word, strlen(word));
      if (nearest)
        misuse(command, "%s: unknown collective '%s'; did you mean '%s'?", option->name, word, nearest);
      else
        misuse(command,
               "%s: unknown collective '%s'; it is one of allreduce, allgather, reducescatter, broadcast, reduce",
               option->name, word);
      return false;
  }
  return true;
}

/* Behind the first size, further words that are sizes belong to the option, too. */
static int further_sizes(const struct option* option, int argc, char** argv) {
  int taken = 0;
  uint64_t ignored;
  while (option->kind == OPTION_SIZES && taken < argc &&
         sw_read_size(argv[taken], strlen(argv[taken]), &ignored) == SW_NUMBER_OK)
    taken++;
  return taken;
}

/* Reads the option at argv[0]; returns how many words it took, 0 after an error. */
static int read_option(const struct command* command, int argc, char** argv) {
  const char* word = argv[0];
  size_t length = strcspn(word, "=");
  const struct option* option = find(command, word, length);
  if (!option) {
    refuse_unknown(command, word, length);
    return 0;
  }
  bool has_value = word[length] == '=';
  if (option->kind == OPTION_FLAG) {
    if (has_value)
      misuse(command, "%s takes no value", option->name);
    else
      *(bool*)option->target = true;
    return !has_value;
  }
  if (!has_value && argc < 2) {
    misuse(command, "%s needs %s behind it", option->name, option->placeholder);
    return 0;
  }
  if (!read_value(command, option, has_value ? word + length + 1 : argv[1])) return 0;
  int taken = has_value ? 1 : 2;
  int more = has_value ? 0 : further_sizes(option, argc - taken, argv + taken);
  for (int i = 0; i < more; i++)
    if (!read_value(command, option, argv[taken + i])) return 0;
  return taken + more;
}

bool options_read(const struct command* command, int argc, char** argv, struct words* words) {
  bool options = true;
  for (int i = 0; i < argc;) {
    if (options && strcmp(argv[i], "--") == 0) {
      options = false;
      i++;
    } else if (options && argv[i][0] == '-' && argv[i][1]) {
      int taken = read_option(command, argc - i, argv + i);
      if (!taken) return false;
      i += taken;
    } else if (words->count == sizeof words->items / sizeof words->items[0]) {
      misuse(command, "too many arguments");
      return false;
    } else {
      words->items[words->count++] = argv[i++];
    }
  }
  return true;
}
