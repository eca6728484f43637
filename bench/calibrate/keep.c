#include "calibrate/keep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calibrate/in_force.h"

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

void keeper_keep(void* context, const struct study* study) {
  struct keeper* keeper = context;
  static struct sw_diags diags;
  sw_text_free(&keeper->text);
  if (profile_out(study, &keeper->head, &diags, &keeper->text)) {
    const char* output = keeper->arguments->output;
    keeper->failed = output && !file_replace(output, keeper->text.data);
    return;
  }
  struct sw_text fault = SW_TEXT_EMPTY;
  sw_add_diags(&fault, &diags);
  fputs(sw_text_string(&fault), stderr);
  sw_text_free(&fault);
}

void keeper_start(struct keeper* keeper, const struct calibrate_arguments* arguments, const struct crew* crew) {
  struct sw_facts_source machine = sw_facts_this_machine(false);
  const struct fabric_report* report = crew_report(crew, 0);
  *keeper = (struct keeper){.arguments = arguments};
  sw_facts_gather(&machine, &keeper->facts);
  keeper->settings = in_force_read(environ, &keeper->arena);
  sw_text_printf(&keeper->source, "sizewise calibrate on %s, %u ranks", report->host, crew_ranks(crew));
  if (arguments->simulate)
    sw_text_printf(&keeper->source, ", simulated from %s with seed %llu: no machine was measured", arguments->simulate,
                   (unsigned long long)arguments->seed);
  keeper->head = (struct profile_head){.name = arguments->name ? arguments->name : "calibrated",
                                       .simulated = arguments->simulate != NULL,
                                       .source = sw_text_string(&keeper->source),
                                       .report = report,
                                       .facts = &keeper->facts,
                                       .settings = &keeper->settings};
}

void keeper_free(struct keeper* keeper) {
  sw_text_free(&keeper->source);
  sw_text_free(&keeper->text);
  sw_arena_free(&keeper->arena);
}
