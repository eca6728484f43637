/* What a command writes to a file: all of it or nothing. */
#ifndef SW_REPLACE_H
#define SW_REPLACE_H

#include <stdbool.h>

/* Whether file_replace could do so; false with the reason in errno. */
bool file_can_replace(const char* path);

/* Writes a file so that nobody ever sees half of it, a device or a pipe as it is; false with a line on stderr. */
bool file_replace(const char* path, const char* text);

#endif
