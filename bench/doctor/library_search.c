#include "doctor/library_search.h"

#include <string.h>
#include <unistd.h>

#include "doctor/mapped.h"

static bool exists(const char* root, const char* path) {
  struct sw_text whole = SW_TEXT_EMPTY;
  sw_text_printf(&whole, "%s%s", root, path);
  bool there = !whole.failed && access(sw_text_string(&whole), F_OK) == 0;
  sw_text_free(&whole);
  return there;
}

static bool try_folder(const char* root, const char* folder, size_t length, const char* name,
                       struct library_place* out) {
  sw_text_free(&out->path);
  if (!length) return false; /* "" is the current folder, which is the process's own */
  sw_text_printf(&out->path, "%.*s/%s", (int)length, folder, name);
  return exists(root, sw_text_string(&out->path));
}

static bool search_folders(const char* root, const char* folders, const char* name, struct library_place* out) {
  while (folders && *folders) {
    size_t length = strcspn(folders, ":;");
    if (try_folder(root, folders, length, name, out)) return true;
    folders += length + (folders[length] != '\0');
  }
  return false;
}

/* --- /etc/ld.so.cache, as glibc 2.2 and later write it ----------------------------------------------------------- */

struct cache_head {
  char magic[20];
  uint32_t count;
  uint32_t rest[6];
};

struct cache_entry {
  int32_t flags;
  uint32_t name; /* offsets from the head */
  uint32_t path;
  uint32_t os_version;
  uint64_t hwcap;
};

static const char cache_magic[] = "glibc-ld.so.cache1.1";

/* A string of the cache; NULL beyond its end. */
static const char* string_at(const struct mapped* cache, uint32_t offset) {
  bool inside = offset < cache->length && memchr(cache->bytes + offset, '\0', cache->length - offset);
  return inside ? cache->bytes + offset : NULL;
}

static bool search_entries(const char* root, const struct mapped* cache, const char* name, struct library_place* out) {
  struct cache_head head;
  if (cache->length < sizeof head) return false;
  memcpy(&head, cache->bytes, sizeof head);
  size_t most = (cache->length - sizeof head) / sizeof(struct cache_entry);
  for (size_t i = 0; i < head.count && i < most; i++) {
    struct cache_entry entry;
    memcpy(&entry, cache->bytes + sizeof head + i * sizeof entry, sizeof entry);
    const char* found = string_at(cache, entry.name);
    const char* path = string_at(cache, entry.path);
    if (!found || !path || strcmp(found, name) != 0 || !exists(root, path)) continue;
    sw_text_free(&out->path);
    sw_text_add(&out->path, path);
    return true;
  }
  return false;
}

/* An old cache can stand before the new one; then the new one begins at its magic word. */
static bool search_cache(const char* root, const char* name, struct library_place* out) {
  struct sw_text path = SW_TEXT_EMPTY;
  struct mapped file;
  sw_text_printf(&path, "%s/etc/ld.so.cache", root);
  bool found = false;
  if (mapped_open(sw_text_string(&path), &file)) {
    const char* start = memmem(file.bytes, file.length, cache_magic, sizeof cache_magic - 1);
    if (start) {
      struct mapped cache = {start, file.length - (size_t)(start - file.bytes)};
      found = search_entries(root, &cache, name, out);
    }
    mapped_close(&file);
  }
  sw_text_free(&path);
  return found;
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

static bool found_at(struct library_place* out, const char* where) {
  out->where = where;
  return true;
}

bool library_search(const char* root, const char* ld_library_path, const char* name, struct library_place* out) {
  static const char standard[] =
      "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:/lib64:"
      "/usr/lib64:/lib:/usr/lib";
  *out = (struct library_place){.path = SW_TEXT_EMPTY};
  if (strchr(name, '/')) {
    sw_text_add(&out->path, name);
    return exists(root, name) && found_at(out, "as named");
  }
  if (search_folders(root, ld_library_path, name, out)) return found_at(out, "LD_LIBRARY_PATH");
  if (search_cache(root, name, out)) return found_at(out, "the loader's cache");
  if (search_folders(root, standard, name, out)) return found_at(out, "a standard folder");
  return false;
}
