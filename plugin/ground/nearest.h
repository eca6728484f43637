/* The nearest known word to a misspelt one, by edit distance with transpositions, without regard to case. */
#ifndef SW_NEAREST_H
#define SW_NEAREST_H

#include <stddef.h>

struct sw_nearest {
  const char* word; /* the misspelt word, not NUL-terminated */
  size_t length;
  const char* best; /* the nearest word offered so far, NULL while none is near enough to suggest */
  size_t distance;
};

struct sw_nearest sw_nearest_start(const char* word, size_t length);

/* Offers a known word; it becomes `best` when it is nearer than all before it and at most a third of it, rounded up,
   differs. */
void sw_nearest_offer(struct sw_nearest* nearest, const char* known);

#endif
