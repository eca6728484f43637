#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/segments.h"
#include "ground/version.h"

/* NCCL formats into 1024 bytes; a longer line would lose its end without a word. */
enum { LONGEST_LINE = 900 };

/* One line, whatever a setting or a file's name that it quotes may hold. */
void sw_say(nccl_logger logger, nccl_log_level level, const char* text) {
  if (!logger) return;
  char line[LONGEST_LINE + 1];
  unsigned long flags = level == NCCL_LOG_WARN ? ~0UL : NCCL_SUBSYS_INIT | NCCL_SUBSYS_TUNING;
  const char* cut = strlen(text) > LONGEST_LINE ? " ..." : "";
  snprintf(line, sizeof line, "%s", text);
  for (char* c = line; *c; c++)
    if (*c > 0 && *c < ' ') *c = ' ';
  logger(level, flags, "sizewise", 0, "sizewise: %s%s", line, cut);
}

/* "allreduce 3 MiB to 12 MiB: 2 channels; ..." for every segment that is not NCCL's own. Returns their number. */
static size_t add_overrides(struct sw_text* text, const struct sw_plan* plan) {
  size_t overrides = 0;
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) {
    size_t count = 0;
    struct sw_segment* segments = sw_segments_make(&plan->pieces[c], &count);
    for (size_t i = 0; segments && i < count; i++) {
      if (sw_choice_is_auto(segments[i].choice)) continue;
      overrides++;
      if (text->length > LONGEST_LINE) continue; /* counted, but nobody would see it */
      sw_text_printf(text, "%s%s ", overrides > 1 ? "; " : ": ", sw_value_word(&sw_collectives, c));
      sw_add_range(text, segments[i].from, segments[i].to);
      sw_text_add(text, ": ");
      sw_add_choice(text, segments[i].choice);
    }
    free(segments);
  }
  return overrides;
}

void sw_say_applies(nccl_logger logger, const struct sw_selection* selection, const struct sw_plan* plan,
                    const char* left) {
  const struct sw_entry* entry = selection->entry;
  struct sw_text overrides = SW_TEXT_EMPTY;
  struct sw_text line = SW_TEXT_EMPTY;
  size_t count = add_overrides(&overrides, plan);
  sw_text_printf(&line, "%s, profile %s (%s, %s), digest %s, %s, for ", SW_VERSION, entry->profile->name, entry->origin,
                 sw_value_word(&sw_kinds, entry->profile->kind), entry->digest.hex, sw_text_string(&selection->why));
  sw_add_shape(&line, plan->ranks, plan->nodes);
  if (left) sw_text_add(&line, ", deterministic");
  sw_text_printf(&line, ": %zu segment%s override%s NCCL's choice", count, count == 1 ? "" : "s",
                 count == 1 ? "s" : "");
  sw_text_add(&line, sw_text_string(&overrides));
  if (left && left[0]) sw_text_printf(&line, "; NCCL decides %s", left);
  sw_say(logger, NCCL_LOG_INFO, sw_text_string(&line));
  sw_text_free(&line);
  sw_text_free(&overrides);
}

void sw_say_left_to_nccl(nccl_logger logger, const char* why, uint32_t nodes, uint32_t ranks) {
  struct sw_text line = SW_TEXT_EMPTY;
  sw_text_printf(&line, "%s, NCCL decides everything for ", SW_VERSION);
  sw_add_shape(&line, ranks, nodes);
  sw_text_printf(&line, ": %s", why);
  sw_say(logger, NCCL_LOG_INFO, sw_text_string(&line));
  sw_text_free(&line);
}

/* What the deterministic mode cannot promise. */
void sw_say_promise(nccl_logger logger, const char* broken) {
  struct sw_text line = SW_TEXT_EMPTY;
  sw_text_printf(&line, "deterministic mode [SW-%d]: %s", (int)SW_NOT_DETERMINISTIC, broken);
  sw_say(logger, NCCL_LOG_WARN, sw_text_string(&line));
  sw_text_free(&line);
}

void sw_say_no_promise(nccl_logger logger, uint32_t nodes, uint32_t ranks) {
  struct sw_text line = SW_TEXT_EMPTY;
  sw_text_add(&line, "deterministic mode: no profile decides for ");
  sw_add_shape(&line, ranks, nodes);
  sw_text_printf(&line, ", so NCCL chooses by size, and sums can depend on it [SW-%d]", (int)SW_NOT_DETERMINISTIC);
  sw_say(logger, NCCL_LOG_WARN, sw_text_string(&line));
  sw_text_free(&line);
}
