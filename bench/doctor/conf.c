#include "doctor/conf.h"

#include <stdlib.h>
#include <string.h>

#include "ground/file.h"

enum { LARGEST_FILE = 1024 * 1024 };

/* "NAME=value" up to the line's end; the first that sets a name wins, also where it sets it to "". */
static void add_line(struct env_set* set, char* line, const char* file, unsigned number) {
  char* equals = strchr(line, '=');
  if (line[0] == '#' || !equals || equals == line) return;
  *equals = '\0';
  size_t length = strlen(equals + 1);
  if (length && equals[length] == '\r') equals[length] = '\0';
  if (!env_set_has(set, line)) env_set_put(set, line, equals + 1, file, number);
}

static void add_file(struct env_set* set, const char* root, const char* path) {
  struct sw_text whole = SW_TEXT_EMPTY;
  char* text = NULL;
  size_t length;
  sw_text_printf(&whole, "%s%s", root, path);
  if (sw_file_read(sw_text_string(&whole), LARGEST_FILE, &text, &length) == 0) {
    unsigned number = 1;
    for (char* line = text; line; number++) {
      char* end = strchr(line, '\n');
      if (end) *end = '\0';
      add_line(set, line, path, number);
      line = end ? end + 1 : NULL;
    }
  }
  free(text);
  sw_text_free(&whole);
}

void conf_add(struct env_set* set, const char* root, const char* home) {
  const char* named = env_set_value(set, "NCCL_CONF_FILE");
  if (named) {
    char* path = strdup(named); /* the file may set variables, which moves the set's memory */
    if (path) add_file(set, root, path);
    free(path);
  } else if (home) {
    struct sw_text path = SW_TEXT_EMPTY;
    sw_text_printf(&path, "%s/.nccl.conf", home);
    add_file(set, root, sw_text_string(&path));
    sw_text_free(&path);
  }
  add_file(set, root, "/etc/nccl.conf");
}
