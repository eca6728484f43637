#include "standin/load.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin/version.h"

__attribute__((format(printf, 2, 3))) static void explain(struct standin_load_report* report, const char* format, ...) {
  size_t used = strlen(report->words);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(report->words + used, sizeof report->words - used, format, arguments);
  va_end(arguments);
}

static void* try_open(const char* library, int flags, struct standin_load_report* report) {
  void* handle = dlopen(library, flags);
  if (handle)
    snprintf(report->library, sizeof report->library, "%s", library);
  else
    explain(report, "%s%s", *report->words ? "; " : "", dlerror());
  return handle;
}

/* Of the form lib*.so. */
static bool is_library_name(const char* name) {
  size_t length = strlen(name);
  return length >= 6 && strncmp(name, "lib", 3) == 0 && strcmp(name + length - 3, ".so") == 0;
}

static void* open_default(const char* net_plugin, int flags, struct standin_load_report* report) {
  void* handle = try_open("libnccl-tuner.so", flags, report);
  if (!handle && net_plugin) handle = try_open(net_plugin, flags, report);
  return handle;
}

static void* open_named(const char* name, int flags, struct standin_load_report* report) {
  void* handle = try_open(name, flags, report);
  if (handle || strchr(name, '/') || is_library_name(name)) return handle;
  char longer[sizeof report->library];
  if ((size_t)snprintf(longer, sizeof longer, "libnccl-tuner-%s.so", name) >= sizeof longer) return NULL;
  return try_open(longer, flags, report);
}

static void* open_library(const char* name, const char* net_plugin, int flags, struct standin_load_report* report) {
  if (!name || !*name) return open_default(net_plugin, flags, report);
  if (strcmp(name, "STATIC_PLUGIN") == 0) return dlopen(NULL, flags);
  return open_named(name, flags, report);
}

/* The newest interface that the library exports and this NCCL knows; 0 when there is none. */
static int newest_symbol(void* library, int newest_abi, const void** symbol) {
  for (int abi = newest_abi; abi >= STANDIN_OLDEST_ABI; abi--) {
    char name[32];
    snprintf(name, sizeof name, "ncclTunerPlugin_v%d", abi);
    *symbol = dlsym(library, name);
    if (*symbol) return abi;
  }
  return 0;
}

static enum standin_load_status load(int version, const char* name, const char* net_plugin, struct standin_tuner* tuner,
                                     struct standin_load_report* report) {
  struct standin_rules rules;
  if (!standin_rules_of(version, &rules)) return STANDIN_UNKNOWN_VERSION;
  if (name && strcmp(name, "none") == 0) return STANDIN_SWITCHED_OFF;
  tuner->version = version;
  tuner->library = open_library(name, net_plugin, rules.open_flags, report);
  if (!tuner->library) return STANDIN_NO_LIBRARY;
  tuner->abi = newest_symbol(tuner->library, rules.newest_abi, &tuner->symbol);
  if (tuner->abi) return STANDIN_LOADED;
  dlclose(tuner->library);
  explain(report, "no ncclTunerPlugin symbol from v%d down to v%d", rules.newest_abi, STANDIN_OLDEST_ABI);
  return STANDIN_NO_SYMBOL;
}

enum standin_load_status standin_load(int version, const char* name, const char* net_plugin,
                                      struct standin_tuner** tuner, struct standin_load_report* report) {
  struct standin_load_report unread;
  if (!report) report = &unread;
  report->library[0] = report->words[0] = '\0';
  struct standin_tuner* loaded = calloc(1, sizeof *loaded);
  if (!loaded) return STANDIN_NO_MEMORY;
  enum standin_load_status status = load(version, name, net_plugin, loaded, report);
  if (status == STANDIN_LOADED)
    *tuner = loaded;
  else
    free(loaded);
  return status;
}

void standin_unload(struct standin_tuner* tuner) {
  if (!tuner) return;
  dlclose(tuner->library);
  free(tuner);
}
