#include "json_text.h"

#include <stdlib.h>
#include <string.h>

#include "ground/utf8.h"

json_t* json_text(const char* text) {
  if (!text) return json_null();
  size_t length = strlen(text);
  char* copy = strdup(text);
  for (size_t at = 0; copy && at < length;) {
    size_t character = sw_utf8_character(copy + at, length - at);
    if (!character) copy[at] = '?';
    at += character ? character : 1;
  }
  json_t* string = copy ? json_string(copy) : NULL;
  free(copy);
  return string;
}
