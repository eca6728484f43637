/*
 * Small files and folders of sysfs and procfs, below a root folder ("": the real one). Reading is bounded: what is
 * absent, unreadable, too long or not text is simply not there.
 */
#ifndef SW_FACTS_FILES_H
#define SW_FACTS_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "facts/facts.h"

enum { SW_FACTS_FILE = 4096, SW_FACTS_NAME = 64 };

/*
 * Reads a regular file's first size - 1 bytes and ends them with a NUL. The path is a printf format. Returns the
 * number of bytes read; 0 (and "") where there are none.
 */
__attribute__((format(printf, 4, 5))) size_t sw_facts_read(char* buffer, size_t size, const char* root,
                                                           const char* path, ...);

/*
 * A file's first line without blanks around it. False (and "") when it is empty, fills `size`, or holds control
 * characters.
 */
__attribute__((format(printf, 4, 5))) bool sw_facts_line(char* buffer, size_t size, const char* root, const char* path,
                                                         ...);

/* Entries of a folder in order. */
struct sw_facts_folder {
  size_t count;
  char names[SW_FACTS_ENTRIES][SW_FACTS_NAME];
};

/*
 * Lists a folder's entries, the first SW_FACTS_ENTRIES in `order` where it holds more. Hidden names and names of
 * SW_FACTS_NAME bytes and longer are left out. Entries are links as often as folders in sysfs; either counts.
 */
__attribute__((format(printf, 4, 5))) void sw_facts_list(struct sw_facts_folder* folder,
                                                         int (*order)(const char*, const char*), const char* root,
                                                         const char* path, ...);

/* Names as people count them: mlx5_2 before mlx5_10; never equal unless the bytes are. */
int sw_facts_natural_order(const char* a, const char* b);

/* A whole word of decimal digits, not above `largest`; false otherwise, and then *out is untouched. */
bool sw_facts_number(const char* word, size_t length, int largest, int* out);

#endif
