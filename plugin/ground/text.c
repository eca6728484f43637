#include "ground/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes and a NUL; false, and the text is failed, when there is none. */
static bool reserve(struct sw_text* text, size_t more) {
  if (text->failed) return false;
  if (text->length + more + 1 <= text->capacity) return true;
  size_t capacity = text->capacity ? text->capacity : 64;
  while (capacity < text->length + more + 1) capacity *= 2;
  char* data = realloc(text->data, capacity);
  if (!data) {
    text->failed = true;
    return false;
  }
  text->data = data;
  text->capacity = capacity;
  return true;
}

void sw_text_add_bytes(struct sw_text* text, const char* bytes, size_t length) {
  if (!reserve(text, length)) return;
  if (length) memcpy(text->data + text->length, bytes, length);
  text->length += length;
  text->data[text->length] = '\0';
}

void sw_text_add(struct sw_text* text, const char* string) {
  sw_text_add_bytes(text, string, strlen(string));
}

void sw_text_vprintf(struct sw_text* text, const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  if (length >= 0 && reserve(text, (size_t)length)) {
    vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
}

void sw_text_printf(struct sw_text* text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sw_text_vprintf(text, format, arguments);
  va_end(arguments);
}

const char* sw_text_string(const struct sw_text* text) {
  return text->data ? text->data : "";
}

void sw_text_free(struct sw_text* text) {
  free(text->data);
  *text = SW_TEXT_EMPTY;
}
