/*
 * Our plugin as a fabric's process holds it: loaded by the stand-in as NCCL loads it, and opened a second time under
 * the same path to find the control through which each call's choice is forced.
 */
#ifndef SW_SIM_PLUGIN_H
#define SW_SIM_PLUGIN_H

#include "control.h"
#include "standin/standin.h"

struct sim_plugin {
  struct standin_tuner* tuner; /* NULL: opened without the plugin; so are the next two */
  void* library;
  const struct sw_control* control;
  struct standin_communicator* communicator; /* NULL: not connected */
  void* steered;                             /* the communicator's tuner, for control */
  bool released;                             /* it is not steered now */
};

/* All return false with one line in `fault` (of 256 bytes) when they fail. The plugin may be closed all the same.
   `path` NULL: no tuner is loaded. */
bool sim_plugin_open(struct sim_plugin* plugin, int nccl_version, const char* path, char* fault);
void sim_plugin_close(struct sim_plugin* plugin);
bool sim_plugin_connect(struct sim_plugin* plugin, const struct standin_shape* shape, char* fault);
bool sim_plugin_disconnect(struct sim_plugin* plugin, char* fault);

/* Asks about an operation with a choice forced; `obeyed`: the plugin was asked about this very one, and it fitted.
   FABRIC_BY_PROFILE is obeyed when the plugin was asked. Without the plugin auto alone can be asked about. */
bool sim_plugin_ask(struct sim_plugin* plugin, const struct standin_operation* operation, struct sw_choice choice,
                    struct standin_choice* answer, bool* obeyed, char* fault);

#endif
