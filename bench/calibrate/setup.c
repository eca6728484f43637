#include "calibrate/setup.h"

#include <stdlib.h>

#include "facts/facts.h"
#include "facts/forced.h"
#include "plugin_file.h"

static bool find_plugin(const struct calibrate_arguments* arguments, struct set_up* up, struct sw_text* fault) {
  char path[4096];
  if (arguments->plugin) {
    sw_text_add(&up->plugin, realpath(arguments->plugin, path) ? path : arguments->plugin);
  } else if (!plugin_file_find(&up->plugin)) {
    sw_text_printf(fault, "no plugin: looked for %s; name it with --plugin", sw_text_string(&up->plugin));
    return false;
  }
  up->work.paths = (struct fabric_paths){arguments->nccl, arguments->cudart, sw_text_string(&up->plugin)};
  return true;
}

static bool set_up_simulation(const struct calibrate_arguments* arguments, struct set_up* up, struct sw_text* fault) {
  char why[256];
  if (!opened_open(arguments->simulate, &up->simulated, fault)) return false;
  if (!up->simulated.profile) {
    sw_text_printf(fault, "--simulate: the profile is not valid\n");
    sw_add_diags(fault, &up->simulated.diags);
    return false;
  }
  up->simulation = fabric_simulation_default;
  up->simulation.profile = up->simulated.profile;
  up->simulation.seed = arguments->seed;
  if (arguments->noise >= 0) up->simulation.noise = arguments->noise;
  for (size_t i = 0; i < arguments->faults.count; i++)
    if (!fabric_simulation_fault(&up->simulation, arguments->faults.items[i], why)) {
      sw_text_printf(fault, "--fault: %s", why);
      return false;
    }
  up->work.simulation = &up->simulation;
  return true;
}

/* GPUs that the driver shows; 0 without one. */
static uint32_t count_gpus(void) {
  struct sw_facts_source source = sw_facts_this_machine(false);
  struct sw_facts facts;
  sw_facts_gather(&source, &facts);
  return facts.gpus > 0 ? (uint32_t)facts.gpus : 0;
}

/* The simulated ranks stand on as many nodes as the profile's first table has them, where that divides them. */
static uint32_t simulated_nodes(const struct set_up* up) {
  const struct sw_profile* profile = up->simulated.profile;
  uint32_t nodes = profile->table_count ? profile->tables[0].nodes : 1;
  return up->job.ranks % nodes == 0 ? nodes : 1;
}

/* A local job has a rank for each GPU, or as many as the simulated profile's first table. */
static bool find_ranks(const struct calibrate_arguments* arguments, struct set_up* up, struct sw_text* fault) {
  char why[JOB_FAULT_BYTES];
  if (!job_read(NULL, arguments->master, &up->job, why)) {
    sw_text_add(fault, why);
    return false;
  }
  if (!job_is_local(&up->job)) return true;
  uint32_t ranks = arguments->gpus ? arguments->gpus : count_gpus();
  if (arguments->simulate && !arguments->gpus)
    ranks = up->simulated.profile->table_count ? up->simulated.profile->tables[0].ranks : 8;
  up->job.ranks = up->job.local_ranks = ranks;
  if (ranks >= 2) return true;
  sw_text_printf(fault, "%s; it takes two GPUs or more, or --simulate PROFILE to try it without",
                 arguments->gpus ? "--gpus 1 is one rank"
                 : ranks         ? "this machine has one GPU"
                                 : "no GPU is found here");
  return false;
}

/* Settings that take choices away would be measured as if they were the machine. */
static bool check_settings(const struct calibrate_arguments* arguments, struct sw_text* fault) {
  struct sw_facts_source source = sw_facts_this_machine(false);
  struct sw_forced forced;
  sw_forced_read(source.getenv, &forced);
  const char* set = forced.algo_text          ? "NCCL_ALGO"
                    : forced.proto_text       ? "NCCL_PROTO"
                    : forced.max_channels > 0 ? forced.max_variable
                    : forced.min_channels > 0 ? forced.min_variable
                                              : NULL;
  if (!set || arguments->within_settings) return true;
  sw_text_printf(fault,
                 "%s is set (%s): it takes choices away at every size, and they could not be measured; unset it, or "
                 "measure inside it with --within-settings",
                 set, source.getenv(set));
  return false;
}

bool set_up_make(const struct calibrate_arguments* arguments, struct set_up* up, struct sw_text* fault) {
  if (!check_settings(arguments, fault) || !find_plugin(arguments, up, fault)) return false;
  if (arguments->simulate && !set_up_simulation(arguments, up, fault)) return false;
  if (!find_ranks(arguments, up, fault)) return false;
  if (arguments->simulate) up->work.simulated_nodes = simulated_nodes(up);
  up->work.job = &up->job;
  up->work.memory = arguments->memory;
  return true;
}

void set_up_free(struct set_up* up) {
  opened_close(&up->simulated);
  sw_text_free(&up->plugin);
}
