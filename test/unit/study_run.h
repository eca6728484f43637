/* A study of simulated ranks, and what the profile of it says. */
#ifndef SW_TEST_STUDY_RUN_H
#define SW_TEST_STUDY_RUN_H

#include "calibrate/study.h"
#include "calibrate/study_internal.h"
#include "decide/plan.h"
#include "unit/simulated_crew.h"
#include "unit/study_profile.h"

static struct study study;
static struct study_plan plan;
static const struct measure_watch watch;
static size_t changes;
static bool changed_tables; /* by verifying */

static inline void changed(void* context, const struct study* of) {
  changes++;
  assert_ptr_equal(context, &changes);
  assert_ptr_equal(of, &study);
}

static inline void begin(struct simulated* s) {
  plan = (struct study_plan){.collectives = {NCCL_ALLREDUCE},
                             .collective_count = 1,
                             .groups = {crew_ranks(s->crew)},
                             .group_count = 1,
                             .min_gain = 3 * SW_ONE / 100};
  study = (struct study){.plan = &plan, .crew = s->crew, .watch = &watch};
  changes = 0;
}

static inline void set_sizes(size_t count, const uint64_t* sizes) {
  memcpy(plan.sizes, sizes, count * sizeof *sizes);
  plan.size_count = count;
}
#define SIZES(...) set_sizes(COUNT(((const uint64_t[]){__VA_ARGS__})), (const uint64_t[]){__VA_ARGS__})

static inline struct sw_text profile_text(struct simulated* s) {
  return study_profile(&study, s->crew);
}

/* What the profile of the study decides, in words. */
static inline struct sw_text decided(struct simulated* s, int collective, uint32_t ranks, uint64_t bytes) {
  struct sw_text text = profile_text(s);
  struct sw_text words = SW_TEXT_EMPTY;
  struct sw_profile* profile = read_profile(sw_text_string(&text));
  struct sw_plan* compiled = sw_plan_compile(profile, ranks, ranks);
  struct sw_decision decision = sw_plan_decide(compiled, collective, bytes);
  sw_add_choice(&words, decision.count ? decision.ranked[0].choice : SW_AUTO);
  sw_plan_free(compiled);
  sw_profile_free(profile);
  sw_text_free(&text);
  return words;
}

static inline void assert_decided(struct simulated* s, uint64_t bytes, const char* words) {
  struct sw_text text = decided(s, NCCL_ALLREDUCE, crew_ranks(s->crew), bytes);
  assert_string_equal(sw_text_string(&text), words);
  sw_text_free(&text);
}

/* "1024 4096 65536" */
static inline void assert_sizes(const struct study_table* table, const char* words) {
  struct sw_text text = SW_TEXT_EMPTY;
  for (size_t i = 0; i < table->count; i++)
    sw_text_printf(&text, "%s%llu", i ? " " : "", (unsigned long long)table->points[i]->call.bytes);
  assert_string_equal(sw_text_string(&text), words);
  sw_text_free(&text);
}

static inline void end(struct simulated* s) {
  study_free(&study);
  end_simulated(s);
}

static inline void verify(struct simulated* s) {
  struct sw_text text = profile_text(s);
  changed_tables = study_verify(&study, sw_text_string(&text), false);
  sw_text_free(&text);
}

#endif
