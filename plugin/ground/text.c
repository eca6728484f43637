#include "ground/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAINED_BYTES = 4096 };

void sw_text_drain(struct sw_text* text) {
  if (!text->drain || !text->length) return;
  text->drain(text->where, text->data, text->length);
  text->length = 0;
}

/* Room for `more` bytes and a NUL; false, and the text is failed, when there is none. */
static bool reserve(struct sw_text* text, size_t more) {
  if (text->failed) return false;
  if (text->length + more >= DRAINED_BYTES) sw_text_drain(text);
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
  enum { MOSTLY_ENOUGH = 100 };
  if (!reserve(text, MOSTLY_ENOUGH)) return; /* so that most texts are formatted once */
  va_list again;
  va_copy(again, arguments);
  size_t room = text->capacity - text->length;
  int length = vsnprintf(text->data + text->length, room, format, arguments);
  if (length >= 0 && (size_t)length >= room && reserve(text, (size_t)length))
    vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
  if (length >= 0 && !text->failed) text->length += (size_t)length;
  text->data[text->length] = '\0'; /* where the text failed, a part of what did not fit stands behind it */
  va_end(again);
}

void sw_text_add_whole(struct sw_text* text, uint64_t number, unsigned digits) {
  char written[20];
  size_t at = sizeof written;
  while (number || digits || at == sizeof written) {
    written[--at] = (char)('0' + number % 10);
    number /= 10;
    digits -= digits > 0;
  }
  sw_text_add_bytes(text, written + at, sizeof written - at);
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
