#include "doctor/settings.h"

#include <string.h>

#include "decide/uniform.h"
#include "doctor/known.h"
#include "facts/forced.h"
#include "ground/letters.h"
#include "ground/names.h"

unsigned settings_add_forcing(struct sw_text* text, const struct env_set* set, bool with_values) {
  unsigned count = 0;
  for (size_t i = 0; i < set->count; i++) {
    const struct env_variable* variable = &set->items[i];
    const struct known_variable* known = known_find(variable->name);
    if (!known || !known->forces || !variable->value[0]) continue;
    sw_text_printf(text, "%s%s", count++ ? " " : "", variable->name);
    if (with_values) sw_text_printf(text, "=%s", variable->value);
  }
  return count;
}

static void add_mask(struct sw_text* text, const struct sw_vocabulary* words, unsigned mask) {
  bool any = false;
  for (size_t i = 0; i < words->count; i++) {
    if (!(mask >> words->words[i].value & 1U)) continue;
    sw_text_printf(text, "%s%s", any ? ", " : "", words->words[i].word);
    any = true;
  }
  if (!any) sw_text_add(text, "nothing");
}

static bool same_for_all(const bool* set, const unsigned* masks) {
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++)
    if (!set[c] || masks[c] != masks[0]) return false;
  return true;
}

/* "every collective: ring" or "allreduce: tree; broadcast: ring" */
static void add_masks(struct sw_text* text, const struct sw_vocabulary* words, const bool* set, const unsigned* masks) {
  bool all = same_for_all(set, masks);
  bool any = false;
  for (int c = NCCL_NUM_COLLECTIVES - 1; c >= 0; c--) {
    if (!set[c] || (all && any)) continue;
    sw_text_printf(text, "%s%s: ", any ? "; " : "", all ? "every collective" : sw_value_word(&sw_collectives, c));
    add_mask(text, words, masks[c]);
    any = true;
  }
  sw_text_add(text, any ? ", at every size" : "cannot be read");
}

void settings_add_meaning(struct sw_text* text, struct env_variable* variable) {
  struct env_set alone = {.items = variable, .count = 1};
  struct sw_forced forced;
  unsigned masks[NCCL_NUM_COLLECTIVES];
  bool algo = strcmp(variable->name, "NCCL_ALGO") == 0;
  bool proto = strcmp(variable->name, "NCCL_PROTO") == 0;
  env_set_use(&alone);
  sw_forced_read(env_set_getenv, &forced);
  env_set_use(NULL);
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) masks[c] = algo ? forced.algorithms[c] : forced.protocols[c];
  const struct known_variable* known = known_find(variable->name);
  if (algo)
    add_masks(text, &sw_algorithms, forced.algo_set, masks);
  else if (proto)
    add_masks(text, &sw_protocols, forced.proto_set, masks);
  else if (known)
    sw_text_printf(text, "%s%s", known->says, known->forces ? ", for every collective and size" : "");
}

static bool is_on(const struct env_set* set, const char* name) {
  const char* value = env_set_value(set, name);
  return value && (strcmp(value, "1") == 0 || sw_same_word(value, "true"));
}

const struct env_variable* settings_intended(const struct env_set* set) {
  static const char* const names[] = {"VLLM_BATCH_INVARIANT", "SGLANG_ENABLE_DETERMINISTIC_INFERENCE"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (is_on(set, names[i])) return env_set_find(set, names[i]);
  return NULL;
}

enum invariance settings_invariance(const struct subject* subject) {
  struct sw_forced forced;
  env_set_use(subject->set);
  sw_forced_read(env_set_getenv, &forced);
  struct sw_choice choice = sw_forced_choice(&forced, NCCL_ALLREDUCE);
  if (forced.min_channels == 1 && forced.max_channels == 1) choice.channels = 1; /* small messages would use fewer */
  bool fixed = choice.algo >= 0 && choice.proto >= 0;
  if (fixed && sw_uniform_is_firm(NCCL_ALLREDUCE, subject->shape.ranks, choice)) return INVARIANT_SETTINGS;
  return settings_intended(subject->set) ? INVARIANT_INTENDED : NOT_INVARIANT;
}
