/* The deterministic mode: which choice is the same at every size, and why none is. */
#include "decide/uniform.h"

#include "decide/digest.h"
#include "decide/plan.h"
#include "unit/decide.h"

#define TREE "algo: tree, proto: simple, channels: 1"
#define TREE_LL "algo: tree, proto: ll, channels: 1"
#define RING "algo: ring, proto: simple, channels: 1"
#define RING_2 "algo: ring, proto: simple, channels: 2"
#define RING_8 "algo: ring, proto: simple, channels: 8"
#define SMALL(times) POINT("12KiB", AUTO("100us") times)
#define LARGE(times) POINT("96MiB", AUTO("1000us") times)
#define RAN(choice, median, what) "{" choice ", median: " median ", ran: {" what "}},"
#define EIGHT(points) HEAD TABLES(TABLE_OF("allreduce", "8", "8", points))
#define OF(collective, ranks, points) HEAD TABLES(TABLE_OF(collective, ranks, ranks, points))

/* "tree + simple, 1 channel, firm: rests on ..."; "none: ..." */
static struct sw_text words(const struct sw_profile* profile, int collective, uint32_t ranks) {
  static const char* const sources[] = {"no table", "none", "", "rule "};
  struct sw_uniform uniform = sw_uniform_find(profile, collective, ranks, ranks);
  struct sw_text text = SW_TEXT_EMPTY;
  sw_text_add(&text, sources[uniform.source]);
  if (uniform.source >= SW_UNIFORM_MEASURED) sw_add_choice(&text, uniform.choice);
  if (uniform.firm && uniform.source >= SW_UNIFORM_MEASURED) sw_text_add(&text, ", firm");
  sw_text_add(&text, ": ");
  sw_add_uniform_reason(&text, &profile->policy, &uniform);
  return text;
}

struct uniform_case {
  const char* what;
  const char* yaml;
  const char* expected;
};

static void assert_words(const struct uniform_case* c, int collective, uint32_t ranks) {
  struct sw_profile* profile = read_profile(c->yaml);
  struct sw_text text = words(profile, collective, ranks);
  if (strcmp(sw_text_string(&text), c->expected) != 0)
    fail_msg("%s:\n  have %s\n  want %s", c->what, sw_text_string(&text), c->expected);
  sw_text_free(&text);
  sw_profile_free(profile);
}

static void chosen(void** state) {
  (void)state;
  static const struct uniform_case cases[] = {
      {"the smallest worst case, not the fastest somewhere",
       EIGHT(SMALL(TIME(TREE, "110us") TIME(TREE_LL, "50us")) LARGE(TIME(TREE, "1300us") TIME(TREE_LL, "4000us"))),
       "tree + simple, 1 channel, firm: rests on 2 measured sizes; at worst 1.3 times auto's time, at 96 MiB"},
      {"slower than auto everywhere is chosen all the same", EIGHT(SMALL(TIME(TREE, "900us"))),
       "tree + simple, 1 channel, firm: rests on the one measured size, 9 times auto's time, at 12 KiB"},
      {"what cannot depend on the size comes first, though it is slower",
       EIGHT(SMALL(TIME(TREE, "200us") TIME(RING_8, "90us") TIME(RING, "95us"))),
       "tree + simple, 1 channel, firm: rests on the one measured size, 2 times auto's time, at 12 KiB"},
      {"within 2% the fewest channels", EIGHT(SMALL(TIME(RING_8, "100us") TIME(RING_2, "101.9us"))),
       "ring + simple, 2 channels: rests on the one measured size, 1.02 times auto's time, at 12 KiB"},
      {"beyond 2% the faster", EIGHT(SMALL(TIME(RING_8, "100us") TIME(RING_2, "102.1us"))),
       "ring + simple, 8 channels: rests on the one measured size, 1 times auto's time, at 12 KiB"},
      {"then the smaller geometric mean",
       EIGHT(SMALL(TIME(TREE, "101us") TIME(TREE_LL, "100us")) LARGE(TIME(TREE, "500us") TIME(TREE_LL, "990us"))),
       "tree + simple, 1 channel, firm: rests on 2 measured sizes; at worst 1.01 times auto's time, at 12 KiB"},
      {"what ran counts: auto ran the choice",
       EIGHT(POINT("12KiB", RAN("choice: auto", "100us", TREE)) LARGE(TIME(TREE, "900us"))),
       "tree + simple, 1 channel, firm: rests on 2 measured sizes; at worst 1 times auto's time, at 12 KiB"},
      {"a time under its own name comes before a twin's",
       EIGHT(POINT("12KiB", RAN("choice: auto", "100us", TREE) TIME(TREE, "70us"))),
       "tree + simple, 1 channel, firm: rests on the one measured size, 0.7 times auto's time, at 12 KiB"},
      {"a size without auto does not count", EIGHT(SMALL(TIME(TREE, "120us")) POINT("6MiB", TIME(RING, "1us"))),
       "tree + simple, 1 channel, firm: rests on the one measured size, 1.2 times auto's time, at 12 KiB"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) assert_words(&cases[i], NCCL_ALLREDUCE, 8);
}

static void none_qualifies(void** state) {
  (void)state;
  static const struct uniform_case cases[] = {
      {"missing at a size",
       EIGHT(SMALL(TIME(TREE, "90us")) LARGE(TIME(TREE_LL, "90us")) POINT("6MiB", AUTO("1us") TIME(TREE_LL, "1us"))),
       "none: no choice qualifies at all 3 measured sizes; nearest tree + ll, 1 channel: not measured at 12 KiB"},
      {"something is left open", EIGHT(SMALL(TIME("algo: tree, proto: ll", "9us") TIME("channels: 1", "9us"))),
       "none: no choice that names algorithm, protocol and channels was measured"},
      {"other settings", EIGHT(SMALL("{" TREE ", median: 9us, settings: {NCCL_BUFFSIZE: \"1\"}},")),
       "none: no choice qualifies at the one measured size; nearest tree + simple, 1 channel: measured only under "
       "other settings than auto at 12 KiB"},
      {"excluded", EIGHT(SMALL("{" TREE ", median: 9us, excluded: wrong data},")),
       "none: no choice qualifies at the one measured size; nearest tree + simple, 1 channel: excluded at 12 KiB"},
      {"something else ran",
       EIGHT(SMALL(RAN("algo: tree, proto: simple, channels: 4", "9us", "algo: tree, proto: simple, channels: 2"))
                 LARGE(TIME("algo: tree, proto: simple, channels: 4", "9us"))),
       "none: no choice qualifies at all 2 measured sizes; nearest tree + simple, 2 channels: not measured at 96 MiB"},
      {"auto is missing", EIGHT(POINT("12KiB", TIME(TREE, "9us"))), "none: auto was not measured"},
      {"over the limit of memory",
       HEAD POLICY("max_extra_memory: 1GiB")
           TABLES(TABLE_OF("allreduce", "8", "8", SMALL("{" TREE ", median: 9us, memory: 1073741825},"))),
       "none: no choice qualifies at the one measured size; nearest tree + simple, 1 channel: over max_extra_memory "
       "1 GiB at 12 KiB"},
      {"another shape", HEAD TABLES(TABLE_OF("allreduce", "4", "4", SMALL(TIME(TREE, "9us")))),
       "no table: no table for this collective and shape"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) assert_words(&cases[i], NCCL_ALLREDUCE, 8);
}

/* Which sums cannot depend on the size. */
static void firmness(void** state) {
  (void)state;
  static const struct {
    int collective;
    uint32_t ranks;
    struct sw_choice choice;
    bool firm;
  } cases[] = {
      {NCCL_ALLREDUCE, 8, {NCCL_ALGO_TREE, NCCL_PROTO_LL, 1}, true},
      {NCCL_ALLREDUCE, 8, {NCCL_ALGO_TREE, NCCL_PROTO_LL, 2}, false},
      {NCCL_ALLREDUCE, 8, {NCCL_ALGO_RING, NCCL_PROTO_LL, 1}, false},
      {NCCL_ALLREDUCE, 2, {NCCL_ALGO_RING, NCCL_PROTO_LL, 1}, true},
      {NCCL_ALLREDUCE, 2, {NCCL_ALGO_NVLS, NCCL_PROTO_SIMPLE, 1}, false},
      {NCCL_REDUCESCATTER, 8, {NCCL_ALGO_RING, NCCL_PROTO_LL, 1}, true},
      {NCCL_REDUCESCATTER, 8, {NCCL_ALGO_PAT, NCCL_PROTO_SIMPLE, 1}, false},
      {NCCL_REDUCE, 8, {NCCL_ALGO_RING, NCCL_PROTO_LL, 1}, true},
      {NCCL_REDUCE, 8, {NCCL_ALGO_RING, NCCL_PROTO_LL, 4}, false},
      {NCCL_ALLGATHER, 8, {NCCL_ALGO_NVLS, NCCL_PROTO_SIMPLE, 16}, true},
      {NCCL_BROADCAST, 8, {NCCL_ALGO_RING, NCCL_PROTO_LL, 16}, true},
  };
  for (size_t i = 0; i < COUNT(cases); i++)
    if (sw_uniform_is_firm(cases[i].collective, cases[i].ranks, cases[i].choice) != cases[i].firm)
      fail_msg("case %zu", i);
}

/* Only a rule for every size that names all three counts, the first of them; the rest is ignored, and that is told. */
static void rules(void** state) {
  (void)state;
  static const struct {
    const char* yaml;
    const char* expected;
    size_t ignored;
  } cases[] = {
      {HEAD RULES("{collective: allreduce, " RING_8 "}, {collective: allreduce, " TREE "},"),
       "rule ring + simple, 8 channels: rule on line 4, written by hand", 1},
      {EIGHT(SMALL(TIME(TREE, "200us")))
           RULES("{collective: allreduce, channels: 4}, {collective: reduce, channels: 4},"
                 "{collective: allreduce, choice: auto}, {collective: allreduce, bytes: \"1..\", " RING "},"),
       "tree + simple, 1 channel, firm: rests on the one measured size, 2 times auto's time, at 12 KiB", 3},
      {EIGHT(SMALL(TIME(RING, "1us")))
           RULES("{collective: allreduce, bytes: 1KiB, channels: 4}, {collective: allreduce, ranks: 8, " TREE "}"),
       "rule tree + simple, 1 channel, firm: rule on line 5, written by hand", 1},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct uniform_case words_case = {"rules", cases[i].yaml, cases[i].expected};
    assert_words(&words_case, NCCL_ALLREDUCE, 8);
    struct sw_profile* profile = read_profile(cases[i].yaml);
    assert_int_equal(sw_uniform_find(profile, NCCL_ALLREDUCE, 8, 8).ignored_rules, cases[i].ignored);
    sw_profile_free(profile);
  }
}

/* One piece from 0 to no end, with a ratio below 1 although the choice is slower than auto; the digest differs. */
static void plans(void** state) {
  (void)state;
  static const uint64_t sizes[] = {0, 1, 12288, 1 << 20, UINT64_C(1) << 40, UINT64_MAX};
  struct sw_profile* profile = read_profile(EIGHT(SMALL(TIME(TREE, "200us") TIME(RING_8, "50us"))));
  struct sw_plan* plan = sw_plan_compile_for(profile, SW_MODE_DETERMINISTIC, 8, 8);
  struct sw_digest by_size;
  struct sw_digest deterministic;
  assert_non_null(plan);
  assert_whole(&plan->pieces[NCCL_ALLREDUCE], "the mode");
  for (size_t i = 0; i < COUNT(sizes); i++) {
    struct sw_decision decision = sw_plan_decide(plan, NCCL_ALLREDUCE, sizes[i]);
    assert_int_equal(decision.count, 1);
    assert_true(sw_choice_same(decision.ranked[0].choice, (struct sw_choice){NCCL_ALGO_TREE, NCCL_PROTO_SIMPLE, 1}));
    assert_true(decision.ranked[0].ratio == SW_RULE_RATIO);
    assert_int_equal(sw_plan_decide(plan, NCCL_BROADCAST, sizes[i]).count, 0);
  }
  assert_true(sw_digest_compute(profile, &by_size));
  assert_true(sw_digest_compute_for(profile, SW_MODE_DETERMINISTIC, &deterministic, NULL));
  assert_string_not_equal(by_size.hex, deterministic.hex);
  sw_plan_free(plan);
  sw_profile_free(profile);
}

/* Even where both decide nothing the mode shows in the digest. */
static void digest_of_nothing(void** state) {
  (void)state;
  struct sw_profile* profile = read_profile(HEAD RULES("{collective: allreduce, choice: auto}"));
  struct sw_digest by_size;
  struct sw_digest deterministic;
  assert_true(sw_digest_compute(profile, &by_size));
  assert_true(sw_digest_compute_for(profile, SW_MODE_DETERMINISTIC, &deterministic, NULL));
  assert_string_not_equal(by_size.hex, deterministic.hex);
  sw_profile_free(profile);
}

static void doubts(void** state) {
  (void)state;
  static const struct {
    struct sw_choice choice;
    const char* words;
  } cases[] = {{{NCCL_ALGO_TREE, NCCL_PROTO_LL, 2}, "fewer channels"},
               {{NCCL_ALGO_RING, NCCL_PROTO_LL, 1}, "lies in the buffer"},
               {{NCCL_ALGO_NVLS, NCCL_PROTO_SIMPLE, 1}, "nvls adds in an order"}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct sw_uniform uniform = {.source = SW_UNIFORM_MEASURED, .choice = cases[i].choice};
    struct sw_text text = SW_TEXT_EMPTY;
    sw_add_uniform_doubt(&text, &uniform);
    assert_non_null(strstr(sw_text_string(&text), cases[i].words));
    sw_text_free(&text);
    uniform.firm = true;
    sw_add_uniform_doubt(&text, &uniform);
    assert_string_equal(sw_text_string(&text), "");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chosen), cmocka_unit_test(none_qualifies), cmocka_unit_test(firmness),
      cmocka_unit_test(rules),  cmocka_unit_test(plans),          cmocka_unit_test(digest_of_nothing),
      cmocka_unit_test(doubts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
