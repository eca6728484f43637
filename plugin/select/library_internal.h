/* Shared by entry.c (one profile) and library.c (all of them). */
#ifndef SW_LIBRARY_INTERNAL_H
#define SW_LIBRARY_INTERNAL_H

#include "select/library.h"
#include "select/shipped.h"

/* Reads one profile; an invalid one becomes an entry with a fault. False when memory runs out. */
bool sw_entry_read(const char* path, enum sw_mode mode, struct sw_entry* entry);
bool sw_entry_read_shipped(const struct sw_shipped* shipped, enum sw_mode mode, struct sw_entry* entry);
void sw_entry_free(struct sw_entry* entry);

/* The names of a folder's *.yaml files, sorted, in malloc'ed memory; false when the folder cannot be read. */
bool sw_folder_list(const char* folder, char*** names, size_t* count);

/* The next folder of a ':'-separated path, which moves along; false at the end. */
bool sw_folder_next(const char** path, struct sw_text* folder);

#endif
