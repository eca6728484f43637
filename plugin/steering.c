#include "steering.h"

static void remember(struct sw_steering* steering, int collective, uint64_t bytes, int merged_operations,
                     const struct sw_cost_table* table) {
  struct sw_control_answer* last = &steering->last;
  last->questions++;
  last->collective = collective;
  last->bytes = bytes;
  last->merged_operations = merged_operations;
  for (int a = 0; a < NCCL_NUM_ALGORITHMS; a++)
    for (int p = 0; p < NCCL_NUM_PROTOCOLS; p++)
      last->table[a][p] = a < table->algorithms && p < table->protocols ? table->entries[a * table->protocols + p] : -1;
}

/* Whether the answer changed what the choice names: then it fitted. */
static bool was_obeyed(const struct sw_steering* steering, const struct sw_cost_table* table, int channels) {
  struct sw_choice forced = steering->forced;
  if (sw_choice_is_auto(forced)) return true;
  if (forced.channels && channels != forced.channels) return false;
  if (forced.algo < 0 && forced.proto < 0) return true;
  for (int a = 0; a < NCCL_NUM_ALGORITHMS && a < table->algorithms; a++)
    for (int p = 0; p < NCCL_NUM_PROTOCOLS && p < table->protocols; p++)
      if (table->entries[a * table->protocols + p] != steering->last.table[a][p]) return true;
  return false;
}

void sw_steering_answer(struct sw_steering* steering, int collective, uint64_t bytes, int merged_operations,
                        const struct sw_cost_table* table, int* channels) {
  remember(steering, collective, bytes, merged_operations, table);
  if (merged_operations > 1) return;
  struct sw_ranked ranked = {steering->forced, SW_RULE_RATIO};
  struct sw_decision decision = {&ranked, !sw_choice_is_auto(steering->forced)};
  sw_cost_apply(table, decision, channels);
  steering->last.obeyed += was_obeyed(steering, table, *channels);
}
