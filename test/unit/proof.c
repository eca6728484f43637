/* What each rank states of a profile, and how one that differs is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/proof.h"
#include "unit/decide.h"

/* A profile with one rule. */
#define RULE(bytes, channels)                                               \
  "sizewise: 1\nname: p\nprovenance: {kind: measured, source: s}\nrules:\n" \
  "  - {collective: allreduce, bytes: \"" bytes "\", nodes: 1, ranks: 2, channels: " channels "}\n"

static struct rank_proof proof_of(const char* text) {
  struct rank_proof proof;
  proof_make(text, 1, 2, NULL, &proof);
  return proof;
}

static void equal_texts_give_equal_proofs(void** state) {
  (void)state;
  struct rank_proof a = proof_of(RULE("64KiB..1MiB", "4"));
  struct rank_proof b = proof_of(RULE("64KiB..1MiB", "4"));
  assert_int_equal(strlen(a.given), SW_DIGEST_LENGTH);
  assert_memory_equal(&a, &b, sizeof a);
}

static void the_digest_is_the_profiles(void** state) {
  (void)state;
  struct sw_profile* profile = read_profile(RULE("64KiB..1MiB", "4"));
  struct sw_digest digest;
  assert_true(sw_digest_compute(profile, &digest));
  assert_string_equal(proof_of(RULE("64KiB..1MiB", "4")).given, digest.hex);
  sw_profile_free(profile);
}

/* Every byte of a range's ends counts, and every choice. */
static void other_decisions_have_other_hashes(void** state) {
  (void)state;
  uint64_t hash = proof_of(RULE("64KiB..1MiB", "4")).decisions;
  assert_int_not_equal(hash, proof_of(RULE("64KiB..1MiB", "2")).decisions);
  assert_int_not_equal(hash, proof_of(RULE("64KiB..1048577", "4")).decisions);
  assert_int_not_equal(hash, proof_of(RULE("65537..1MiB", "4")).decisions);
  assert_int_not_equal(hash, proof_of(RULE("64KiB..", "4")).decisions);
}

/* What holds for another shape is no decision here. */
static void the_shape_counts(void** state) {
  (void)state;
  struct rank_proof here;
  struct rank_proof elsewhere;
  proof_make(RULE("64KiB..1MiB", "4"), 1, 2, NULL, &here);
  proof_make(RULE("64KiB..1MiB", "4"), 2, 2, NULL, &elsewhere);
  assert_string_equal(here.given, elsewhere.given);
  assert_int_not_equal(here.decisions, elsewhere.decisions);
}

static void what_does_not_read_has_no_digest(void** state) {
  (void)state;
  assert_string_equal(proof_of("sizewise: 2\n").given, "");
  assert_string_equal(proof_of(NULL).given, "");
}

static void judged(void** state) {
  (void)state;
  struct rank_proof good;
  proof_make(RULE("64KiB..1MiB", "4"), 1, 2, NULL, &good);
  char digest[sizeof good.own];
  memcpy(digest, good.given, sizeof digest);
  assert_int_equal(proof_judge(&good, digest, good.decisions), PROOF_NO_FILE);
  memcpy(good.own, digest, sizeof digest);
  assert_int_equal(proof_judge(&good, digest, good.decisions), PROOF_GOOD);
  assert_int_equal(proof_judge(&good, digest, good.decisions + 1), PROOF_OTHER_DECISIONS);
  struct rank_proof bad = good;
  bad.own[0] = bad.own[0] == '0' ? '1' : '0';
  assert_int_equal(proof_judge(&bad, digest, good.decisions), PROOF_OTHER_FILE);
  bad.given[0] = bad.own[0];
  assert_int_equal(proof_judge(&bad, digest, good.decisions), PROOF_OTHER_DIGEST);
  bad.given[0] = '\0';
  assert_int_equal(proof_judge(&bad, digest, good.decisions), PROOF_UNREADABLE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_texts_give_equal_proofs),     cmocka_unit_test(the_digest_is_the_profiles),
      cmocka_unit_test(other_decisions_have_other_hashes), cmocka_unit_test(the_shape_counts),
      cmocka_unit_test(what_does_not_read_has_no_digest),  cmocka_unit_test(judged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
