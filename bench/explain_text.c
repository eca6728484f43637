#include "explain.h"
#include "ground/names.h"
#include "screen.h"

enum { LABEL = 10 };

static void add_provenance(const struct sw_profile* profile, struct sw_text* out) {
  for (int key = 0; key < SW_PROVENANCE_COUNT; key++)
    if (profile->provenance[key])
      screen_paragraph(out, LABEL, sw_value_word(&sw_provenance_keys, key), profile->provenance[key]);
}

static void add_match(const struct sw_profile* profile, struct sw_text* out) {
  struct sw_text match = SW_TEXT_EMPTY;
  for (int key = 0; key < SW_MATCH_COUNT; key++)
    if (profile->match[key])
      sw_text_printf(&match, "%s%s %s", match.length ? ", " : "", sw_value_word(&sw_match_keys, key),
                     profile->match[key]);
  screen_paragraph(out, LABEL, "match", match.length ? sw_text_string(&match) : "any hardware");
  sw_text_free(&match);
}

static void add_head(const struct opened* opened, bool deterministic, struct sw_text* out) {
  const struct sw_profile* profile = opened->profile;
  sw_text_printf(out, "%-*s%s (%s, %s)\n", LABEL, "profile", profile->name, sw_text_string(&opened->origin),
                 sw_value_word(&sw_kinds, profile->kind));
  sw_text_printf(out, "%-*s%s%s\n", LABEL, "digest", opened->digest.hex, deterministic ? " (deterministic mode)" : "");
  add_provenance(profile, out);
  add_match(profile, out);
  sw_text_printf(out, "%-*smin_gain ", LABEL, "policy");
  sw_add_percent(out, profile->policy.min_gain);
  sw_text_add(out, ", reach ");
  sw_add_fixed(out, (uint64_t)profile->policy.reach, 8);
  sw_text_add(out, ", gap ");
  sw_add_fixed(out, (uint64_t)profile->policy.gap, 8);
  if (profile->policy.max_extra_memory != UINT64_MAX) {
    sw_text_add(out, ", max_extra_memory ");
    sw_add_size_words(out, profile->policy.max_extra_memory);
  }
  sw_text_add(out, "\n");
}

static void add_count(struct sw_text* out, uint32_t count, const char* what) {
  if (count)
    sw_text_printf(out, "%u %s%s", count, what, count == 1 ? "" : "s");
  else
    sw_text_printf(out, "any %ss", what);
}

static void add_title(const struct part* part, struct sw_text* out) {
  sw_text_printf(out, "\n%s, ", sw_value_word(&sw_collectives, part->collective));
  add_count(out, part->plan->ranks, "rank");
  sw_text_add(out, " on ");
  add_count(out, part->plan->nodes, "node");
  sw_text_add(out, "\n");
}

static void add_times(struct grid* grid, const struct sw_segment* segment) {
  struct sw_text cell = SW_TEXT_EMPTY;
  bool known = segment->auto_ps > 0;
  if (known)
    sw_add_time_words(&cell, (uint64_t)(segment->time_ps + 0.5));
  else
    sw_text_add(&cell, "-");
  grid_take(grid, &cell);
  if (known)
    sw_add_time_words(&cell, (uint64_t)(segment->auto_ps + 0.5));
  else
    sw_text_add(&cell, "-");
  grid_take(grid, &cell);
  if (known && !sw_choice_is_auto(segment->choice))
    sw_add_percent_words(&cell, 1 - segment->time_ps / segment->auto_ps);
  else
    sw_text_add(&cell, "-");
  grid_take(grid, &cell);
}

static void add_row(struct grid* grid, const struct sw_policy* policy, const struct sw_segment* segment) {
  struct sw_text cell = SW_TEXT_EMPTY;
  sw_add_size_words(&cell, segment->from);
  grid_take(grid, &cell);
  if (segment->to == UINT64_MAX)
    sw_text_add(&cell, "no end");
  else
    sw_add_size_words(&cell, segment->to);
  grid_take(grid, &cell);
  sw_add_choice(&cell, segment->choice);
  grid_take(grid, &cell);
  add_times(grid, segment);
  sw_add_reason(&cell, policy, segment);
  grid_take(grid, &cell);
}

static struct grid start_rows(const char* from, const char* to) {
  const char* const titles[] = {from, to, "choice", "time", "auto", "gain", "why"};
  struct grid grid = grid_start(7);
  for (size_t i = 0; i < 7; i++) grid_add(&grid, titles[i]);
  return grid;
}

static void add_segments(const struct explanation* explanation, const struct part* part, struct sw_text* out) {
  struct grid grid = start_rows("from", "to");
  for (size_t i = 0; i < part->count; i++)
    if (explain_shows(explanation, &part->segments[i]))
      add_row(&grid, &explanation->opened->profile->policy, &part->segments[i]);
  grid_finish(&grid, 2, out);
}

/* Each size that was asked for, in the order asked. */
static void add_sizes(const struct explanation* explanation, const struct part* part, struct sw_text* out) {
  struct grid grid = start_rows("at", "");
  for (size_t i = 0; i < explanation->sizes->count; i++) {
    struct sw_segment at = sw_segment_at(&part->plan->pieces[part->collective], explanation->sizes->items[i]);
    struct sw_text cell = SW_TEXT_EMPTY;
    sw_add_size_words(&cell, at.from);
    grid_take(&grid, &cell);
    grid_add(&grid, "");
    sw_add_choice(&cell, at.choice);
    grid_take(&grid, &cell);
    add_times(&grid, &at);
    sw_add_reason(&cell, &explanation->opened->profile->policy, &at);
    grid_take(&grid, &cell);
  }
  grid_finish(&grid, 2, out);
}

/* What people can set and a tuner cannot. */
static void add_foreign(const struct explanation* explanation, const struct part* part, struct sw_text* out) {
  bool any = false;
  for (size_t i = 0; part->table && i < part->table->count; i++) {
    const struct sw_point* point = &part->table->points[i];
    const struct sw_time* time = explain_foreign(explanation, part, point);
    if (!time) continue;
    if (!any) sw_text_add(out, "  faster with environment lines that a tuner cannot set (they hold at every size):\n");
    any = true;
    sw_text_add(out, "    at ");
    sw_add_size_words(out, point->bytes);
    sw_text_add(out, " ");
    sw_add_choice(out, time->choice);
    sw_text_add(out, ": ");
    sw_add_time_words(out, time->median_ps);
    sw_text_add(out, " against ");
    sw_add_time_words(out, point->times[0].median_ps);
    for (size_t s = 0; s < time->settings.count; s++)
      sw_text_printf(out, "%s%s=%s", s ? " " : "\n      ", time->settings.items[s].name, time->settings.items[s].value);
    sw_text_add(out, "\n");
  }
}

void explain_as_text(const struct explanation* explanation, struct sw_text* out) {
  add_head(explanation->opened, explanation->deterministic, out);
  for (size_t i = 0; i < explanation->count; i++) {
    const struct part* part = &explanation->parts[i];
    add_title(part, out);
    if (explanation->deterministic) {
      explain_uniform_as_text(explanation, part, out);
      continue;
    }
    if (explanation->sizes->count)
      add_sizes(explanation, part, out);
    else
      add_segments(explanation, part, out);
    add_foreign(explanation, part, out);
  }
  if (!explanation->count)
    sw_text_add(out, "\nThe profile has no table and no rule for this shape: NCCL decides everything there.\n");
}
