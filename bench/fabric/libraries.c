#include "fabric/libraries.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const nccl_names[] = {"libnccl.so.2", NULL};
static const char* const nccl_wheels[] = {"nvidia/nccl/lib/libnccl.so.2", NULL};
static const char* const cudart_names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so", NULL};
static const char* const cudart_wheels[] = {"nvidia/cu13/lib/libcudart.so.1?",
                                            "nvidia/cuda_runtime/lib/libcudart.so.1?", NULL};

static void* open_library(const char* path) {
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* The first file that fits a folder's pattern and can be opened. */
static void* open_wheel(const char* folder, const char* const* wheels) {
  void* library = NULL;
  for (; *wheels && !library; wheels++) {
    char pattern[LIBRARY_PATH];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/%s", folder, *wheels);
    if (glob(pattern, 0, NULL, &found) != 0) continue;
    for (size_t i = 0; i < found.gl_pathc && !library; i++) library = open_library(found.gl_pathv[i]);
    globfree(&found);
  }
  return library;
}

static void* open_active_wheel(const char* const* wheels) {
  const char* environment = getenv("VIRTUAL_ENV");
  const char* conda = getenv("CONDA_PREFIX");
  const char* prefix = environment && environment[0] ? environment : conda && conda[0] ? conda : NULL;
  char folder[LIBRARY_PATH];
  if (!prefix) return NULL;
  snprintf(folder, sizeof folder, "%s/lib/python3*/site-packages", prefix);
  return open_wheel(folder, wheels);
}

static void* open_other_wheel(const char* const* wheels) {
  static const char* const folders[] = {"/usr/local/lib/python3*/dist-packages",
                                        "/usr/local/lib/python3*/site-packages", "/usr/lib/python3*/site-packages",
                                        "/opt/*/lib/python3*/site-packages", NULL};
  void* library = NULL;
  for (const char* const* folder = folders; *folder && !library; folder++) library = open_wheel(*folder, wheels);
  return library;
}

static void* search(const char* path, const char* const* names, const char* const* wheels, char* fault) {
  if (path) {
    void* library = open_library(path);
    if (!library) snprintf(fault, 256, "%.250s", dlerror());
    return library;
  }
  void* library = open_active_wheel(wheels);
  for (const char* const* name = names; *name && !library; name++) library = open_library(*name);
  if (!library) library = open_other_wheel(wheels);
  if (!library)
    snprintf(fault, 256, "%s is neither in the active Python environment nor on the loader's path; name it with %s",
             names[0], names == nccl_names ? "--nccl" : "--cudart");
  return library;
}

static void remember_path(void* library, char out[LIBRARY_PATH]) {
  struct link_map* map = NULL;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map) snprintf(out, LIBRARY_PATH, "%s", map->l_name);
}

/* POSIX lets dlsym's pointer be copied into a function pointer; ISO C has no cast for it. */
static bool find(void* library, const char* name, void* out, const char* path, char* fault) {
  void* symbol = dlsym(library, name);
  memcpy(out, &symbol, sizeof symbol);
  if (!symbol) snprintf(fault, 256, "%.180s has no function %s: it is too old", path, name);
  return symbol != NULL;
}

static bool find_nccl(void* library, struct libraries* out, char* fault) {
#define FIND(result, name, arguments) \
  if (!find(library, "nccl" #name, &out->nccl.name, out->nccl_path, fault)) return false;
  NCCL_FUNCTIONS(FIND)
#undef FIND
  return true;
}

static bool find_cuda(void* library, struct libraries* out, char* fault) {
#define FIND(result, name, arguments) \
  if (!find(library, "cuda" #name, &out->cuda.name, out->cudart_path, fault)) return false;
  CUDA_FUNCTIONS(FIND)
#undef FIND
  return true;
}

/* The second version is the first with members appended. */
static bool find_driver(struct libraries* out, char* fault) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) {
    snprintf(fault, 256, "no CUDA driver: %.200s", dlerror());
    return false;
  }
  void* symbol = dlsym(driver, "cuGraphKernelNodeGetParams_v2");
  if (!symbol) symbol = dlsym(driver, "cuGraphKernelNodeGetParams");
  memcpy(&out->kernel_node, &symbol, sizeof symbol);
  if (!symbol) snprintf(fault, 256, "the CUDA driver is too old: it cannot read graph nodes");
  return symbol != NULL;
}

bool libraries_open(const struct fabric_paths* paths, struct libraries* out, char* fault) {
  if (!find_driver(out, fault)) return false;
  void* cudart = search(paths->cudart, cudart_names, cudart_wheels, fault);
  if (!cudart) return false;
  remember_path(cudart, out->cudart_path);
  if (!find_cuda(cudart, out, fault)) return false;
  void* nccl = search(paths->nccl, nccl_names, nccl_wheels, fault);
  if (!nccl) return false;
  remember_path(nccl, out->nccl_path);
  return find_nccl(nccl, out, fault);
}
