#include "import/lines.h"

#include <string.h>

#include "ground/number.h"

/* What some editors put in front of a text. */
static void drop_mark(struct line* line) {
  static const char mark[] = "\xef\xbb\xbf";
  size_t length = sizeof mark - 1;
  if (line->length < length || memcmp(line->text, mark, length) != 0) return;
  line->length -= length;
  memmove(line->text, line->text + length, line->length + 1);
}

bool line_next(FILE* file, struct line* line) {
  int c = getc_unlocked(file);
  if (c == EOF) return false;
  line->length = 0;
  for (; c != EOF && c != '\n'; c = getc_unlocked(file))
    if (line->length + 1 < sizeof line->text) line->text[line->length++] = c ? (char)c : '?';
  if (line->length && line->text[line->length - 1] == '\r') line->length--;
  line->text[line->length] = '\0';
  line->ended = c == '\n';
  if (!line->number++) drop_mark(line);
  return true;
}

void line_split(const struct line* line, struct line_words* out) {
  const char* at = line->text;
  for (out->count = 0; out->count < MOST_WORDS; out->count++) {
    at += strspn(at, " \t");
    size_t length = strcspn(at, " \t");
    if (!length) return;
    out->items[out->count] = (struct word){at, length};
    at += length;
  }
}

bool word_is(struct word word, const char* text) {
  return strlen(text) == word.length && strncmp(word.start, text, word.length) == 0;
}

bool word_whole(struct word word, uint64_t* out) {
  return word.length && sw_read_whole(word.start, word.length, UINT64_MAX, out) == SW_NUMBER_OK;
}

static uint32_t characters(const char* from, const char* to) {
  uint32_t count = 0;
  for (; from < to; from++) count += ((unsigned char)*from & 0xc0) != 0x80;
  return count;
}

struct sw_place word_place(const struct line* line, struct word word) {
  return (struct sw_place){line->number, characters(line->text, word.start) + 1,
                           characters(word.start, word.start + word.length)};
}

struct sw_place line_place(const struct line* line) {
  return (struct sw_place){line->number, 1, characters(line->text, line->text + line->length)};
}
