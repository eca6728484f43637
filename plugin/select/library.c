#include "select/library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "select/library_internal.h"

/* Makes room for one more; NULL when memory runs out. */
static struct sw_entry* new_entry(struct sw_library* library) {
  struct sw_entry* entries = realloc(library->entries, (library->count + 1) * sizeof *entries);
  if (!entries) return NULL;
  library->entries = entries;
  return &entries[library->count];
}

static struct sw_text* new_warning(struct sw_library* library) {
  struct sw_text* warnings = realloc(library->warnings, (library->warning_count + 1) * sizeof *warnings);
  if (!warnings) return NULL;
  library->warnings = warnings;
  warnings[library->warning_count] = SW_TEXT_EMPTY;
  return &warnings[library->warning_count++];
}

static void refuse(struct sw_library* library, enum sw_code code, const char* text) {
  if (library->refusal.length) return;
  sw_text_printf(&library->refusal, "%s [SW-%d]", text, (int)code);
}

/* --- the profile that was named ---------------------------------------------------------------------------------- */

static bool read_located(const struct sw_location* location, enum sw_mode mode, struct sw_entry* entry) {
  return location->shipped ? sw_entry_read_shipped(location->shipped, mode, entry)
                           : sw_entry_read(sw_text_string(&location->file), mode, entry);
}

static void load_named(struct sw_library* library) {
  struct sw_text fault = SW_TEXT_EMPTY;
  struct sw_location location;
  struct sw_entry* entry = new_entry(library);
  if (!sw_locate(library->switches.path, library->switches.profile, &location, &fault)) {
    sw_text_printf(&library->refusal, "NCCL_SIZEWISE_PROFILE: %s [SW-%d]", sw_text_string(&fault), (int)SW_NO_PROFILE);
  } else if (!entry || !read_located(&location, library->mode, entry)) {
    refuse(library, SW_NO_MEMORY, "out of memory");
  } else {
    library->count++;
    library->named = true;
    if (entry->fault) sw_text_printf(&library->refusal, "NCCL_SIZEWISE_PROFILE: %s", entry->fault);
  }
  sw_text_free(&location.file);
  sw_text_free(&fault);
}

/* --- the searched folders ---------------------------------------------------------------------------------------- */

static void warn_of_invalid(struct sw_library* library, const struct sw_entry* entry) {
  if (library->switches.strict) {
    if (!library->refusal.length)
      sw_text_printf(&library->refusal, "NCCL_SIZEWISE_STRICT forbids an invalid profile [SW-%d]: %s", (int)SW_SKIPPED,
                     entry->fault);
    return;
  }
  struct sw_text* warning = new_warning(library);
  if (warning) sw_text_printf(warning, "skipped an invalid profile [SW-%d]: %s", (int)SW_SKIPPED, entry->fault);
}

static void load_file(struct sw_library* library, const char* folder, const char* name) {
  struct sw_text path = SW_TEXT_EMPTY;
  sw_text_printf(&path, "%s/%s", folder, name);
  struct sw_entry* entry = new_entry(library);
  if (entry && sw_entry_read(sw_text_string(&path), library->mode, entry)) {
    library->count++;
    if (entry->fault) warn_of_invalid(library, entry);
  }
  sw_text_free(&path);
}

static void load_folder(struct sw_library* library, const char* folder) {
  char** names;
  size_t count;
  if (!sw_folder_list(folder, &names, &count)) {
    struct sw_text* warning = library->switches.path_set ? new_warning(library) : NULL;
    if (warning)
      sw_text_printf(warning, "NCCL_SIZEWISE_PATH: %s: %s [SW-%d]", folder, strerror(errno), (int)SW_NO_FOLDER);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    load_file(library, folder, names[i]);
    free(names[i]);
  }
  free(names);
}

static void load_folders(struct sw_library* library) {
  const char* path = library->switches.path;
  struct sw_text folder = SW_TEXT_EMPTY;
  while (sw_folder_next(&path, &folder)) load_folder(library, sw_text_string(&folder));
  sw_text_free(&folder);
}

/* A shipped profile that was copied into a searched folder was still measured elsewhere. */
static void mark_shipped(struct sw_library* library, size_t own) {
  for (size_t i = 0; i < own; i++)
    for (size_t k = own; k < library->count; k++)
      if (strcmp(library->entries[i].digest.hex, library->entries[k].digest.hex) == 0)
        library->entries[i].shipped = true;
}

static void load_shipped(struct sw_library* library) {
  for (const struct sw_shipped* shipped = sw_shipped_profiles; shipped->name; shipped++) {
    struct sw_entry* entry = new_entry(library);
    if (entry && sw_entry_read_shipped(shipped, library->mode, entry)) library->count++;
  }
}

static void load_searched(struct sw_library* library) {
  load_folders(library);
  size_t own = library->count;
  if (!own && !library->switches.expect.hex[0]) return;
  load_shipped(library);
  mark_shipped(library, own);
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

static void load(struct sw_library* library, const struct sw_diags* diags) {
  if (diags->errors)
    refuse(library, SW_BAD_SETTING, diags->items[0].text);
  else if (library->switches.off && library->switches.expect.hex[0])
    refuse(
        library, SW_WRONG_DIGEST,
        "NCCL_SIZEWISE_PROFILE=off, but NCCL_SIZEWISE_EXPECT pins a profile that every rank must have; unset it too");
  else if (library->switches.profile)
    load_named(library);
  else if (!library->switches.off)
    load_searched(library);
}

struct sw_library* sw_library_load(const struct sw_facts_source* source) {
  struct sw_library* library = calloc(1, sizeof *library);
  struct sw_diags* diags = malloc(sizeof *diags);
  bool good = library && diags;
  if (good) {
    sw_diags_start(diags, "environment");
    good = sw_switches_read(source->getenv, diags, &library->switches);
  }
  if (good) {
    library->mode = library->switches.deterministic ? SW_MODE_DETERMINISTIC : SW_MODE_BY_SIZE;
    sw_facts_gather(source, &library->machine);
    load(library, diags);
  }
  free(diags);
  if (good) return library;
  sw_library_free(library);
  return NULL;
}

void sw_library_free(struct sw_library* library) {
  if (!library) return;
  for (size_t i = 0; i < library->count; i++) sw_entry_free(&library->entries[i]);
  for (size_t i = 0; i < library->warning_count; i++) sw_text_free(&library->warnings[i]);
  free(library->entries);
  free(library->warnings);
  sw_text_free(&library->refusal);
  sw_switches_free(&library->switches);
  free(library);
}
