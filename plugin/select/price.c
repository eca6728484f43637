#include "select/price.h"

#include <stdlib.h>

#include "decide/segments.h"
#include "ground/names.h"

/* The only bit of a mask, or -1 when it has several or none. */
static int only_bit(unsigned mask) {
  if (!mask || (mask & (mask - 1))) return -1;
  int bit = 0;
  while (!(mask >> bit & 1)) bit++;
  return bit;
}

struct sw_choice sw_forced_choice(const struct sw_forced* forced, int collective) {
  struct sw_choice choice = SW_AUTO;
  if (forced->algo_set[collective]) choice.algo = (int8_t)only_bit(forced->algorithms[collective]);
  if (forced->proto_set[collective]) choice.proto = (int8_t)only_bit(forced->protocols[collective]);
  bool pair_open = !forced->algo_set[collective] && !forced->proto_set[collective];
  bool capped = forced->max_channels >= 1 && forced->max_channels <= NCCL_MAX_CHANNELS;
  if (pair_open && capped) choice.channels = (uint8_t)forced->max_channels;
  return choice;
}

/* Of two measured channel counts, the one to quote: NCCL's own, then the larger. */
static bool quotes_better(const struct sw_time* candidate, const struct sw_time* best) {
  if (!best) return true;
  if (!best->choice.channels) return false;
  return !candidate->choice.channels || candidate->choice.channels > best->choice.channels;
}

struct sw_price sw_forced_price(const struct sw_point* point, struct sw_choice choice) {
  struct sw_price price = {0};
  if (sw_choice_is_auto(choice) || !point->count || !sw_choice_is_auto(point->times[0].choice)) return price;
  bool channels_only = choice.algo < 0 && choice.proto < 0;
  for (size_t i = 1; i < point->count; i++) {
    const struct sw_time* time = &point->times[i];
    bool same_pair = time->choice.algo == choice.algo && time->choice.proto == choice.proto;
    bool same_channels = !channels_only || time->choice.channels == choice.channels;
    bool same_settings = sw_settings_same(&time->settings, &point->times[0].settings);
    if (time->median_ps && same_pair && same_channels && same_settings && quotes_better(time, price.time))
      price.time = time;
  }
  price.own = &point->times[0];
  price.known = price.time != NULL;
  return price;
}

static void add_setting(struct sw_text* text, int* count, const char* name, const char* value) {
  sw_text_printf(text, "%s%s=%.100s", (*count)++ ? ", " : "", name, value);
}

static void add_number(struct sw_text* text, int* count, const char* name, int value) {
  sw_text_printf(text, "%s%s=%d", (*count)++ ? ", " : "", name, value);
}

/* The settings in force; returns how many. */
static int add_settings(struct sw_text* text, const struct sw_forced* forced) {
  int count = 0;
  if (forced->algo_text) add_setting(text, &count, "NCCL_ALGO", forced->algo_text);
  if (forced->proto_text) add_setting(text, &count, "NCCL_PROTO", forced->proto_text);
  if (forced->min_channels > 0) add_number(text, &count, forced->min_variable, forced->min_channels);
  if (forced->max_channels > 0) add_number(text, &count, forced->max_variable, forced->max_channels);
  return count;
}

/* "; at 96 MiB tree was measured at 58.2 ms against 14.7 ms" */
static void add_loss(struct sw_text* text, const struct sw_table* table, const struct sw_point* point,
                     struct sw_choice forced, const struct sw_price* price, bool name_collective) {
  struct sw_choice pair = {forced.algo, forced.proto, 0};
  struct sw_choice shown = sw_choice_is_auto(pair) ? forced : pair;
  sw_text_add(text, "; at ");
  sw_add_size_words(text, point->bytes);
  if (name_collective) sw_text_printf(text, " %s with", sw_value_word(&sw_collectives, table->collective));
  sw_text_add(text, " ");
  sw_add_choice(text, shown);
  sw_text_add(text, " was measured at ");
  sw_add_time_words(text, price->time->median_ps);
  if (price->time->choice.channels != shown.channels)
    sw_text_printf(text, " (with %u channel%s)", price->time->choice.channels,
                   price->time->choice.channels == 1 ? "" : "s");
  sw_text_add(text, " against ");
  sw_add_time_words(text, price->own->median_ps);
}

bool sw_price_hurts(const struct sw_policy* policy, const struct sw_price* price) {
  return price->known && (double)price->time->median_ps * (double)(SW_ONE - policy->min_gain) >
                             (double)price->own->median_ps * (double)SW_ONE;
}

static int add_losses(struct sw_text* text, const struct sw_forced* forced, const struct sw_profile* profile,
                      const struct sw_table* table, bool name_collective) {
  struct sw_choice choice = sw_forced_choice(forced, table->collective);
  int losses = 0;
  for (size_t i = 0; i < table->count; i++) {
    struct sw_price price = sw_forced_price(&table->points[i], choice);
    if (!sw_price_hurts(&profile->policy, &price)) continue;
    add_loss(text, table, &table->points[i], choice, &price, name_collective);
    losses++;
  }
  return losses;
}

bool sw_forced_switches_off(const struct sw_forced* forced, int collective, struct sw_choice choice) {
  if (sw_choice_is_auto(choice)) return false;
  bool capped = forced->max_channels > 0 && choice.channels > forced->max_channels;
  return capped || !sw_forced_allows(forced, collective, choice.algo, choice.proto);
}

static void add_switched_off(struct sw_text* text, const struct sw_forced* forced, const struct sw_plan* plan,
                             int collective) {
  size_t count = 0;
  struct sw_segment* segments = sw_segments_make(&plan->pieces[collective], &count);
  for (size_t i = 0; segments && i < count; i++) {
    if (!sw_forced_switches_off(forced, collective, segments[i].choice)) continue;
    sw_text_printf(text, "; %s: the profile's ", sw_value_word(&sw_collectives, collective));
    sw_add_choice(text, segments[i].choice);
    sw_text_add(text, " for ");
    sw_add_range(text, segments[i].from, segments[i].to);
    sw_text_add(text, " is switched off");
  }
  free(segments);
}

bool sw_add_forced(struct sw_text* text, const struct sw_forced* forced, const struct sw_profile* profile,
                   const struct sw_plan* plan) {
  int settings = add_settings(text, forced);
  if (!settings) return false;
  sw_text_add(text, settings == 1 ? " holds at every size" : " hold at every size");
  size_t before = text->length;
  const struct sw_table* tables[NCCL_NUM_COLLECTIVES];
  int count = 0;
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++)
    if ((tables[count] = sw_profile_table(profile, c, plan->nodes, plan->ranks))) count++;
  for (int i = 0; i < count; i++) add_losses(text, forced, profile, tables[i], count > 1);
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) add_switched_off(text, forced, plan, c);
  if (text->length == before) sw_text_add(text, "; the profile knows of no loss by that");
  return true;
}
