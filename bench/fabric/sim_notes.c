#include "fabric/sim_curve.h"
#include "fabric/simulator.h"

static void note_no_table(const struct fabric_place* place, struct sw_text* text) {
  struct sim_plain plain = sim_plain(place->nodes > 1);
  sw_text_printf(text,
                 "nothing was measured; NCCL's own choice takes %u us and the time that the bytes need at %u GB/s",
                 plain.latency_us, plain.bytes_per_us / 1000);
}

static void note_other_shape(const struct sw_table* table, const struct fabric_place* place, struct sw_text* text) {
  if (table->nodes == place->nodes && table->ranks == place->ranks) return;
  sw_text_add(text, "; nothing was measured for ");
  sw_add_shape(text, place->ranks, place->nodes);
  sw_text_add(text, ", so these are the times of ");
  sw_add_shape(text, table->ranks, table->nodes);
}

static void note_single_sizes(const struct sw_table* table, struct sw_text* text) {
  size_t single = 0;
  struct sw_choice choice = SW_AUTO;
  if (sim_curve_sizes(table, choice) == 1)
    sw_text_add(text, "; NCCL's own choice was measured at one size, and keeps to the plain curve's shape");
  while (sim_curve_next(table, &choice)) single += sim_curve_sizes(table, choice) == 1;
  if (single)
    sw_text_printf(text, "; %zu choice%s measured at one size only, and run%s parallel to NCCL's own", single,
                   single == 1 ? " was" : "s were", single == 1 ? "s" : "");
}

void fabric_simulation_notes(const struct fabric_simulation* simulation, const struct fabric_place* place,
                             struct sw_text* text) {
  for (int collective = 0; collective < NCCL_NUM_COLLECTIVES; collective++) {
    const struct sw_table* table = sim_table_for(simulation->profile, collective, place->nodes, place->ranks);
    struct sw_text note = SW_TEXT_EMPTY;
    if (table) {
      note_other_shape(table, place, &note);
      note_single_sizes(table, &note);
    } else {
      sw_text_add(&note, "; ");
      note_no_table(place, &note);
    }
    if (note.length)
      sw_text_printf(text, "%s: %s\n", sw_value_word(&sw_collectives, collective), sw_text_string(&note) + 2);
    sw_text_free(&note);
  }
}
