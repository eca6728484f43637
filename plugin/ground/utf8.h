/* Which bytes are UTF-8. */
#ifndef SW_UTF8_H
#define SW_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of the UTF-8 character at `at`, of which `left` bytes are there; 0 when there is none. */
size_t sw_utf8_character(const char* at, size_t left);

/* Whether a string is UTF-8 from its beginning to its end. */
bool sw_is_utf8(const char* string);

#endif
