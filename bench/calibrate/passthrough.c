#include "calibrate/passthrough.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/statistics.h"
#include "ground/names.h"

/* Of a turn: rounds of each size, fewer where they take long; the first ones warm up. */
enum { WARM_ROUNDS = 4, LEAST_ROUNDS = 8, MOST_ROUNDS = 48 };
static const double size_us = 300e3;

/* An interval narrower than this to both sides has said enough: nothing that matters hides in it. */
static const double narrow = PASSTHROUGH_ALLOWED / 2;

struct comparison {
  struct crew* crew;
  passthrough_progress progress;
  double limit_us; /* 0: none */
  double started_us;
  struct passthrough* out;
  size_t turns;
};

static void choose_sizes(const struct study_plan* plan, struct passthrough* out) {
  const size_t picks[] = {0, plan->size_count - 1};
  for (size_t i = 0; i < PASSTHROUGH_SIZES && plan->size_count; i++) {
    uint64_t bytes = study_size(plan->sizes[picks[i]], plan->groups[0]);
    if (out->count && out->sizes[out->count - 1].call.bytes >= bytes) continue;
    out->sizes[out->count++].call = (struct fabric_call){plan->collectives[0], FABRIC_BF16, study_mode(bytes), bytes};
  }
}

/* --- one turn ---------------------------------------------------------------------------------------------------- */

static double median_of(const float* us, size_t count) {
  double values[MOST_ROUNDS];
  for (size_t i = 0; i < count; i++) values[i] = (double)us[i];
  return middle_of(values, count, 0.5).median;
}

static bool time_size(struct crew* crew, const struct fabric_call* call, double* median_us) {
  float us[MOST_ROUNDS];
  struct sw_choice own = SW_AUTO;
  if (!crew_prepare(crew, call, &own, 1) || !crew_rounds(crew, WARM_ROUNDS, us)) return false;
  double fitting = size_us / (median_of(us, WARM_ROUNDS) + 1);
  size_t rounds = fitting < LEAST_ROUNDS ? LEAST_ROUNDS : fitting > MOST_ROUNDS ? MOST_ROUNDS : (size_t)fitting;
  if (!crew_rounds(crew, rounds, us)) return false;
  *median_us = median_of(us, rounds);
  return true;
}

/* The workers of a turn: those with the plugin that run already, or others. */
static bool start(struct comparison* c, bool with) {
  if (with && c->turns == 1) return true;
  return with ? crew_start(c->crew, NULL) : crew_start_bare(c->crew);
}

static bool take_turn(struct comparison* c, bool with, size_t pair) {
  char text[64];
  struct passthrough* out = c->out;
  snprintf(text, sizeof text, "comparing with no tuner: turn %zu", ++c->turns);
  if (c->progress) c->progress(NULL, text);
  out->with = false;
  bool good = start(c, with) && crew_connect(c->crew, crew_ranks(c->crew));
  for (size_t i = 0; i < out->count && good; i++) {
    struct passthrough_size* size = &out->sizes[i];
    good = time_size(c->crew, &size->call, with ? &size->with_us[pair] : &size->without_us[pair]);
  }
  out->with = good && with;
  if (!good) snprintf(out->why, sizeof out->why, "a turn failed: %.200s", crew_failure(c->crew)->text);
  return good;
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

static double spent_us(const struct comparison* c) {
  return crew_clock(c->crew) - c->started_us;
}

/* After the first turn that started processes: whether as many as it takes fit into the share. */
static bool can_afford(struct comparison* c, double turn_us) {
  double all_us = spent_us(c) + 2 * (PASSTHROUGH_LEAST_PAIRS - 1) * turn_us;
  if (c->limit_us <= 0 || all_us <= c->limit_us) return true;
  snprintf(c->out->why, sizeof c->out->why,
           "a turn takes %.1f s, and the %d that it needs are more than a tenth of the budget; --budget %.0fm has room",
           turn_us / 1e6, 2 * PASSTHROUGH_LEAST_PAIRS, ceil(10 * all_us / 60e6));
  return false;
}

/* With the plugin first in the first pair alone: it takes the workers that are there, and the last leaves some. */
static bool take_pair(struct comparison* c, size_t pair) {
  bool first = pair == 0;
  if (!take_turn(c, first, pair)) return false;
  double before_us = spent_us(c);
  if (!take_turn(c, !first, pair)) return false;
  return pair > 0 || can_afford(c, spent_us(c) - before_us);
}

static bool has_room(const struct comparison* c, size_t pairs) {
  double spent = spent_us(c);
  return c->limit_us <= 0 || spent + spent / (double)pairs <= c->limit_us;
}

static bool is_settled(const struct passthrough* out) {
  for (size_t i = 0; i < out->count; i++)
    if (out->sizes[i].high - out->sizes[i].low > 2 * narrow && passthrough_verdict(&out->sizes[i]) != PASSTHROUGH_EQUAL)
      return false;
  return true;
}

static void judge_all(struct passthrough* out, size_t pairs) {
  for (size_t i = 0; i < out->count; i++) passthrough_judge(&out->sizes[i], pairs, out->count);
  out->pairs = pairs;
}

void passthrough_measure(struct crew* crew, const struct study_plan* plan, passthrough_progress progress,
                         struct passthrough* out) {
  memset(out, 0, sizeof *out);
  out->with = true;
  struct comparison c = {.crew = crew, .progress = progress, .limit_us = plan->budget_us / 10, .out = out};
  if (plan->budget_us > 0 && plan->budget_us < PASSTHROUGH_LEAST_BUDGET_S * 1e6) {
    snprintf(out->why, sizeof out->why, "the budget is below %d s", PASSTHROUGH_LEAST_BUDGET_S);
    return;
  }
  choose_sizes(plan, out);
  c.started_us = crew_clock(crew);
  for (size_t pairs = 0; pairs < PASSTHROUGH_MOST_PAIRS; pairs++) {
    if (pairs >= PASSTHROUGH_LEAST_PAIRS && (is_settled(out) || !has_room(&c, pairs))) break;
    if (!take_pair(&c, pairs)) break;
    if (pairs + 1 >= PASSTHROUGH_LEAST_PAIRS) judge_all(out, pairs + 1);
  }
}

/* --- what it says ------------------------------------------------------------------------------------------------ */

void passthrough_judge(struct passthrough_size* size, size_t pairs, size_t sizes) {
  /* 97.5% and 98.75% quantiles of Student's t with 1 to 5 degrees of freedom: for one size, and for each of two */
  static const double quantiles[PASSTHROUGH_SIZES][5] = {{12.706, 4.303, 3.182, 2.776, 2.571},
                                                         {25.452, 6.205, 4.177, 3.495, 3.163}};
  double mean = 0;
  double squares = 0;
  for (size_t i = 0; i < pairs; i++) mean += log(size->with_us[i] / size->without_us[i]) / (double)pairs;
  for (size_t i = 0; i < pairs; i++) squares += pow(log(size->with_us[i] / size->without_us[i]) - mean, 2);
  double half = quantiles[sizes - 1][pairs - 2] * sqrt(squares / (double)(pairs - 1) / (double)pairs);
  size->difference = exp(mean) - 1;
  size->low = exp(mean - half) - 1;
  size->high = exp(mean + half) - 1;
}

enum passthrough_verdict passthrough_verdict(const struct passthrough_size* size) {
  if (size->low > PASSTHROUGH_ALLOWED || size->high < -PASSTHROUGH_ALLOWED) return PASSTHROUGH_DIFFERS;
  return size->low >= -PASSTHROUGH_ALLOWED && size->high <= PASSTHROUGH_ALLOWED ? PASSTHROUGH_EQUAL : PASSTHROUGH_OPEN;
}

enum passthrough_verdict passthrough_worst(const struct passthrough* passthrough) {
  enum passthrough_verdict worst = PASSTHROUGH_EQUAL;
  for (size_t i = 0; i < passthrough->count; i++) {
    enum passthrough_verdict verdict = passthrough_verdict(&passthrough->sizes[i]);
    if (verdict > worst) worst = verdict;
  }
  return worst;
}

bool passthrough_leaves_workers(const struct passthrough* passthrough) {
  return passthrough->with;
}

void passthrough_add_words(const struct passthrough* passthrough, struct sw_text* out) {
  static const char* const words[] = {[PASSTHROUGH_EQUAL] = "equals no tuner at all within 2%",
                                      [PASSTHROUGH_OPEN] = "was not shown to equal no tuner at all within 2%",
                                      [PASSTHROUGH_DIFFERS] = "DIFFERS from no tuner at all by more than 2%"};
  if (!passthrough->pairs) {
    sw_text_printf(out, "The plugin passing everything through was not compared with no tuner: %s.",
                   passthrough->why[0] ? passthrough->why : "the run ended before that");
    return;
  }
  sw_text_add(out, "The plugin passing everything through ");
  sw_text_add(out, words[passthrough_worst(passthrough)]);
  sw_text_printf(out, " (%s", sw_value_word(&sw_collectives, passthrough->sizes[0].call.collective));
  for (size_t i = 0; i < passthrough->count; i++) {
    const struct passthrough_size* size = &passthrough->sizes[i];
    sw_text_add(out, i ? ", " : " ");
    sw_add_size_words(out, size->call.bytes);
    sw_text_printf(out, " %+.1f%% [%+.1f to %+.1f]", size->difference * 100, size->low * 100, size->high * 100);
  }
  sw_text_printf(out, "; intervals that hold together with 95%%, from %zu pairs of starts).", passthrough->pairs);
}
