#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ground/file.h"
#include "select/library_internal.h"
#include "select/shipped.h"

static char* take_text(struct sw_text* text) {
  char* data = text->failed ? NULL : text->data;
  if (!data) sw_text_free(text);
  *text = SW_TEXT_EMPTY;
  return data;
}

/* The first finding and how many more there are, on one line. */
static char* first_finding(const struct sw_diags* diags) {
  struct sw_text text = SW_TEXT_EMPTY;
  for (unsigned i = 0; i < diags->count; i++) {
    if (sw_code_entry((int)diags->items[i].code)->severity != SW_SEVERITY_ERROR) continue;
    sw_add_diag(&text, diags, &diags->items[i]);
    if (diags->errors > 1) sw_text_printf(&text, " (and %u more; 'sizewise check' shows all)", diags->errors - 1);
    break;
  }
  return take_text(&text);
}

static bool finish(struct sw_entry* entry, enum sw_mode mode, const struct sw_diags* diags) {
  if (entry->profile && sw_digest_compute_for(entry->profile, mode, &entry->digest, &entry->kept)) return true;
  if (!entry->profile) entry->fault = first_finding(diags);
  return entry->fault != NULL;
}

bool sw_entry_read(const char* path, enum sw_mode mode, struct sw_entry* entry) {
  struct sw_diags* diags = malloc(sizeof *diags);
  char* text = NULL;
  *entry = (struct sw_entry){.origin = strdup(path)};
  bool good = diags && entry->origin;
  if (good) {
    sw_diags_start(diags, path);
    entry->profile = sw_profile_read_file(path, &text, diags);
    free(text); /* its memory, and the tree's, serve the digest next */
    good = finish(entry, mode, diags);
  }
  free(diags);
  if (!good) sw_entry_free(entry);
  return good;
}

bool sw_entry_read_shipped(const struct sw_shipped* shipped, enum sw_mode mode, struct sw_entry* entry) {
  struct sw_diags* diags = malloc(sizeof *diags);
  *entry = (struct sw_entry){.origin = strdup("shipped"), .shipped = true};
  bool good = diags && entry->origin;
  if (good) {
    sw_diags_start(diags, shipped->name);
    entry->profile = sw_profile_read(shipped->text, shipped->length, diags);
    good = finish(entry, mode, diags);
  }
  free(diags);
  if (!good) sw_entry_free(entry);
  return good;
}

void sw_entry_free(struct sw_entry* entry) {
  sw_kept_free(&entry->kept);
  sw_profile_free(entry->profile);
  free(entry->origin);
  free(entry->fault);
  *entry = (struct sw_entry){0};
}

static bool ends_with(const char* text, const char* end) {
  size_t length = strlen(text);
  return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static int compare_names(const void* a, const void* b) {
  return strcmp(*(char* const*)a, *(char* const*)b);
}

/* Appends a copy; false when memory runs out. */
static bool add_name(char*** names, size_t* count, const char* name) {
  char** more = realloc(*names, (*count + 1) * sizeof *more);
  if (!more) return false;
  *names = more;
  more[*count] = strdup(name);
  return more[*count] && ++*count;
}

bool sw_folder_list(const char* folder, char*** names, size_t* count) {
  *names = NULL;
  *count = 0;
  DIR* directory = opendir(folder);
  if (!directory) return false;
  for (struct dirent* item = readdir(directory); item; item = readdir(directory))
    if (item->d_name[0] != '.' && ends_with(item->d_name, ".yaml") && !add_name(names, count, item->d_name)) break;
  closedir(directory);
  if (*count) qsort(*names, *count, sizeof **names, compare_names);
  return true;
}

bool sw_folder_next(const char** path, struct sw_text* folder) {
  while (**path == ':') (*path)++;
  size_t length = strcspn(*path, ":");
  sw_text_free(folder);
  sw_text_add_bytes(folder, *path, length);
  *path += length;
  return length > 0 && !folder->failed;
}

static void say_not_found(const char* path, const char* name, struct sw_text* fault) {
  sw_text_printf(fault, "no profile '%.80s': no file of that name in %s, and no shipped profile", name, path);
  const char* nearest = sw_shipped_nearest(name);
  if (nearest) {
    sw_text_printf(fault, "; did you mean '%s'?", nearest);
    return;
  }
  sw_text_add(fault, "; shipped are");
  for (const struct sw_shipped* shipped = sw_shipped_profiles; shipped->name; shipped++)
    sw_text_printf(fault, "%s %s", shipped == sw_shipped_profiles ? "" : ",", shipped->name);
}

static bool find_in_folders(const char* path, const char* name, struct sw_text* file) {
  struct sw_text folder = SW_TEXT_EMPTY;
  bool found = false;
  while (!found && sw_folder_next(&path, &folder)) {
    sw_text_free(file);
    sw_text_printf(file, "%s/%s.yaml", sw_text_string(&folder), name);
    found = !file->failed && access(sw_text_string(file), F_OK) == 0;
  }
  sw_text_free(&folder);
  return found;
}

bool sw_locate(const char* path, const char* name, struct sw_location* out, struct sw_text* fault) {
  *out = (struct sw_location){.file = SW_TEXT_EMPTY};
  if (strchr(name, '/') || ends_with(name, ".yaml")) {
    sw_text_add(&out->file, name);
    return !out->file.failed;
  }
  if (find_in_folders(path, name, &out->file)) return true;
  sw_text_free(&out->file);
  out->shipped = sw_shipped_find(name);
  if (!out->shipped) say_not_found(path, name, fault);
  return out->shipped != NULL;
}
