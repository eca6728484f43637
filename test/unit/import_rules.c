/* bench/import/rules: rules in the column order of NCCL's example tuner. Those of the fixtures:
 * test/golden/cli/import.txt. */
#include "unit/import_gather.h"

static void assert_rules(const char* expected) {
  static struct sw_diags diags;
  struct sw_text text = SW_TEXT_EMPTY;
  wanted.kind = SW_KIND_PUBLISHED;
  assert_true(compose_profile(&gathered, &wanted, &diags, &text));
  assert_string_equal(strstr(text.data, "rules:\n"), expected);
  sw_text_free(&text);
}

/* The names that this tuner writes with underscores; -1 everywhere; both ends inclusive; no end. */
static void good(void** state) {
  (void)state;
  gather_text(
      "# a comment, with commas, and a tail\n\n"
      "allreduce,7,4294967296,nvls_tree,simple,64,2,16,-1\n"
      "allreduce,0,4294967295,collnet_direct,simple,-1,-1,-1\r\n"
      "allgather,5,5,pat,simple,1,-1,8,-1,-1");
  assert_findings("");
  assert_rules(
      "rules:\n"
      "  - {collective: allreduce, bytes: \"7..4GiB\", nodes: 2, ranks: 16, algo: nvlstree, proto: simple, "
      "channels: 64}\n"
      "  - {collective: allreduce, algo: collnetdirect, proto: simple}\n"
      "  - {collective: allgather, bytes: \"5\", ranks: 8, algo: pat, proto: simple, channels: 1}\n");
}

static void bad(void** state) {
  (void)state;
  gather_text(
      "reduce,0,1,ring,ll,0,1,2\n"
      "reduce,-1,1,ring,ll,2,1,2\n"
      "reduce,0,1,ring,ll,2,3,2\n"
      "reduce,0,1,ring,ll,2,1,2,4\n"
      "reduce,0,1,ring,ll,2,1,2,-1,1,9\n"
      "reduce,0,1,ring,xyzzy,2,1,2\n"
      "reduce,0,1152921504606846977,ring,ll,2,1,2\n"
      ",0,1,ring,ll,2,1,2\n");
  assert_findings(
      "FILE:1:20: error: channels 0 is neither 1 to 64 nor -1 (left to NCCL) [SW-207]\n"
      "FILE:2:8: error: min_bytes '-1' is no whole number [SW-707]\n"
      "FILE:3:24: error: 3 nodes cannot hold 2 ranks [SW-207]\n"
      "FILE:4:26: error: a rule for pipe_ops 4 alone cannot be kept: merged operations are left to NCCL; write -1, or "
      "drop "
      "the rule [SW-708]\n"
      "FILE:5:31: error: more than the 10 fields that a rule can have [SW-706]\n"
      "FILE:6:17: error: unknown protocol 'xyzzy' [SW-205]\n"
      "FILE:7:10: error: max_bytes is more than 1 EiB; write 4294967295 for no end [SW-207]\n"
      "FILE:8:1: error: field 1 (collective) is empty [SW-706]\n");
  assert_int_equal(gathered.rules.list.count, 0);
}

/* Each kind of spelling once a file. */
static void warnings(void** state) {
  (void)state;
  gather_text(
      "reduce, 0 ,9,RING,ll,2,-1,-1,-1,0\n"
      " Reduce,1,8,ring, LL,2,1,2,-1,1\n"
      "reduce,1,10,ring,nvls,2,1,2\n");
  assert_findings(
      "FILE:1:9: warning: blanks around fields are passed over [SW-723]\n"
      "FILE:1:14: warning: upper case is read as lower case; NCCL's example tuner takes such a word for its default "
      "[SW-723]\n"
      "FILE:1:33: warning: reg_buff is ignored: it can differ between ranks, so nothing may depend on it; the rule "
      "holds for "
      "both [SW-724]\n"
      "FILE:2:2: warning: the rule of line 1 holds wherever this one does, and the first that fits counts; this one is "
      "never "
      "used [SW-725]\n"
      "FILE:3:18: error: unknown protocol 'nvls' [SW-205]\n");
}

static void nothing(void** state) {
  (void)state;
  gather_text("# allreduce,0,1,ring,ll,2,1,2\n");
  assert_findings(
      "FILE: error: neither nccl-tests output, nor rules of NCCL's example tuner, nor a log with NCCL's TUNING "
      "lines [SW-701]\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(good, begin, end),
      cmocka_unit_test_setup_teardown(bad, begin, end),
      cmocka_unit_test_setup_teardown(warnings, begin, end),
      cmocka_unit_test_setup_teardown(nothing, begin, end),
  };
  return cmocka_run_group_tests_name("import_rules", tests, NULL, NULL);
}
