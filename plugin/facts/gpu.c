#include "facts/gpu.h"

#include <dlfcn.h>
#include <string.h>

#include "facts/files.h"

/* CUdevice_attribute's numbers for the compute capability. */
enum { COMPUTE_CAPABILITY_MAJOR = 75, COMPUTE_CAPABILITY_MINOR = 76 };

static const char* const gpus_folder = "/proc/driver/nvidia/gpus";

/* `length` bytes without the blanks around them, in `out`; false when nothing is left or it is too long. */
static bool copy_trimmed(const char* text, size_t length, char* out, size_t size) {
  const char* end = text + length;
  while (text < end && (*text == ' ' || *text == '\t')) text++;
  while (end > text && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) end--;
  if (end == text || (size_t)(end - text) >= size) return false;
  memcpy(out, text, (size_t)(end - text));
  out[end - text] = '\0';
  return true;
}

/* The rest of the first line that starts with `key`. */
static bool find_value(const char* text, const char* key, char* out, size_t size) {
  for (const char* line = text; *line; line += *line == '\n') {
    size_t length = strcspn(line, "\n");
    size_t start = strlen(key);
    if (strncmp(line, key, start) == 0) return copy_trimmed(line + start, length - start, out, size);
    line += length;
  }
  return false;
}

static bool is_text(const char* word) {
  for (; *word; word++)
    if ((unsigned char)*word < ' ' || *word == 0x7f) return false;
  return true;
}

/* "Model: \t\t NVIDIA H200" of one GPU's file. */
static bool read_model(const char* root, const char* gpu, char* model, size_t size) {
  char text[SW_FACTS_FILE];
  if (!sw_facts_read(text, sizeof text, root, "%s/%s/information", gpus_folder, gpu)) return false;
  return find_value(text, "Model:", model, size) && is_text(model);
}

/* Bus addresses are hexadecimal and of one width: byte order is their order. */
static void read_models(const char* root, struct sw_facts* out) {
  struct sw_facts_folder folder;
  sw_facts_list(&folder, strcmp, root, "%s", gpus_folder);
  out->gpus = (int)folder.count;
  for (size_t i = 0; i < folder.count; i++) {
    char model[sizeof out->gpu] = "";
    if (!read_model(root, folder.names[i], model, sizeof model)) continue;
    if (!out->gpu[0])
      memcpy(out->gpu, model, sizeof model);
    else if (strcmp(out->gpu, model) != 0)
      out->gpu_mixed = true;
  }
}

/* A void* from dlsym holds a function's address, which ISO C does not let a cast say. */
static bool find_function(void* library, const char* name, void* function) {
  void* symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static bool find_functions(void* library, struct sw_cuda_driver* driver) {
  return find_function(library, "cuInit", &driver->cuInit) &&
         find_function(library, "cuCtxGetDevice", &driver->cuCtxGetDevice) &&
         find_function(library, "cuDeviceGet", &driver->cuDeviceGet) &&
         find_function(library, "cuDeviceGetName", &driver->cuDeviceGetName) &&
         find_function(library, "cuDeviceGetAttribute", &driver->cuDeviceGetAttribute);
}

static bool choose_device(const struct sw_cuda_driver* driver, bool may_start, int* device) {
  if (driver->cuCtxGetDevice(device) == 0) return true;
  return may_start && driver->cuInit(0) == 0 && driver->cuDeviceGet(device, 0) == 0;
}

void sw_facts_ask_driver(const struct sw_cuda_driver* driver, bool may_start, struct sw_facts* out) {
  int device = 0;
  if (!choose_device(driver, may_start, &device)) return;
  char name[sizeof out->gpu] = "";
  if (driver->cuDeviceGetName(name, sizeof name, device) == 0) {
    name[sizeof name - 1] = '\0';
    if (name[0]) memcpy(out->gpu, name, sizeof name);
  }
  int major = 0;
  int minor = 0;
  if (driver->cuDeviceGetAttribute(&major, COMPUTE_CAPABILITY_MAJOR, device) != 0 || major <= 0) return;
  if (driver->cuDeviceGetAttribute(&minor, COMPUTE_CAPABILITY_MINOR, device) != 0 || minor < 0) return;
  out->compute_major = major;
  out->compute_minor = minor;
}

void sw_facts_find_gpu(const struct sw_facts_source* source, struct sw_facts* out) {
  static const char name[] = "libcuda.so.1";
  read_models(source->root, out);
  if (source->root[0]) return;
  void* loaded = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  void* library = loaded || !source->load_driver ? loaded : dlopen(name, RTLD_LAZY);
  struct sw_cuda_driver driver;
  if (library && find_functions(library, &driver)) sw_facts_ask_driver(&driver, source->load_driver, out);
  if (loaded) dlclose(loaded);
}
