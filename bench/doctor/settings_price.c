/* What forced settings cost by the profile, and what they take from it. */
#include <stdlib.h>
#include <string.h>

#include "decide/segments.h"
#include "doctor/known.h"
#include "doctor/settings.h"
#include "ground/names.h"

/* --- figures ----------------------------------------------------------------------------------------------------- */

static bool same_table(const struct cost* a, const struct cost* b) {
  return a->collective == b->collective && a->nodes == b->nodes && a->ranks == b->ranks;
}

/* "allreduce, 8 ranks on 8 nodes" and below it each size; costs of one table stand together, the dearest first. */
static void add_costs(struct sw_text* text, const struct costs* costs, const struct sw_profile* profile,
                      const char* forcing) {
  for (size_t first = 0; first < costs->count; first++) {
    const struct cost* head = &costs->items[first];
    bool seen = false;
    for (size_t i = 0; i < first; i++) seen |= same_table(&costs->items[i], head);
    if (seen) continue;
    sw_text_printf(text, "%s, ", sw_value_word(&sw_collectives, head->collective));
    sw_add_shape(text, head->ranks, head->nodes);
    sw_text_add(text, ":\n");
    for (size_t i = first; i < costs->count; i++) {
      if (!same_table(&costs->items[i], head)) continue;
      sw_text_printf(text, "  %s ", forcing);
      cost_add(text, &costs->items[i], profile);
      sw_text_add(text, "\n");
    }
  }
}

/* "; the profile chooses ll at 6 KiB to 24 KiB only": where it does what was forced, at the sizes where it pays. */
static void add_kept(struct sw_text* text, const struct subject* subject, const struct cost* cost) {
  struct sw_plan* plan = sw_plan_compile_for(subject->profile, subject->mode, cost->nodes, cost->ranks);
  size_t count = 0;
  size_t kept = 0;
  struct sw_segment* segments = plan ? sw_segments_make(&plan->pieces[cost->collective], &count) : NULL;
  for (size_t i = 0; segments && i < count; i++) {
    if (sw_choice_is_auto(cost->forced) || !sw_choice_same(segments[i].choice, cost->forced)) continue;
    if (!kept++) {
      sw_text_add(text, "; the profile chooses ");
      sw_add_choice(text, cost->forced);
      sw_text_add(text, " for ");
    } else {
      sw_text_add(text, ", ");
    }
    sw_add_range(text, segments[i].from, segments[i].to);
  }
  if (kept && count > 1) sw_text_add(text, " only");
  free(segments);
  sw_plan_free(plan);
}

/* Where several settings are in force: the worst that each does by itself. */
static void add_each_alone(struct sw_text* text, const struct subject* subject) {
  for (size_t i = 0; i < subject->set->count; i++) {
    struct env_variable* variable = &subject->set->items[i];
    const struct known_variable* known = known_find(variable->name);
    if (!known || !known->forces || !variable->value[0]) continue;
    struct env_set alone = {.items = variable, .count = 1};
    struct costs costs = costs_of(&alone, subject->profile, subject->shape);
    if (costs.count && costs.items[0].price.known) {
      sw_text_printf(text, "%s=%s alone ", variable->name, variable->value);
      cost_add(text, &costs.items[0], subject->profile);
      add_kept(text, subject, &costs.items[0]);
      sw_text_add(text, "\n");
    }
    costs_free(&costs);
  }
}

/* "start.sh:2, 3, /etc/nccl.conf:1" */
static void add_places(struct sw_text* text, const struct env_set* set) {
  const struct env_variable* last = NULL;
  for (size_t i = 0; i < set->count; i++) {
    const struct known_variable* known = known_find(set->items[i].name);
    if (!known || !known->forces || !set->items[i].value[0]) continue;
    if (last && !last->line && strcmp(last->file, set->items[i].file) == 0) continue;
    if (text->length) sw_text_add(text, ", ");
    if (last && strcmp(last->file, set->items[i].file) == 0)
      sw_text_printf(text, "%u", set->items[i].line);
    else
      env_set_add_place(text, &set->items[i]);
    last = &set->items[i];
  }
}

/* --- findings ---------------------------------------------------------------------------------------------------- */

/* Deliberate: told, priced where it can be, and left alone. */
static void note_invariant(const struct subject* subject, const char* forcing, const struct costs* costs,
                           struct findings* findings) {
  struct finding* finding = findings_add(findings, SECTION_SETTINGS, FINDING_NOTE,
                                         "batch-invariant settings: they fix sums, and are respected");
  finding->weight = 10;
  add_places(&finding->from, subject->set);
  sw_text_printf(&finding->says, "%s\n", forcing);
  sw_text_add(&finding->says,
              "leave all-reduce one algorithm, one protocol and one channel, so sums do not change with the size.\n");
  if (subject->profile) add_costs(&finding->says, costs, subject->profile, "together");
  sw_text_add(
      &finding->cure,
      "do not unset them while results have to be reproducible; NCCL_SIZEWISE_DETERMINISTIC=1 is the way to one "
      "choice for all sizes that was measured");
}

static void note_intended(const struct env_set* set, struct findings* findings) {
  const struct env_variable* intended = settings_intended(set);
  struct finding* finding =
      findings_add(findings, SECTION_SETTINGS, FINDING_NOTE,
                   "%s is on: batch-invariant settings are meant, and are respected", intended->name);
  env_set_add_place(&finding->from, intended);
  sw_text_add(&finding->says,
              "The framework forces NCCL settings itself when it starts; they need not be visible here.\n");
}

static struct finding* find_costs(const struct subject* subject, const char* forcing, bool several,
                                  const struct costs* costs, struct findings* findings) {
  const struct cost* worst = costs->count ? &costs->items[0] : NULL;
  struct finding* finding;
  if (worst && worst->hurts) {
    finding = findings_add(findings, SECTION_SETTINGS, SW_FORCED_COSTS, "%s cost%s %s up to ", forcing,
                           several ? "" : "s", sw_value_word(&sw_collectives, worst->collective));
    cost_add_ratio(&finding->what, cost_ratio(worst));
    sw_text_add(&finding->what, " at ");
    sw_add_size_words(&finding->what, worst->bytes);
    finding->weight = cost_ratio(worst);
    return finding;
  }
  const char* what = !subject->profile             ? "without a profile the cost is not known"
                     : worst && worst->price.known ? "no loss was measured"
                                                   : "the cost is not measured";
  finding = findings_add(findings, SECTION_SETTINGS, SW_FORCED, "%s hold%s at every size; %s", forcing,
                         several ? "" : "s", what);
  finding->weight = 0.5;
  return finding;
}

static void price_forced(const struct subject* subject, const char* forcing, unsigned count, const struct costs* costs,
                         struct findings* findings) {
  struct finding* finding = find_costs(subject, forcing, count > 1, costs, findings);
  struct sw_text names = SW_TEXT_EMPTY;
  settings_add_forcing(&names, subject->set, false);
  add_places(&finding->from, subject->set);
  if (subject->profile) {
    add_costs(&finding->says, costs, subject->profile, count > 1 ? "together" : forcing);
    if (!costs->count) sw_text_add(&finding->says, "The profile has no table for what it restricts.\n");
    if (count > 1) add_each_alone(&finding->says, subject);
  }
  bool pays = costs->count && costs->items[0].measured_under && !costs->items[0].hurts;
  sw_text_printf(&finding->cure, pays ? "keep %s only for what is measured above: no tuner can set that" : "unset %s",
                 sw_text_string(&names));
  if (!subject->profile) sw_text_add(&finding->cure, "; --profile NAME says what it costs");
  if (costs->count) add_kept(&finding->cure, subject, &costs->items[0]);
  sw_text_free(&names);
}

/* "allreduce, 8 ranks on 8 nodes: 2 channels for 3 MiB to 12 MiB" for each choice of the profile that is taken away. */
static void add_cut(struct sw_text* text, const struct sw_forced* forced, const struct subject* subject,
                    const struct sw_table* table) {
  size_t count = 0;
  struct sw_plan* plan = sw_plan_compile_for(subject->profile, subject->mode, table->nodes, table->ranks);
  struct sw_segment* segments = plan ? sw_segments_make(&plan->pieces[table->collective], &count) : NULL;
  for (size_t i = 0; segments && i < count; i++) {
    if (!sw_forced_switches_off(forced, table->collective, segments[i].choice)) continue;
    sw_text_printf(text, "%s, ", sw_value_word(&sw_collectives, table->collective));
    sw_add_shape(text, table->ranks, table->nodes);
    sw_text_add(text, ": ");
    sw_add_choice(text, segments[i].choice);
    sw_text_add(text, " for ");
    sw_add_range(text, segments[i].from, segments[i].to);
    sw_text_add(text, "\n");
  }
  free(segments);
  sw_plan_free(plan);
}

static void find_cut(const struct subject* subject, const char* forcing, struct findings* findings) {
  struct sw_text says = SW_TEXT_EMPTY;
  struct sw_forced forced;
  env_set_use(subject->set);
  sw_forced_read(env_set_getenv, &forced);
  for (size_t i = 0; i < subject->profile->table_count; i++) {
    const struct sw_table* table = &subject->profile->tables[i];
    if ((!subject->shape.nodes || subject->shape.nodes == table->nodes) &&
        (!subject->shape.ranks || subject->shape.ranks == table->ranks))
      add_cut(&says, &forced, subject, table);
  }
  if (says.length) {
    struct finding* finding =
        findings_add(findings, SECTION_SETTINGS, SW_PROFILE_CUT, "%s switches off what the profile chooses", forcing);
    finding->weight = 0.7;
    add_places(&finding->from, subject->set);
    sw_text_add(&finding->says, sw_text_string(&says));
    sw_text_add(&finding->cure, "unset it: a tuner cannot give back what it excludes");
  }
  sw_text_free(&says);
}

/* Whether they exclude anything: a list of all protocols does not. */
static bool takes_anything(const struct env_set* set) {
  struct sw_forced forced;
  env_set_use(set);
  sw_forced_read(env_set_getenv, &forced);
  bool all = !forced.min_channels && !forced.max_channels;
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++)
    all = all && forced.algorithms[c] == (1U << NCCL_NUM_ALGORITHMS) - 1 &&
          forced.protocols[c] == (1U << NCCL_NUM_PROTOCOLS) - 1;
  return !all;
}

void settings_price(const struct subject* subject, struct findings* findings, struct costs* costs) {
  struct sw_text forcing = SW_TEXT_EMPTY;
  unsigned count = settings_add_forcing(&forcing, subject->set, true);
  enum invariance invariance = settings_invariance(subject);
  *costs = (struct costs){0};
  if (count && subject->profile) *costs = costs_of(subject->set, subject->profile, subject->shape);
  if (invariance == INVARIANT_SETTINGS) {
    note_invariant(subject, sw_text_string(&forcing), costs, findings);
  } else if (count && takes_anything(subject->set)) {
    price_forced(subject, sw_text_string(&forcing), count, costs, findings);
    if (subject->profile) find_cut(subject, sw_text_string(&forcing), findings);
  }
  if (invariance == INVARIANT_INTENDED) note_intended(subject->set, findings);
  findings->failed |= costs->failed || forcing.failed;
  sw_text_free(&forcing);
}
