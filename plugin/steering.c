#include "steering.h"

static void copy_table(const struct sw_cost_table* table, float out[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS]) {
  for (int a = 0; a < NCCL_NUM_ALGORITHMS; a++)
    for (int p = 0; p < NCCL_NUM_PROTOCOLS; p++)
      out[a][p] = a < table->algorithms && p < table->protocols ? table->entries[a * table->protocols + p] : -1;
}

/* Whether the answer changed what the choice names: then it fitted. */
static bool was_obeyed(const struct sw_steering* steering, int channels) {
  struct sw_choice forced = steering->forced;
  if (forced.channels && channels != forced.channels) return false;
  if (forced.algo < 0 && forced.proto < 0) return true;
  for (int a = 0; a < NCCL_NUM_ALGORITHMS; a++)
    for (int p = 0; p < NCCL_NUM_PROTOCOLS; p++)
      if (steering->last.table[a][p] != steering->last.written[a][p]) return true;
  return false;
}

void sw_steering_answer(struct sw_steering* steering, int collective, uint64_t bytes, int merged_operations,
                        const struct sw_cost_table* table, int* channels) {
  struct sw_control_answer* last = &steering->last;
  last->questions++;
  last->collective = collective;
  last->bytes = bytes;
  last->merged_operations = merged_operations;
  copy_table(table, last->table);
  copy_table(table, last->written);
  if (merged_operations > 1) return;
  struct sw_ranked ranked = {steering->forced, SW_RULE_RATIO};
  struct sw_decision decision = {&ranked, !sw_choice_is_auto(steering->forced)};
  sw_cost_apply(table, decision, channels);
  copy_table(table, last->written);
  last->obeyed += was_obeyed(steering, *channels);
}
