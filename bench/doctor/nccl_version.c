#include "doctor/nccl_version.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/library_search.h"
#include "doctor/mapped.h"
#include "facts/files.h"

/* Reads "2.29.7" at a place; what may follow is up to the caller. */
static int read_version(const char* at) {
  int parts[3];
  for (int i = 0; i < 3; i++) {
    size_t digits = strspn(at, "0123456789");
    if (!sw_facts_number(at, digits, 99, &parts[i]) || (i < 2 && at[digits] != '.')) return 0;
    at += digits + (i < 2);
  }
  return parts[0] * 10000 + parts[1] * 100 + parts[2];
}

int nccl_version_code(const char* word) {
  return word[strspn(word, "0123456789.")] ? 0 : read_version(word);
}

void nccl_add_version(struct sw_text* text, int version) {
  sw_text_printf(text, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}

static int version_in_name(const char* path) {
  const char* name = strstr(path, "libnccl.so.");
  return name ? nccl_version_code(name + strlen("libnccl.so.")) : 0;
}

static int version_in_file(const char* path) {
  static const char start[] = "NCCL version ";
  enum { LONGEST = 16 };
  struct mapped file;
  int version = 0;
  if (!mapped_open(path, &file)) return 0;
  const char* end = file.bytes + file.length;
  const char* at = file.bytes;
  while (!version && (at = memmem(at, (size_t)(end - at), start, sizeof start - 1))) {
    char word[LONGEST] = "";
    at += sizeof start - 1;
    size_t left = (size_t)(end - at);
    memcpy(word, at, left < LONGEST - 1 ? left : LONGEST - 1);
    version = read_version(word);
  }
  mapped_close(&file);
  return version;
}

int nccl_version_of(const char* path) {
  char real[PATH_MAX];
  int version = realpath(path, real) ? version_in_name(real) : 0;
  return version ? version : version_in_file(path);
}

static void take(const char* root, const char* path, struct nccl_found* out) {
  struct sw_text whole = SW_TEXT_EMPTY;
  sw_text_printf(&whole, "%s%s", root, path);
  sw_text_add(&out->path, path);
  out->version = version_in_name(path);
  if (!out->version) out->version = nccl_version_of(sw_text_string(&whole));
  sw_text_free(&whole);
}

/* --- as the calibrator searches (fabric/libraries.h): the active Python environment, the loader, other wheels ----- */

static bool take_wheel(const char* root, const char* folder, struct nccl_found* out) {
  struct sw_text pattern = SW_TEXT_EMPTY;
  glob_t found;
  sw_text_printf(&pattern, "%s%s/nvidia/nccl/lib/libnccl.so.2", root, folder);
  bool good = glob(sw_text_string(&pattern), 0, NULL, &found) == 0;
  if (good) {
    take(root, found.gl_pathv[0] + strlen(root), out);
    globfree(&found);
  }
  sw_text_free(&pattern);
  return good;
}

static bool take_active_wheel(const char* root, const struct env_set* set, struct nccl_found* out) {
  const char* prefix = env_set_value(set, "VIRTUAL_ENV");
  if (!prefix) prefix = env_set_value(set, "CONDA_PREFIX");
  if (!prefix) return false;
  struct sw_text folder = SW_TEXT_EMPTY;
  sw_text_printf(&folder, "%s/lib/python3*/site-packages", prefix);
  bool good = take_wheel(root, sw_text_string(&folder), out);
  sw_text_free(&folder);
  return good;
}

static bool take_library(const char* root, const struct env_set* set, struct nccl_found* out) {
  struct library_place place;
  bool good = library_search(root, env_set_value(set, "LD_LIBRARY_PATH"), "libnccl.so.2", &place);
  if (good) take(root, sw_text_string(&place.path), out);
  sw_text_free(&place.path);
  return good;
}

static void search(const char* root, const struct env_set* set, struct nccl_found* out) {
  static const char* const folders[] = {"/usr/local/lib/python3*/dist-packages",
                                        "/usr/local/lib/python3*/site-packages", "/usr/lib/python3*/site-packages",
                                        "/opt/*/lib/python3*/site-packages"};
  bool found = take_active_wheel(root, set, out) || take_library(root, set, out);
  for (size_t i = 0; i < sizeof folders / sizeof folders[0] && !found; i++) found = take_wheel(root, folders[i], out);
}

void nccl_find(const char* root, const struct env_set* set, const struct process* process, struct nccl_found* out) {
  *out = (struct nccl_found){.path = SW_TEXT_EMPTY};
  for (size_t i = 0; process && i < process->library_count; i++) {
    if (!strstr(process->libraries[i], "/libnccl.so")) continue;
    if (out->path.length)
      out->others++;
    else
      take(sw_text_string(&process->root), process->libraries[i], out);
  }
  if (!process) search(root, set, out);
}
