/* Text for people: columns that line up, paragraphs that wrap. */
#ifndef SW_SCREEN_H
#define SW_SCREEN_H

#include "ground/text.h"

enum { SCREEN_MOST_COLUMNS = 12, SCREEN_WIDTH = 100 };

/* Rows of cells. The last column is never padded. */
struct grid {
  struct sw_text cells; /* each ends with a NUL */
  size_t columns;
  size_t count; /* of cells */
};

struct grid grid_start(size_t columns);

/* Adds the next cell, left to right, row by row. */
void grid_add(struct grid* grid, const char* cell);

/* Adds the next cell and empties the text that holds it. */
void grid_take(struct grid* grid, struct sw_text* cell);

/* Appends all rows, each indented by `indent` blanks, and frees the grid. */
void grid_finish(struct grid* grid, size_t indent, struct sw_text* out);

/* Appends "label  text", the text wrapped at SCREEN_WIDTH and indented below itself; the label is padded to `indent`.
 */
void screen_paragraph(struct sw_text* out, size_t indent, const char* label, const char* text);

#endif
