/* Whole files, read with a bound and written so that nobody ever sees half of one. */
#ifndef SW_FILE_H
#define SW_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads a regular file of at most `largest` bytes into malloc'ed, NUL-terminated memory that the caller frees.
 * Returns 0, or an errno value: EFBIG when it is larger, EINVAL when it is no regular file (a pipe or a device could
 * be endless).
 */
int sw_file_read(const char* path, size_t largest, char** data, size_t* length);

#endif
