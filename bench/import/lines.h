/* Logs line by line, in bounded memory whatever their size, and a line's words. */
#ifndef SW_IMPORT_LINES_H
#define SW_IMPORT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ground/diag.h"

enum { LONGEST_LINE = 4096, MOST_WORDS = 64 };

struct line {
  char text[LONGEST_LINE]; /* NUL-terminated, without what ended it ("\n" or "\r\n"); what is longer is cut */
  size_t length;
  uint32_t number; /* from 1; 0 before the first */
  bool ended;      /* false: the file's last line, without "\n" behind it */
};

/* Reads the next line, the first without a byte order mark; false at the end of the file. `line` is all zeros before
   the first. */
bool line_next(FILE* file, struct line* line);

/* A part of a line. */
struct word {
  const char* start; /* not NUL-terminated */
  size_t length;
};

struct line_words {
  struct word items[MOST_WORDS]; /* what lies behind the last is left out */
  size_t count;
};

/* The line's words, separated by blanks and tabs. */
void line_split(const struct line* line, struct line_words* out);

bool word_is(struct word word, const char* text);

/* A word of digits alone, up to UINT64_MAX. */
bool word_whole(struct word word, uint64_t* out);

/* Where a word stands. */
struct sw_place word_place(const struct line* line, struct word word);

/* A line as a whole. */
struct sw_place line_place(const struct line* line);

#endif
