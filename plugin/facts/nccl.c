/* The NCCL that a function belongs to. */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "facts/facts.h"

/* The loaded object that holds an address: where it begins, and the name that opens it again. */
struct object {
  const void* base;
  const char* name; /* NULL: the main program, which has no name to the loader */
};

static bool find_object(const void* address, struct object* out) {
  Dl_info info;
  struct link_map* map = NULL;
  if (!dladdr1(address, &info, (void**)&map, RTLD_DL_LINKMAP) || !map) return false;
  out->base = info.dli_fbase;
  out->name = map->l_name && map->l_name[0] ? map->l_name : NULL;
  return true;
}

/* dlsym also searches what the object depends on, and from the main program everything global. */
static bool lies_in(const void* symbol, const struct object* object) {
  Dl_info info;
  return symbol && dladdr(symbol, &info) && info.dli_fbase == object->base;
}

static int call_get_version(const void* symbol) {
  int (*get_version)(int*) = NULL;
  int version = 0;
  memcpy(&get_version, &symbol, sizeof symbol);
  return get_version(&version) == NCCL_SUCCESS && version > 0 ? version : 0;
}

int sw_facts_nccl_version(nccl_logger logger) {
  const void* address = NULL;
  struct object object;
  memcpy(&address, &logger, sizeof address);
  if (!address || !find_object(address, &object)) return 0;
  void* handle = dlopen(object.name, object.name ? RTLD_LAZY | RTLD_NOLOAD : RTLD_LAZY);
  if (!handle) return 0;
  const void* symbol = dlsym(handle, "ncclGetVersion");
  int version = lies_in(symbol, &object) ? call_get_version(symbol) : 0;
  dlclose(handle);
  return version;
}
