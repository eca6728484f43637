/*
 * A start script's settings. A blank line separates sets; a comment does not. Understood are
 *
 *     NAME=VALUE   export NAME=VALUE   -e NAME=VALUE   --env=NAME=VALUE   -x NAME=VALUE    shell, docker, mpirun
 *     ENV NAME=VALUE   ENV NAME VALUE                                                      Dockerfile
 *     NAME: value   - NAME=VALUE   - name: NAME followed by value: VALUE                   YAML (Kubernetes)
 *
 * also several on a line, quoted, with comments, and continued by a backslash. Names are capital letters, digits and
 * '_'; all else on a line is passed over, and nothing is expanded or run.
 */
#ifndef SW_ENV_FILE_H
#define SW_ENV_FILE_H

#include "doctor/env_set.h"

struct env_file {
  struct env_set* sets; /* none is empty */
  size_t count;
};

/* The sets of a text; `name` is the file's, for the places. False when memory runs out. env_file_free frees them. */
bool env_file_parse(const char* text, const char* name, struct env_file* out);
void env_file_free(struct env_file* file);

#endif
