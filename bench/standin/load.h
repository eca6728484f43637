/*
 * How NCCL finds a tuner. It decides once per process, for better or worse; the caller here decides when to load, and
 * keeps one tuner for all communicators of one pretended process.
 *
 *     NCCL_TUNER_PLUGIN    libraries tried, in order; the first that opens is the one
 *     unset or empty       libnccl-tuner.so, then the net plugin (which may hold a tuner)
 *     none                 nothing: no tuner
 *     STATIC_PLUGIN        the program itself
 *     NAME                 NAME by the loader's rules; then libnccl-tuner-NAME.so, unless NAME has a slash or is
 * lib*.so
 */
#ifndef STANDIN_LOAD_H
#define STANDIN_LOAD_H

#include "standin/tuner.h"

enum standin_load_status {
  STANDIN_LOADED,
  STANDIN_SWITCHED_OFF, /* "none" */
  STANDIN_NO_LIBRARY,   /* nothing opened */
  STANDIN_NO_SYMBOL,    /* it opened, but exports nothing that this NCCL looks for */
  STANDIN_NO_MEMORY,
  STANDIN_UNKNOWN_VERSION,
};

struct standin_load_report {
  char library[1024]; /* the name that opened; "" for the program itself or when none did */
  char words[1024];   /* what went wrong, the loader's own words included; "" when nothing did */
};

/*
 * Loads the tuner that NCCL `version` would load. `name` is NCCL_TUNER_PLUGIN's value or NULL; `net_plugin` is the path
 * of the net plugin in use or NULL. Only STANDIN_LOADED writes *tuner; `report` may be NULL.
 */
enum standin_load_status standin_load(int version, const char* name, const char* net_plugin,
                                      struct standin_tuner** tuner, struct standin_load_report* report);

/* Closes the library. All communicators that use the tuner have to be gone. NULL is fine. */
void standin_unload(struct standin_tuner* tuner);

#endif
