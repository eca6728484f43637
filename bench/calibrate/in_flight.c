#include "calibrate/in_flight.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ground/file.h"
#include "ground/number.h"
#include "output/replace.h"

#define WHY "a run ended while it was tried"

enum { COLUMNS = 6, LARGEST_FILE = 1 << 16 };

void in_flight_open(struct in_flight* file, const char* output) {
  *file = (struct in_flight){.path = SW_TEXT_EMPTY, .earlier = SW_TEXT_EMPTY};
  if (!output) return;
  sw_text_printf(&file->path, "%s.in-flight", output);
  file->there = access(sw_text_string(&file->path), F_OK) == 0;
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

/* The words of a line; false unless there are exactly COLUMNS. */
static bool split(const char* line, size_t length, const char** words, size_t* lengths) {
  const char* end = line + length;
  for (size_t i = 0; i < COLUMNS; i++) {
    const char* tab = memchr(line, '\t', (size_t)(end - line));
    if ((tab == NULL) != (i == COLUMNS - 1)) return false;
    words[i] = line;
    lengths[i] = (size_t)((tab ? tab : end) - line);
    line = tab ? tab + 1 : end;
  }
  return true;
}

/* -1 for "auto"; below that for a word that is none. */
static int read_word(const struct sw_vocabulary* words, const char* word, size_t length) {
  if (length == 4 && memcmp(word, "auto", 4) == 0) return -1;
  int value = sw_word_value(words, word, length);
  return value < 0 ? -2 : value;
}

static const char* word_of(const struct sw_vocabulary* words, int value) {
  return value < 0 ? "auto" : sw_value_word(words, value);
}

static bool read_line(const char* line, size_t length, struct ban_list* bans) {
  const char* words[COLUMNS];
  size_t lengths[COLUMNS];
  uint64_t ranks;
  uint64_t bytes;
  uint64_t channels;
  if (!split(line, length, words, lengths)) return false;
  int collective = sw_word_value(&sw_collectives, words[0], lengths[0]);
  int algo = read_word(&sw_algorithms, words[3], lengths[3]);
  int proto = read_word(&sw_protocols, words[4], lengths[4]);
  bool numbers = sw_read_whole(words[1], lengths[1], UINT32_MAX, &ranks) == SW_NUMBER_OK &&
                 sw_read_whole(words[2], lengths[2], SW_LARGEST_BYTES, &bytes) == SW_NUMBER_OK &&
                 sw_read_whole(words[5], lengths[5], NCCL_MAX_CHANNELS, &channels) == SW_NUMBER_OK;
  if (!numbers || collective < 0 || algo < -1 || proto < -1) return false;
  struct sw_choice choice = {(int8_t)algo, (int8_t)proto, (uint8_t)channels};
  if (sw_choice_is_auto(choice)) return false;
  if (ban(bans, collective, (uint32_t)ranks, choice, WHY)) bans->items[bans->count - 1].bytes = bytes;
  return true;
}

static bool read_lines(struct in_flight* file, const char* text, struct ban_list* bans) {
  while (*text) {
    size_t length = strcspn(text, "\n");
    if (!read_line(text, length, bans)) return false;
    sw_text_add_bytes(&file->earlier, text, length);
    sw_text_add(&file->earlier, "\n");
    text += length + (text[length] == '\n');
  }
  return true;
}

bool in_flight_read(struct in_flight* file, struct ban_list* bans, struct sw_text* fault) {
  if (!file->there) return true;
  char* text = NULL;
  size_t length;
  bool good = sw_file_read(sw_text_string(&file->path), LARGEST_FILE, &text, &length) == 0 && strlen(text) == length &&
              read_lines(file, text, bans);
  free(text);
  if (!good)
    sw_text_printf(fault, "%s names no choice that a run ended with; remove it to try all of them again",
                   sw_text_string(&file->path));
  return good;
}

/* --- writing ----------------------------------------------------------------------------------------------------- */

static void replace(struct in_flight* file, const struct sw_text* text) {
  if (file->failed) return;
  file->there = file_replace(sw_text_string(&file->path), sw_text_string(text));
  file->failed = !file->there;
}

static void clear(struct in_flight* file) {
  if (file->earlier.length)
    replace(file, &file->earlier);
  else
    in_flight_close(file);
}

void in_flight_end(struct in_flight* file) {
  if (file->trying) clear(file);
  file->trying = false;
}

void in_flight_set(struct in_flight* file, int collective, uint32_t ranks, uint64_t bytes, struct sw_choice choice) {
  struct sw_text text = SW_TEXT_EMPTY;
  if (!file->path.length) return;
  if (sw_choice_is_auto(choice)) {
    in_flight_end(file);
    return;
  }
  sw_text_add(&text, sw_text_string(&file->earlier));
  sw_text_printf(&text, "%s\t%u\t%llu\t%s\t%s\t%u\n", sw_value_word(&sw_collectives, collective), ranks,
                 (unsigned long long)bytes, word_of(&sw_algorithms, choice.algo), word_of(&sw_protocols, choice.proto),
                 choice.channels);
  replace(file, &text);
  file->trying = true;
  sw_text_free(&text);
}

void in_flight_close(struct in_flight* file) {
  if (file->there && unlink(sw_text_string(&file->path)) == 0) file->there = false;
}

void in_flight_free(struct in_flight* file) {
  sw_text_free(&file->path);
  sw_text_free(&file->earlier);
}
