/*
 * Letters without regard to case, ASCII alone. The C library's functions for this follow the locale, which belongs to
 * the host process: ranks with different locales could read one profile differently.
 */
#ifndef SW_LETTERS_H
#define SW_LETTERS_H

#include <stdbool.h>
#include <stddef.h>

static inline char sw_lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether `length` bytes of both are the same. */
static inline bool sw_same_letters(const char* a, const char* b, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (sw_lower(a[i]) != sw_lower(b[i])) return false;
  return true;
}

/* Whether two words are the same. */
static inline bool sw_same_word(const char* a, const char* b) {
  size_t i = 0;
  while (a[i] && sw_lower(a[i]) == sw_lower(b[i])) i++;
  return a[i] == b[i];
}

#endif
