#include "ground/names.h"
#include "ground/number.h"
#include "ground/quoted.h"
#include "workload/workload.h"

#define PS_PER_SECOND 1e12

/* "before: text", where there is a text. */
static void write_text(struct sw_text* out, const char* before, const char* text) {
  if (!text) return;
  sw_text_add(out, before);
  sw_add_quoted(out, text);
  sw_text_add(out, "\n");
}

static void write_provenance(const struct workload* workload, struct sw_text* out) {
  if (!workload->kind && !workload->source && !workload->note) return;
  sw_text_add(out, "provenance:\n");
  if (workload->kind) sw_text_printf(out, "  kind: %s\n", workload->kind);
  write_text(out, "  source: ", workload->source);
  write_text(out, "  note: ", workload->note);
}

/* Whole, or with the eight decimals that the reader keeps. */
static void write_tokens(double tokens, struct sw_text* out) {
  uint64_t whole = (uint64_t)tokens;
  sw_text_add(out, "  tokens: ");
  if ((double)whole == tokens)
    sw_text_add_whole(out, whole, 1);
  else
    sw_add_fixed(out, (uint64_t)(tokens * (double)SW_ONE + 0.5), 8);
  sw_text_add(out, "\n");
}

static void write_step(const struct workload_step* step, struct sw_text* out) {
  if (!step->known) return;
  sw_text_add(out, "step:\n");
  write_text(out, "  what: ", step->what);
  if (step->tokens > 0) write_tokens(step->tokens, out);
  sw_text_add(out, "  time: ");
  sw_add_time(out, (uint64_t)(step->seconds * PS_PER_SECOND + 0.5));
  sw_text_add(out, "\n  under: {");
  for (size_t i = 0; i < step->under_count; i++) {
    sw_text_printf(out, "%s%s: ", i ? ", " : "", step->under[i].name);
    sw_add_quoted(out, step->under[i].value);
  }
  sw_text_add(out, "}\n");
}

static void write_calls(const struct workload_calls* calls, struct sw_text* out) {
  sw_text_add(out, "  - {");
  if (calls->collective != WORKLOAD_ANY_COLLECTIVE)
    sw_text_printf(out, "collective: %s, ", sw_value_word(&sw_collectives, calls->collective));
  sw_text_add(out, "bytes: ");
  sw_add_size(out, calls->bytes);
  sw_text_add(out, ", count: ");
  sw_text_add_whole(out, calls->count, 1);
  sw_text_add(out, "}\n");
}

void workload_write(const struct workload* workload, struct sw_text* out) {
  sw_text_add(out, "workload: 1\n");
  write_text(out, "name: ", workload->name);
  write_provenance(workload, out);
  write_text(out, "profile: ", workload->profile);
  if (workload->nodes) sw_text_printf(out, "nodes: %u\n", workload->nodes);
  if (workload->ranks) sw_text_printf(out, "ranks: %u\n", workload->ranks);
  write_step(&workload->step, out);
  sw_text_add(out, "collectives:\n");
  for (size_t i = 0; i < workload->call_count; i++) write_calls(&workload->calls[i], out);
}
