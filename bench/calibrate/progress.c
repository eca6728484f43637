#include "calibrate/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "ground/names.h"
#include "ground/number.h"
#include "ground/text.h"

/* The last tenth of a budget is for comparing. */
#define MEASURING_SHARE 0.9

static const double interval_s = 0.2;

static bool on_terminal(void) {
  return isatty(STDERR_FILENO);
}

void progress_clear(void) {
  if (on_terminal()) fputs("\r\033[K", stderr);
}

/* --- how far, how long ------------------------------------------------------------------------------------------- */

struct outlook progress_outlook(const struct progress* progress, double now_us, double budget_us) {
  double spent_us = now_us - progress->started_us;
  double left_us = -1;
  if (progress->done && progress->total) {
    double each_us = (progress->size_us - progress->started_us) / (double)progress->done;
    size_t left = progress->done < progress->total ? progress->total - progress->done : 0;
    left_us = each_us * (double)left - (now_us - progress->size_us);
    if (left_us < 0) left_us = 0;
  }
  double budget_left_us = budget_us - now_us > 0 ? budget_us - now_us : 0;
  if (budget_us > 0 && (left_us < 0 || budget_left_us < left_us)) left_us = budget_left_us;
  double all_us = spent_us + left_us;
  return (struct outlook){left_us < 0 || all_us <= 0 ? 0 : spent_us / all_us, left_us};
}

static void add_outlook(const struct progress* progress, struct sw_text* out) {
  double budget_us = progress->phase == PHASE_CALIBRATE ? progress->study->plan->budget_us * MEASURING_SHARE : 0;
  struct outlook outlook = progress_outlook(progress, crew_clock(progress->study->crew), budget_us);
  if (outlook.left_us < 0) return;
  unsigned seconds = (unsigned)(outlook.left_us / 1e6 + 0.5);
  sw_text_printf(out, "[%.0f%%, %u:%02u left] ", outlook.share * 100, seconds / 60, seconds % 60);
}

/* --- the line ---------------------------------------------------------------------------------------------------- */

static double wall_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Whether it is time to draw again. */
static bool is_due(struct progress* progress) {
  double now_s = wall_s();
  if (!on_terminal() || now_s - progress->shown_s < interval_s) return false;
  progress->shown_s = now_s;
  return true;
}

static int columns(void) {
  struct winsize size;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
}

static void add_call(struct sw_text* text, const struct fabric_call* call) {
  sw_text_printf(text, "%s ", sw_value_word(&sw_collectives, call->collective));
  sw_add_size_words(text, call->bytes);
}

static struct sw_text begin(const struct progress* progress, const struct fabric_call* call) {
  struct sw_text text = SW_TEXT_EMPTY;
  add_outlook(progress, &text);
  add_call(&text, call);
  sw_text_add(&text, ": ");
  return text;
}

static void draw(struct sw_text* text) {
  progress_clear();
  fprintf(stderr, "%.*s", columns(), sw_text_string(text));
  fflush(stderr);
  sw_text_free(text);
}

/* --- what goes on ------------------------------------------------------------------------------------------------ */

void progress_enter(struct progress* progress, const struct study* study, enum phase phase, size_t total) {
  double now_us = crew_clock(study->crew);
  *progress = (struct progress){.study = study, .phase = phase, .total = total, .started_us = now_us};
  progress->size_us = now_us;
}

void progress_trying(struct progress* progress, const struct fabric_call* call, struct sw_choice choice) {
  if (sw_choice_is_auto(choice) || !is_due(progress)) return;
  struct sw_text text = begin(progress, call);
  sw_text_add(&text, "trying ");
  sw_add_choice(&text, choice);
  draw(&text);
}

static void add_us(struct sw_text* out, double us) {
  sw_add_time_words(out, (uint64_t)(us * 1e6 + 0.5));
}

void progress_looked(struct progress* progress, const struct fabric_call* call, const struct race* race,
                     struct sw_choice leader, size_t left) {
  struct race_result own;
  struct race_result best;
  if (!is_due(progress)) return;
  struct sw_text text = begin(progress, call);
  race_result(race, 0, &own);
  race_result(race, race_leader(race), &best);
  sw_text_add(&text, "auto ");
  add_us(&text, own.median_us);
  sw_text_add(&text, ", best so far ");
  add_us(&text, best.median_us);
  sw_text_add(&text, " (");
  sw_add_choice(&text, leader);
  sw_text_printf(&text, "), %zu in the race", left);
  draw(&text);
}

void progress_sampled(struct progress* progress, const struct crew_samples* samples) {
  static const char* const what[PHASE_COUNT] = {
      [PHASE_PASSTHROUGH] = "comparing with no tuner",
      [PHASE_CALIBRATE] = "measuring",
      [PHASE_VERIFY] = "comparing with auto afresh",
      [PHASE_EXHAUSTIVE] = "exhaustive sweep",
      [PHASE_FRESH] = "comparing the sweep's best, the profile's and auto",
  };
  if (progress->phase == PHASE_CALIBRATE || !is_due(progress)) return;
  struct sw_text text = begin(progress, samples->call);
  sw_text_add(&text, what[progress->phase]);
  if (samples->count > 3) sw_text_printf(&text, ", %zu choices", samples->count);
  draw(&text);
}

static void add_best(struct sw_text* out, const struct study* study, const struct measured* point) {
  size_t best = study_winner(study, point);
  const struct measured_choice* choice = &point->choices[best];
  double own_us = point->choices[0].result.median_us;
  if (!best) {
    sw_text_add(out, ", which nothing beats");
    return;
  }
  sw_text_add(out, ", best ");
  add_us(out, choice->result.median_us);
  sw_text_add(out, " (");
  sw_add_choice(out, choice->candidate.choice);
  sw_text_printf(out, ", %.1f%% less)", (1 - choice->result.median_us / own_us) * 100);
}

/* "allreduce 64 KiB: auto 34.2 us, best 31.0 us (tree + ll, 9.4% less); 3 of 9" */
static void say_finished(const struct progress* progress, const struct measured* point) {
  struct sw_text text = SW_TEXT_EMPTY;
  add_call(&text, &point->call);
  if (point->ranks != crew_ranks(progress->study->crew)) sw_text_printf(&text, ", %u ranks", point->ranks);
  sw_text_add(&text, ": auto ");
  add_us(&text, point->choices[0].result.median_us);
  add_best(&text, progress->study, point);
  if (point->kept)
    sw_text_add(&text, ", as an earlier run measured it");
  else if (progress->done <= progress->total)
    sw_text_printf(&text, "; %zu of %zu", progress->done, progress->total);
  fprintf(stderr, "%s\n", sw_text_string(&text));
  sw_text_free(&text);
}

void progress_finished(struct progress* progress, const struct measured* point) {
  progress->done += !(point && point->kept);
  progress->size_us = crew_clock(progress->study->crew);
  if (point && !on_terminal()) say_finished(progress, point);
}
