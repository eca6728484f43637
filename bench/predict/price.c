#include "predict/price.h"

#include <string.h>

#include "nccl_tuner.h"
#include "select/price.h"

static const struct sw_time* own_time(const struct sw_point* point) {
  return point->count && sw_choice_is_auto(point->times[0].choice) ? &point->times[0] : NULL;
}

/* The time of a choice under the environment that auto was measured in. */
static const struct sw_time* beside_auto(const struct sw_point* point, struct sw_choice choice) {
  const struct sw_time* own = own_time(point);
  for (size_t i = 0; own && i < point->count; i++) {
    const struct sw_time* time = &point->times[i];
    if (time->median_ps && sw_choice_same(time->choice, choice) && sw_settings_same(&time->settings, &own->settings))
      return time;
  }
  return NULL;
}

/* Empties `text`; NULL when memory ran out, which costs a remark and no figure. */
static const char* keep(struct sw_arena* arena, struct sw_text* text) {
  const char* kept = text->failed ? NULL : sw_arena_copy(arena, sw_text_string(text), text->length);
  sw_text_free(text);
  return kept;
}

struct call_price price_auto(const struct sw_point* point) {
  const struct sw_time* own = own_time(point);
  return (struct call_price){own, own ? NULL : "auto"};
}

/* --- a setting --------------------------------------------------------------------------------------------------- */

static bool holds(const struct sw_settings* settings, const struct sw_setting* wanted) {
  for (size_t i = 0; settings && i < settings->count; i++)
    if (strcmp(settings->items[i].name, wanted->name) == 0 && strcmp(settings->items[i].value, wanted->value) == 0)
      return true;
  return false;
}

/* Of the variables that are no algorithm, protocol or channel limit, the first that auto was not measured with, too. */
static const struct sw_setting* first_foreign(const struct sw_profile* profile, const struct sw_point* point,
                                              const struct predict_setting* setting) {
  const struct sw_time* own = own_time(point);
  for (size_t i = 0; i < setting->rest.count; i++)
    if (!holds(&profile->settings, &setting->rest.items[i]) &&
        !holds(own ? &own->settings : NULL, &setting->rest.items[i]))
      return &setting->rest.items[i];
  return NULL;
}

/* The only time that was measured under exactly these variables. */
static const struct sw_time* same_environment(const struct sw_point* point, const struct sw_settings* settings) {
  const struct sw_time* only = NULL;
  for (size_t i = 0; i < point->count && settings->count; i++) {
    const struct sw_time* time = &point->times[i];
    if (!time->median_ps || !sw_settings_same(&time->settings, settings)) continue;
    if (only) return NULL;
    only = time;
  }
  return only;
}

static bool restricts(const struct sw_forced* forced, int collective) {
  return forced->algo_set[collective] || forced->proto_set[collective] || forced->min_channels || forced->max_channels;
}

/* The number of channels where the limits leave one, or set a cap alone; 0: NCCL's own, or several. */
static uint8_t forced_channels(const struct sw_forced* forced) {
  bool one = !forced->min_channels || forced->min_channels == forced->max_channels;
  bool usable = forced->max_channels >= 1 && forced->max_channels <= NCCL_MAX_CHANNELS;
  return one && usable ? (uint8_t)forced->max_channels : 0;
}

/* A lower limit alone, or two that differ, say nothing of what runs unless algorithm and protocol are measured. */
static bool is_open(const struct sw_forced* forced, struct sw_choice choice) {
  bool limited = forced->min_channels || forced->max_channels;
  return choice.algo < 0 && choice.proto < 0 && !(limited && forced_channels(forced));
}

/* More than one algorithm or protocol is left of those that the variables restrict. */
static bool leaves_several(const struct sw_forced* forced, int collective, struct sw_choice choice) {
  return (forced->algo_set[collective] && choice.algo < 0) || (forced->proto_set[collective] && choice.proto < 0);
}

static const char* channels_remark(struct sw_arena* arena, const struct sw_forced* forced, const struct sw_time* time) {
  struct sw_text text = SW_TEXT_EMPTY;
  uint8_t measured = time->choice.channels;
  bool limited = forced->min_channels || forced->max_channels;
  if (measured == forced_channels(forced) && (measured || !limited)) return NULL;
  if (measured)
    sw_text_printf(&text, "measured with %u channel%s", measured, measured == 1 ? "" : "s");
  else
    sw_text_add(&text, "measured with NCCL's own channel count");
  return keep(arena, &text);
}

/* The choice with exactly these channels, else the one that sw_forced_price quotes. */
static struct call_price price_choice(struct sw_arena* arena, const struct sw_point* point,
                                      const struct sw_forced* forced, struct sw_choice choice) {
  struct sw_text text = SW_TEXT_EMPTY;
  struct sw_choice exact = {choice.algo, choice.proto, forced_channels(forced)};
  const struct sw_time* same = beside_auto(point, exact);
  if (same) return (struct call_price){same, channels_remark(arena, forced, same)};
  struct sw_price price = sw_forced_price(point, choice);
  if (price.known) return (struct call_price){price.time, channels_remark(arena, forced, price.time)};
  sw_add_choice(&text, exact);
  return (struct call_price){NULL, keep(arena, &text)};
}

static struct call_price not_measured(struct sw_arena* arena, const struct predict_setting* setting,
                                      const struct sw_setting* foreign) {
  struct sw_text text = SW_TEXT_EMPTY;
  const char* meant = foreign ? predict_setting_nearest(foreign->name) : NULL;
  sw_text_add(&text, setting->text);
  if (meant) sw_text_printf(&text, " (did you mean %s?)", meant);
  return (struct call_price){NULL, keep(arena, &text)};
}

struct call_price price_setting(struct sw_arena* arena, const struct sw_profile* profile, const struct sw_point* point,
                                int collective, const struct predict_setting* setting) {
  const struct sw_forced* forced = &setting->forced;
  const struct sw_time* same = same_environment(point, &setting->all);
  if (same) return (struct call_price){same, NULL};
  const struct sw_setting* foreign = first_foreign(profile, point, setting);
  if (foreign) return not_measured(arena, setting, foreign);
  if (!restricts(forced, collective)) return price_auto(point);
  struct sw_choice choice = sw_forced_choice(forced, collective);
  if (leaves_several(forced, collective, choice) || is_open(forced, choice)) return not_measured(arena, setting, NULL);
  return price_choice(arena, point, forced, choice);
}

/* --- the profile ------------------------------------------------------------------------------------------------- */

struct call_price price_plan(struct sw_arena* arena, const struct sw_point* point, int collective,
                             const struct sw_plan* plan) {
  struct sw_decision decision = sw_plan_decide(plan, collective, point->bytes);
  if (!decision.count) return price_auto(point);
  struct sw_choice choice = decision.ranked[0].choice;
  const struct sw_time* decided = beside_auto(point, choice);
  if (decided) return (struct call_price){decided, NULL};
  struct sw_text text = SW_TEXT_EMPTY;
  sw_add_choice(&text, choice);
  return (struct call_price){NULL, keep(arena, &text)};
}
