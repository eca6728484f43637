#include "calibrate/study_internal.h"
#include "decide/plan.h"
#include "ground/names.h"
#include "ground/number.h"

void study_add_trouble(struct sw_text* out, const struct study_trouble* trouble) {
  if (trouble->bytes) {
    sw_text_printf(out, "%s ", sw_value_word(&sw_collectives, trouble->collective));
    sw_add_size_words(out, trouble->bytes);
    sw_text_printf(out, " on %u ranks (%s)", trouble->ranks, trouble->why);
  } else {
    sw_text_printf(out, "communicators of %u ranks (%s)", trouble->ranks, trouble->why);
  }
}

size_t study_sizes_to_verify(const struct study_table* table, uint64_t out[STUDY_MOST_DECISIONS]) {
  size_t count = 0;
  for (size_t i = 0; i < table->count; i++) {
    uint64_t bytes = table->points[i]->call.bytes;
    uint64_t next = i + 1 < table->count ? table->points[i + 1]->call.bytes : bytes;
    uint64_t middle = study_size((bytes + next) / 2, table->ranks);
    out[count++] = bytes;
    if (middle > bytes && middle < next) out[count++] = middle;
  }
  return count;
}

/* The latest comparison of a size, where it was of this choice and proved it. */
static const struct verified* proof_of(const struct study_table* table, uint64_t bytes, struct sw_choice choice) {
  for (size_t i = table->verified_count; i-- > 0;) {
    const struct verified* v = &table->verified[i];
    if (v->bytes == bytes) return v->holds && sw_choice_same(v->choice, choice) ? v : NULL;
  }
  return NULL;
}

size_t study_decisions(const struct study_table* table, const struct sw_plan* plan,
                       struct study_decision out[STUDY_MOST_DECISIONS]) {
  uint64_t sizes[STUDY_MOST_DECISIONS];
  size_t count = study_sizes_to_verify(table, sizes);
  for (size_t i = 0; i < count; i++) {
    struct sw_decision decision = sw_plan_decide(plan, table->collective, sizes[i]);
    struct sw_choice choice = decision.count ? decision.ranked[0].choice : SW_AUTO;
    out[i] = (struct study_decision){sizes[i], study_point_at(table, sizes[i]), choice,
                                     decision.count ? proof_of(table, sizes[i], choice) : NULL};
  }
  return count;
}
