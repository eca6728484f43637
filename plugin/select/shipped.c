#include "select/shipped.h"

#include <string.h>

#include "ground/nearest.h"

const struct sw_shipped* sw_shipped_find(const char* name) {
  for (const struct sw_shipped* shipped = sw_shipped_profiles; shipped->name; shipped++)
    if (strcmp(shipped->name, name) == 0) return shipped;
  return NULL;
}

const char* sw_shipped_nearest(const char* name) {
  struct sw_nearest nearest = sw_nearest_start(name, strlen(name));
  for (const struct sw_shipped* shipped = sw_shipped_profiles; shipped->name; shipped++)
    sw_nearest_offer(&nearest, shipped->name);
  return nearest.best;
}
