#include "ground/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ground/utf8.h"

const struct sw_code_entry sw_codes[] = {
#define SW_CODE(number, name, severity, cause, cure) {SW_##name, SW_SEVERITY_##severity, cause, cure},
#include "ground/codes.def"
#undef SW_CODE
    {0, SW_SEVERITY_ERROR, NULL, NULL},
};

const struct sw_code_entry* sw_code_entry(int code) {
  for (const struct sw_code_entry* entry = sw_codes; entry->cause; entry++)
    if ((int)entry->code == code) return entry;
  return NULL;
}

static bool is_warning(enum sw_code code) {
  const struct sw_code_entry* entry = sw_code_entry((int)code);
  return entry && entry->severity == SW_SEVERITY_WARNING;
}

void sw_diags_start(struct sw_diags* diags, const char* file) {
  memset(diags, 0, sizeof *diags);
  diags->file = file;
}

void sw_report(struct sw_diags* diags, enum sw_code code, struct sw_place place, const char* format, ...) {
  bool keep;
  if (is_warning(code)) {
    keep = diags->warnings < SW_MOST_WARNINGS;
    diags->warnings++;
  } else {
    keep = !sw_diags_full(diags);
    diags->errors += keep;
  }
  if (!keep) return;
  struct sw_diag* diag = &diags->items[diags->count++];
  diag->code = code;
  diag->place = place;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(diag->text, sizeof diag->text, format, arguments);
  va_end(arguments);
}

bool sw_diags_full(const struct sw_diags* diags) {
  return diags->errors >= SW_MOST_ERRORS;
}

static bool is_continuation(char c) {
  return ((unsigned char)c & 0xc0) == 0x80;
}

/* U+0000 to U+001F and U+007F to U+009F. */
static bool is_control(const char* character, size_t bytes) {
  unsigned char c = (unsigned char)character[0];
  return bytes == 1 ? c < 0x20 || c == 0x7f : c == 0xc2 && (unsigned char)character[1] < 0xa0;
}

/* A file can hold control characters, and a terminal would obey them; a text that was cut can end in a half one. */
static void add_printable(struct sw_text* text, const char* bytes, size_t length) {
  while (length) {
    size_t character = sw_utf8_character(bytes, length);
    if (character && !is_control(bytes, character))
      sw_text_add_bytes(text, bytes, character);
    else
      sw_text_add(text, *bytes == '\t' ? " " : "?");
    if (!character) character = 1;
    bytes += character;
    length -= character;
  }
}

static void add_file(struct sw_text* text, const struct sw_diags* diags) {
  add_printable(text, diags->file, strlen(diags->file));
}

void sw_add_diag(struct sw_text* text, const struct sw_diags* diags, const struct sw_diag* diag) {
  add_file(text, diags);
  if (diag->place.line) sw_text_printf(text, ":%u:%u", diag->place.line, diag->place.column);
  sw_text_printf(text, ": %s: ", is_warning(diag->code) ? "warning" : "error");
  add_printable(text, diag->text, strlen(diag->text));
  sw_text_printf(text, " [SW-%d]", (int)diag->code);
}

/* The part of a line that is shown: all of a short one, a window around the column of a long one. */
struct window {
  const char* start;
  size_t length;
  size_t caret; /* index of the column's byte within the window */
};

/* The line without what ends it: "\n" or "\r\n". */
static bool find_line(const struct sw_diags* diags, uint32_t number, const char** start, size_t* length) {
  if (!diags->source || !number) return false;
  const char* at = diags->source;
  const char* end = at + diags->source_length;
  for (uint32_t line = 1; line < number; line++) {
    at = memchr(at, '\n', (size_t)(end - at));
    if (!at) return false;
    at++;
  }
  const char* newline = memchr(at, '\n', (size_t)(end - at));
  *start = at;
  *length = (size_t)((newline ? newline : end) - at);
  if (*length && at[*length - 1] == '\r') --*length;
  return true;
}

static size_t byte_of_column(const char* line, size_t length, uint32_t column) {
  size_t byte = 0;
  for (uint32_t at = 1; at < column && byte < length; at++) {
    byte++;
    while (byte < length && is_continuation(line[byte])) byte++;
  }
  return byte;
}

static bool find_window(const struct sw_diags* diags, struct sw_place place, struct window* out) {
  enum { WIDEST = 110, BEFORE = 60 };
  const char* line;
  size_t length;
  if (!find_line(diags, place.line, &line, &length)) return false;
  size_t caret = byte_of_column(line, length, place.column);
  size_t skip = length > WIDEST && caret > BEFORE ? caret - BEFORE : 0;
  while (skip < caret && is_continuation(line[skip])) skip++;
  size_t shown = length - skip > WIDEST ? WIDEST : length - skip;
  while (shown && skip + shown < length && is_continuation(line[skip + shown])) shown--;
  *out = (struct window){line + skip, shown, caret - skip};
  return true;
}

void sw_add_diag_with_source(struct sw_text* text, const struct sw_diags* diags, const struct sw_diag* diag) {
  sw_add_diag(text, diags, diag);
  sw_text_add(text, "\n");
  struct window window;
  if (!find_window(diags, diag->place, &window)) return;
  sw_text_add(text, "    ");
  add_printable(text, window.start, window.length);
  sw_text_add(text, "\n    ");
  for (size_t i = 0; i < window.caret; i++)
    if (!is_continuation(window.start[i])) sw_text_add(text, " ");
  sw_text_add(text, "^");
  uint32_t width = diag->place.width;
  for (size_t i = window.caret + 1; width > 1 && i < window.length; i++) {
    if (is_continuation(window.start[i])) continue;
    sw_text_add(text, "~");
    width--;
  }
  sw_text_add(text, "\n");
}

void sw_add_diags(struct sw_text* text, const struct sw_diags* diags) {
  for (unsigned i = 0; i < diags->count; i++) sw_add_diag_with_source(text, diags, &diags->items[i]);
  if (sw_diags_full(diags)) {
    add_file(text, diags);
    sw_text_printf(text, ": stopped after %d errors\n", SW_MOST_ERRORS);
  }
  if (diags->warnings > SW_MOST_WARNINGS) {
    unsigned more = diags->warnings - SW_MOST_WARNINGS;
    add_file(text, diags);
    sw_text_printf(text, ": %u more warning%s\n", more, more == 1 ? "" : "s");
  }
}
