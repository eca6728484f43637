/* NCCL's own settings that take choices away: their forms, names, errors, and what they leave. */
#include "facts_source.h"

#include "facts/forced.h"

/* --- forced settings */

static void add_mask(char* out, const struct sw_vocabulary* words, unsigned mask) {
  for (size_t i = 0; i < words->count; i++)
    if (mask >> words->words[i].value & 1)
      strcat(strcat(out, strchr("= ", out[strlen(out) - 1]) ? "" : ","), words->words[i].word);
}

/* "allreduce=tree reduce=ring,pat": the restricted collectives; "*=ring": all of them alike. */
static void print_masks(char* out, const struct sw_vocabulary* words, const bool* set, const unsigned* masks) {
  bool alike = true;
  *out = '\0';
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) alike &= set[c] && masks[c] == masks[0];
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) {
    if (!set[c]) assert_int_equal(masks[c], (1U << words->count) - 1);
    if (!set[c] || (alike && c > 0)) continue;
    strcat(strcat(strcat(out, *out ? " " : ""), alike ? "*" : sw_value_word(&sw_collectives, c)), "=");
    add_mask(out, words, masks[c]);
  }
}

static struct sw_forced read_forced(const char* settings) {
  struct sw_forced forced;
  memset(&forced, 0x5a, sizeof forced);
  set_environment(settings);
  sw_forced_read(fake_getenv, &forced);
  return forced;
}

static void assert_forced(const char* settings, const char* algo, const char* proto) {
  struct sw_forced forced = read_forced(settings);
  unsigned algorithms[NCCL_NUM_COLLECTIVES], protocols[NCCL_NUM_COLLECTIVES];
  char text[512];
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) {
    algorithms[c] = forced.algorithms[c];
    protocols[c] = forced.protocols[c];
  }
  print_masks(text, &sw_algorithms, forced.algo_set, algorithms);
  if (strcmp(text, algo) != 0) fail_msg("%s: algorithms \"%s\", expected \"%s\"", settings, text, algo);
  print_masks(text, &sw_protocols, forced.proto_set, protocols);
  if (strcmp(text, proto) != 0) fail_msg("%s: protocols \"%s\", expected \"%s\"", settings, text, proto);
}

static void forced_forms(void** state) {
  (void)state;
  static const struct {
    const char *settings, *algo, *proto;
    int least, most;
  } cases[] = {
      {"", "", "", 0, 0},
      /* as published in start scripts and recipes */
      {"NCCL_ALGO=allreduce:tree|NCCL_PROTO=allreduce:LL", "allreduce=tree", "allreduce=ll", 0, 0},
      {"NCCL_ALGO=Ring|NCCL_MIN_NCHANNELS=1|NCCL_PROTO=LL", "*=ring", "*=ll", 1, 0},
      {"NCCL_ALGO=Ring|NCCL_PROTO=Simple", "*=ring", "*=simple", 0, 0},
      {"NCCL_PROTO=LL", "", "*=ll", 0, 0},
      {"NCCL_PROTO=LL,LL128,Simple", "", "*=ll,ll128,simple", 0, 0},
      {"NCCL_PROTO=^LL128|NCCL_MAX_NCHANNELS=8|NCCL_BUFFSIZE=1048576", "", "*=ll,simple", 0, 8},
      {"NCCL_ALGO=Tree|NCCL_MIN_NCHANNELS=8", "*=tree", "", 8, 0},
      {"NCCL_PROTO=Simple|NCCL_ALGO=allreduce:tree|NCCL_MIN_NCHANNELS=1|NCCL_MAX_NCHANNELS=1|NCCL_NTHREADS=1",
       "allreduce=tree", "*=simple", 1, 1},
      {"NCCL_ALGO=RING|NCCL_PROTO=SIMPLE", "*=ring", "*=simple", 0, 0},
      {"NCCL_ALGO=^NVLS,NVLSTree", "*=tree,ring,collnetdirect,collnetchain,pat", "", 0, 0},
      {"NCCL_ALGO=allreduce:tree;broadcast:ring", "broadcast=ring allreduce=tree", "", 0, 0},
      /* the grammar's corners */
      {"NCCL_ALGO=ring;allreduce:tree", "broadcast=ring reduce=ring allgather=ring reducescatter=ring allreduce=tree",
       "", 0, 0},
      {"NCCL_ALGO=AllReduce:^Tree,PAT;allgather:PAT",
       "allgather=pat allreduce=ring,collnetdirect,collnetchain,nvls,nvlstree", "", 0, 0},
      {"NCCL_PROTO=reduce:LL;reduce:Simple", "", "reduce=simple", 0, 0},
      {"NCCL_PROTO=^LL,LL128,Simple", "", "*=", 0, 0},
      {"NCCL_ALGO=|NCCL_PROTO=|NCCL_MIN_CTAS=|NCCL_MAX_CTAS=0", "", "", 0, 0},
      {"NCCL_MIN_CTAS=4|NCCL_MAX_CTAS=16", "", "", 4, 16},
      {"NCCL_MIN_CTAS=4|NCCL_MIN_NCHANNELS=2|NCCL_MAX_CTAS=16|NCCL_MAX_NCHANNELS=32", "", "", 4, 16},
      {"NCCL_MIN_CTAS=2|NCCL_MIN_NCHANNELS=4|NCCL_MAX_CTAS=32|NCCL_MAX_NCHANNELS=16", "", "", 4, 16},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    assert_forced(cases[i].settings, cases[i].algo, cases[i].proto);
    struct sw_forced forced = read_forced(cases[i].settings);
    if (forced.error.variable) fail_msg("%s: %s", cases[i].settings, forced.error.text);
    assert_int_equal(forced.min_channels, cases[i].least);
    assert_int_equal(forced.max_channels, cases[i].most);
    assert_int_equal(forced.min_variable != NULL, cases[i].least > 0);
    assert_int_equal(forced.max_variable != NULL, cases[i].most > 0);
  }
}

static void forced_names(void** state) {
  (void)state;
  struct sw_forced forced = read_forced("NCCL_MIN_CTAS=4|NCCL_MIN_NCHANNELS=2|NCCL_MAX_CTAS=16|NCCL_MAX_NCHANNELS=8");
  assert_string_equal(forced.min_variable, "NCCL_MIN_CTAS");
  assert_string_equal(forced.max_variable, "NCCL_MAX_NCHANNELS");
  assert_null(forced.algo_text);
  assert_string_equal(read_forced("NCCL_ALGO=RiNg").algo_text, "RiNg");
  assert_string_equal(read_forced("NCCL_PROTO=bad").proto_text, "bad");
}

static void forced_errors(void** state) {
  (void)state;
  static const struct {
    const char* settings;
    const char* variable;
    size_t column;
    const char* text;
  } cases[] = {
      {"NCCL_ALGO=rign", "NCCL_ALGO", 1, "unknown algorithm \"rign\"; did you mean \"ring\"?"},
      {"NCCL_ALGO=ring,tre", "NCCL_ALGO", 6, "unknown algorithm \"tre\"; did you mean \"tree\"?"},
      {"NCCL_ALGO=ring, tree", "NCCL_ALGO", 6, "unknown algorithm \" tree\"; did you mean \"tree\"?"},
      {"NCCL_ALGO=allreduc:tree", "NCCL_ALGO", 1, "unknown collective \"allreduc\"; did you mean \"allreduce\"?"},
      {"NCCL_ALGO=allreduce:tree;xyz:ring", "NCCL_ALGO", 16, "unknown collective \"xyz\""},
      {"NCCL_ALGO=ring;tree", "NCCL_ALGO", 6, "only the first group may lack \"collective:\""},
      {"NCCL_ALGO=allreduce:ring;", "NCCL_ALGO", 16, "only the first group may lack \"collective:\""},
      {"NCCL_ALGO=allreduce:", "NCCL_ALGO", 11, "algorithm missing"},
      {"NCCL_ALGO=:ring", "NCCL_ALGO", 1, "a collective is missing before \":\""},
      {"NCCL_ALGO=ring,,tree", "NCCL_ALGO", 6, "algorithm missing"},
      {"NCCL_ALGO=ring,^tree", "NCCL_ALGO", 6, "\"^\" belongs before the first name of a group"},
      {"NCCL_ALGO=allreduce:tree:ring", "NCCL_ALGO", 11, "unknown algorithm \"tree:ring\""},
      {"NCCL_PROTO=^", "NCCL_PROTO", 2, "protocol missing"},
      {"NCCL_PROTO=LL;allreduce:LL12", "NCCL_PROTO", 14, "unknown protocol \"LL12\"; did you mean \"ll128\"?"},
      {"NCCL_PROTO=\x1b[31m\xc3\xa9", "NCCL_PROTO", 1, "unknown protocol \"?[31m??\""},
      {"NCCL_ALGO=0123456789012345678901234567890123456789", "NCCL_ALGO", 1,
       "unknown algorithm \"01234567890123456789012345678901...\""},
      {"NCCL_MIN_NCHANNELS=8x", "NCCL_MIN_NCHANNELS", 2, "not a number of channels"},
      {"NCCL_MAX_CTAS=-1", "NCCL_MAX_CTAS", 1, "not a number of channels"},
      {"NCCL_MAX_CTAS=99999999999999999999", "NCCL_MAX_CTAS", 21, "not a number of channels"},
      {"NCCL_PROTO=l|NCCL_ALGO=ringg", "NCCL_ALGO", 1, "unknown algorithm \"ringg\"; did you mean \"ring\"?"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    assert_forced(cases[i].settings, "", "");
    struct sw_forced forced = read_forced(cases[i].settings);
    if (!forced.error.variable) fail_msg("%s: no error", cases[i].settings);
    assert_string_equal(forced.error.text, cases[i].text);
    assert_string_equal(forced.error.variable, cases[i].variable);
    if (forced.error.column != cases[i].column) fail_msg("%s: column %zu", cases[i].settings, forced.error.column);
    assert_int_equal(forced.min_channels + forced.max_channels, 0);
  }
  assert_forced("NCCL_ALGO=rign|NCCL_PROTO=LL|NCCL_MAX_CTAS=x", "", "*=ll"); /* one wrong variable leaves the others */
}

static void forced_answers(void** state) {
  (void)state;
  static const struct {
    const char* settings;
    int collective, algo, proto;
    bool allowed;
  } cases[] = {
      {"", NCCL_ALLREDUCE, NCCL_ALGO_TREE, NCCL_PROTO_LL128, true},
      {"", NCCL_ALLREDUCE, 9, 5, true},
      {"NCCL_ALGO=allreduce:tree", NCCL_ALLREDUCE, NCCL_ALGO_TREE, -1, true},
      {"NCCL_ALGO=allreduce:tree", NCCL_ALLREDUCE, NCCL_ALGO_RING, -1, false},
      {"NCCL_ALGO=allreduce:tree", NCCL_BROADCAST, NCCL_ALGO_RING, NCCL_PROTO_LL, true},
      {"NCCL_ALGO=allreduce:tree", NCCL_ALLREDUCE, -1, -1, true},
      {"NCCL_ALGO=^tree", NCCL_ALLREDUCE, NCCL_NUM_ALGORITHMS, -1, false},
      {"NCCL_PROTO=^LL128", NCCL_ALLGATHER, -1, NCCL_PROTO_LL128, false},
      {"NCCL_PROTO=^LL128", NCCL_ALLGATHER, NCCL_ALGO_RING, NCCL_PROTO_LL, true},
      {"NCCL_PROTO=^LL,LL128,Simple", NCCL_ALLREDUCE, NCCL_ALGO_RING, -1, false},
      {"NCCL_ALGO=ring|NCCL_PROTO=LL", NCCL_ALLREDUCE, NCCL_ALGO_RING, NCCL_PROTO_SIMPLE, false},
      {"NCCL_ALGO=ring", NCCL_NUM_COLLECTIVES, NCCL_ALGO_TREE, -1, true},
      {"NCCL_ALGO=ring", -1, NCCL_ALGO_TREE, -1, true},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct sw_forced forced = read_forced(cases[i].settings);
    if (sw_forced_allows(&forced, cases[i].collective, cases[i].algo, cases[i].proto) != cases[i].allowed)
      fail_msg("case %zu: %s", i, cases[i].settings);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forced_forms),
      cmocka_unit_test(forced_names),
      cmocka_unit_test(forced_errors),
      cmocka_unit_test(forced_answers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
