#include "ground/utf8.h"

#include <string.h>

/* Longer than it has to be, half of a surrogate pair, or beyond U+10FFFF: told by the second byte. */
static bool is_outside(unsigned char lead, unsigned char second) {
  return (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) || (lead == 0xf0 && second < 0x90) ||
         (lead == 0xf4 && second >= 0x90);
}

size_t sw_utf8_character(const char* at, size_t left) {
  unsigned char lead = (unsigned char)at[0];
  size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length > left || (length > 1 && is_outside(lead, (unsigned char)at[1]))) return 0;
  for (size_t i = 1; i < length; i++)
    if (((unsigned char)at[i] & 0xc0) != 0x80) return 0;
  return length;
}

bool sw_is_utf8(const char* string) {
  size_t left = strlen(string);
  while (left) {
    size_t character = sw_utf8_character(string, left);
    if (!character) return false;
    string += character;
    left -= character;
  }
  return true;
}
