/* Option tables: parsing, help and suggestions all read them. */
#ifndef SW_OPTIONS_H
#define SW_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;

/* Sizes in bytes, in the order given. */
struct size_list {
  uint64_t items[256];
  size_t count;
};

/* What stands behind an option, and the type of its target. */
enum option_kind {
  OPTION_FLAG,       /* nothing; bool */
  OPTION_COUNT,      /* a whole number of 1 and more; uint32_t */
  OPTION_COLLECTIVE, /* a word of sw_collectives; int */
  OPTION_TEXT,       /* a word; const char* */
  OPTION_TEXTS,      /* a word, each time; struct words */
  OPTION_SECONDS,    /* "90s", "5m", "1h"; double, in seconds */
  OPTION_NUMBER,     /* a whole number, 0 too; uint64_t */
  OPTION_SHARE,      /* "5%", "0.05"; double */
  OPTION_SIZES       /* one or more sizes, separated by blanks or commas; struct size_list */
};

/* Words that are no options. */
struct words {
  const char* items[256];
  size_t count;
};

struct option {
  const char* name;        /* "--bytes" */
  const char* placeholder; /* "SIZE...", NULL for a flag */
  enum option_kind kind;
  void* target;
  const char* help;
};

/*
 * Reads argv by the command's table; `--name value` and `--name=value` are the same, `--` ends the options.
 * Returns false after one clear line on stderr.
 */
bool options_read(const struct command* command, int argc, char** argv, struct words* words);

/* One line on stderr, with where to find help: always returns SW_EXIT_MISUSE. */
__attribute__((format(printf, 2, 3))) int misuse(const struct command* command, const char* format, ...);

#endif
