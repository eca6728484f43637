#include "launch/slurm.h"

#include <string.h>

#include "ground/number.h"

/* The first entry between brackets, `text` standing behind "[": up to "-", "," or "]". Returns what follows "]". */
static const char* first_in_brackets(const char* text, size_t* length) {
  const char* close = strchr(text, ']');
  *length = strcspn(text, "-,]");
  if (!close || *length == 0 || strspn(text, "0123456789") != *length) return NULL;
  if (strspn(text, "0123456789-,") != (size_t)(close - text)) return NULL;
  return close + 1;
}

static bool add(char* out, size_t size, size_t* used, const char* text, size_t length) {
  if (length >= size - *used) return false;
  memcpy(out + *used, text, length);
  *used += length;
  return true;
}

bool slurm_first_host(const char* list, char* out, size_t size) {
  char host[256];
  size_t used = 0;
  while (*list && *list != ',') {
    size_t length = strcspn(list, "[],");
    if (!add(host, sizeof host, &used, list, length)) return false;
    list += length;
    if (*list == ']') return false;
    if (*list != '[') continue;
    const char* first = list + 1;
    list = first_in_brackets(first, &length);
    if (!list || !add(host, sizeof host, &used, first, length)) return false;
  }
  if (used == 0 || used >= size) return false;
  memcpy(out, host, used);
  out[used] = '\0';
  return true;
}

static bool whole(const char* text, size_t length, uint32_t* out) {
  uint64_t value;
  if (length == 0 || sw_read_whole(text, length, UINT32_MAX, &value) != SW_NUMBER_OK) return false;
  *out = (uint32_t)value;
  return true;
}

/* "8(x2)" of `length` characters. */
static bool read_group(const char* text, size_t length, uint32_t* tasks, uint32_t* nodes) {
  const char* open = memchr(text, '(', length);
  *nodes = 1;
  if (!open) return whole(text, length, tasks);
  const char* last = text + length - 1;
  if (last - open < 3 || open[1] != 'x' || *last != ')') return false;
  return whole(text, (size_t)(open - text), tasks) && whole(open + 2, (size_t)(last - open - 2), nodes);
}

bool slurm_tasks_on(const char* list, uint32_t node, uint32_t* out) {
  for (;;) {
    size_t length = strcspn(list, ",");
    uint32_t tasks, nodes;
    if (!read_group(list, length, &tasks, &nodes)) return false;
    if (node < nodes) {
      *out = tasks;
      return true;
    }
    node -= nodes;
    if (list[length] == '\0') return false;
    list += length + 1;
  }
}
