#include "predict/prediction.h"

static bool fits(const struct workload* workload, const struct sw_table* table) {
  return (!workload->nodes || workload->nodes == table->nodes) && (!workload->ranks || workload->ranks == table->ranks);
}

static bool seen_before(const struct sw_profile* profile, size_t index) {
  const struct sw_table* table = &profile->tables[index];
  for (size_t i = 0; i < index; i++)
    if (profile->tables[i].nodes == table->nodes && profile->tables[i].ranks == table->ranks) return true;
  return false;
}

static void add_shapes(const struct sw_profile* profile, struct sw_text* fault) {
  const char* separator = " ";
  for (size_t i = 0; i < profile->table_count; i++) {
    if (seen_before(profile, i)) continue;
    sw_text_add(fault, separator);
    sw_add_shape(fault, profile->tables[i].ranks, profile->tables[i].nodes);
    separator = ", ";
  }
  if (!profile->table_count) sw_text_add(fault, " no measured times at all");
}

/* What the workload says of its shape, which can be a half of it. */
static void add_unknown(const struct workload* workload, const struct sw_profile* profile, struct sw_text* fault) {
  sw_text_printf(fault, "workload %s is for ", workload->name);
  if (workload->nodes && workload->ranks)
    sw_add_shape(fault, workload->ranks, workload->nodes);
  else if (workload->nodes || workload->ranks)
    sw_text_printf(fault, "%s: %u", workload->nodes ? "nodes" : "ranks", workload->nodes + workload->ranks);
  else
    sw_text_add(fault, "any shape");
  sw_text_printf(fault, ", of which profile %s has no times", profile->name);
}

bool prediction_shape(const struct workload* workload, const struct sw_profile* profile, struct prediction* out,
                      struct sw_text* fault) {
  size_t fitting = 0;
  for (size_t i = 0; i < profile->table_count; i++) {
    if (seen_before(profile, i) || !fits(workload, &profile->tables[i])) continue;
    out->nodes = profile->tables[i].nodes;
    out->ranks = profile->tables[i].ranks;
    fitting++;
  }
  out->workload = workload;
  out->profile = profile;
  if (fitting == 1) return true;
  if (fitting)
    sw_text_printf(fault, "workload %s does not say for which shape it is; add nodes and ranks to it", workload->name);
  else
    add_unknown(workload, profile, fault);
  sw_text_add(fault, "; the profile has");
  add_shapes(profile, fault);
  return false;
}
