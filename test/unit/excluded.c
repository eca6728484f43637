/* What a calibration adds to a time: what ran, what it took in memory, and why a choice must not be used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "decide/plan.h"
#include "decide/segments.h"

#define HEAD                                                                 \
  "sizewise: 1\nname: n\nprovenance: {kind: measured, source: s}\ntables:\n" \
  "  - collective: allreduce\n    nodes: 1\n    ranks: 2\n    points:\n"

/* Reads, and compares the canonical spelling of the times with what is expected. */
static void reads_as(const char* times, const char* expected) {
  struct sw_text yaml = SW_TEXT_EMPTY;
  struct sw_text written = SW_TEXT_EMPTY;
  static struct sw_diags diags;
  sw_text_printf(&yaml, HEAD "      - bytes: 1KiB\n        times:\n%s", times);
  sw_diags_start(&diags, "p.yaml");
  struct sw_profile* profile = sw_profile_read(yaml.data, yaml.length, &diags);
  if (profile) {
    sw_profile_write(profile, &written);
    assert_non_null(strstr(written.data, expected));
  } else {
    sw_add_diag(&written, &diags, &diags.items[0]);
    assert_string_equal(sw_text_string(&written), expected);
  }
  sw_profile_free(profile);
  sw_text_free(&yaml);
  sw_text_free(&written);
}

#define AUTO "          - {choice: auto, median: 10us}\n"

static void spelling(void** state) {
  (void)state;
  reads_as(
      "          - {choice: auto, median: 10us, ran: {algo: RING, proto: Simple, channels: 8, estimate: 0.25ms}}\n",
      "{choice: auto, median: 10us, ran: {algo: ring, proto: simple, channels: 8, estimate: 250us}}");
  reads_as(AUTO "          - {algo: tree, median: 9us, memory: 12MiB, excluded: 'wrong data: element 5'}\n",
           "{algo: tree, median: 9us, memory: 12MiB, excluded: \"wrong data: element 5\"}");
  reads_as(AUTO "          - {algo: tree, excluded: hang}\n", "{algo: tree, excluded: \"hang\"}");
  reads_as(AUTO "          - {algo: tree}\n", "p.yaml:12:13: error: key 'median' is missing in this time [SW-203]");
  reads_as("          - {choice: auto, median: 10us, excluded: slow}\n",
           "p.yaml:11:13: error: auto cannot be excluded: it is what NCCL does by itself [SW-210]");
  reads_as("          - {choice: auto, median: 10us, ran: {algo: ring, channels: 8}}\n",
           "p.yaml:11:47: error: key 'proto' is missing in this ran [SW-203]");
}

static struct sw_profile* profile;

static struct sw_plan* compile(const char* points) {
  struct sw_text yaml = SW_TEXT_EMPTY;
  static struct sw_diags diags;
  sw_text_printf(&yaml, HEAD "%s", points);
  sw_diags_start(&diags, "p.yaml");
  profile = sw_profile_read(yaml.data, yaml.length, &diags);
  assert_non_null(profile);
  sw_text_free(&yaml);
  return sw_plan_compile(profile, 1, 2);
}

static void is_won_by(const struct sw_plan* plan, uint64_t bytes, int algo, int proto, const char* reason) {
  struct sw_segment at = sw_segment_at(&plan->pieces[NCCL_ALLREDUCE], bytes);
  struct sw_text text = SW_TEXT_EMPTY;
  assert_int_equal(at.choice.algo, algo);
  assert_int_equal(at.choice.proto, proto);
  sw_add_reason(&text, &profile->policy, &at);
  assert_string_equal(sw_text_string(&text), reason);
  sw_text_free(&text);
}

static void finish(struct sw_plan* plan) {
  sw_plan_free(plan);
  sw_profile_free(profile);
}

/* tree + ll takes half of auto's time and is excluded: the next one wins, or auto where there is none. */
static void never_wins(void** state) {
  (void)state;
  struct sw_plan* plan = compile(
      "      - bytes: 1KiB\n        times: [{choice: auto, median: 10us}, {algo: tree, proto: ll, median: 5us, "
      "excluded: "
      "wrong data}, {algo: ring, proto: ll, median: 8us}]\n"
      "      - bytes: 1MiB\n        times: [{choice: auto, median: 10us}, {algo: tree, proto: ll, median: 5us, "
      "excluded: "
      "wrong data}]\n");
  is_won_by(plan, 1024, NCCL_ALGO_RING, NCCL_PROTO_LL, "measured at 1 KiB");
  is_won_by(plan, 1 << 20, -1, -1, "at 1 MiB, tree + ll: gain 50%, but excluded: wrong data");
  finish(plan);
}

/* Excluded at one end of a space, a choice does not win between the ends either, timed there or not. */
static void nor_between(void** state) {
  (void)state;
  struct sw_plan* plan = compile(
      "      - bytes: 64KiB\n        times: [{choice: auto, median: 10us}, {algo: tree, proto: ll, median: 5us}]\n"
      "      - bytes: 256KiB\n        times: [{choice: auto, median: 10us}, {algo: tree, proto: ll, median: 5us, "
      "excluded: "
      "hang}]\n"
      "      - bytes: 1MiB\n        times: [{choice: auto, median: 10us}, {algo: tree, proto: ll, excluded: hang}]\n"
      "      - bytes: 4MiB\n        times: [{choice: auto, median: 10us}, {algo: tree, proto: ll, median: 5us}]\n");
  is_won_by(plan, 64 << 10, NCCL_ALGO_TREE, NCCL_PROTO_LL, "measured at 64 KiB");
  is_won_by(plan, 128 << 10, -1, -1, "between 64 KiB and 256 KiB, tree + ll: gain 50%, but excluded: hang");
  is_won_by(plan, 256 << 10, -1, -1, "at 256 KiB, tree + ll: gain 50%, but excluded: hang");
  is_won_by(plan, 512 << 10, -1, -1, "between 256 KiB and 1 MiB, no choice but auto was measured");
  is_won_by(plan, 1 << 20, -1, -1, "at 1 MiB, no choice but auto was measured");
  is_won_by(plan, 4 << 20, NCCL_ALGO_TREE, NCCL_PROTO_LL, "measured at 4 MiB");
  finish(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(spelling), cmocka_unit_test(never_wins),
                                     cmocka_unit_test(nor_between)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
