#include "screen.h"

#include <string.h>

struct grid grid_start(size_t columns) {
  return (struct grid){.cells = SW_TEXT_EMPTY, .columns = columns};
}

void grid_add(struct grid* grid, const char* cell) {
  sw_text_add_bytes(&grid->cells, cell, strlen(cell) + 1);
  grid->count++;
}

void grid_take(struct grid* grid, struct sw_text* cell) {
  grid_add(grid, sw_text_string(cell));
  sw_text_free(cell);
}

static void measure(const struct grid* grid, size_t widths[SCREEN_MOST_COLUMNS]) {
  const char* cell = sw_text_string(&grid->cells);
  for (size_t i = 0; i < grid->count; i++) {
    size_t length = strlen(cell);
    if (length > widths[i % grid->columns]) widths[i % grid->columns] = length;
    cell += length + 1;
  }
}

void grid_finish(struct grid* grid, size_t indent, struct sw_text* out) {
  size_t widths[SCREEN_MOST_COLUMNS] = {0};
  if (grid->cells.failed)
    out->failed = true;
  else
    measure(grid, widths);
  const char* cell = sw_text_string(&grid->cells);
  for (size_t i = 0; i < grid->count && !grid->cells.failed; i++) {
    bool first = i % grid->columns == 0;
    bool last = i % grid->columns == grid->columns - 1;
    sw_text_printf(out, "%*s%-*s%s", (int)(first ? indent : 0), "", (int)(last ? 0 : widths[i % grid->columns]), cell,
                   last ? "\n" : "  ");
    cell += strlen(cell) + 1;
  }
  sw_text_free(&grid->cells);
}

void screen_paragraph(struct sw_text* out, size_t indent, const char* label, const char* text) {
  sw_text_printf(out, "%-*s", (int)indent, label);
  size_t column = indent;
  while (*text) {
    size_t word = strcspn(text, " \n\t");
    if (column > indent && column + 1 + word > SCREEN_WIDTH) {
      sw_text_printf(out, "\n%*s", (int)indent, "");
      column = indent;
    }
    sw_text_printf(out, "%s%.*s", column > indent ? " " : "", (int)word, text);
    column += word + (column > indent);
    text += word;
    text += strspn(text, " \n\t");
  }
  sw_text_add(out, "\n");
}
