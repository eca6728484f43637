#include "calibrate/report_internal.h"
#include "ground/names.h"
#include "ground/number.h"

/* "allreduce on 4 ranks" */
static void add_table(struct sw_text* out, int collective, uint32_t ranks) {
  sw_text_printf(out, "%s on %u ranks", sw_value_word(&sw_collectives, collective), ranks);
}

static const char* why_unmeasured(const struct study* study) {
  switch (study->end) {
    case STUDY_INTERRUPTED:
      return "it was interrupted";
    case STUDY_LOST:
      return "the ranks failed";
    default:
      return "the budget was spent";
  }
}

/* ": 64 KiB, 1 MiB" for what is left of one table; returns how many sizes that are. */
static size_t add_left(const struct study* study, int collective, uint32_t ranks, size_t before, struct sw_text* out) {
  size_t count = 0;
  for (size_t i = 0; i < study->plan->size_count; i++) {
    if (!study_is_left(study, collective, ranks, study->plan->sizes[i])) continue;
    if (!count++) {
      if (before)
        sw_text_add(out, "; ");
      else
        sw_text_printf(out, "Not measured, as %s: ", why_unmeasured(study));
      add_table(out, collective, ranks);
    }
    sw_text_add(out, count > 1 ? ", " : " ");
    sw_add_size_words(out, study_size(study->plan->sizes[i], ranks));
  }
  return count;
}

static void add_unmeasured(const struct study* study, const char* path, struct sw_text* out) {
  const struct study_plan* plan = study->plan;
  size_t count = 0;
  for (size_t g = 0; g < plan->group_count; g++)
    for (size_t c = 0; c < plan->collective_count; c++)
      count += add_left(study, plan->collectives[c], plan->groups[g], count, out);
  if (!count) return;
  if (path)
    sw_text_printf(out, ". The same command with --resume goes on from %s.\n", path);
  else
    sw_text_add(out, ". With -o FILE and --resume a later run can go on.\n");
}

static void add_troubles(const struct study* study, bool comparing, const char* words, struct sw_text* out) {
  for (size_t i = 0; i < study->trouble_count; i++) {
    if (study->troubles[i].comparing != comparing) continue;
    sw_text_add(out, words);
    study_add_trouble(out, &study->troubles[i]);
    sw_text_add(out, ".\n");
  }
}

static bool was_not_tried(const struct study* study, int collective, uint32_t ranks) {
  for (size_t i = 0; i < study->plan->size_count; i++)
    if (!study_trouble_at(study, collective, ranks, study_size(study->plan->sizes[i], ranks))) return true;
  return false;
}

/* The other sizes of a collective whose first ones failed. */
static void add_hopeless(const struct study* study, struct sw_text* out) {
  const struct study_plan* plan = study->plan;
  for (size_t g = 0; g < plan->group_count; g++)
    for (size_t c = 0; c < plan->collective_count; c++) {
      if (!study_is_hopeless(study, plan->collectives[c], plan->groups[g]) ||
          !was_not_tried(study, plan->collectives[c], plan->groups[g]))
        continue;
      sw_text_add(out, "The other sizes of ");
      add_table(out, plan->collectives[c], plan->groups[g]);
      sw_text_add(out, " were not tried after that.\n");
    }
}

/* --- what is in the profile and was not compared ----------------------------------------------------------------- */

static const char* why_unverified(const struct finished* finished) {
  switch (finished->study->end) {
    case STUDY_INTERRUPTED:
      return "it was interrupted";
    case STUDY_LOST:
      return "the ranks failed";
    default:
      return finished->study->verify_spent ? "the budget was spent" : "NCCL's own choice failed there";
  }
}

static void add_unverified(const struct finished* finished, struct sw_text* out) {
  struct study_decision decisions[STUDY_MOST_DECISIONS];
  size_t unverified = 0;
  for (size_t t = 0; t < finished->study->count; t++) {
    const struct study_table* table = &finished->study->tables[t];
    size_t count = report_decisions(finished, t, decisions);
    size_t here = 0;
    for (size_t i = 0; i < count; i++) {
      if (sw_choice_is_auto(decisions[i].choice) || decisions[i].verified) continue;
      if (!unverified++) sw_text_printf(out, "NOT VERIFIED, as %s: ", why_unverified(finished));
      if (!here++) {
        sw_text_add(out, unverified > 1 ? "; " : "");
        add_table(out, table->collective, table->ranks);
      }
      sw_text_add(out, here > 1 ? ", " : " ");
      sw_add_size_words(out, decisions[i].bytes);
    }
  }
  if (unverified)
    sw_text_add(out, ". The profile decides there for what won when it was measured; 'sizewise verify' compares it.\n");
}

void report_add_rest(const struct finished* finished, const char* path, struct sw_text* out) {
  add_unverified(finished, out);
  add_unmeasured(finished->study, path, out);
  add_troubles(finished->study, false, "Not measured, as NCCL's own choice fails there: ", out);
  add_hopeless(finished->study, out);
  add_troubles(finished->study, true, "Not compared afresh, as NCCL's own choice failed there: ", out);
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

static void add_memory_of(const struct study* study, const struct measured* point, size_t best, struct sw_text* out) {
  const struct measured_choice* choice = &point->choices[best];
  double gain = 1 - choice->result.median_us / point->choices[0].result.median_us;
  sw_text_printf(out, "%s ", sw_value_word(&sw_collectives, point->call.collective));
  sw_add_size_words(out, point->call.bytes);
  sw_text_printf(out, " on %u ranks: ", point->ranks);
  sw_add_choice(out, choice->candidate.choice);
  sw_text_printf(out, " gains %.1f%%, and its connections take ", gain * 100);
  sw_add_size_words(out, choice->candidate.probe.memory);
  sw_text_add(out, " of memory a rank, more than --max-extra-memory ");
  sw_add_size_words(out, study->plan->max_extra_memory);
  sw_text_add(out, ": it is on record, and not decided for.\n");
}

void report_add_memory(const struct finished* finished, struct sw_text* out) {
  const struct study* study = finished->study;
  if (!study->plan->max_extra_memory) return;
  for (size_t t = 0; t < study->count; t++)
    for (size_t i = 0; i < study->tables[t].count; i++) {
      const struct measured* point = study->tables[t].points[i];
      size_t best = study_winner_of_any_memory(study, point);
      if (best && study_extra_memory(point, best) > study->plan->max_extra_memory)
        add_memory_of(study, point, best, out);
    }
}
