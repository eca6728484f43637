#include "calibrate/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/exhaustive_report.h"
#include "calibrate/report_internal.h"
#include "decide/digest.h"
#include "ground/names.h"
#include "screen.h"

/* --- the finished profile ---------------------------------------------------------------------------------------- */

static struct sw_profile* read_profile(const char* text) {
  static struct sw_diags diags;
  sw_diags_start(&diags, "the profile");
  return text ? sw_profile_read(text, strlen(text), &diags) : NULL;
}

static void finish(const struct study* study, const char* profile, struct finished* out) {
  *out = (struct finished){.study = study, .profile = read_profile(profile)};
  for (size_t i = 0; out->profile && i < study->count; i++)
    if (study->tables[i].count)
      out->plans[i] = sw_plan_compile(out->profile, study->tables[i].nodes, study->tables[i].ranks);
}

static void release(struct finished* finished) {
  for (size_t i = 0; i < STUDY_MOST_TABLES; i++) sw_plan_free(finished->plans[i]);
  sw_profile_free(finished->profile);
}

size_t report_decisions(const struct finished* finished, size_t table,
                        struct study_decision out[STUDY_MOST_DECISIONS]) {
  const struct sw_plan* plan = finished->plans[table];
  return plan ? study_decisions(&finished->study->tables[table], plan, out) : 0;
}

/* --- a table for each collective --------------------------------------------------------------------------------- */

static bool is_withdrawn(const struct study_table* table, uint64_t bytes) {
  for (size_t i = 0; i < table->verified_count; i++)
    if (table->verified[i].bytes == bytes && !table->verified[i].holds) return true;
  return false;
}

static const char* verdict_of(const struct study_table* table, const struct study_decision* d) {
  if (d->verified) return "holds";
  if (!sw_choice_is_auto(d->choice)) return "not verified";
  return is_withdrawn(table, d->bytes) ? "withdrawn" : "";
}

static void add_us(struct grid* grid, double us) {
  struct sw_text cell = SW_TEXT_EMPTY;
  sw_add_time_words(&cell, (uint64_t)(us * 1e6 + 0.5));
  grid_take(grid, &cell);
}

static void add_choice(struct grid* grid, struct sw_choice choice) {
  struct sw_text cell = SW_TEXT_EMPTY;
  sw_add_choice(&cell, choice);
  grid_take(grid, &cell);
}

static struct sw_choice what_ran(const struct fabric_probe* probe) {
  return probe->algo < 0 ? SW_AUTO
                         : (struct sw_choice){(int8_t)probe->algo, (int8_t)probe->proto, (uint8_t)probe->channels};
}

static void add_row(struct grid* grid, const struct study_table* table, const struct study_decision* d) {
  struct sw_text cell = SW_TEXT_EMPTY;
  const struct measured_choice* own = &d->point->choices[0];
  sw_add_size_words(&cell, d->bytes);
  grid_take(grid, &cell);
  add_us(grid, own->result.median_us);
  add_choice(grid, what_ran(&own->candidate.probe));
  add_choice(grid, d->choice);
  add_us(grid, d->point->choices[study_index_of(d->point, d->choice)].result.median_us);
  if (d->verified)
    sw_text_printf(&cell, "%.1f%% (%.1f to %.1f)", d->verified->pair.gain * 100, d->verified->pair.low * 100,
                   d->verified->pair.high * 100);
  else
    sw_text_add(&cell, "-");
  grid_take(grid, &cell);
  grid_add(grid, verdict_of(table, d));
}

static void add_table(const struct finished* finished, size_t index, struct sw_text* out) {
  static const char* const titles[] = {"size", "auto", "which ran", "choice", "time", "gain afresh (95%)", ""};
  struct study_decision decisions[STUDY_MOST_DECISIONS];
  const struct study_table* table = &finished->study->tables[index];
  size_t count = report_decisions(finished, index, decisions);
  struct grid grid = grid_start(7);
  if (!count) return;
  sw_text_printf(out, "\n%s, %u ranks on %u node%s\n", sw_value_word(&sw_collectives, table->collective), table->ranks,
                 table->nodes, table->nodes == 1 ? "" : "s");
  for (size_t i = 0; i < 7; i++) grid_add(&grid, titles[i]);
  for (size_t i = 0; i < count; i++)
    if (decisions[i].point) add_row(&grid, table, &decisions[i]);
  grid_finish(&grid, 2, out);
}

/* --- what it is worth -------------------------------------------------------------------------------------------- */

struct worth {
  size_t points;
  size_t chosen; /* sizes where something else than auto is decided for */
  size_t held;
  size_t withdrawn; /* sizes */
  double least;     /* gain of those that held */
  double most;
};

static void count_decision(const struct study_table* table, const struct study_decision* d, struct worth* worth) {
  worth->points += d->point != NULL;
  worth->chosen += !sw_choice_is_auto(d->choice);
  worth->withdrawn += is_withdrawn(table, d->bytes);
  if (!d->verified) return;
  double gain = d->verified->pair.gain;
  if (!worth->held++) worth->least = worth->most = gain;
  if (gain < worth->least) worth->least = gain;
  if (gain > worth->most) worth->most = gain;
}

static struct worth count_worth(const struct finished* finished) {
  struct study_decision decisions[STUDY_MOST_DECISIONS];
  struct worth worth = {0};
  for (size_t t = 0; t < finished->study->count; t++) {
    size_t count = report_decisions(finished, t, decisions);
    for (size_t i = 0; i < count; i++) count_decision(&finished->study->tables[t], &decisions[i], &worth);
  }
  return worth;
}

static void add_gains(const struct worth* worth, struct sw_text* out) {
  if (worth->held == 1)
    sw_text_printf(out, "Deploying it gains %.1f%% at the one size where it was compared afresh and held",
                   worth->most * 100);
  else if (worth->held)
    sw_text_printf(out, "Deploying it gains %.1f%% to %.1f%% at the %zu sizes where it was compared afresh and held",
                   worth->least * 100, worth->most * 100, worth->held);
  else if (!worth->chosen && worth->withdrawn)
    sw_text_add(out,
                "Nothing to gain here: what was faster when it was measured did not hold when it was compared afresh");
  else if (worth->chosen)
    sw_text_add(out, "What was chosen was not compared afresh");
  else
    sw_text_printf(out, "Nothing to gain here: NCCL's own choice is as good as any at the %zu size%s measured",
                   worth->points, worth->points == 1 ? "" : "s");
  if (worth->withdrawn) sw_text_printf(out, "; withdrawn at %zu", worth->withdrawn);
  sw_text_add(out, ".\n");
}

static void add_worth(const struct finished* finished, struct sw_text* out) {
  const struct study* study = finished->study;
  struct worth worth = count_worth(finished);
  sw_text_add(out, "\n");
  if (!worth.points) {
    sw_text_add(out, "Nothing was measured.\n");
    return;
  }
  add_gains(&worth, out);
  sw_text_printf(out, "Measuring took %.1f s of calls, comparing %.1f s; the workers were started %u time%s.\n",
                 study->measuring_us / 1e6, study->verifying_us / 1e6, crew_starts(study->crew),
                 crew_starts(study->crew) == 1 ? "" : "s");
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

static void print_text(const struct finished* finished, const struct report_extras* extras) {
  struct sw_text out = SW_TEXT_EMPTY;
  const struct study* study = finished->study;
  for (size_t i = 0; i < study->count; i++) add_table(finished, i, &out);
  add_worth(finished, &out);
  report_add_rest(finished, extras->path, &out);
  report_add_memory(finished, &out);
  if (study->passthrough) passthrough_add_words(study->passthrough, &out);
  if (study->passthrough) sw_text_add(&out, "\n");
  if (extras->exhaustive) exhaustive_add(extras->exhaustive, &out);
  if (extras->raw->path) sw_text_printf(&out, "%zu samples written to %s.\n", extras->raw->samples, extras->raw->path);
  fputs(sw_text_string(&out), stdout);
  sw_text_free(&out);
}

static void print_json(const struct finished* finished, const struct report_extras* extras) {
  json_t* root = report_json(finished, extras);
  char* text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
  if (text) puts(text);
  free(text);
  json_decref(root);
}

void report_print(const struct study* study, const char* profile, const struct report_extras* extras, bool json) {
  static struct finished finished;
  finish(study, profile, &finished);
  if (json)
    print_json(&finished, extras);
  else
    print_text(&finished, extras);
  release(&finished);
}

void report_deployment(const char* path, const char* profile) {
  struct sw_digest digest;
  struct sw_profile* read = read_profile(profile);
  if (read && sw_digest_compute(read, &digest))
    printf(
        "\nWritten to %s. On every rank:\n  NCCL_TUNER_PLUGIN=sizewise\n  NCCL_SIZEWISE_PROFILE=%s\n"
        "  NCCL_SIZEWISE_EXPECT=%s\n",
        path, path, digest.hex);
  sw_profile_free(read);
}
