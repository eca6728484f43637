/* policy.max_extra_memory: a choice whose connections take more device memory than that cannot win. */
#include "decide/digest.h"
#include "decide/segments.h"
#include "unit/decide.h"

#define HEAVY(choice, median, memory) "{" choice ", median: " median ", memory: " memory "},"
#define RAN(choice, median, algo) \
  "{" choice ", median: " median ", memory: 2GiB, ran: {algo: " algo ", proto: ll, channels: 2}},"
#define LIMIT POLICY("max_extra_memory: 1GiB")

/* A takes 1 GiB and a byte, and is fastest; B takes none. */
#define OVER(bytes) POINT(bytes, AUTO("100us") HEAVY(A, "40us", "1073741825") TIME(B, "50us"))
#define AT(bytes) POINT(bytes, AUTO("100us") HEAVY(A, "40us", "1GiB") TIME(B, "50us"))

static void limits(void** state) {
  (void)state;
  static const struct decide_case cases[] = {
      {"no limit", HEAD TABLES(TABLE(OVER("1MiB"))), "auto, 524288: 2 channels, 2097153: auto"},
      {"over the limit", HEAD LIMIT TABLES(TABLE(OVER("1MiB"))), "auto, 524288: 8 channels, 2097153: auto"},
      {"at the limit", HEAD LIMIT TABLES(TABLE(AT("1MiB"))), "auto, 524288: 2 channels, 2097153: auto"},
      {"no memory at all", HEAD POLICY("max_extra_memory: 0") TABLES(TABLE(AT("1MiB"))),
       "auto, 524288: 8 channels, 2097153: auto"},
      {"between two sizes the larger need counts", HEAD LIMIT TABLES(TABLE(AT("1MiB") OVER("4MiB"))),
       "auto, 524288: 2 channels, 1048577: 8 channels, 8388609: auto"},
      {"auto is never too large",
       HEAD LIMIT TABLES(TABLE(POINT("1MiB", "{choice: auto, median: 100us, memory: 4GiB}," TIME(B, "50us")))),
       "auto, 524288: 8 channels, 2097153: auto"},
      {"what auto runs is connected anyway",
       HEAD LIMIT TABLES(
           TABLE(POINT("1MiB", RAN("choice: auto", "100us", "tree") RAN(A, "40us", "tree") RAN(B, "50us", "ring")))),
       "auto, 524288: 2 channels, 2097153: auto"},
      {"what auto does not run is not",
       HEAD LIMIT TABLES(
           TABLE(POINT("1MiB", RAN("choice: auto", "100us", "ring") RAN(A, "40us", "tree") TIME(B, "50us")))),
       "auto, 524288: 8 channels, 2097153: auto"},
      {"between two sizes auto has to run it at both",
       HEAD LIMIT TABLES(TABLE(POINT("1MiB", RAN("choice: auto", "100us", "tree") RAN(A, "40us", "tree"))
                                   POINT("4MiB", RAN("choice: auto", "100us", "ring") RAN(A, "40us", "tree")))),
       "auto, 524288: 2 channels, 1048577: auto"},
      {"a rule is the user's word", HEAD LIMIT TABLES(TABLE(OVER("1MiB"))) RULES("{collective: allreduce, " A "}"),
       "2 channels"},
  };
  assert_cases(cases, COUNT(cases), add_winner);
}

static void reason(void** state) {
  (void)state;
  struct sw_profile* profile =
      read_profile(HEAD LIMIT TABLES(TABLE(POINT("1MiB", AUTO("100us") HEAVY(A, "40us", "1536MiB")))));
  struct sw_arena arena = SW_ARENA_EMPTY;
  struct sw_pieces pieces = compile_pieces(&arena, profile, NCCL_ALLREDUCE, 2, 2);
  struct sw_segment at = sw_segment_at(&pieces, 1 << 20);
  struct sw_text text = SW_TEXT_EMPTY;
  sw_add_reason(&text, &profile->policy, &at);
  assert_string_equal(sw_text_string(&text),
                      "at 1 MiB, 2 channels: gain 60%, but its connections take 1536 MiB, more than max_extra_memory "
                      "1 GiB");
  sw_text_free(&text);
  sw_arena_free(&arena);
  sw_profile_free(profile);
}

/* A profile without the key keeps the digest that it had; the key shows in it even where it changes no decision. */
static void digests(void** state) {
  (void)state;
  static const char* const policies[] = {"", LIMIT, POLICY("max_extra_memory: 2GiB")};
  struct sw_digest digests[COUNT(policies)];
  for (size_t i = 0; i < COUNT(policies); i++) {
    struct sw_text yaml = SW_TEXT_EMPTY;
    sw_text_printf(&yaml, "%s%s%s", HEAD, policies[i], TABLES(TABLE(BOTH("1MiB"))));
    struct sw_profile* profile = read_profile(sw_text_string(&yaml));
    assert_true(sw_digest_compute(profile, &digests[i]));
    sw_profile_free(profile);
    sw_text_free(&yaml);
  }
  assert_string_not_equal(digests[0].hex, digests[1].hex);
  assert_string_not_equal(digests[1].hex, digests[2].hex);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limits),
      cmocka_unit_test(reason),
      cmocka_unit_test(digests),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
