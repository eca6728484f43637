/*
 * Findings: an error is a value before it is text. Whoever decides that something is an error reports it once, with
 * its code (codes.def) and place; the rest only pass `struct sw_diags` on.
 */
#ifndef SW_DIAG_H
#define SW_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ground/text.h"

enum sw_severity { SW_SEVERITY_ERROR, SW_SEVERITY_WARNING };

enum sw_code {
#define SW_CODE(number, name, severity, cause, cure) SW_##name = (number),
#include "ground/codes.def"
#undef SW_CODE
};

struct sw_code_entry {
  enum sw_code code;
  enum sw_severity severity;
  const char* cause;
  const char* cure;
};

/* All codes, in order; ends with an entry whose cause is NULL. */
extern const struct sw_code_entry sw_codes[];

/* The entry of a code, or NULL. */
const struct sw_code_entry* sw_code_entry(int code);

/* A place in a file: line and column count from 1, columns in characters; line 0: the file as a whole. */
struct sw_place {
  uint32_t line;
  uint32_t column;
  uint32_t width; /* characters to underline; 0 as 1 */
};

struct sw_diag {
  enum sw_code code;
  struct sw_place place;
  char text[256];
};

enum { SW_MOST_ERRORS = 10, SW_MOST_WARNINGS = 10 };

/* The findings in one file. */
struct sw_diags {
  const char* file;   /* as the user named it */
  const char* source; /* the file's text, to show the line; NULL when it was not read */
  size_t source_length;
  unsigned errors;   /* at most SW_MOST_ERRORS are kept; a reader stops there */
  unsigned warnings; /* counts all; SW_MOST_WARNINGS are kept */
  unsigned count;
  struct sw_diag items[SW_MOST_ERRORS + SW_MOST_WARNINGS];
};

/* Empties `diags` for a file. `file` must outlive it. */
void sw_diags_start(struct sw_diags* diags, const char* file);

/* Reports a finding. */
__attribute__((format(printf, 4, 5))) void sw_report(struct sw_diags* diags, enum sw_code code, struct sw_place place,
                                                     const char* format, ...);

/* True when no further error would be kept: time to stop reading. */
bool sw_diags_full(const struct sw_diags* diags);

/* "file:line:column: error: text [SW-nnn]", one line without a newline. */
void sw_add_diag(struct sw_text* text, const struct sw_diags* diags, const struct sw_diag* diag);

/* The same, and below it the source line with the place underlined; ends with a newline. */
void sw_add_diag_with_source(struct sw_text* text, const struct sw_diags* diags, const struct sw_diag* diag);

/* All findings with their source lines, and a line that says when reading stopped early. */
void sw_add_diags(struct sw_text* text, const struct sw_diags* diags);

#endif
