#include "calibrate/profile_out.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "calibrate/passthrough.h"
#include "calibrate/statistics.h"
#include "ground/quoted.h"
#include "ground/version.h"

static void add_key(struct sw_text* out, const char* key, const char* text) {
  if (!text || !text[0]) return;
  sw_text_printf(out, "  %s: ", key);
  sw_add_quoted(out, text);
  sw_text_add(out, "\n");
}

/* --- the head ---------------------------------------------------------------------------------------------------- */

static void add_version(struct sw_text* out, int code) {
  sw_text_printf(out, "%d.%d.%d", code / 10000, code / 100 % 100, code % 100);
}

/* "... : allreduce 1 MiB (rank 1 was killed ...), ..." */
static void add_troubles(const struct study* study, bool comparing, const char* words, struct sw_text* note) {
  enum { MOST_NOTED = 4 };
  size_t count = 0;
  for (size_t i = 0; i < study->trouble_count; i++) {
    const struct study_trouble* trouble = &study->troubles[i];
    if (trouble->comparing != comparing || count++ >= MOST_NOTED) continue;
    sw_text_add(note, count > 1 ? "; " : words);
    study_add_trouble(note, trouble);
  }
  if (count > MOST_NOTED) sw_text_printf(note, "; and %zu more", count - MOST_NOTED);
  if (count) sw_text_add(note, ".");
}

/* How the run ended, where that was before its time. */
static void add_end(const struct study* study, struct sw_text* note) {
  static const char* const words[] = {
      [STUDY_SPENT] = "The budget was spent", [STUDY_INTERRUPTED] = "Interrupted", [STUDY_LOST] = "The ranks failed"};
  if (study->end < STUDY_SPENT) return;
  sw_text_printf(note, " %s before all sizes were %s.", words[study->end],
                 study_left(study) ? "measured" : "compared afresh");
}

/* Sizes, by what was compared there last. */
static void count_verified(const struct study_table* table, size_t* verified, size_t* held) {
  for (size_t i = 0; i < table->verified_count; i++) {
    bool again = false;
    for (size_t k = i + 1; k < table->verified_count && !again; k++)
      again = table->verified[k].bytes == table->verified[i].bytes;
    *verified += !again;
    *held += !again && table->verified[i].holds;
  }
}

static void add_note(const struct study* study, struct sw_text* out) {
  size_t verified = 0;
  size_t held = 0;
  for (size_t i = 0; i < study->count; i++) count_verified(&study->tables[i], &verified, &held);
  struct sw_text note = SW_TEXT_EMPTY;
  sw_text_printf(&note,
                 "Times are medians over interleaved rounds of the maximum over ranks, each call behind a barrier; "
                 "CUDA graphs up to 4 MiB, call by call above.");
  if (verified)
    sw_text_printf(&note, " Compared afresh with auto at %zu size%s: %zu held.", verified, verified == 1 ? "" : "s",
                   held);
  add_end(study, &note);
  add_troubles(study, false, " Not measured, as NCCL's own choice failed there: ", &note);
  add_troubles(study, true, " Not compared afresh, as NCCL's own choice failed there: ", &note);
  if (study->passthrough) {
    sw_text_add(&note, " ");
    passthrough_add_words(study->passthrough, &note);
  }
  add_key(out, "note", sw_text_string(&note));
  sw_text_free(&note);
}

static void add_versions(const struct profile_head* head, struct sw_text* out) {
  struct sw_text text = SW_TEXT_EMPTY;
  add_version(&text, head->report->nccl);
  if (head->report->nccl_path[0]) sw_text_printf(&text, " (%s)", head->report->nccl_path);
  add_key(out, "nccl", sw_text_string(&text));
  sw_text_free(&text);
  if (head->report->cuda) sw_text_printf(&text, "%d.%d", head->report->cuda / 1000, head->report->cuda / 10 % 100);
  add_key(out, "cuda", sw_text_string(&text));
  sw_text_free(&text);
  add_key(out, "driver", head->report->driver);
}

static void add_network(const struct profile_head* head, struct sw_text* out) {
  struct sw_text text = SW_TEXT_EMPTY;
  const struct sw_facts* facts = head->facts;
  if (facts->net != SW_NET_UNKNOWN) sw_text_printf(&text, "%s", sw_value_word(&sw_nets, facts->net));
  if (facts->net_device[0]) sw_text_printf(&text, " %s", facts->net_device);
  if (facts->net_mbps) sw_text_printf(&text, ", %d Gb/s", facts->net_mbps / 1000);
  add_key(out, "network", sw_text_string(&text));
  sw_text_free(&text);
}

static void add_settings(const struct profile_head* head, struct sw_text* out) {
  if (!head->settings->count) return;
  sw_text_add(out, "  settings: {");
  for (size_t i = 0; i < head->settings->count; i++) {
    sw_text_printf(out, "%s%s: ", i ? ", " : "", head->settings->items[i].name);
    sw_add_quoted(out, head->settings->items[i].value);
  }
  sw_text_add(out, "}\n");
}

static void add_date(struct sw_text* out) {
  char date[32];
  time_t now = time(NULL);
  struct tm parts;
  gmtime_r(&now, &parts);
  strftime(date, sizeof date, "%Y-%m-%d", &parts);
  add_key(out, "date", date);
}

/* This machine and this NCCL's minor version alone. */
static void add_match(const struct profile_head* head, struct sw_text* out) {
  sw_text_add(out, "match:\n");
  add_key(out, "gpu", head->report->gpu);
  add_key(out, "arch", head->facts->arch);
  if (head->facts->net != SW_NET_UNKNOWN) add_key(out, "net", sw_value_word(&sw_nets, head->facts->net));
  sw_text_printf(out, "  nccl: \"%d.%d\"\n", head->report->nccl / 10000, head->report->nccl / 100 % 100);
}

static void add_head(const struct study* study, const struct profile_head* head, struct sw_text* out) {
  sw_text_add(out, "sizewise: 1\nname: ");
  sw_add_quoted(out, head->name);
  sw_text_printf(out, "\nprovenance:\n  kind: %s\n", head->simulated ? "simulated" : "measured");
  add_key(out, "source", head->source);
  add_note(study, out);
  add_date(out);
  add_key(out, "tool", "sizewise " SW_VERSION);
  add_key(out, "gpu", head->report->gpu);
  add_network(head, out);
  add_versions(head, out);
  add_settings(head, out);
  add_match(head, out);
  sw_text_add(out, "policy: {min_gain: ");
  sw_add_percent(out, study->plan->min_gain);
  if (study->plan->max_extra_memory) {
    sw_text_add(out, ", max_extra_memory: ");
    sw_add_size(out, study->plan->max_extra_memory);
  }
  sw_text_add(out, "}\n");
}

/* --- times ------------------------------------------------------------------------------------------------------- */

static void add_choice(struct sw_text* out, struct sw_choice choice) {
  if (sw_choice_is_auto(choice)) {
    sw_text_add(out, "choice: auto");
    return;
  }
  const char* separator = "";
  if (choice.algo >= 0) sw_text_printf(out, "algo: %s", sw_value_word(&sw_algorithms, choice.algo));
  if (choice.algo >= 0) separator = ", ";
  if (choice.proto >= 0) sw_text_printf(out, "%sproto: %s", separator, sw_value_word(&sw_protocols, choice.proto));
  if (choice.proto >= 0) separator = ", ";
  if (choice.channels) sw_text_printf(out, "%schannels: %u", separator, choice.channels);
}

/* Nanoseconds are finer than any clock here. */
uint64_t profile_ps(double us) {
  return (uint64_t)(us * 1000 + 0.5) * 1000;
}

int64_t profile_spread(const struct race_result* result) {
  if (result->samples < LEAST_FOR_SPREAD || result->spread < 0) return -1;
  double spread = result->spread > 1 ? 1 : result->spread;
  return (int64_t)(spread * 1000 + 0.5) * (SW_ONE / 1000);
}

static void add_us(struct sw_text* out, double us) {
  sw_add_time(out, profile_ps(us));
}

static void add_ran(struct sw_text* out, const struct fabric_probe* probe) {
  if (probe->algo < 0 || probe->channels < 1 || probe->channels > NCCL_MAX_CHANNELS) return;
  sw_text_printf(out, ", ran: {algo: %s, proto: %s, channels: %d", sw_value_word(&sw_algorithms, probe->algo),
                 sw_value_word(&sw_protocols, probe->proto), probe->channels);
  double estimate = (double)probe->table[probe->algo][probe->proto];
  if (estimate >= 0.001 && estimate < 1e9) {
    sw_text_add(out, ", estimate: ");
    add_us(out, estimate);
  }
  sw_text_add(out, "}");
}

static void add_time(struct sw_text* out, struct sw_choice choice, const struct measured_choice* measured) {
  const struct race_result* result = &measured->result;
  sw_text_add(out, "          - {");
  add_choice(out, choice);
  if (result->samples) {
    sw_text_add(out, ", median: ");
    add_us(out, result->median_us);
    sw_text_printf(out, ", samples: %zu", result->samples);
    int64_t spread = profile_spread(result);
    if (spread >= 0) {
      sw_text_add(out, ", spread: ");
      sw_add_percent(out, spread);
    }
    add_ran(out, &measured->candidate.probe);
  }
  if (result->samples && measured->candidate.probe.memory) {
    sw_text_add(out, ", memory: ");
    sw_add_size(out, measured->candidate.probe.memory);
  }
  if (measured->candidate.excluded[0]) {
    sw_text_add(out, ", excluded: ");
    sw_add_quoted(out, measured->candidate.excluded);
  }
  sw_text_add(out, "}\n");
}

/* Whether a choice is worth a line: it was timed, or there is a reason why it must not be used. */
static bool is_worth(const struct measured_choice* choice) {
  return choice->result.samples || choice->candidate.excluded[0];
}

/* A twin is the same thing as its candidate at this size; at a size where it is not, it may be what wins. So it gets
   its candidate's figures here where another size knows it as a finalist: then there are two ends to interpolate
   between. */
static bool is_finalist_elsewhere(const struct study_table* table, struct sw_choice choice) {
  for (size_t p = 0; p < table->count; p++)
    for (size_t i = 1; i < table->points[p]->count; i++) {
      const struct measured_choice* other = &table->points[p]->choices[i];
      if (sw_choice_same(other->candidate.choice, choice) && other->result.samples >= 6) return true;
    }
  return false;
}

static void add_point(struct sw_text* out, const struct study_table* table, const struct measured* point) {
  sw_text_printf(out, "      - bytes: %llu\n        times:\n", (unsigned long long)point->call.bytes);
  for (size_t i = 0; i < point->count; i++)
    if (is_worth(&point->choices[i])) add_time(out, point->choices[i].candidate.choice, &point->choices[i]);
  for (size_t i = 0; i < point->twin_count; i++) {
    const struct twin* twin = &point->twins[i];
    if (is_worth(&point->choices[twin->of]) && is_finalist_elsewhere(table, twin->choice))
      add_time(out, twin->choice, &point->choices[twin->of]);
  }
}

static void add_table(struct sw_text* out, const struct study_table* table) {
  sw_text_printf(out, "  - collective: %s\n    nodes: %u\n    ranks: %u\n    points:\n",
                 sw_value_word(&sw_collectives, table->collective), table->nodes, table->ranks);
  for (size_t i = 0; i < table->count; i++) add_point(out, table, table->points[i]);
}

bool profile_out(const struct study* study, const struct profile_head* head, struct sw_diags* diags,
                 struct sw_text* out) {
  struct sw_text text = SW_TEXT_EMPTY;
  add_head(study, head, &text);
  sw_text_add(&text, "tables:\n");
  for (size_t i = 0; i < study->count; i++)
    if (study->tables[i].count) add_table(&text, &study->tables[i]);
  sw_diags_start(diags, "the profile that was to be written");
  struct sw_profile* profile = text.failed ? NULL : sw_profile_read(text.data, text.length, diags);
  if (profile) sw_profile_write(profile, out);
  bool good = profile && !out->failed;
  sw_profile_free(profile);
  sw_text_free(&text);
  diags->source = NULL; /* it is gone */
  return good;
}
