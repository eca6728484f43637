#include <stdlib.h>
#include <string.h>

#include "calibrate/statistics.h"
#include "ground/version.h"
#include "import/compose.h"

/* --- times ------------------------------------------------------------------------------------------------------- */

static int64_t spread_of(struct middle middle) {
  double spread = (middle.high - middle.low) / 2 / middle.median;
  if (middle.count < LEAST_FOR_SPREAD) return -1;
  return (int64_t)((spread > 1 ? 1 : spread) * 1000 + 0.5) * (SW_ONE / 1000);
}

/* The samples from `from` on that are of one setting; they are at one size of one table. Returns where they end. */
static size_t end_of_setting(const struct sample* samples, size_t from, size_t end) {
  size_t at = from;
  while (at < end && setting_compare(samples[at].setting, samples[from].setting) == 0) at++;
  return at;
}

static size_t end_of_size(const struct sample* samples, size_t from, size_t end) {
  size_t at = from;
  while (at < end && samples[at].bytes == samples[from].bytes) at++;
  return at;
}

static size_t end_of_table(const struct sample* samples, size_t from, size_t end) {
  size_t at = from;
  while (at < end && samples_same_table(&samples[at], &samples[from])) at++;
  return at;
}

static bool make_time(const struct sample* samples, size_t count, struct sw_time* out) {
  double* values = calloc(count, sizeof *values);
  if (!values) return false;
  for (size_t i = 0; i < count; i++) values[i] = samples[i].us;
  struct middle middle = middle_of(values, count, OUTSIDE_95);
  *out = (struct sw_time){.choice = samples->setting->choice,
                          .median_ps = (uint64_t)(middle.median * (double)SW_PS_PER_US + 0.5),
                          .samples = (uint32_t)count,
                          .spread = spread_of(middle),
                          .settings = samples->setting->settings};
  free(values);
  return true;
}

static bool make_point(struct sw_arena* arena, const struct sample* samples, size_t count, struct sw_point* out) {
  struct sw_time* times = sw_arena_allocate(arena, count, sizeof *times);
  out->bytes = samples->bytes;
  out->times = times;
  for (size_t at = 0; at < count && times;) {
    size_t end = end_of_setting(samples, at, count);
    if (!make_time(&samples[at], end - at, &times[out->count++])) return false;
    at = end;
  }
  return times != NULL;
}

static bool make_table(struct sw_arena* arena, const struct sample* samples, size_t count, struct sw_table* out) {
  struct sw_point* points = sw_arena_allocate(arena, count, sizeof *points);
  *out = (struct sw_table){samples->collective, samples->nodes, samples->ranks, points, 0, {0}};
  for (size_t at = 0; at < count && points;) {
    size_t end = end_of_size(samples, at, count);
    if (!make_point(arena, &samples[at], end - at, &points[out->count++])) return false;
    at = end;
  }
  return points != NULL;
}

static bool make_tables(const struct samples* samples, struct sw_profile* profile) {
  size_t tables = 0;
  for (size_t at = 0; at < samples->count; tables++) at = end_of_table(samples->items, at, samples->count);
  struct sw_table* items = sw_arena_allocate(&profile->arena, tables + 1, sizeof *items);
  profile->tables = items;
  for (size_t at = 0; at < samples->count && items;) {
    size_t end = end_of_table(samples->items, at, samples->count);
    if (!make_table(&profile->arena, &samples->items[at], end - at, &items[profile->table_count++])) return false;
    at = end;
  }
  return items != NULL;
}

/* --- provenance -------------------------------------------------------------------------------------------------- */

/* Keeps a text in the profile's arena, and empties it; NULL for "". */
static const char* keep(struct sw_profile* profile, struct sw_text* text) {
  const char* kept = text->length ? sw_arena_copy(&profile->arena, text->data, text->length) : NULL;
  sw_text_free(text);
  return kept;
}

static void add_note(const struct gathered* gathered, const struct import_wanted* wanted, struct sw_text* note) {
  const struct perf_facts* facts = &gathered->facts;
  sw_text_printf(note, "%s times. nccl-tests prints the mean ", wanted->in_place ? "In-place" : "Out-of-place");
  if (facts->calls && !facts->calls_differ)
    sw_text_printf(note, "over %llu calls", (unsigned long long)facts->calls);
  else
    sw_text_add(note, "over its calls");
  sw_text_add(note,
              ", and how they scatter is not known; samples counts such means, and of several the median is taken.");
}

static void set_provenance(const struct gathered* gathered, const struct import_wanted* wanted,
                           struct sw_profile* profile) {
  const struct perf_facts* facts = &gathered->facts;
  struct sw_text text = SW_TEXT_EMPTY;
  bool tests = gathered->kind == IMPORT_TESTS;
  compose_name(gathered, wanted, &text);
  profile->name = keep(profile, &text);
  struct sw_text what = SW_TEXT_EMPTY;
  sw_text_add(&what, tests ? "nccl-tests" : "rules of NCCL's example tuner");
  if (tests) sw_text_printf(&what, "%s%s output", facts->tool[0] ? " " : "", facts->tool);
  compose_source(gathered, wanted, sw_text_string(&what), &text);
  sw_text_free(&what);
  profile->provenance[SW_PROVENANCE_SOURCE] = keep(profile, &text);
  if (tests)
    add_note(gathered, wanted, &text);
  else
    sw_text_add(&text, "Rules written elsewhere; no time stands behind them here.");
  profile->provenance[SW_PROVENANCE_NOTE] = keep(profile, &text);
  profile->provenance[SW_PROVENANCE_DATE] = wanted->date;
  if (facts->tool[0]) sw_text_printf(&text, "nccl-tests %s, ", facts->tool);
  sw_text_add(&text, "sizewise " SW_VERSION " import");
  profile->provenance[SW_PROVENANCE_TOOL] = keep(profile, &text);
  if (facts->gpu[0] && !facts->gpus_differ)
    profile->match[SW_MATCH_GPU] = profile->provenance[SW_PROVENANCE_GPU] = facts->gpu;
  if (facts->nccl[0] && !facts->nccls_differ) profile->provenance[SW_PROVENANCE_NCCL] = facts->nccl;
}

/* --- the profile ------------------------------------------------------------------------------------------------- */

/* Whatever is written is read again: what cannot be read is never handed out. */
static bool write_checked(const struct sw_profile* profile, struct sw_diags* diags, struct sw_text* out) {
  sw_diags_start(diags, "the profile");
  sw_profile_write(profile, out);
  struct sw_profile* again = out->failed ? NULL : sw_profile_read(out->data, out->length, diags);
  sw_profile_free(again);
  return again != NULL;
}

bool compose_profile(const struct gathered* gathered, const struct import_wanted* wanted, struct sw_diags* diags,
                     struct sw_text* out) {
  struct sw_profile profile = {.kind = (enum sw_kind)wanted->kind,
                               .policy = sw_policy_default,
                               .rules = gathered->rules.list.items,
                               .rule_count = gathered->rules.list.count};
  set_provenance(gathered, wanted, &profile);
  bool good = profile.name && make_tables(&gathered->samples, &profile);
  good = good && write_checked(&profile, diags, out);
  sw_arena_free(&profile.arena);
  return good;
}
