#include "fabric/sim_plugin.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>

#include "fabric/fabric.h"
#include "fabric/sim_words.h"

__attribute__((format(printf, 2, 3))) static bool fail(char* fault, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(fault, sizeof((struct fabric*)0)->fault, format, arguments);
  va_end(arguments);
  return false;
}

static bool load(struct sim_plugin* plugin, int nccl_version, const char* path, char* fault) {
  struct standin_load_report report;
  switch (standin_load(nccl_version, path, NULL, &plugin->tuner, &report)) {
    case STANDIN_LOADED:
      return true;
    case STANDIN_NO_LIBRARY:
      return fail(fault, "the plugin does not load: %s", report.words);
    case STANDIN_NO_SYMBOL:
      return fail(fault, "%s: %s", path, report.words);
    case STANDIN_SWITCHED_OFF:
      return fail(fault, "%s names no plugin", path);
    case STANDIN_UNKNOWN_VERSION:
      return fail(fault, "NCCL %d cannot be simulated: 2.21 and later can", nccl_version);
    default:
      return fail(fault, "out of memory");
  }
}

static bool find_control(struct sim_plugin* plugin, const char* path, char* fault) {
  plugin->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!plugin->library) return fail(fault, "the plugin does not open a second time: %s", dlerror());
  plugin->control = dlsym(plugin->library, "sizewise_control");
  if (!plugin->control) return fail(fault, "%s is not Sizewise's plugin: it has no sizewise_control", path);
  if (plugin->control->version == SW_CONTROL_VERSION) return true;
  return fail(fault, "%s belongs to another release: its control has version %u, not %d", path,
              plugin->control->version, SW_CONTROL_VERSION);
}

bool sim_plugin_open(struct sim_plugin* plugin, int nccl_version, const char* path, char* fault) {
  *plugin = (struct sim_plugin){0};
  return !path || (load(plugin, nccl_version, path, fault) && find_control(plugin, path, fault));
}

void sim_plugin_close(struct sim_plugin* plugin) {
  standin_communicator_destroy(plugin->communicator);
  if (plugin->library) dlclose(plugin->library);
  standin_unload(plugin->tuner);
  *plugin = (struct sim_plugin){0};
}

bool sim_plugin_connect(struct sim_plugin* plugin, const struct standin_shape* shape, char* fault) {
  nccl_result result = standin_communicator_create(shape, plugin->tuner, &plugin->communicator);
  if (result != NCCL_SUCCESS) return fail(fault, "ncclCommInitRank: %s", sim_result_words(result));
  plugin->released = false;
  if (!plugin->control) return true;
  plugin->steered = plugin->control->newest();
  return plugin->steered || fail(fault, "the plugin has no tuner for the communicator");
}

bool sim_plugin_disconnect(struct sim_plugin* plugin, char* fault) {
  nccl_result result = standin_communicator_destroy(plugin->communicator);
  plugin->communicator = NULL;
  plugin->steered = NULL;
  return result == NCCL_SUCCESS || fail(fault, "ncclCommDestroy: %s", sim_result_words(result));
}

/* The profile answers while nothing steers the tuner. Steering begins again with the newest tuner: ours, unless another
   fabric of this process has joined since. */
static bool force(struct sim_plugin* plugin, struct sw_choice choice, char* fault) {
  bool by_profile = sw_choice_same(choice, FABRIC_BY_PROFILE);
  if (!plugin->control) return sw_choice_is_auto(choice) || fail(fault, "%s", FABRIC_NO_PLUGIN);
  if (by_profile)
    plugin->control->release(plugin->steered);
  else if (plugin->released && plugin->control->newest() != plugin->steered)
    return fail(fault, "another communicator of this process was made since");
  else
    plugin->control->force(plugin->steered, choice);
  plugin->released = by_profile;
  return true;
}

static bool was_obeyed(const struct sw_control_answer* before, const struct sw_control_answer* after,
                       const struct standin_operation* operation) {
  return after->questions == before->questions + 1 && after->obeyed == before->obeyed + 1 &&
         after->collective == operation->collective && after->bytes == operation->bytes;
}

bool sim_plugin_ask(struct sim_plugin* plugin, const struct standin_operation* operation, struct sw_choice choice,
                    struct standin_choice* answer, bool* obeyed, char* fault) {
  struct sw_control_answer before = {0};
  struct sw_control_answer after = {0};
  const char* function = sim_function_name(operation->collective);
  if (!force(plugin, choice, fault)) return false;
  if (plugin->control) plugin->control->last(plugin->steered, &before);
  nccl_result result = standin_ask(plugin->communicator, operation, answer);
  if (result != NCCL_SUCCESS) return fail(fault, "%s: %s", function, sim_result_words(result));
  if (answer->picked_unusable || answer->wrote_outside)
    return fail(fault, "%s: the plugin made NCCL pick what it cannot run", function);
  if (plugin->control) plugin->control->last(plugin->steered, &after);
  *obeyed = sw_choice_same(choice, FABRIC_BY_PROFILE) ? answer->asked : was_obeyed(&before, &after, operation);
  return true;
}
