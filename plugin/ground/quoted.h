/* Texts in double quotes, for YAML and JSON alike. */
#ifndef SW_QUOTED_H
#define SW_QUOTED_H

#include "ground/text.h"

/* Any UTF-8 text in quotes, with escapes that JSON and YAML have in common; reading it gives the same text. */
void sw_add_quoted(struct sw_text* out, const char* text);

#endif
