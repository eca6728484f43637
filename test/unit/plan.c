/* plugin/decide/plan: the fast look-up says what the pieces say, at every boundary, beside it, and anywhere else. */
#include "decide.h"

#include "decide/plan.h"

static uint64_t seed;

static uint64_t draw(uint64_t below) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (seed >> 20) % below;
}

static void assert_same(const struct sw_plan* plan, int collective, uint64_t bytes, const char* what) {
  struct sw_decision decision = sw_plan_decide(plan, collective, bytes);
  const struct sw_piece* piece = sw_pieces_find(&plan->pieces[collective], bytes);
  bool same = decision.count == piece->count && (!decision.count || decision.ranked == piece->ranked);
  if (!same) fail_msg("%s: collective %d at %llu", what, collective, (unsigned long long)bytes);
}

static void assert_agrees(const struct sw_plan* plan, const char* what) {
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) {
    const struct sw_pieces* pieces = &plan->pieces[c];
    assert_whole(pieces, what);
    for (size_t i = 0; i < pieces->count; i++)
      for (int side = -1; side <= 1; side++) assert_same(plan, c, pieces->items[i].from + (uint64_t)side, what);
    for (int bit = 0; bit < 64; bit++)
      for (int side = -1; side <= 1; side++) assert_same(plan, c, (UINT64_C(1) << bit) + (uint64_t)side, what);
    for (int i = 0; i < 2000; i++) {
      uint64_t size = draw(UINT64_C(1) << 44) << 20;
      assert_same(plan, c, size >> draw(64), what);
    }
    assert_same(plan, c, UINT64_MAX, what);
  }
}

static void compare_yaml(const char* yaml, uint32_t nodes, uint32_t ranks, const char* what) {
  struct sw_profile* profile = read_profile(yaml);
  struct sw_plan* plan = sw_plan_compile(profile, nodes, ranks);
  assert_non_null(plan);
  assert_int_equal(plan->nodes, nodes);
  assert_int_equal(plan->ranks, ranks);
  assert_agrees(plan, what);
  sw_plan_free(plan);
  sw_profile_free(profile);
}

static void small_profiles(void** state) {
  (void)state;
  static const struct {
    const char *what, *yaml;
  } cases[] = {
      {"no points", HEAD TABLES(TABLE(""))},
      {"auto alone", HEAD TABLES(TABLE(POINT("1000", AUTO("1us"))))},
      {"one point", HEAD TABLES(TABLE(POINT("1000", AUTO("2us") TIME("channels: 2", "1us"))))},
      {"1 byte", HEAD POLICY("reach: 1") TABLES(TABLE(POINT("1", AUTO("2us") TIME("channels: 2", "1us"))))},
      {"2^60 bytes, all above",
       HEAD POLICY("reach: 1000") TABLES(TABLE(POINT("1152921504606846976", AUTO("2us") TIME("channels: 2", "1us"))))},
      {"a boundary among the largest sizes", HEAD POLICY("reach: 15.99999999") TABLES(TABLE(POINT(
                                                 "1152921504606846976", AUTO("2us") TIME("channels: 2", "1us"))))},
      {"every byte", HEAD RULES("{collective: allreduce, channels: 3}")},
      {"size 0 alone", HEAD RULES("{collective: reduce, bytes: 0, channels: 3}")},
      {"auto by rule", HEAD RULES("{collective: reduce, choice: auto}")},
      {"two collectives", HEAD TABLES(TABLE(POINT("1000", AUTO("2us") TIME("channels: 2", "1us"))) TABLE_OF(
                              "broadcast", "2", "2", POINT("5000", AUTO("2us") TIME("proto: ll", "1us"))))
                              RULES("{collective: allgather, bytes: \"64..127\", channels: 1}")},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    compare_yaml(cases[i].yaml, 2, 2, cases[i].what);
    compare_yaml(cases[i].yaml, 3, 5, cases[i].what);
  }
}

static void shipped(void** state) {
  (void)state;
  static const struct {
    const char* name;
    uint32_t nodes, ranks;
  } profiles[] = {{"gb10-roce-8x1", 8, 8},
                  {"gb10-roce-8x1-switched", 8, 8},
                  {"gb10-roce-4x1-ring", 4, 4},
                  {"rtx-pro-6000-pcie-8", 1, 8}};
  for (size_t i = 0; i < COUNT(profiles); i++) {
    struct sw_profile* profile = read_shipped(profiles[i].name);
    struct sw_plan* plan = sw_plan_compile(profile, profiles[i].nodes, profiles[i].ranks);
    assert_non_null(plan);
    assert_agrees(plan, profiles[i].name);
    sw_plan_free(plan);
    sw_profile_free(profile);
  }
}

/* A table of `count` sizes `step` apart at least, two choices beside auto, all times drawn. */
static char* draw_table(size_t count, uint64_t step) {
  struct sw_text yaml = SW_TEXT_EMPTY;
  sw_text_add(&yaml, HEAD
              "policy: {reach: 1.25, gap: 3}\ntables:\n- collective: allreduce\n  nodes: 2\n  ranks: 2\n  points:\n");
  uint64_t bytes = 1;
  for (size_t i = 0; i < count; i++) {
    sw_text_printf(&yaml,
                   "  - {bytes: %llu, times: [{choice: auto, median: %uus}, {channels: 2, median: %uus}, {channels: 4, "
                   "median: %uus}]}\n",
                   (unsigned long long)bytes, 50 + (unsigned)draw(100), 50 + (unsigned)draw(100),
                   50 + (unsigned)draw(100));
    bytes += step + draw(2 * step) + (count < 200 ? draw(4 * bytes) : 0);
    if (bytes > SW_LARGEST_BYTES) break;
  }
  return yaml.data;
}

static void drawn_tables(void** state) {
  (void)state;
  static const struct {
    size_t points;
    uint64_t step;
  } tables[] = {{1, 1},   {2, 1},    {3, 100},       {10, 1},    {50, 1000},
                {150, 5}, {1000, 1}, {1000, 100000}, {10000, 1}, {10000, 4096}};
  for (size_t i = 0; i < COUNT(tables); i++) {
    seed = i + 1;
    char what[64];
    snprintf(what, sizeof what, "%zu points", tables[i].points);
    char* yaml = draw_table(tables[i].points, tables[i].step);
    compare_yaml(yaml, 2, 2, what);
    free(yaml);
  }
}

/* Auto needs no curve, whether nothing is known or nothing wins. */
static void auto_needs_no_index(void** state) {
  (void)state;
  struct sw_profile* profile = read_profile(HEAD TABLES(TABLE(POINT("1000", AUTO("1us") TIME("channels: 2", "2us")))));
  struct sw_plan* plan = sw_plan_compile(profile, 2, 2);
  assert_non_null(plan);
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) {
    assert_null(plan->curves[c].index);
    assert_int_equal(sw_plan_decide(plan, c, 1000).count, 0);
    assert_null(sw_plan_decide(plan, c, 1000).ranked);
  }
  sw_plan_free(plan);
  sw_plan_free(NULL);
  sw_profile_free(profile);
}

static void known_shapes(void** state) {
  (void)state;
  static const struct {
    const char* yaml;
    uint32_t nodes, ranks;
    bool known;
  } cases[] = {
      {HEAD TABLES(TABLE("")), 2, 2, true},
      {HEAD TABLES(TABLE("")), 2, 4, false},
      {HEAD TABLES(TABLE("")), 1, 2, false},
      {HEAD TABLES(TABLE_OF("reduce", "1", "8", "")), 1, 8, true},
      {HEAD RULES("{collective: reduce, channels: 1}"), 7, 9, true},
      {HEAD RULES("{collective: reduce, nodes: 7, channels: 1}"), 7, 9, true},
      {HEAD RULES("{collective: reduce, nodes: 7, channels: 1}"), 6, 9, false},
      {HEAD RULES("{collective: reduce, ranks: 9, channels: 1}"), 6, 9, true},
      {HEAD RULES("{collective: reduce, ranks: 9, channels: 1}"), 6, 8, false},
      {HEAD RULES("{collective: reduce, nodes: 7, ranks: 9, channels: 1}"), 7, 8, false},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct sw_profile* profile = read_profile(cases[i].yaml);
    if (sw_profile_has_shape(profile, cases[i].nodes, cases[i].ranks) != cases[i].known) fail_msg("case %zu", i);
    sw_profile_free(profile);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_profiles),      cmocka_unit_test(shipped),      cmocka_unit_test(drawn_tables),
      cmocka_unit_test(auto_needs_no_index), cmocka_unit_test(known_shapes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
