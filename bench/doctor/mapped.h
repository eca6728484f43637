/* A regular file as read-only memory. */
#ifndef SW_MAPPED_H
#define SW_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapped {
  const char* bytes;
  size_t length; /* at least 1 */
};

/* False when it cannot be read, is empty, or is no regular file. */
bool mapped_open(const char* path, struct mapped* out);
void mapped_close(struct mapped* file);

#endif
