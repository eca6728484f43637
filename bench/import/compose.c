#include "import/compose.h"

#include <stdlib.h>
#include <string.h>

static const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* What names do not take becomes '-'. */
void compose_name(const struct gathered* gathered, const struct import_wanted* wanted, struct sw_text* out) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  enum { LONGEST = 60 };
  const char* base = base_name(gathered->files[0].name);
  const char* dot = strrchr(base, '.');
  size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
  if (wanted->name || strcmp(base, "-") == 0 || !length) {
    sw_text_add(out, wanted->name ? wanted->name : "imported");
    return;
  }
  for (size_t i = 0; i < length && i < LONGEST; i++)
    sw_text_add_bytes(out, strchr(allowed, base[i]) ? &base[i] : "-", 1);
}

void compose_source(const struct gathered* gathered, const struct import_wanted* wanted, const char* what,
                    struct sw_text* out) {
  enum { MOST_NAMED = 8 };
  if (wanted->source) {
    sw_text_add(out, wanted->source);
    return;
  }
  sw_text_add(out, "imported from ");
  for (size_t i = 0; i < gathered->file_count && i < MOST_NAMED; i++)
    sw_text_printf(out, "%s%s", i ? ", " : "",
                   strcmp(gathered->files[i].name, "-") == 0 ? "standard input" : base_name(gathered->files[i].name));
  if (gathered->file_count > MOST_NAMED) sw_text_printf(out, " and %zu more", gathered->file_count - MOST_NAMED);
  sw_text_printf(out, " (%s)", what);
}

bool compose_workload(const struct gathered* gathered, const struct import_wanted* wanted, struct sw_text* out) {
  struct sw_text name = SW_TEXT_EMPTY;
  struct sw_text source = SW_TEXT_EMPTY;
  struct sw_text note = SW_TEXT_EMPTY;
  size_t count;
  size_t processes;
  struct workload_calls* list = calls_list(&gathered->calls, wanted->ranks, &count, &processes);
  compose_name(gathered, wanted, &name);
  compose_source(gathered, wanted, "NCCL_DEBUG_SUBSYS=TUNING lines", &source);
  sw_text_add(&note, "Counts are calls in the whole log, not in one step.");
  if (processes > 1)
    sw_text_printf(&note, " %zu processes wrote it; each call counts as often as the one that made it most.",
                   processes);
  struct workload workload = {.name = sw_text_string(&name),
                              .kind = sw_value_word(&sw_kinds, wanted->kind),
                              .source = sw_text_string(&source),
                              .note = sw_text_string(&note),
                              .nodes = wanted->nodes,
                              .ranks = wanted->ranks,
                              .calls = list,
                              .call_count = count};
  bool good = list && !name.failed && !source.failed && !note.failed;
  if (good) workload_write(&workload, out);
  free(list);
  sw_text_free(&name);
  sw_text_free(&source);
  sw_text_free(&note);
  return good && !out->failed;
}
