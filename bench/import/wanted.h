/* What the command line says about the files. */
#ifndef SW_IMPORT_WANTED_H
#define SW_IMPORT_WANTED_H

#include <stdbool.h>
#include <stdint.h>

#include "ground/names.h"

struct import_wanted {
  int collective; /* -1: as the log says */
  uint32_t ranks; /* 0: as the log says; likewise the next */
  uint32_t nodes;
  bool in_place;
  const char* name;   /* NULL: from the first file's name */
  const char* source; /* NULL: "imported from FILE ..." */
  const char* date;   /* NULL: not said */
  int kind;           /* enum sw_kind; -1: as fits what is imported */
};

#endif
