#include <string.h>

#include "ground/letters.h"
#include "ground/quoted.h"
#include "profile/profile.h"

/* Words that YAML readers take for something other than a text. */
static bool is_special_word(const char* text) {
  static const char* const special[] = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"};
  for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
    if (strlen(special[i]) == strlen(text) && sw_same_letters(text, special[i], strlen(text))) return true;
  return false;
}

/* Texts that need no quotes wherever they stand: letters, digits, and a few signs that mean nothing to YAML. */
static bool is_plain(const char* text) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
  bool letter = (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z');
  return letter && strspn(text, plain) == strlen(text) && !is_special_word(text);
}

static void add_text(struct sw_text* out, const char* text) {
  if (is_plain(text))
    sw_text_add(out, text);
  else
    sw_add_quoted(out, text);
}

static void write_settings(const struct sw_settings* settings, struct sw_text* out) {
  sw_text_add(out, "settings: {");
  for (size_t i = 0; i < settings->count; i++) {
    sw_text_printf(out, "%s%s: ", i ? ", " : "", settings->items[i].name);
    sw_add_quoted(out, settings->items[i].value);
  }
  sw_text_add(out, "}");
}

static void write_provenance(const struct sw_profile* profile, struct sw_text* out) {
  sw_text_printf(out, "provenance:\n  kind: %s\n", sw_value_word(&sw_kinds, profile->kind));
  for (int key = 0; key < SW_PROVENANCE_COUNT; key++) {
    if (!profile->provenance[key]) continue;
    sw_text_printf(out, "  %s: ", sw_value_word(&sw_provenance_keys, key));
    sw_add_quoted(out, profile->provenance[key]);
    sw_text_add(out, "\n");
  }
  if (!profile->settings.count) return;
  sw_text_add(out, "  ");
  write_settings(&profile->settings, out);
  sw_text_add(out, "\n");
}

static void write_match(const struct sw_profile* profile, struct sw_text* out) {
  const char* separator = "";
  sw_text_add(out, "match: {");
  for (int key = 0; key < SW_MATCH_COUNT; key++) {
    if (!profile->match[key]) continue;
    sw_text_printf(out, "%s%s: ", separator, sw_value_word(&sw_match_keys, key));
    add_text(out, profile->match[key]);
    separator = ", ";
  }
  sw_text_add(out, "}\n");
}

static void write_policy(const struct sw_policy* policy, struct sw_text* out) {
  sw_text_add(out, "policy: {min_gain: ");
  sw_add_percent(out, policy->min_gain);
  sw_text_add(out, ", reach: ");
  sw_add_fixed(out, (uint64_t)policy->reach, 8);
  sw_text_add(out, ", gap: ");
  sw_add_fixed(out, (uint64_t)policy->gap, 8);
  if (policy->max_extra_memory != UINT64_MAX) {
    sw_text_add(out, ", max_extra_memory: ");
    sw_add_size(out, policy->max_extra_memory);
  }
  sw_text_add(out, "}\n");
}

/* Here and in what stands in every time no printf: a large profile has thousands of them. */
static void write_choice(struct sw_choice choice, struct sw_text* out) {
  bool named = choice.algo >= 0 || choice.proto >= 0;
  if (sw_choice_is_auto(choice)) sw_text_add(out, "choice: auto");
  if (choice.algo >= 0) {
    sw_text_add(out, "algo: ");
    sw_text_add(out, sw_value_word(&sw_algorithms, choice.algo));
  }
  if (choice.proto >= 0) {
    sw_text_add(out, choice.algo >= 0 ? ", proto: " : "proto: ");
    sw_text_add(out, sw_value_word(&sw_protocols, choice.proto));
  }
  if (!choice.channels) return;
  sw_text_add(out, named ? ", channels: " : "channels: ");
  sw_text_add_whole(out, choice.channels, 1);
}

static void write_ran(const struct sw_ran* ran, struct sw_text* out) {
  if (!ran->what.channels) return;
  sw_text_add(out, ", ran: {");
  write_choice(ran->what, out);
  if (ran->estimate_ps) {
    sw_text_add(out, ", estimate: ");
    sw_add_time(out, ran->estimate_ps);
  }
  sw_text_add(out, "}");
}

static void write_time(const struct sw_time* time, struct sw_text* out) {
  sw_text_add(out, "          - {");
  write_choice(time->choice, out);
  if (time->median_ps) {
    sw_text_add(out, ", median: ");
    sw_add_time(out, time->median_ps);
  }
  if (time->samples) {
    sw_text_add(out, ", samples: ");
    sw_text_add_whole(out, time->samples, 1);
  }
  if (time->spread >= 0) {
    sw_text_add(out, ", spread: ");
    sw_add_percent(out, time->spread);
  }
  if (time->settings.count) {
    sw_text_add(out, ", ");
    write_settings(&time->settings, out);
  }
  write_ran(&time->ran, out);
  if (time->memory) {
    sw_text_add(out, ", memory: ");
    sw_add_size(out, time->memory);
  }
  if (time->excluded) {
    sw_text_add(out, ", excluded: ");
    sw_add_quoted(out, time->excluded);
  }
  sw_text_add(out, "}\n");
}

static void write_point(const struct sw_point* point, struct sw_text* out) {
  sw_text_add(out, "      - bytes: ");
  sw_add_size(out, point->bytes);
  sw_text_add(out, point->count ? "\n        times:\n" : "\n        times: []\n");
  for (size_t i = 0; i < point->count; i++) write_time(&point->times[i], out);
}

static void write_table(const struct sw_table* table, struct sw_text* out) {
  sw_text_printf(out, "  - collective: %s\n    nodes: %u\n    ranks: %u\n    points:%s\n",
                 sw_value_word(&sw_collectives, table->collective), table->nodes, table->ranks,
                 table->count ? "" : " []");
  for (size_t i = 0; i < table->count; i++) write_point(&table->points[i], out);
}

static void write_range(const struct sw_rule* rule, struct sw_text* out) {
  if (rule->from == 0 && rule->to == UINT64_MAX) return;
  sw_text_add(out, ", bytes: \"");
  if (rule->from || rule->to == 0) sw_add_size(out, rule->from);
  if (rule->from != rule->to) {
    sw_text_add(out, "..");
    if (rule->to != UINT64_MAX) sw_add_size(out, rule->to);
  }
  sw_text_add(out, "\"");
}

static void write_rule(const struct sw_rule* rule, struct sw_text* out) {
  sw_text_printf(out, "  - {collective: %s", sw_value_word(&sw_collectives, rule->collective));
  write_range(rule, out);
  if (rule->nodes) sw_text_printf(out, ", nodes: %u", rule->nodes);
  if (rule->ranks) sw_text_printf(out, ", ranks: %u", rule->ranks);
  sw_text_add(out, ", ");
  write_choice(rule->choice, out);
  sw_text_add(out, "}\n");
}

void sw_profile_write(const struct sw_profile* profile, struct sw_text* out) {
  sw_text_printf(out, "sizewise: %d\nname: ", SW_FORMAT_VERSION);
  add_text(out, profile->name);
  sw_text_add(out, "\n");
  write_provenance(profile, out);
  write_match(profile, out);
  write_policy(&profile->policy, out);
  if (profile->table_count) sw_text_add(out, "tables:\n");
  for (size_t i = 0; i < profile->table_count; i++) write_table(&profile->tables[i], out);
  if (profile->rule_count) sw_text_add(out, "rules:\n");
  for (size_t i = 0; i < profile->rule_count; i++) write_rule(&profile->rules[i], out);
}
