#include "calibrate/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/report.h"
#include "calibrate/wanted.h"
#include "output/replace.h"

/* --- what goes on ------------------------------------------------------------------------------------------------ */

static void sampled(void* context, const struct crew_samples* samples) {
  struct session* s = context;
  raw_take(&s->raw, samples);
  if (s->progress.study) progress_sampled(&s->progress, samples);
}

static void in_flight(void* context, const struct fabric_call* call, struct sw_choice choice) {
  struct session* s = context;
  in_flight_set(&s->in_flight, call->collective, crew_group(s->crew), call->bytes, choice);
  progress_trying(&s->progress, call, choice);
}

static void looked(void* context, const struct fabric_call* call, const struct race* race, struct sw_choice leader,
                   size_t left) {
  struct session* s = context;
  progress_looked(&s->progress, call, race, leader, left);
}

static void excluded(void* context, const struct fabric_call* call, struct sw_choice choice, const char* why) {
  (void)context;
  report_excluded(call, choice, why);
}

static void failed(void* context, const struct fabric_call* call, const char* why) {
  (void)context;
  report_failed(call, why);
}

static void changed(void* context, const struct study* study) {
  struct session* s = context;
  keeper_keep(&s->keeper, study);
  if (study->latest) progress_finished(&s->progress, study->latest);
}

static void entered(void* context, enum phase phase) {
  struct session* s = context;
  raw_enter(&s->raw, phase);
  s->progress.phase = phase;
}

static void swept(void* context, const struct exhaustive_point* point) {
  struct session* s = context;
  report_swept(point, &s->exhaustive);
  progress_finished(&s->progress, NULL);
}

static void enter(struct session* s, enum phase phase, size_t total) {
  raw_enter(&s->raw, phase);
  progress_enter(&s->progress, &s->study, phase, total);
}

/* --- before ------------------------------------------------------------------------------------------------------ */

static const char* name_of(const struct calibrate_arguments* arguments) {
  return arguments->name ? arguments->name : "calibrated";
}

static enum sw_kind kind_of(const struct calibrate_arguments* arguments) {
  return arguments->simulate ? SW_KIND_SIMULATED : SW_KIND_MEASURED;
}

static bool open_resumed(struct session* s, struct sw_text* fault) {
  const struct calibrate_arguments* arguments = s->arguments;
  if (!arguments->resume) {
    if (s->in_flight.there) report_in_flight(sw_text_string(&s->in_flight.path));
    return true;
  }
  if (!arguments->output) {
    sw_text_add(fault, "--resume goes on from the file that -o names: give -o FILE");
    return false;
  }
  bool good = resume_read(arguments->output, name_of(arguments), kind_of(arguments), &s->resumed, fault) &&
              in_flight_read(&s->in_flight, &s->study.bans, fault);
  s->in_flight_bans = s->study.bans.count;
  return good;
}

static bool refuse_file(struct sw_text* fault, const char* option, const char* path) {
  sw_text_printf(fault, "%s: %s: %s", option, path, strerror(errno));
  return false;
}

bool session_open(struct session* s, const struct calibrate_arguments* arguments, const struct study_plan* plan,
                  struct sw_text* fault) {
  memset(s, 0, sizeof *s);
  s->arguments = arguments;
  s->plan = *plan;
  in_flight_open(&s->in_flight, arguments->output);
  if (arguments->output && !file_can_replace(arguments->output)) return refuse_file(fault, "-o", arguments->output);
  if (!open_resumed(s, fault)) return false;
  return raw_open(&s->raw, arguments->raw, arguments->resume) || refuse_file(fault, "--raw", arguments->raw);
}

static bool check_resumed(struct session* s, struct sw_text* fault) {
  const struct fabric_report* report = crew_report(s->crew, 0);
  struct resume_here here = {.settings = s->keeper.head.settings,
                             .facts = s->keeper.facts,
                             .ranks = crew_ranks(s->crew),
                             .nodes = crew_spans(s->crew, crew_ranks(s->crew))};
  if (!s->resumed.path) return true;
  snprintf(here.facts.gpu, sizeof here.facts.gpu, "%s", report->gpu);
  snprintf(here.facts.driver, sizeof here.facts.driver, "%s", report->driver);
  here.facts.gpu_mixed = false;
  here.facts.nccl = report->nccl;
  if (!resume_fits(&s->resumed, &here, fault)) return false;
  report_resumed(&s->resumed, resume_take(&s->resumed, &s->study), s->study.bans.count);
  return true;
}

/* The rank that has least of it. */
static uint64_t least_buffers(const struct crew* crew, uint32_t* rank) {
  *rank = 0;
  for (uint32_t i = 1; i < crew_ranks(crew); i++)
    if (crew_report(crew, i)->buffers < crew_report(crew, *rank)->buffers) *rank = i;
  return crew_report(crew, *rank)->buffers;
}

static bool fit_memory(struct session* s, struct sw_text* fault) {
  struct sw_text left_out = SW_TEXT_EMPTY;
  uint32_t rank;
  uint64_t buffers = least_buffers(s->crew, &rank);
  wanted_fit(&s->plan, buffers, &left_out);
  report_left_out(&left_out, rank, buffers, s->arguments->memory);
  sw_text_free(&left_out);
  if (s->plan.size_count) return true;
  sw_text_add(fault, "no size fits into memory: raise the share with --memory, or ask for smaller --sizes");
  return false;
}

bool session_begin(struct session* s, struct crew* crew, struct sw_text* fault) {
  s->crew = crew;
  s->watch = (struct measure_watch){
      .context = s, .in_flight = in_flight, .excluded = excluded, .looked = looked, .failed = failed};
  s->study.plan = &s->plan;
  s->study.crew = crew;
  s->study.watch = &s->watch;
  s->study.passthrough = &s->passthrough;
  keeper_start(&s->keeper, s->arguments, crew);
  crew_listen(crew, sampled, s);
  report_machine(crew);
  if (!check_resumed(s, fault) || !fit_memory(s, fault)) return false;
  report_workload(crew, &s->plan);
  report_plan(crew, &s->plan, s->arguments->memory);
  return true;
}

/* --- the run ----------------------------------------------------------------------------------------------------- */

static bool is_good(const struct session* s) {
  return s->study.end == STUDY_DONE || s->study.end == STUDY_SPENT;
}

/* Comparing with no tuner starts the workers in other ways; what follows needs them as they were. */
static bool compare_without_tuner(struct session* s) {
  raw_enter(&s->raw, PHASE_PASSTHROUGH);
  passthrough_measure(s->crew, &s->plan, report_waiting, &s->passthrough);
  report_passthrough(&s->passthrough);
  return passthrough_leaves_workers(&s->passthrough) || crew_start(s->crew, NULL);
}

static void end_by_failure(struct session* s) {
  s->study.end = crew_failure(s->crew)->kind == TEAM_INTERRUPTED ? STUDY_INTERRUPTED : STUDY_LOST;
}

/* Until the profile decides for nothing that was not compared afresh. */
static void verify(struct session* s) {
  bool changed = s->keeper.text.data != NULL;
  if (changed) enter(s, PHASE_VERIFY, 0);
  for (int pass = 1; pass <= STUDY_MOST_PASSES && changed && is_good(s); pass++) {
    char* profile = strdup(s->keeper.text.data);
    changed = profile && study_verify(&s->study, profile, pass == STUDY_MOST_PASSES);
    free(profile);
    keeper_keep(&s->keeper, &s->study);
  }
}

static void sweep(struct session* s) {
  struct exhaustive_watch watch = {s, entered, excluded, swept};
  char* finished = s->keeper.text.data ? strdup(s->keeper.text.data) : NULL;
  if (!finished) return;
  enter(s, PHASE_EXHAUSTIVE, exhaustive_sizes(&s->study));
  if (!exhaustive_run(&s->study, finished, &watch, &s->exhaustive)) end_by_failure(s);
  s->exhaustive.calibrate_us = s->raw.sum_us[PHASE_CALIBRATE];
  free(finished);
}

void session_run(struct session* s) {
  if (compare_without_tuner(s)) {
    enter(s, PHASE_CALIBRATE, study_left(&s->study));
    study_measure(&s->study, changed, s);
  } else {
    end_by_failure(s);
  }
  if (!is_good(s) && s->keeper.text.data) keeper_keep(&s->keeper, &s->study); /* it says how the run ended */
  if (is_good(s)) verify(s);
  if (is_good(s) && s->arguments->exhaustive) sweep(s);
  progress_clear();
}

/* The profile's text where it is in no file; NULL: it is in one, or there is none. */
static const char* homeless(const struct session* s) {
  return !s->arguments->output || s->keeper.failed ? s->keeper.text.data : NULL;
}

static void report_profile(const struct session* s) {
  const char* output = s->arguments->output;
  const char* text = s->keeper.text.data;
  if (!text) report_no_profile(output);
  if (text && s->keeper.failed) report_not_written(output);
  if (!text || s->arguments->json) return;
  if (homeless(s))
    fputs(text, stdout);
  else
    report_deployment(output, text);
}

void session_report(const struct session* s) {
  struct report_extras extras = {s->arguments->output, homeless(s), s->arguments->exhaustive ? &s->exhaustive : NULL,
                                 &s->raw};
  report_print(&s->study, s->keeper.text.data, &extras, s->arguments->json);
  report_profile(s);
  if (s->study.end != STUDY_LOST) return;
  const struct team_failure* failure = crew_failure(s->crew);
  fprintf(stderr, "sizewise calibrate: %s\n%s", failure->text, failure->said);
  if (s->in_flight.there) report_in_flight(sw_text_string(&s->in_flight.path));
}

bool session_is_written(const struct session* s) {
  return !s->keeper.failed;
}

bool session_is_good(const struct session* s) {
  return is_good(s) && !s->study.trouble_count && s->keeper.text.data;
}

/* Whether the profile says of all that earlier runs ended with that it must not be used. */
static bool is_on_record(const struct session* s) {
  bool written = s->keeper.text.data && !s->keeper.failed;
  for (size_t i = 0; i < s->in_flight_bans; i++)
    if (!written || !study_has_excluded(&s->study, &s->study.bans.items[i])) return false;
  return true;
}

/* What was tried when the crew was lost stays named, and so does what an earlier run left where this one never began.
 */
void session_close(struct session* s) {
  bool ended = s->study.end != STUDY_GOES_ON && s->study.end != STUDY_LOST;
  if (ended && is_on_record(s))
    in_flight_close(&s->in_flight);
  else if (ended)
    in_flight_end(&s->in_flight);
  raw_close(&s->raw);
  exhaustive_free(&s->exhaustive);
  if (s->crew) keeper_free(&s->keeper);
  study_free(&s->study);
  resume_free(&s->resumed);
  in_flight_free(&s->in_flight);
}
