/*
 * Growable text. A text that once ran out of memory stays valid, is marked as failed, and drops what is added
 * after that, so that a caller tests `failed` once, at the end. Never prints floating point: that would depend on
 * the host process's locale.
 */
#ifndef SW_TEXT_H
#define SW_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sw_text {
  char* data; /* NUL-terminated, or NULL while empty */
  size_t length;
  size_t capacity;
  bool failed;
  void (*drain)(void* where, const char* bytes, size_t length); /* NULL: the text keeps all that is added */
  void* where;
};

#define SW_TEXT_EMPTY ((struct sw_text){0})

void sw_text_add(struct sw_text* text, const char* string);
void sw_text_add_bytes(struct sw_text* text, const char* bytes, size_t length);
__attribute__((format(printf, 2, 3))) void sw_text_printf(struct sw_text* text, const char* format, ...);
void sw_text_vprintf(struct sw_text* text, const char* format, va_list arguments);

/* A whole number, with zeros in front where it has fewer than `digits` (20 at most). */
void sw_text_add_whole(struct sw_text* text, uint64_t number, unsigned digits);

/* Gives what a text with a drain still holds to it; by itself the text does so every few KiB. */
void sw_text_drain(struct sw_text* text);

/* The text as a C string; "" while empty. Valid until the next change. */
const char* sw_text_string(const struct sw_text* text);

/* Frees the memory; the text is then empty and can be used again. */
void sw_text_free(struct sw_text* text);

#endif
