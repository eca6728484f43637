#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ground/file.h"
#include "ground/nearest.h"
#include "select/settings.h"
#include "workload/workload.h"

enum { LARGEST_FILE = 16 * 1024 * 1024 };
#define FOLDER SW_DATA_FOLDER "/workloads"

static bool is_yaml(const char* name) {
  size_t length = strlen(name);
  return length > 5 && strcmp(name + length - 5, ".yaml") == 0;
}

static int select_yaml(const struct dirent* entry) {
  return is_yaml(entry->d_name);
}

/* "; did you mean 'gb10-m3-prefill'?", or the names of all that there are. */
static void add_shipped(struct sw_text* fault, const char* name) {
  struct dirent** entries = NULL;
  int count = scandir(FOLDER, &entries, select_yaml, alphasort);
  struct sw_nearest nearest = sw_nearest_start(name, strlen(name));
  struct sw_text all = SW_TEXT_EMPTY;
  for (int i = 0; i < count; i++) {
    char* shipped = entries[i]->d_name;
    shipped[strlen(shipped) - strlen(".yaml")] = '\0';
    sw_nearest_offer(&nearest, shipped);
    sw_text_printf(&all, "%s %s", i ? "," : "", shipped);
  }
  if (nearest.best)
    sw_text_printf(fault, "; did you mean '%s'?", nearest.best);
  else if (count > 0)
    sw_text_printf(fault, "; there are%s", sw_text_string(&all));
  sw_text_free(&all);
  for (int i = 0; i < count; i++) free(entries[i]);
  free(entries);
}

static bool locate(const char* name, struct sw_text* path, struct sw_text* fault) {
  bool is_path = strchr(name, '/') || is_yaml(name);
  if (is_path)
    sw_text_add(path, name);
  else
    sw_text_printf(path, FOLDER "/%s.yaml", name);
  if (is_path || access(sw_text_string(path), F_OK) == 0) return !path->failed;
  sw_text_printf(fault, "no workload '%.80s': no file of that name in " FOLDER, name);
  add_shipped(fault, name);
  return false;
}

bool workload_open(const char* name, struct workload_file* out, struct sw_text* fault) {
  memset(out, 0, sizeof *out);
  if (!locate(name, &out->path, fault)) {
    workload_close(out);
    return false;
  }
  sw_diags_start(&out->diags, sw_text_string(&out->path));
  int error = sw_file_read(sw_text_string(&out->path), LARGEST_FILE, &out->text, &out->length);
  if (error == EFBIG)
    sw_report(&out->diags, SW_TOO_LARGE, (struct sw_place){0}, "larger than 16 MiB");
  else if (error)
    sw_report(&out->diags, SW_CANNOT_READ, (struct sw_place){0}, "%s",
              error == EINVAL ? "no regular file" : strerror(error));
  else
    out->valid = workload_read(&out->arena, out->text, out->length, &out->diags, &out->workload);
  return true;
}

void workload_close(struct workload_file* file) {
  sw_arena_free(&file->arena);
  sw_text_free(&file->path);
  free(file->text);
  memset(file, 0, sizeof *file);
}
