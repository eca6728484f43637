/*
 * The environment that deploys a profile, written for the place where it goes. The same names and values everywhere;
 * what differs is how a value is quoted, and what has to be said beside it.
 *
 *     shell       export NAME='a value'             for sh; eval takes it
 *     docker      -e 'NAME=a value' \               words of a `docker run` line
 *     k8s         - name: NAME                      an `env:` list, YAML
 *     slurm       export NAME='a value'             a batch script's lines; sbatch --export splits values at commas
 *     nccl.conf   NAME=a value                      no quotes: NCCL takes the line as it is
 */
#ifndef SW_ENV_LINES_H
#define SW_ENV_LINES_H

#include "ground/names.h"
#include "ground/text.h"

enum env_format { ENV_SHELL, ENV_DOCKER, ENV_K8S, ENV_SLURM, ENV_NCCL_CONF };
extern const struct sw_vocabulary env_formats;

struct env_line {
  const char* name;
  const char* value; /* without control characters */
};

/* Every rank needs the files at these paths, absolute; NULL: there is none to bring along. */
struct env_files {
  const char* plugin;
  const char* profile;
};

void env_add_lines(struct sw_text* out, enum env_format format, const struct env_line* lines, size_t count,
                   const struct env_files* files);

/* A word for sh: as it is where it is plain, else in single quotes. */
void env_add_shell_word(struct sw_text* out, const char* word);

/* Appends lines of a comment: each begins with "# ". */
void env_add_comment(struct sw_text* out, const char* text);

#endif
