#include "plugin_file.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#define PLUGIN "libnccl-tuner-sizewise.so"

bool plugin_file_find(struct sw_text* path) {
  static const char* const places[] = {"", "../lib/"}; /* as built, as installed */
  char program[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length < 0) return false;
  program[length] = '\0';
  int folder = (int)(strrchr(program, '/') - program);
  struct sw_text tried = SW_TEXT_EMPTY;
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    sw_text_free(path);
    sw_text_printf(path, "%.*s/%s" PLUGIN, folder, program, places[i]);
    if (access(sw_text_string(path), R_OK) == 0) {
      sw_text_free(&tried);
      return true;
    }
    sw_text_printf(&tried, "%s%s", i ? ", " : "", sw_text_string(path));
  }
  sw_text_free(path);
  *path = tried;
  return false;
}
