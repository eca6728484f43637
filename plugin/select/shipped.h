/* The shipped profiles, compiled in byte for byte: the Makefile makes an array of every YAML file in profiles/. */
#ifndef SW_SHIPPED_H
#define SW_SHIPPED_H

#include <stddef.h>

struct sw_shipped {
  const char* name; /* file name without .yaml */
  const char* text;
  size_t length;
};

extern const struct sw_shipped sw_shipped_profiles[]; /* by name; ends with an entry whose name is NULL */

/* The shipped profile of this name, or NULL. */
const struct sw_shipped* sw_shipped_find(const char* name);

/* The shipped name nearest to a misspelt one, or NULL. */
const char* sw_shipped_nearest(const char* name);

#endif
