/*
 * plugin/cost: what is written into NCCL's cost table. A table is written here as one line: the entries that are not
 * -1, each as algorithm/protocol=microseconds. In every case below what is not listed has to keep its bits.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cost.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

enum { TREE, RING, DIRECT, CHAIN, NVLS, NVLSTREE, PAT, ANY = -1 };
enum { LL, LL128, SIMPLE };
enum { ENTRIES = NCCL_NUM_ALGORITHMS * NCCL_NUM_PROTOCOLS, MOST = 8 };

struct entry {
  int algo, proto;
  float us;
};

struct example {
  const char* what;
  struct entry before[MOST]; /* ends with an entry of 0 at tree + ll; a real one there comes first */
  struct sw_ranked ranked[3];
  uint32_t count;
  struct entry after[MOST]; /* only what changes */
  int channels;
  int several_nodes;
  int rows; /* 0: all */
};

static void fill(float table[ENTRIES], const struct entry* entries) {
  for (int i = 0; i < MOST && (entries[i].us != 0 || entries[i].algo || entries[i].proto); i++)
    table[entries[i].algo * NCCL_NUM_PROTOCOLS + entries[i].proto] = entries[i].us;
}

static void check(const struct example* example) {
  float table[ENTRIES];
  float expected[ENTRIES];
  int channels = 0;
  for (int i = 0; i < ENTRIES; i++) table[i] = -1;
  fill(table, example->before);
  memcpy(expected, table, sizeof table);
  fill(expected, example->after);
  int rows = example->rows ? example->rows : NCCL_NUM_ALGORITHMS;
  struct sw_cost_table costs = {table, rows, NCCL_NUM_PROTOCOLS, example->several_nodes};
  sw_cost_apply(&costs, (struct sw_decision){example->ranked, example->count}, &channels);
  for (int i = 0; i < ENTRIES; i++)
    if (memcmp(&table[i], &expected[i], sizeof table[i]) != 0)
      fail_msg("%s: entry %d/%d is %.9g, not %.9g", example->what, i / 3, i % 3, (double)table[i], (double)expected[i]);
  if (channels != example->channels) fail_msg("%s: %d channels, not %d", example->what, channels, example->channels);
}

#define PLAIN                                             \
  {                                                       \
    {TREE, LL, 30}, {TREE, SIMPLE, 80}, {RING, LL, 20}, { \
      RING, SIMPLE, 40                                    \
    }                                                     \
  } /* M is 20 */
#define NAMED(algo, proto, channels, ratio)  \
  {                                          \
    { {(algo), (proto), (channels)}, ratio } \
  }

static void choices(void** state) {
  (void)state;
  static const struct example examples[] = {
      {"a pair: 20 * 0.5", PLAIN, NAMED(TREE, SIMPLE, 0, 0.5), 1, {{TREE, SIMPLE, 10}}, 0, 0, 0},
      {"the pair that is cheapest already", PLAIN, NAMED(RING, LL, 0, 0.5), 1, {{RING, LL, 10}}, 0, 0, 0},
      {"a pair with channels", PLAIN, NAMED(TREE, LL, 2, 0.25), 1, {{TREE, LL, 5}}, 2, 0, 0},
      {"64 channels", PLAIN, NAMED(RING, SIMPLE, 64, 0.75), 1, {{RING, SIMPLE, 15}}, 64, 0, 0},
      /* the row's cheapest, 30, becomes 20 * 0.75 = 15: a factor of 1/2, so 80 becomes 40 */
      {"an algorithm", PLAIN, NAMED(TREE, ANY, 0, 0.75), 1, {{TREE, LL, 15}, {TREE, SIMPLE, 40}}, 0, 0, 0},
      /* the column's cheapest, 40, becomes 20 * 0.5 = 10: a factor of 1/4, so 80 becomes 20 */
      {"a protocol", PLAIN, NAMED(ANY, SIMPLE, 4, 0.5), 1, {{RING, SIMPLE, 10}, {TREE, SIMPLE, 20}}, 4, 0, 0},
      {"channels alone", PLAIN, NAMED(ANY, ANY, 2, 0.5), 1, {{0}}, 2, 0, 0},
      {"nothing ranked", PLAIN, NAMED(RING, LL, 2, 0.5), 0, {{0}}, 0, 0, 0},
      {"pat, in the last row",
       {{RING, LL, 20}, {PAT, SIMPLE, 50}},
       NAMED(PAT, SIMPLE, 1, 0.5),
       1,
       {{PAT, SIMPLE, 10}},
       1,
       0,
       0},
  };
  for (size_t i = 0; i < COUNT(examples); i++) check(&examples[i]);
}

static void what_does_not_fit(void** state) {
  (void)state;
#define THEN_RING_SIMPLE(algo, proto) \
  {                                   \
    {{(algo), (proto), 3}, 0.5}, {    \
      {RING, SIMPLE, 2}, 0.75         \
    } /* 15 */                        \
  }
  static const struct example examples[] = {
      {"-1", PLAIN, THEN_RING_SIMPLE(TREE, LL128), 2, {{RING, SIMPLE, 15}}, 2, 0, 0},
      {"-1024",
       {{RING, LL, 20}, {RING, LL128, -1024}, {RING, SIMPLE, 40}},
       THEN_RING_SIMPLE(RING, LL128),
       2,
       {{RING, SIMPLE, 15}},
       2,
       0,
       0},
      {"a row that is not there", PLAIN, THEN_RING_SIMPLE(PAT, SIMPLE), 2, {{RING, SIMPLE, 15}}, 2, 0, 6},
      {"a whole algorithm", PLAIN, THEN_RING_SIMPLE(NVLS, ANY), 2, {{RING, SIMPLE, 15}}, 2, 0, 0},
      {"a whole protocol", PLAIN, THEN_RING_SIMPLE(ANY, LL128), 2, {{RING, SIMPLE, 15}}, 2, 0, 0},
      {"not a number",
       {{RING, LL, 20}, {TREE, LL, NAN}, {RING, SIMPLE, 40}},
       THEN_RING_SIMPLE(TREE, LL),
       2,
       {{RING, SIMPLE, 15}},
       2,
       0,
       0},
      {"infinite",
       {{TREE, LL, INFINITY}, {RING, LL, 20}, {RING, SIMPLE, 40}},
       THEN_RING_SIMPLE(TREE, LL),
       2,
       {{RING, SIMPLE, 15}},
       2,
       0,
       0},
      {"256 times the cheapest fits: 20 * 256 = 5120",
       {{TREE, LL, 5120}, {RING, LL, 20}, {RING, SIMPLE, 40}},
       THEN_RING_SIMPLE(TREE, LL),
       2,
       {{TREE, LL, 10}},
       3,
       0,
       0},
      /* the next float above 5120 is 5120 + 2^-11 */
      {"just above does not",
       {{TREE, LL, 5120.00048828125f}, {RING, LL, 20}, {RING, SIMPLE, 40}},
       THEN_RING_SIMPLE(TREE, LL),
       2,
       {{RING, SIMPLE, 15}},
       2,
       0,
       0},
      /* of a half choice only the entries that fit: the row's 20480 = 1024 * 20 is NCCL's no */
      {"part of a row",
       {{RING, LL, 20480}, {RING, SIMPLE, 40}, {TREE, LL, 20}},
       NAMED(RING, ANY, 0, 0.5),
       1,
       {{RING, SIMPLE, 10}},
       0,
       0,
       0},
      {"nothing is left", PLAIN, NAMED(NVLS, SIMPLE, 5, 0.5), 1, {{0}}, 0, 0, 0},
      {"channels alone come next", PLAIN, {{{NVLS, SIMPLE, 5}, 0.5}, {{ANY, ANY, 7}, 0.6}}, 2, {{0}}, 7, 0, 0},
      {"the third",
       PLAIN,
       {{{NVLS, SIMPLE, 5}, 0.25}, {{TREE, LL128, 6}, 0.25}, {{TREE, SIMPLE, 0}, 0.25}},
       3,
       {{TREE, SIMPLE, 5}},
       0,
       0,
       0},
  };
  for (size_t i = 0; i < COUNT(examples); i++) check(&examples[i]);
}

/* Never 0, never negative, strictly below the cheapest. */
static void ends_of_the_scale(void** state) {
  (void)state;
  static const struct example examples[] = {
      /* (float)(20 * (1 - 1e-12)) is 20 again, which would tie; below 20 comes 20 - 2^-19 */
      {"a gain that a float cannot show",
       PLAIN,
       NAMED(TREE, SIMPLE, 0, 1 - 1e-12),
       1,
       {{TREE, SIMPLE, 19.9999980926513671875f}},
       0,
       0,
       0},
      {"a gain that rounds to 0", PLAIN, NAMED(TREE, SIMPLE, 3, 1e-60), 1, {{0}}, 0, 0, 0},
      {"the smallest float has nothing below it",
       {{RING, LL, 0x1p-149f}, {TREE, SIMPLE, 0x1p-149f}},
       NAMED(TREE, SIMPLE, 3, 0.9),
       1,
       {{0}},
       0,
       0,
       0},
      {"a free entry", {{RING, SIMPLE, 40}, {RING, LL, 0}}, NAMED(RING, SIMPLE, 3, 0.5), 1, {{0}}, 0, 0, 0},
      {"a free entry of its own", {{RING, SIMPLE, 40}, {RING, LL, -0.0f}}, NAMED(RING, LL, 3, 0.5), 1, {{0}}, 0, 0, 0},
      {"channels alone beside a free entry",
       {{RING, SIMPLE, 40}, {RING, LL, 0}},
       NAMED(ANY, ANY, 3, 0.5),
       1,
       {{0}},
       0,
       0,
       0},
      {"nothing usable", {{RING, LL, -1024}}, NAMED(ANY, ANY, 3, 0.5), 1, {{0}}, 0, 0, 0},
      {"no number at all", {{RING, LL, NAN}, {TREE, LL, NAN}}, NAMED(ANY, LL, 3, 0.5), 1, {{0}}, 0, 0, 0},
      {"infinities alone", {{RING, LL, INFINITY}}, NAMED(RING, LL, 3, 0.5), 1, {{0}}, 0, 0, 0},
      {"large numbers: 1e30 * 0.5",
       {{RING, LL, 1e30f}, {TREE, LL, 2e30f}},
       NAMED(TREE, LL, 3, 0.5),
       1,
       {{TREE, LL, 5e29f}},
       3,
       0,
       0},
  };
  for (size_t i = 0; i < COUNT(examples); i++) check(&examples[i]);
}

/* (float)(M * r) to the bit, and the order of the choice's other entries stays. */
static void scaling(void** state) {
  (void)state;
  static const float costs[] = {1e-3f, 0.1f, 1, 3, 7.7f, 13.37f, 1e4f, 123456.7f};
  static const double ratios[] = {1.0 / 3, 0.304, 0.5, 0.76, 0.9999999};
  for (size_t i = 0; i < COUNT(costs); i++)
    for (size_t k = 0; k < COUNT(ratios); k++) {
      float least = costs[i];
      float table[ENTRIES];
      int channels = 0;
      for (int e = 0; e < ENTRIES; e++) table[e] = -1;
      table[RING * 3 + LL] = least;
      table[TREE * 3 + LL] = least * 1.5f;
      table[TREE * 3 + LL128] = least * 1.5f; /* a tie, which has to stay one */
      table[TREE * 3 + SIMPLE] = least * 2.25f;
      struct sw_ranked ranked = {{TREE, ANY, 0}, ratios[k]};
      struct sw_cost_table view = {table, NCCL_NUM_ALGORITHMS, NCCL_NUM_PROTOCOLS, false};
      sw_cost_apply(&view, (struct sw_decision){&ranked, 1}, &channels);
      float target = (float)((double)least * ratios[k]);
      assert_true(target < least);
      assert_memory_equal(&table[TREE * 3 + LL], &target, sizeof target);
      assert_memory_equal(&table[TREE * 3 + LL128], &target, sizeof target);
      float other = (float)((double)(least * 2.25f) * ((double)target / (double)(least * 1.5f)));
      assert_memory_equal(&table[TREE * 3 + SIMPLE], &other, sizeof other);
      assert_memory_equal(&table[RING * 3 + LL], &least, sizeof least);
      assert_int_equal(channels, 0);
    }
}

/* Where NCCL would take the number unclamped and the choice did not name that algorithm, it is left at 0. */
static void unclamped_channels(void** state) {
  (void)state;
  static const struct {
    const char* what;
    struct entry extra;
    struct sw_choice choice;
    int one_node, several_nodes;
  } cases[] = {
      {"nvls", {NVLS, SIMPLE, 90}, {ANY, ANY, 4}, 4, 0},
      {"nvlstree", {NVLSTREE, SIMPLE, 90}, {ANY, ANY, 4}, 4, 0},
      {"collnetdirect", {DIRECT, SIMPLE, 90}, {ANY, ANY, 4}, 0, 0},
      {"collnetchain", {CHAIN, SIMPLE, 90}, {ANY, ANY, 4}, 0, 0},
      {"pat", {PAT, SIMPLE, 90}, {ANY, ANY, 4}, 4, 4},
      {"unusable nvls", {NVLS, SIMPLE, -1024}, {ANY, ANY, 4}, 4, 4},
      {"unusable collnet", {CHAIN, SIMPLE, NAN}, {ANY, ANY, 4}, 4, 4},
      {"collnet in the named column", {DIRECT, SIMPLE, 90}, {ANY, SIMPLE, 4}, 0, 0},
      {"collnet in another column", {DIRECT, SIMPLE, 90}, {ANY, LL, 4}, 4, 4},
      {"nvls in the named column", {NVLS, SIMPLE, 90}, {ANY, SIMPLE, 4}, 4, 0},
      {"another algorithm is named", {NVLS, SIMPLE, 90}, {RING, ANY, 4}, 4, 4},
      {"nvls itself is named", {NVLS, SIMPLE, 90}, {NVLS, ANY, 4}, 4, 4},
      {"collnet itself is named", {DIRECT, SIMPLE, 90}, {DIRECT, SIMPLE, 4}, 4, 4},
  };
  for (size_t i = 0; i < COUNT(cases); i++)
    for (int several = 0; several < 2; several++) {
      float table[ENTRIES];
      int channels = 0;
      for (int e = 0; e < ENTRIES; e++) table[e] = -1;
      fill(table, (const struct entry[MOST]){{RING, LL, 20}, {RING, SIMPLE, 40}, cases[i].extra});
      struct sw_ranked ranked = {cases[i].choice, 0.5};
      struct sw_cost_table view = {table, NCCL_NUM_ALGORITHMS, NCCL_NUM_PROTOCOLS, several};
      sw_cost_apply(&view, (struct sw_decision){&ranked, 1}, &channels);
      int expected = several ? cases[i].several_nodes : cases[i].one_node;
      if (channels != expected)
        fail_msg("%s, %s: %d channels", cases[i].what, several ? "several nodes" : "one node", channels);
    }
}

static void no_table(void** state) {
  (void)state;
  float table[ENTRIES] = {0};
  struct sw_ranked ranked = {{ANY, ANY, 4}, 0.5};
  struct sw_decision decision = {&ranked, 1};
  int channels = 0;
  sw_cost_apply(&(struct sw_cost_table){NULL, 7, 3, false}, decision, &channels);
  sw_cost_apply(&(struct sw_cost_table){table, 0, 3, false}, decision, &channels);
  sw_cost_apply(&(struct sw_cost_table){table, 7, 0, false}, decision, &channels);
  sw_cost_apply(&(struct sw_cost_table){table, -1, -3, false}, decision, &channels);
  assert_int_equal(channels, 0);
}

/* A choice without a count does not touch the number, whatever it is. */
static void channels_that_are_not_named(void** state) {
  (void)state;
  float table[] = {30, 80, 20, 40, 50, 60};
  int channels = 9;
  struct sw_ranked ranked = {{RING, LL, 0}, 0.5};
  sw_cost_apply(&(struct sw_cost_table){table, 2, 3, false}, (struct sw_decision){&ranked, 1}, &channels);
  assert_int_equal(channels, 9);
}

/* A table of another width is taken as it is: two protocols, so entry [1][0] is the third float. */
static void other_widths(void** state) {
  (void)state;
  float table[] = {30, 80, 20, 40, -7};
  int channels = 0;
  struct sw_ranked ranked[] = {{{RING, SIMPLE, 1}, 0.5}, {{RING, LL128, 2}, 0.5}};
  sw_cost_apply(&(struct sw_cost_table){table, 2, 2, false}, (struct sw_decision){ranked, 2}, &channels);
  const float expected[] = {30, 80, 20, 10, -7};
  assert_memory_equal(table, expected, sizeof table);
  assert_int_equal(channels, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(choices),
      cmocka_unit_test(what_does_not_fit),
      cmocka_unit_test(ends_of_the_scale),
      cmocka_unit_test(scaling),
      cmocka_unit_test(unclamped_channels),
      cmocka_unit_test(no_table),
      cmocka_unit_test(channels_that_are_not_named),
      cmocka_unit_test(other_widths),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
