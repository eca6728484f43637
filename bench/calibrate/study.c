#include "calibrate/study.h"

#include <stdlib.h>

#include "calibrate/study_internal.h"

/* The last tenth of the budget is for verifying. */
#define MEASURING_SHARE 0.9

struct notifier {
  void (*changed)(void* context, const struct study* study);
  void* context;
  bool again; /* a second turn: what is known was told */
};

/* --- tables ------------------------------------------------------------------------------------------------------ */

static struct study_table* find_table(struct study* study, int collective, uint32_t ranks) {
  for (size_t i = 0; i < study->count; i++)
    if (study->tables[i].collective == collective && study->tables[i].ranks == ranks) return &study->tables[i];
  return NULL;
}

static struct study_table* table_for(struct study* study, int collective, uint32_t ranks) {
  struct study_table* table = find_table(study, collective, ranks);
  if (table || study->count == STUDY_MOST_TABLES) return table;
  table = &study->tables[study->count++];
  *table = (struct study_table){.collective = collective, .ranks = ranks};
  return table;
}

/* Auto failed at size after size, and never ran: the rest would fail as well, and a hang takes a while each. */
bool study_is_hopeless(const struct study* study, int collective, uint32_t ranks) {
  enum { TRIES = 2 };
  size_t failed = 0;
  for (size_t i = 0; i < study->count; i++)
    if (study->tables[i].collective == collective && study->tables[i].ranks == ranks && study->tables[i].count)
      return false;
  for (size_t i = 0; i < study->trouble_count; i++)
    failed += study->troubles[i].collective == collective && study->troubles[i].ranks == ranks;
  return failed >= TRIES;
}

static bool is_measured(const struct study* study, int collective, uint32_t ranks, uint64_t bytes) {
  for (size_t i = 0; i < study->count; i++)
    if (study->tables[i].collective == collective && study->tables[i].ranks == ranks)
      return study_point_at(&study->tables[i], study_size(bytes, ranks)) != NULL;
  return false;
}

bool study_is_left(const struct study* study, int collective, uint32_t ranks, uint64_t bytes) {
  return !is_measured(study, collective, ranks, bytes) && !study_is_hopeless(study, collective, ranks) &&
         !study_trouble_at(study, collective, ranks, study_size(bytes, ranks));
}

static size_t left_of_group(const struct study* study, uint32_t ranks) {
  const struct study_plan* plan = study->plan;
  size_t left = 0;
  for (size_t c = 0; c < plan->collective_count; c++)
    for (size_t i = 0; i < plan->size_count; i++)
      left += study_is_left(study, plan->collectives[c], ranks, plan->sizes[i]);
  return left;
}

size_t study_left(const struct study* study) {
  size_t left = 0;
  for (size_t g = 0; g < study->plan->group_count; g++) left += left_of_group(study, study->plan->groups[g]);
  return left;
}

/* --- the budget -------------------------------------------------------------------------------------------------- */

double study_measuring_limit(const struct study* study) {
  return study->plan->budget_us > 0 ? study->plan->budget_us * MEASURING_SHARE : 0;
}

static bool is_past(const struct study* study, double limit_us) {
  return limit_us > 0 && crew_clock(study->crew) > limit_us;
}

/* What is left up to the limit, in equal parts for what is left to do. */
static double share(const struct study* study, double limit_us, size_t left) {
  if (limit_us <= 0) return 0;
  double remaining_us = limit_us - crew_clock(study->crew);
  return remaining_us > 0 ? remaining_us / (double)(left ? left : 1) : 1;
}

/* --- refining ---------------------------------------------------------------------------------------------------- */

static bool is_planned(const struct study* study, const struct study_table* table, uint64_t bytes) {
  for (size_t i = 0; i < study->plan->size_count; i++)
    if (study_size(study->plan->sizes[i], table->ranks) == bytes) return true;
  return false;
}

/* Whether the same kernel runs on as many channels, under whatever name; by name where that is not known. */
static bool same_winner(const struct measured_choice* a, const struct measured_choice* b) {
  if (sw_choice_same(a->candidate.choice, b->candidate.choice)) return true;
  const struct fabric_probe* probe_a = &a->candidate.probe;
  const struct fabric_probe* probe_b = &b->candidate.probe;
  return probe_a->algo >= 0 && probe_a->channels > 0 && probe_a->algo == probe_b->algo &&
         probe_a->proto == probe_b->proto && probe_a->channels == probe_b->channels;
}

/* Between two sizes of the plan with different decisions, and more than twice apart, the size in the middle. */
static uint64_t middle_to_refine(const struct study* study, const struct study_table* table, size_t right) {
  const struct measured* a = table->points[right - 1];
  const struct measured* b = table->points[right];
  if (!is_planned(study, table, a->call.bytes) || !is_planned(study, table, b->call.bytes)) return 0;
  if (b->call.bytes <= 2 * a->call.bytes) return 0;
  if (same_winner(&a->choices[study_winner(study, a)], &b->choices[study_winner(study, b)])) return 0;
  uint64_t middle = a->call.bytes;
  uint64_t step = middle < 8 ? 1 : middle / 8; /* a round number, as far as the smaller size is one */
  double product = (double)a->call.bytes * (double)b->call.bytes; /* of GiB it is more than 64 bits hold */
  while ((double)middle * (double)middle < product && middle < b->call.bytes) middle += step;
  return middle < b->call.bytes ? middle : 0;
}

static bool refine(struct study* study, struct study_table* table, double limit_us, struct notifier notifier) {
  for (size_t right = 1; study->plan->refine && right < table->count; right++) {
    uint64_t middle = is_past(study, limit_us) ? 0 : middle_to_refine(study, table, right);
    size_t before = table->count;
    if (!middle || study_trouble_at(study, table->collective, table->ranks, study_size(middle, table->ranks))) continue;
    if (study_point(study, table, middle, share(study, limit_us, 4)) == POINT_LOST) return false;
    if (table->count == before) continue;
    notifier.changed(notifier.context, study);
    right++;
  }
  return true;
}

/* --- one communicator -------------------------------------------------------------------------------------------- */

/* A size of one collective; what an earlier run left is only looked at. */
static enum point_end measure_size(struct study* study, int collective, uint32_t ranks, uint64_t bytes, double limit_us,
                                   struct notifier notifier) {
  bool kept = is_measured(study, collective, ranks, bytes);
  struct study_table* table = table_for(study, collective, ranks);
  if (!table || (kept ? notifier.again : !study_is_left(study, collective, ranks, bytes))) return POINT_FAILED;
  double share_us = share(study, limit_us, left_of_group(study, ranks));
  enum point_end end = study_point(study, table, bytes, share_us);
  if (end == POINT_KNOWN) notifier.changed(notifier.context, study);
  return end;
}

/* Each size of every collective in turn, so that all of them get something of a small budget; the first size they get
   whatever it takes. False: the crew is lost. */
static bool measure_sizes(struct study* study, uint32_t ranks, double limit_us, struct notifier notifier) {
  const struct study_plan* plan = study->plan;
  for (size_t i = 0; i < plan->size_count; i++)
    for (size_t c = 0; c < plan->collective_count; c++) {
      if (is_past(study, i ? limit_us : study_measuring_limit(study))) return true;
      enum point_end end = measure_size(study, plan->collectives[c], ranks, plan->sizes[i], limit_us, notifier);
      if (end == POINT_LOST) return false;
    }
  return true;
}

/* The ranks cannot be joined so: the others may be. */
static bool join_failed(struct study* study, uint32_t ranks) {
  struct study_trouble trouble = {.collective = study->plan->collectives[0], .ranks = ranks};
  if (failed_for_good(study->crew)) return false;
  failed_words(study->crew, trouble.why, sizeof trouble.why);
  study_note_trouble(study, &trouble);
  return crew_start(study->crew, NULL);
}

static bool measure_group(struct study* study, uint32_t ranks, double limit_us, struct notifier notifier) {
  if (!crew_connect(study->crew, ranks)) {
    if (join_failed(study, ranks)) return true;
    study_end_by_failure(study);
    return false;
  }
  if (!measure_sizes(study, ranks, limit_us, notifier)) return false;
  for (size_t c = 0; c < study->plan->collective_count; c++) {
    struct study_table* table = find_table(study, study->plan->collectives[c], ranks);
    if (table && !refine(study, table, limit_us, notifier)) return false;
  }
  return true;
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

/* The crew's clock up to which the next of `groups` communicators may take: an equal part of what is left. */
static double limit_of_group(const struct study* study, size_t groups) {
  double limit_us = study_measuring_limit(study);
  double now_us = crew_clock(study->crew);
  return limit_us <= now_us ? limit_us : now_us + (limit_us - now_us) / (double)groups;
}

/* What the first turn's parts were too small for gets what the others left. */
void study_measure(struct study* study, void (*changed)(void* context, const struct study* study), void* context) {
  enum { TURNS = 2 };
  struct notifier notifier = {changed, context, false};
  const struct study_plan* plan = study->plan;
  for (int turn = 0; turn < TURNS; turn++, notifier.again = true)
    for (size_t g = 0; g < plan->group_count; g++) {
      double limit_us = limit_of_group(study, plan->group_count - g);
      bool wanted = turn == 0 || left_of_group(study, plan->groups[g]) > 0;
      if (!wanted || is_past(study, study_measuring_limit(study))) continue;
      if (!measure_group(study, plan->groups[g], limit_us, notifier)) return;
    }
  study->end = study_left(study) ? STUDY_SPENT : STUDY_DONE;
}

void study_free(struct study* study) {
  for (size_t i = 0; i < study->count; i++)
    for (size_t k = 0; k < study->tables[i].count; k++) free(study->tables[i].points[k]);
}
