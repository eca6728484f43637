#include "ground/nearest.h"

#include <stdbool.h>
#include <string.h>

#include "ground/letters.h"

enum { LONGEST = 32 }; /* no word of ours is longer */

static bool same(char a, char b) {
  return sw_lower(a) == sw_lower(b);
}

static size_t smallest(size_t a, size_t b, size_t c) {
  size_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

/* Optimal string alignment distance (Damerau 1964, restricted): one row a letter of `a`, three rows kept. */
static size_t distance(const char* a, size_t a_length, const char* b, size_t b_length) {
  size_t rows[3][LONGEST + 1];
  size_t* before = rows[0];
  size_t* last = rows[1];
  size_t* row = rows[2];
  for (size_t j = 0; j <= b_length; j++) last[j] = before[j] = j;
  for (size_t i = 1; i <= a_length; i++) {
    row[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
      row[j] = smallest(last[j] + 1, row[j - 1] + 1, last[j - 1] + !same(a[i - 1], b[j - 1]));
      bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
      if (swapped && before[j - 2] + 1 < row[j]) row[j] = before[j - 2] + 1;
    }
    size_t* oldest = before;
    before = last;
    last = row;
    row = oldest;
  }
  return last[b_length];
}

struct sw_nearest sw_nearest_start(const char* word, size_t length) {
  return (struct sw_nearest){word, length, NULL, 0};
}

void sw_nearest_offer(struct sw_nearest* nearest, const char* known) {
  size_t length = strlen(known);
  if (length > LONGEST || nearest->length > LONGEST) return;
  size_t apart = distance(nearest->word, nearest->length, known, length);
  size_t longer = length > nearest->length ? length : nearest->length;
  size_t allowed = longer < 3 ? 1 : (longer + 2) / 3;
  if (apart > allowed || apart >= longer) return;
  if (nearest->best && apart >= nearest->distance) return;
  nearest->best = known;
  nearest->distance = apart;
}
