/* plugin/ground/names and nearest: the words, NCCL's numbers behind them, and what a misspelt word is taken for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ground/names.h"
#include "ground/nearest.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

struct pair {
  const char* word;
  int value;
};

/* Word by word, with the numbers of NCCL's headers: ncclFunc_t, NCCL_ALGO_*, NCCL_PROTO_*. */
static const struct {
  const struct sw_vocabulary* vocabulary;
  const char* what;
  size_t count;
  struct pair words[8];
} vocabularies[] = {
    {&sw_collectives,
     "collective",
     5,
     {{"broadcast", 0}, {"reduce", 1}, {"allgather", 2}, {"reducescatter", 3}, {"allreduce", 4}}},
    {&sw_algorithms,
     "algorithm",
     7,
     {{"tree", 0}, {"ring", 1}, {"collnetdirect", 2}, {"collnetchain", 3}, {"nvls", 4}, {"nvlstree", 5}, {"pat", 6}}},
    {&sw_protocols, "protocol", 3, {{"ll", 0}, {"ll128", 1}, {"simple", 2}}},
    {&sw_kinds, "kind of provenance", 3, {{"measured", 0}, {"published", 1}, {"simulated", 2}}},
    {&sw_nets, "network", 4, {{"ib", 0}, {"roce", 1}, {"socket", 2}, {"other", 3}}},
};

static void set_case(char* word, bool upper_first, bool upper_rest) {
  for (size_t i = 0; word[i]; i++)
    if ((i ? upper_rest : upper_first) && word[i] >= 'a' && word[i] <= 'z') word[i] = (char)(word[i] - 'a' + 'A');
}

static void every_word(void** state) {
  (void)state;
  for (size_t v = 0; v < COUNT(vocabularies); v++) {
    const struct sw_vocabulary* vocabulary = vocabularies[v].vocabulary;
    assert_string_equal(vocabulary->what, vocabularies[v].what);
    assert_int_equal(vocabulary->count, vocabularies[v].count);
    for (size_t i = 0; i < vocabularies[v].count; i++) {
      struct pair pair = vocabularies[v].words[i];
      char word[32];
      for (int form = 0; form < 4; form++) {
        snprintf(word, sizeof word, "%s", pair.word);
        set_case(word, form & 1, form & 2);
        assert_int_equal(sw_word_value(vocabulary, word, strlen(word)), pair.value);
      }
      assert_string_equal(sw_value_word(vocabulary, pair.value), pair.word);
    }
    assert_string_equal(sw_value_word(vocabulary, -1), "?");
    assert_string_equal(sw_value_word(vocabulary, (int)vocabularies[v].count), "?");
  }
}

static void no_word(void** state) {
  (void)state;
  static const struct {
    const struct sw_vocabulary* vocabulary;
    const char* word;
    size_t length;
  } cases[] = {
      {&sw_algorithms, "", 0},          {&sw_algorithms, "rin", 3},
      {&sw_algorithms, "rings", 5},     {&sw_algorithms, "ring ", 5},
      {&sw_algorithms, "ring", 3},      {&sw_algorithms, "nvls", 3},
      {&sw_algorithms, "collnet", 7},   {&sw_algorithms, "auto", 4},
      {&sw_protocols, "ll12", 4},       {&sw_protocols, "ll\0", 3},
      {&sw_protocols, "LL129", 5},      {&sw_collectives, "all_reduce", 10},
      {&sw_collectives, "alltoall", 8}, {&sw_nets, "infiniband", 10},
      {&sw_kinds, "measure", 7},        {&sw_algorithms, "r\xc4\xb1ng", 5},
  };
  for (size_t i = 0; i < COUNT(cases); i++)
    if (sw_word_value(cases[i].vocabulary, cases[i].word, cases[i].length) != -1) fail_msg("case %zu: a word", i);
  assert_int_equal(sw_word_value(&sw_algorithms, "rings", 4), 1);
}

static void nearest_word(void** state) {
  (void)state;
  static const struct {
    const struct sw_vocabulary* vocabulary;
    const char *word, *nearest;
  } cases[] = {
      {&sw_algorithms, "rnig", "ring"}, /* neighbours swapped */
      {&sw_algorithms, "rin", "ring"},
      {&sw_algorithms, "rinng", "ring"},
      {&sw_algorithms, "RIGN", "ring"},
      {&sw_algorithms, "king", "ring"},
      {&sw_algorithms, "trea", "tree"},
      {&sw_algorithms, "trie", "tree"},
      {&sw_algorithms, "hang", "ring"}, /* two of four letters: a third, rounded up */
      {&sw_algorithms, "long", "ring"},
      {&sw_algorithms, "abcd", NULL},
      {&sw_algorithms, "rxyz", NULL},
      {&sw_algorithms, "collnet_direct", "collnetdirect"},
      {&sw_algorithms, "collnetdirct", "collnetdirect"},
      {&sw_algorithms, "collnetchian", "collnetchain"},
      {&sw_algorithms, "nvls_tree", "nvlstree"},
      {&sw_algorithms, "nvsl", "nvls"},
      {&sw_algorithms, "pta", "pat"},
      {&sw_algorithms, "xyt", NULL},
      {&sw_algorithms, "", NULL},
      {&sw_protocols, "il", "ll"},
      {&sw_protocols, "l", "ll"},
      {&sw_protocols, "xy", NULL},
      {&sw_protocols, "ll129", "ll128"},
      {&sw_protocols, "l128", "ll128"},
      {&sw_protocols, "smiple", "simple"},
      {&sw_collectives, "all_reduce", "allreduce"},
      {&sw_collectives, "AllReduces", "allreduce"},
      {&sw_collectives, "reduce_scatter", "reducescatter"},
      {&sw_collectives, "brodcast", "broadcast"},
      {&sw_collectives, "sendrecv", NULL},
      {&sw_nets, "rocee", "roce"},
      {&sw_nets, "bi", "ib"},
      {&sw_nets, "sockets", "socket"},
      {&sw_kinds, "mesured", "measured"},
      {&sw_kinds, "publishd", "published"},
      {&sw_kinds, "a word that is longer than all of them", NULL},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    const char* nearest = sw_nearest_word(cases[i].vocabulary, cases[i].word, strlen(cases[i].word));
    const char* found = nearest ? nearest : "none";
    const char* expected = cases[i].nearest ? cases[i].nearest : "none";
    if (strcmp(found, expected) != 0) fail_msg("'%s': %s, not %s", cases[i].word, found, expected);
  }
}

/* Of words that are equally near the first one offered stays; a nearer one replaces it; a far one never. */
static void nearest_of_several(void** state) {
  (void)state;
  struct sw_nearest nearest = sw_nearest_start("median and more", 6);
  static const struct {
    const char *offer, *best;
    size_t distance;
  } steps[] = {{"channels", NULL, 0},     {"medi", "medi", 2},      {"dian", "medi", 2},    {"medium", "medi", 2},
               {"medians", "medians", 1}, {"mediam", "medians", 1}, {"MEDIAN", "MEDIAN", 0}};
  for (size_t i = 0; i < COUNT(steps); i++) {
    sw_nearest_offer(&nearest, steps[i].offer);
    if (steps[i].best)
      assert_string_equal(nearest.best, steps[i].best);
    else
      assert_null(nearest.best);
    assert_int_equal(nearest.distance, steps[i].distance);
  }
}

/* At most 32 letters on either side: a longer word is near to nothing, and nothing is written out of bounds. */
static void nearest_of_long_words(void** state) {
  (void)state;
  static const char long_word[] = "abcdefghijklmnopqrstuvwxyzabcdefgh";
  for (size_t length = 31; length <= 33; length++) {
    struct sw_nearest nearest = sw_nearest_start(long_word, length);
    sw_nearest_offer(&nearest, "abcdefghijklmnopqrstuvwxyzabcdef");
    assert_int_equal(nearest.best != NULL, length <= 32);
    nearest = sw_nearest_start(long_word, 32);
    sw_nearest_offer(&nearest, "abcdefghijklmnopqrstuvwxyzabcdefg");
    assert_null(nearest.best);
  }
}

static void any_locale(void** state) {
  static const char* const locales[] = {"de_DE.UTF-8", "tr_TR.UTF-8", "tr_TR.ISO-8859-9", "tr_TR"};
  size_t tried = 0;
  for (size_t i = 0; i < COUNT(locales); i++) {
    if (!setlocale(LC_ALL, locales[i])) continue;
    tried++;
    every_word(state);
    no_word(state);
    nearest_word(state);
  }
  setlocale(LC_ALL, "C");
  if (!tried) skip();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_word),
      cmocka_unit_test(no_word),
      cmocka_unit_test(nearest_word),
      cmocka_unit_test(nearest_of_several),
      cmocka_unit_test(nearest_of_long_words),
      cmocka_unit_test(any_locale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
