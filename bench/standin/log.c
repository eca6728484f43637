#include "standin/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic(FILE*) log_file; /* NULL: stderr, which is no constant expression */
static atomic_int log_most = NCCL_LOG_WARN;

void standin_log_to(FILE* file, nccl_log_level most) {
  atomic_store(&log_file, file);
  atomic_store(&log_most, (int)most);
}

static const char* level_word(nccl_log_level level) {
  static const char* const words[] = {"NONE", "VERSION", "WARN", "INFO", "ABORT", "TRACE"};
  return (size_t)level < sizeof words / sizeof words[0] ? words[level] : "?";
}

void standin_log(nccl_log_level level, unsigned long flags, const char* file, int line, const char* format, ...) {
  (void)flags, (void)file, (void)line;
  if ((int)level > atomic_load(&log_most)) return;
  FILE* out = atomic_load(&log_file);
  if (!out) out = stderr;
  va_list arguments;
  va_start(arguments, format);
  flockfile(out);
  fprintf(out, "NCCL %s ", level_word(level));
  vfprintf(out, format, arguments);
  putc('\n', out);
  funlockfile(out);
  va_end(arguments);
}
