#include "env/helps.h"

#include <stdlib.h>

#include "decide/plan.h"
#include "decide/segments.h"

/* Every set of settings that is not auto's, once. */
struct sets {
  const struct sw_settings** items;
  size_t count;
};

static void add_set(struct sets* sets, const struct sw_settings* settings) {
  for (size_t i = 0; i < sets->count; i++)
    if (sw_settings_same(sets->items[i], settings)) return;
  sets->items[sets->count++] = settings;
}

static bool has_auto(const struct sw_point* point) {
  return point->count && sw_choice_is_auto(point->times[0].choice);
}

static size_t count_times(const struct sw_profile* profile) {
  size_t count = 0;
  for (size_t t = 0; t < profile->table_count; t++)
    for (size_t p = 0; p < profile->tables[t].count; p++) count += profile->tables[t].points[p].count;
  return count;
}

static void collect_sets(const struct sw_table* table, struct sets* out) {
  for (const struct sw_point* point = table->points; point < table->points + table->count; point++)
    for (size_t i = 1; i < point->count && has_auto(point); i++)
      if (point->times[i].settings.count && !sw_settings_same(&point->times[i].settings, &point->times[0].settings))
        add_set(out, &point->times[i].settings);
}

/* The fastest time at a point under the settings. */
static const struct sw_time* best_under(const struct sw_point* point, const struct sw_settings* settings) {
  const struct sw_time* best = NULL;
  for (const struct sw_time* time = point->times; time < point->times + point->count; time++)
    if (!time->excluded && sw_settings_same(&time->settings, settings) && (!best || time->median_ps < best->median_ps))
      best = time;
  return best;
}

static struct env_help compare(const struct sw_policy* policy, const struct sw_plan* plan, const struct sw_table* table,
                               const struct sw_point* point, const struct sw_settings* settings) {
  struct sw_segment decided = sw_segment_at(&plan->pieces[table->collective], point->bytes);
  struct env_help help = {settings, table, point, best_under(point, settings), decided.time_ps, false};
  if (help.decided_ps <= 0) help.decided_ps = (double)point->times[0].median_ps; /* a rule has no time */
  double bound = help.decided_ps * (double)(SW_ONE - policy->min_gain) / (double)SW_ONE;
  help.gains = help.time && (double)help.time->median_ps <= bound;
  return help;
}

/* The sizes of a table that knows the settings; dropped again where no size gains. */
static bool add_set_of_table(const struct sw_profile* profile, const struct sw_table* table,
                             const struct sw_settings* settings, struct env_helps* out) {
  struct sw_plan* plan = sw_plan_compile(profile, table->nodes, table->ranks);
  struct env_help* more = realloc(out->items, (out->count + table->count) * sizeof *more);
  size_t before = out->count;
  bool gains = false;
  if (more) out->items = more;
  for (size_t i = 0; plan && more && i < table->count; i++) {
    if (!has_auto(&table->points[i])) continue;
    out->items[out->count] = compare(&profile->policy, plan, table, &table->points[i], settings);
    gains = gains || out->items[out->count].gains;
    out->count++;
  }
  if (!gains) out->count = before;
  sw_plan_free(plan);
  return plan && more;
}

bool env_find_helps(const struct sw_profile* profile, struct env_helps* out) {
  struct sets sets = {.items = calloc(count_times(profile) + 1, sizeof(struct sw_settings*))};
  bool good = sets.items != NULL;
  *out = (struct env_helps){0};
  for (size_t t = 0; good && t < profile->table_count; t++) collect_sets(&profile->tables[t], &sets);
  for (size_t s = 0; s < sets.count; s++)
    for (size_t t = 0; good && t < profile->table_count; t++)
      if (profile->tables[t].count) good = add_set_of_table(profile, &profile->tables[t], sets.items[s], out);
  free((void*)sets.items);
  return good;
}

static void add_title(struct sw_text* out, const struct env_help* help) {
  for (size_t i = 0; i < help->settings->count; i++)
    sw_text_printf(out, "%s%s=%s", i ? " " : "  ", help->settings->items[i].name, help->settings->items[i].value);
  sw_text_add(out, "\n");
}

static void add_figures(struct sw_text* out, const struct env_help* help) {
  sw_text_printf(out, "    %s, ", sw_value_word(&sw_collectives, help->table->collective));
  sw_add_shape(out, help->table->ranks, help->table->nodes);
  sw_text_add(out, ", ");
  sw_add_size_words(out, help->point->bytes);
  sw_text_add(out, ": ");
  if (!help->time) {
    sw_text_add(out, "not measured\n");
    return;
  }
  sw_add_time_words(out, help->time->median_ps);
  sw_text_add(out, " against ");
  sw_add_time_words(out, (uint64_t)(help->decided_ps + 0.5));
  double gain = 1 - (double)help->time->median_ps / help->decided_ps;
  double size = gain < 0 ? -gain : gain;
  sw_text_add(out, size < 0.0005 ? ", the same\n" : gain < 0 ? ", costs " : ", gains ");
  if (size < 0.0005) return;
  sw_add_percent_words(out, size);
  sw_text_add(out, "\n");
}

void env_add_helps(struct sw_text* out, const struct env_helps* helps) {
  if (!helps->count) return;
  sw_text_add(out,
              "Known to help, but no tuner can set it. Each line holds at every size and for every collective; "
              "times are\nagainst what the profile decides:\n");
  for (size_t i = 0; i < helps->count; i++) {
    if (!i || helps->items[i - 1].settings != helps->items[i].settings) add_title(out, &helps->items[i]);
    add_figures(out, &helps->items[i]);
  }
}
