#include "import/compose.h"

#include <stdlib.h>
#include <string.h>

#include "ground/utf8.h"

static const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* What names do not take becomes '-'. */
void compose_name(const struct gathered* gathered, const struct import_wanted* wanted, struct sw_text* out) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  enum { LONGEST = 60 };
  const char* base = base_name(gathered->files[0].name);
  base += strspn(base, "._-"); /* no name begins so */
  const char* dot = strrchr(base, '.');
  size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
  bool is_off = length == 3 && strncmp(base, "off", 3) == 0; /* which switches Sizewise off */
  if (wanted->name || !length || is_off) {
    sw_text_add(out, wanted->name ? wanted->name : "imported");
    return;
  }
  for (size_t i = 0; i < length && i < LONGEST; i++)
    sw_text_add_bytes(out, strchr(allowed, base[i]) ? &base[i] : "-", 1);
}

/* A file's name need not be UTF-8, and what is made has to be. */
static void add_name(struct sw_text* out, const char* name) {
  size_t left = strlen(name);
  while (left) {
    size_t character = sw_utf8_character(name, left);
    sw_text_add_bytes(out, character ? name : "?", character ? character : 1);
    name += character ? character : 1;
    left -= character ? character : 1;
  }
}

void compose_source(const struct gathered* gathered, const struct import_wanted* wanted, const char* what,
                    struct sw_text* out) {
  enum { MOST_NAMED = 8 };
  if (wanted->source) {
    sw_text_add(out, wanted->source);
    return;
  }
  sw_text_add(out, "imported from ");
  for (size_t i = 0; i < gathered->file_count && i < MOST_NAMED; i++) {
    const char* name = gathered->files[i].name;
    sw_text_add(out, i ? ", " : "");
    add_name(out, strcmp(name, "-") == 0 ? "standard input" : base_name(name));
  }
  if (gathered->file_count > MOST_NAMED) sw_text_printf(out, " and %zu more", gathered->file_count - MOST_NAMED);
  sw_text_printf(out, " (%s)", what);
}

/* Whatever is written is read again: what cannot be read is never handed out. */
static bool write_checked(const struct workload* workload, struct sw_diags* diags, struct sw_text* out) {
  struct workload again;
  struct sw_arena arena = SW_ARENA_EMPTY;
  workload_write(workload, out);
  bool good = !out->failed && workload_read(&arena, out->data, out->length, diags, &again);
  sw_arena_free(&arena);
  return good;
}

bool compose_workload(const struct gathered* gathered, const struct import_wanted* wanted, struct sw_diags* diags,
                      struct sw_text* out) {
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
  sw_diags_start(diags, "the workload");
  bool good = list && !name.failed && !source.failed && !note.failed && write_checked(&workload, diags, out);
  free(list);
  sw_text_free(&name);
  sw_text_free(&source);
  sw_text_free(&note);
  return good;
}
