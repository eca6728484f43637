#include "facts/devices.h"

#include <string.h>

#include "facts/files.h"

enum { LARGEST_PORT = 65535 };

struct sw_device_list sw_device_list_read(const char* setting) {
  struct sw_device_list list = {false, false, NULL};
  if (!setting) return list;
  list.exclude = *setting == '^';
  if (list.exclude) setting++;
  list.exact = *setting == '=';
  if (list.exact) setting++;
  if (setting[strspn(setting, ",")]) list.names = setting;
  return list;
}

/* One entry, `length` bytes of name[:port]. */
static bool entry_matches(const char* entry, size_t length, bool exact, const char* name, int port) {
  const char* colon = memchr(entry, ':', length);
  size_t letters = colon ? (size_t)(colon - entry) : length;
  if (letters == 0 || strncmp(entry, name, letters) != 0) return false;
  if (exact && name[letters]) return false;
  int wanted = 0;
  if (!colon) return true;
  if (!sw_facts_number(colon + 1, length - letters - 1, LARGEST_PORT, &wanted)) return false;
  return port == SW_ANY_PORT || port == wanted;
}

bool sw_device_list_admits(const struct sw_device_list* list, const char* name, int port) {
  if (!list->names) return true;
  bool named = false;
  for (const char* entry = list->names; *entry; entry += *entry == ',') {
    size_t length = strcspn(entry, ",");
    named |= entry_matches(entry, length, list->exact, name, port);
    entry += length;
  }
  return named != list->exclude;
}
