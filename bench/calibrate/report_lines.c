#include <stdio.h>
#include <unistd.h>

#include "calibrate/progress.h"
#include "calibrate/report.h"
#include "ground/names.h"
#include "ground/number.h"

/* NCCL_FABRIC_SLOTS pairs of buffers take turns. */
enum { MOST_BUFFERS = 6 };

/* Prints the line and frees it. */
static void say(struct sw_text* text) {
  progress_clear();
  fprintf(stderr, "%s\n", sw_text_string(text));
  sw_text_free(text);
}

/* Bytes for people, no finer than MiB. */
static void add_memory(struct sw_text* out, uint64_t bytes) {
  uint64_t mib = bytes >> 20;
  if (!mib)
    sw_add_size_words(out, bytes);
  else if (mib < 10240)
    sw_text_printf(out, "%llu MiB", (unsigned long long)mib);
  else
    sw_text_printf(out, "%.1f GiB", (double)mib / 1024);
}

static void add_call(struct sw_text* out, const struct fabric_call* call) {
  sw_text_printf(out, "%s ", sw_value_word(&sw_collectives, call->collective));
  sw_add_size_words(out, call->bytes);
}

void report_waiting(void* context, const char* text) {
  (void)context;
  progress_clear();
  if (isatty(STDERR_FILENO)) fprintf(stderr, "%.100s", text);
}

void report_end(void) {
  progress_clear();
}

void report_passthrough(const struct passthrough* passthrough) {
  struct sw_text text = SW_TEXT_EMPTY;
  progress_clear();
  if (!passthrough->pairs || passthrough_worst(passthrough) != PASSTHROUGH_DIFFERS) return;
  sw_text_add(&text, "sizewise calibrate: warning: ");
  passthrough_add_words(passthrough, &text);
  sw_text_add(&text,
              " Times measured with it may not be those of NCCL alone: look for another tuner that NCCL would load by "
              "itself, and for what else ran on these machines.");
  say(&text);
}

/* --- where, and what --------------------------------------------------------------------------------------------- */

static void add_path(struct sw_text* out, const char* path) {
  if (path[0]) sw_text_printf(out, " (%s)", path);
}

void report_machine(const struct crew* crew) {
  const struct fabric_report* report = crew_report(crew, 0);
  struct sw_text text = SW_TEXT_EMPTY;
  sw_text_printf(&text, "%u x %s, driver %s; NCCL %d.%d.%d", crew_ranks(crew), report->gpu, report->driver,
                 report->nccl / 10000, report->nccl / 100 % 100, report->nccl % 100);
  add_path(&text, report->nccl_path);
  sw_text_printf(&text, ", CUDA runtime %d.%d", report->cuda / 1000, report->cuda / 10 % 100);
  add_path(&text, report->cudart_path);
  say(&text);
}

/* As many pairs as fit, up to three. */
static uint64_t taken(uint64_t buffers, uint64_t largest) {
  uint64_t fitting = buffers / largest / 2 * 2;
  return (fitting < MOST_BUFFERS ? fitting : MOST_BUFFERS) * largest;
}

void report_plan(const struct crew* crew, const struct study_plan* plan, double share) {
  uint64_t largest = plan->sizes[plan->size_count - 1];
  struct sw_text text = SW_TEXT_EMPTY;
  for (size_t i = 0; i < plan->collective_count; i++)
    sw_text_printf(&text, "%s%s", i ? ", " : "", sw_value_word(&sw_collectives, plan->collectives[i]));
  sw_text_printf(&text, " at %zu size%s, ", plan->size_count, plan->size_count == 1 ? "" : "s");
  sw_add_size_words(&text, plan->sizes[0]);
  sw_text_add(&text, " to ");
  sw_add_size_words(&text, largest);
  sw_text_printf(&text, "; budget %.0f s; buffers of up to ", plan->budget_us / 1e6);
  add_memory(&text, taken(crew_report(crew, 0)->buffers, largest));
  sw_text_printf(&text, " a rank (--memory %g%%: ", share * 100);
  add_memory(&text, crew_report(crew, 0)->buffers);
  sw_text_add(&text, ")");
  say(&text);
}

void report_left_out(const struct sw_text* sizes, uint32_t rank, uint64_t buffers, double share) {
  struct sw_text text = SW_TEXT_EMPTY;
  if (!sizes->length) return;
  sw_text_printf(&text, "left out: %s: two buffers of that size are more than ", sizes->data);
  add_memory(&text, buffers);
  sw_text_printf(&text, ", %g%% of the memory that is free on rank %u; --memory sets the share", share * 100, rank);
  say(&text);
}

void report_workload(const struct crew* crew, const struct study_plan* plan) {
  const struct study_workload* workload = &plan->workload;
  struct sw_text text = SW_TEXT_EMPTY;
  uint32_t ranks = workload->ranks ? workload->ranks : crew_ranks(crew);
  uint32_t nodes = crew_spans(crew, ranks);
  if (workload->nodes && workload->nodes != nodes) {
    sw_text_printf(&text,
                   "sizewise calibrate: warning: the workload is of %u ranks on %u node%s, and here they are on %u: "
                   "what is measured here holds for %u",
                   ranks, workload->nodes, workload->nodes == 1 ? "" : "s", nodes, nodes);
    say(&text);
  }
  if (!workload->left_out[0]) return;
  sw_text_printf(&text, "left out: %s: more than %d sizes, and these of the workload move the fewest bytes",
                 workload->left_out, STUDY_MOST_SIZES);
  say(&text);
}

/* --- an earlier run ---------------------------------------------------------------------------------------------- */

void report_resumed(const struct resumed* resumed, size_t points, size_t bans) {
  struct sw_text text = SW_TEXT_EMPTY;
  if (resumed->profile)
    sw_text_printf(&text, "going on from %s: %zu size%s measured", resumed->path, points, points == 1 ? "" : "s");
  else
    sw_text_printf(&text, "%s is not there: nothing to go on from", resumed->path);
  if (bans) sw_text_printf(&text, "; %zu choice%s left out: see 'excluded'", bans, bans == 1 ? "" : "s");
  say(&text);
}

void report_in_flight(const char* path) {
  struct sw_text text = SW_TEXT_EMPTY;
  sw_text_printf(&text, "sizewise calibrate: %s names what was tried when a run ended; --resume leaves that out", path);
  say(&text);
}

/* --- single events ----------------------------------------------------------------------------------------------- */

void report_excluded(const struct fabric_call* call, struct sw_choice choice, const char* why) {
  struct sw_text text = SW_TEXT_EMPTY;
  add_call(&text, call);
  sw_text_add(&text, ": ");
  sw_add_choice(&text, choice);
  sw_text_printf(&text, " excluded: %s", why);
  say(&text);
}

void report_failed(const struct fabric_call* call, const char* why) {
  struct sw_text text = SW_TEXT_EMPTY;
  if (call->bytes) {
    add_call(&text, call);
    sw_text_printf(&text, ": NCCL's own choice fails: %s", why);
  } else {
    sw_text_printf(&text, "communicators left out, as the ranks cannot be joined: %s", why);
  }
  say(&text);
}

void report_no_profile(const char* path) {
  struct sw_text text = SW_TEXT_EMPTY;
  sw_text_add(&text, "sizewise calibrate: no profile was written: nothing was measured");
  if (path && access(path, F_OK) == 0) sw_text_printf(&text, "; %s is as it was", path);
  sw_text_add(&text, ". Without a profile NCCL decides everything, as it does without the plugin");
  say(&text);
}

void report_not_written(const char* path) {
  struct sw_text text = SW_TEXT_EMPTY;
  sw_text_printf(&text,
                 "sizewise calibrate: %s could not be written (see above), and may have an earlier state: the profile "
                 "is on standard output, so that nothing is lost",
                 path);
  say(&text);
}

void report_swept(const struct exhaustive_point* point, const struct exhaustive* exhaustive) {
  struct sw_text text = SW_TEXT_EMPTY;
  if (isatty(STDERR_FILENO)) return;
  add_call(&text, &point->call);
  sw_text_printf(&text, ": exhaustive sweep of %zu choices, best ", point->choices);
  sw_add_choice(&text, point->best);
  sw_text_printf(&text, " (%.1f%% afresh); %zu of %zu", point->best_fresh.gain * 100, exhaustive->count,
                 exhaustive->wanted);
  say(&text);
}
