/* The variables that a process would see, each with the place that sets it. */
#ifndef SW_ENV_SET_H
#define SW_ENV_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ground/text.h"

struct env_variable {
  char* name;
  char* value;
  char* file;    /* "environment", or the path of the file that sets it */
  unsigned line; /* in that file; 0: none */
};

struct env_set {
  struct env_variable* items; /* in the order they were added */
  size_t count;
  uint32_t* index; /* of the names; NULL: none yet */
  size_t index_size;
  unsigned first_line; /* of a start script's set; 0: not from one */
  unsigned last_line;
  bool failed; /* memory ran out: something is missing */
};

#define ENV_SET_EMPTY ((struct env_set){0})

/*
 * Sets a variable; one that is there already gets the new value and place. Control characters become '?': values are
 * shown, and a terminal would obey them.
 */
void env_set_put(struct env_set* set, const char* name, const char* value, const char* file, unsigned line);

/* "NAME=value" as in environ; what has no name is dropped, and of a name that comes twice the first counts (getenv). */
void env_set_put_pair(struct env_set* set, const char* pair, const char* file, unsigned line);

/* The variable, or NULL. One that is set to "" counts as not set, as for NCCL. */
const struct env_variable* env_set_find(const struct env_set* set, const char* name);

/* Whether it is set at all, be it to "". */
bool env_set_has(const struct env_set* set, const char* name);

/* Its value, or NULL. */
const char* env_set_value(const struct env_set* set, const char* name);

/* "environment", "start.sh:12" */
void env_set_add_place(struct sw_text* text, const struct env_variable* variable);

/*
 * env_set_getenv answers like getenv from the set that was given to env_set_use, for functions that take a getenv.
 * One set at a time; the command line has one thread.
 */
void env_set_use(const struct env_set* set);
const char* env_set_getenv(const char* name);

void env_set_free(struct env_set* set);

#endif
