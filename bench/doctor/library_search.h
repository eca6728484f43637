/*
 * Where the loader would find a library, from files alone: LD_LIBRARY_PATH, then /etc/ld.so.cache, then its standard
 * folders. The RUNPATH of whoever opens it is not known here, so a library beside a program can be missed.
 */
#ifndef SW_LIBRARY_SEARCH_H
#define SW_LIBRARY_SEARCH_H

#include <stdbool.h>

#include "ground/text.h"

struct library_place {
  struct sw_text path; /* without the root */
  const char* where;   /* "LD_LIBRARY_PATH", "the loader's cache", "a standard folder", "as named" */
};

/*
 * Finds `name` below `root` ("": the real files) by the loader's rules; one with a '/' is a path. `ld_library_path` may
 * be NULL. False when it is nowhere; free out->path either way.
 */
bool library_search(const char* root, const char* ld_library_path, const char* name, struct library_place* out);

#endif
