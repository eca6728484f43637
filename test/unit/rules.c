/*
 * plugin/decide/overlay: rules written by hand. They win over tables, the first that holds wins over later ones, and
 * what no rule names stays as it was measured. A = 2 channels, measured at 1000 bytes, reaches 500 to 2000.
 */
#include "decide.h"

#define MEASURED TABLES(TABLE(POINT("1000", AUTO("100us") TIME(A, "50us"))))
#define RULE(words) "{collective: allreduce, " words "},"

/* A range is inclusive at both ends; an end that is left out is open; without a range a rule holds for every size. */
static void ranges(void** state) {
  (void)state;
  static const struct decide_case cases[] = {
      {"closed", HEAD RULES(RULE("bytes: \"64KiB..1MiB\", channels: 4")), "auto, 65536: 4 channels, 1048577: auto"},
      {"one size", HEAD RULES(RULE("bytes: 1000, channels: 4")), "auto, 1000: 4 channels, 1001: auto"},
      {"from", HEAD RULES(RULE("bytes: \"1000..\", channels: 4")), "auto, 1000: 4 channels"},
      {"up to", HEAD RULES(RULE("bytes: \"..1000\", channels: 4")), "4 channels, 1001: auto"},
      {"size 0", HEAD RULES(RULE("bytes: 0, channels: 4")), "4 channels, 1: auto"},
      {"all", HEAD RULES(RULE("channels: 4")), "4 channels"},
      {"the largest size that can be named", HEAD RULES(RULE("bytes: \"1152921504606846976..\", channels: 4")),
       "auto, 1152921504606846976: 4 channels"},
  };
  assert_cases(cases, COUNT(cases), add_winner);
}

static void over_tables(void** state) {
  (void)state;
  static const struct decide_case cases[] = {
      {"inside the measured range", HEAD MEASURED RULES(RULE("bytes: \"700..800\", algo: ring, proto: ll")),
       "auto, 500: 2 channels, 700: ring + ll, 801: 2 channels, 2001: auto"},
      {"at the measured size alone", HEAD MEASURED RULES(RULE("bytes: 1000, channels: 4")),
       "auto, 500: 2 channels, 1000: 4 channels, 1001: 2 channels, 2001: auto"},
      {"across an end", HEAD MEASURED RULES(RULE("bytes: \"1500..3000\", channels: 4")),
       "auto, 500: 2 channels, 1500: 4 channels, 3001: auto"},
      {"over all", HEAD MEASURED RULES(RULE("channels: 4")), "4 channels"},
      {"auto wins, too", HEAD MEASURED RULES(RULE("bytes: \"..999\", choice: auto")),
       "auto, 1000: 2 channels, 2001: auto"},
      {"auto at all sizes", HEAD MEASURED RULES(RULE("choice: auto")), "auto"},
      {"touching the ends",
       HEAD MEASURED RULES(RULE("bytes: \"..499\", channels: 4") RULE("bytes: \"2001..\", channels: 8")),
       "4 channels, 500: 2 channels, 2001: 8 channels"},
      {"a table without points", HEAD TABLES(TABLE("")) RULES(RULE("bytes: 7, channels: 4")),
       "auto, 7: 4 channels, 8: auto"},
      /* 50/100 at 1000 and at 4000: pieces between them are cut, and say the same as before */
      {"inside an interpolated range",
       HEAD TABLES(TABLE(POINT("1000", AUTO("100us") TIME(A, "50us")) POINT("4000", AUTO("100us") TIME(A, "50us"))))
           RULES(RULE("bytes: 1777, channels: 4")),
       "auto, 500: 2 channels, 1777: 4 channels, 1778: 2 channels, 8001: auto"},
  };
  assert_cases(cases, COUNT(cases), add_ranking);
}

static void first_match(void** state) {
  (void)state;
  static const struct decide_case cases[] = {
      {"the earlier", HEAD RULES(RULE("bytes: \"100..200\", channels: 4") RULE("bytes: \"150..300\", channels: 8")),
       "auto, 100: 4 channels, 201: 8 channels, 301: auto"},
      {"the earlier, above",
       HEAD RULES(RULE("bytes: \"150..300\", channels: 8") RULE("bytes: \"100..200\", channels: 4")),
       "auto, 100: 4 channels, 150: 8 channels, 301: auto"},
      {"an exception before the general",
       HEAD RULES(RULE("bytes: 150, choice: auto") RULE("bytes: \"100..200\", channels: 4")),
       "auto, 100: 4 channels, 150: auto, 151: 4 channels, 201: auto"},
      {"an exception after it is never reached",
       HEAD RULES(RULE("bytes: \"100..200\", channels: 4") RULE("bytes: 150, choice: auto")),
       "auto, 100: 4 channels, 201: auto"},
      {"twice the same", HEAD RULES(RULE("bytes: \"100..200\", channels: 4") RULE("bytes: \"100..200\", channels: 8")),
       "auto, 100: 4 channels, 201: auto"},
      {"round both sides of an earlier one",
       HEAD RULES(RULE("bytes: \"10..20\", channels: 1") RULE("bytes: \"30..40\", channels: 2")
                      RULE("bytes: \"15..35\", channels: 3") RULE("bytes: \"5..50\", channels: 4") RULE("channels: 5")),
       "5 channels, 5: 4 channels, 10: 1 channel, 21: 3 channels, 30: 2 channels, 41: 4 channels, 51: 5 channels"},
      {"neighbours", HEAD RULES(RULE("bytes: \"..99\", channels: 1") RULE("bytes: \"100..\", channels: 2")),
       "1 channel, 100: 2 channels"},
  };
  assert_cases(cases, COUNT(cases), add_winner);
}

/* A rule holds for its collective, and for its nodes and ranks where it names them. */
static void who(void** state) {
  (void)state;
  struct sw_profile* profile =
      read_profile(HEAD MEASURED RULES("{collective: allreduce, bytes: 1, nodes: 2, ranks: 2, channels: 11}, "
                                       "{collective: allreduce, bytes: 1, nodes: 2, channels: 12}, "
                                       "{collective: allreduce, bytes: 1, ranks: 2, channels: 13}, "
                                       "{collective: broadcast, bytes: 1, channels: 14}, "
                                       "{collective: allreduce, bytes: 1, channels: 15}"));
  static const struct {
    int collective;
    uint32_t nodes, ranks;
    const char* expected;
  } cases[] = {
      {NCCL_ALLREDUCE, 2, 2, "auto, 1: 11 channels, 2: auto, 500: 2 channels, 2001: auto"},
      {NCCL_ALLREDUCE, 2, 4, "auto, 1: 12 channels, 2: auto"},
      {NCCL_ALLREDUCE, 1, 2, "auto, 1: 13 channels, 2: auto"},
      {NCCL_ALLREDUCE, 4, 4, "auto, 1: 15 channels, 2: auto"},
      {NCCL_ALLREDUCE, 0, 0, "auto, 1: 15 channels, 2: auto"}, /* the shape that no table has */
      {NCCL_BROADCAST, 2, 2, "auto, 1: 14 channels, 2: auto"},
      {NCCL_REDUCE, 2, 2, "auto"},
  };
  for (size_t i = 0; i < COUNT(cases); i++)
    assert_pieces(profile, cases[i].collective, cases[i].nodes, cases[i].ranks, add_winner, cases[i].expected, "who");
  sw_profile_free(profile);
}

/* A rule has no times: its ratio is 1/2, and nothing stands behind it in the ranking. */
static void what_it_says(void** state) {
  (void)state;
  struct sw_profile* profile = read_profile(HEAD MEASURED RULES(
      RULE("bytes: 1000, algo: tree, proto: simple, channels: 64") RULE("bytes: 999, choice: auto")));
  struct sw_arena arena = SW_ARENA_EMPTY;
  struct sw_pieces pieces = compile_pieces(&arena, profile, NCCL_ALLREDUCE, 2, 2);
  const struct sw_piece* piece = sw_pieces_find(&pieces, 1000);
  assert_int_equal(piece->basis, SW_BASIS_RULE);
  assert_ptr_equal(piece->rule, &profile->rules[0]);
  assert_int_equal(piece->count, 1);
  assert_true(piece->ranked[0].ratio == SW_RULE_RATIO && SW_RULE_RATIO == 0.5);
  assert_true(piece->auto_ps == 0);
  assert_true(sw_choice_same(piece->ranked[0].choice, (struct sw_choice){NCCL_ALGO_TREE, NCCL_PROTO_SIMPLE, 64}));
  piece = sw_pieces_find(&pieces, 999);
  assert_int_equal(piece->basis, SW_BASIS_RULE);
  assert_int_equal(piece->count, 0);
  sw_arena_free(&arena);
  sw_profile_free(profile);
}

/* 2,000 rules that overlap all over, against the first match looked up one by one. */
static void many(void** state) {
  (void)state;
  enum { RULES_MADE = 2000 };
  struct sw_text yaml = SW_TEXT_EMPTY;
  sw_text_add(&yaml, HEAD "rules:\n");
  uint64_t seed = 3;
  for (int i = 0; i < RULES_MADE; i++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    unsigned from = (unsigned)(seed >> 40) % 10000;
    sw_text_printf(&yaml, "- {collective: allreduce, bytes: \"%u..%u\", channels: %d}\n", from,
                   from + (unsigned)(seed >> 20) % 50, 1 + i % 64);
  }
  struct sw_profile* profile = read_profile(sw_text_string(&yaml));
  struct sw_arena arena = SW_ARENA_EMPTY;
  struct sw_pieces pieces = compile_pieces(&arena, profile, NCCL_ALLREDUCE, 1, 2);
  assert_whole(&pieces, "many rules");
  for (uint64_t bytes = 0; bytes < 10100; bytes++) {
    const struct sw_rule* first = NULL;
    for (size_t i = 0; i < profile->rule_count && !first; i++)
      if (profile->rules[i].from <= bytes && bytes <= profile->rules[i].to) first = &profile->rules[i];
    if (sw_pieces_find(&pieces, bytes)->rule != first) fail_msg("at %llu", (unsigned long long)bytes);
  }
  sw_arena_free(&arena);
  sw_profile_free(profile);
  sw_text_free(&yaml);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranges), cmocka_unit_test(over_tables),  cmocka_unit_test(first_match),
      cmocka_unit_test(who),    cmocka_unit_test(what_it_says), cmocka_unit_test(many),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
