#include "output/replace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_PATH = 4096 };

/* What is replaced, the file behind a link, and what is written first, beside it. */
struct replacement {
  char target[LONGEST_PATH];
  char temporary[LONGEST_PATH];
};

static void name_replacement(const char* path, struct replacement* out) {
  char* real = realpath(path, NULL);
  snprintf(out->target, LONGEST_PATH, "%.4000s", real ? real : path);
  snprintf(out->temporary, LONGEST_PATH, "%.4000s.%d.tmp", out->target, (int)getpid());
  free(real);
}

/* A terminal, a pipe, /dev/null: written to where it is, never replaced by a file. */
static bool is_device(const char* path) {
  struct stat status;
  return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

bool file_can_replace(const char* path) {
  struct replacement names;
  struct stat status;
  if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    return false;
  }
  if (!path[0]) {
    errno = ENOENT;
    return false;
  }
  if (is_device(path)) return access(path, W_OK) == 0;
  name_replacement(path, &names);
  FILE* file = fopen(names.temporary, "w");
  if (!file) return false;
  fclose(file);
  return unlink(names.temporary) == 0;
}

static bool write_to_device(const char* path, const char* text) {
  FILE* file = fopen(path, "w");
  bool good = file && fputs(text, file) >= 0;
  if (file) good = fclose(file) == 0 && good;
  if (!good) perror(path);
  return good;
}

bool file_replace(const char* path, const char* text) {
  if (is_device(path)) return write_to_device(path, text);
  struct replacement names;
  name_replacement(path, &names);
  FILE* file = fopen(names.temporary, "w");
  bool good = file && fputs(text, file) >= 0;
  good = file && fflush(file) == 0 && fsync(fileno(file)) == 0 && good;
  if (file) good = fclose(file) == 0 && good;
  good = good && rename(names.temporary, names.target) == 0;
  if (!good) {
    perror(path);
    unlink(names.temporary);
  }
  return good;
}
