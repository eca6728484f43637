/* Which communicators and sizes of a profile are compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/verify.h"
#include "unit/decide.h"

#define START "sizewise: 1\nname: p\nprovenance: {kind: measured, source: s}\n"
#define SHAPE(ranks, sizes) "  - collective: allreduce\n    nodes: 1\n    ranks: " ranks "\n    points: [" sizes "]\n"
#define SIZE(bytes) "{bytes: " bytes ", times: [{choice: auto, median: 10us}]},"

/* "1024 1536* 2048": those that were not measured have a star. */
static void assert_sizes(const char* yaml, uint32_t ranks, const char* expected) {
  static struct verify_size sizes[VERIFY_MOST_SIZES];
  struct sw_profile* profile = read_profile(yaml);
  struct sw_text text = SW_TEXT_EMPTY;
  size_t count = verify_sizes(profile, NCCL_ALLREDUCE, 1, ranks, sizes);
  for (size_t i = 0; i < count; i++)
    sw_text_printf(&text, "%s%llu%s", i ? " " : "", (unsigned long long)sizes[i].verified.bytes,
                   sizes[i].measured ? "" : "*");
  assert_string_equal(sw_text_string(&text), expected);
  sw_text_free(&text);
  sw_profile_free(profile);
}

static void measured_sizes_and_those_between(void** state) {
  (void)state;
  assert_sizes(START "tables:\n" SHAPE("2", SIZE("1024") SIZE("2048") SIZE("8192")), 2, "1024 1536* 2048 5120* 8192");
  assert_sizes(START "tables:\n" SHAPE("2", SIZE("1024")), 2, "1024");
  assert_sizes(START "tables:\n" SHAPE("2", SIZE("1024")), 4, "");
}

/* Every rank has a part of it. */
static void sizes_split_evenly(void** state) {
  (void)state;
  assert_sizes(START "tables:\n" SHAPE("3", SIZE("1000") SIZE("2000")), 3, "996 1500* 1992");
  assert_sizes(START "tables:\n" SHAPE("2", SIZE("1")), 2, "8");
}

static void the_ends_of_rules(void** state) {
  (void)state;
  const char* rules = START
      "rules:\n  - {collective: allreduce, bytes: \"64KiB..1MiB\", channels: 4}\n"
      "  - {collective: allreduce, bytes: \"2MiB..\", ranks: 4, channels: 2}\n"
      "  - {collective: reduce, bytes: \"1KiB..2KiB\", channels: 2}\n";
  assert_sizes(rules, 2, "65536* 1048576*");
  assert_sizes(rules, 4, "65536* 1048576* 2097152* 1073741824*");
}

/* A size that was measured stays one, wherever a rule ends. */
static void each_size_once(void** state) {
  (void)state;
  assert_sizes(START "tables:\n" SHAPE(
                   "2", SIZE("1024") SIZE(
                            "65536")) "rules:\n  - {collective: allreduce, bytes: \"64KiB..64KiB\", channels: 4}\n",
               2, "1024 33280* 65536");
}

static void no_more_than_there_is_room_for(void** state) {
  (void)state;
  static struct verify_size sizes[VERIFY_MOST_SIZES];
  struct sw_text yaml = SW_TEXT_EMPTY;
  sw_text_add(&yaml, START "tables:\n  - collective: allreduce\n    nodes: 1\n    ranks: 2\n    points:\n");
  for (int i = 1; i <= 200; i++)
    sw_text_printf(&yaml, "      - {bytes: %d, times: [{choice: auto, median: 10us}]}\n", i * 1024);
  struct sw_profile* profile = read_profile(sw_text_string(&yaml));
  assert_int_equal(verify_sizes(profile, NCCL_ALLREDUCE, 1, 2, sizes), VERIFY_MOST_SIZES);
  for (size_t i = 0; i < VERIFY_MOST_SIZES; i++) assert_true(sizes[i].measured);
  sw_profile_free(profile);
  sw_text_free(&yaml);
}

static void assert_groups(const char* yaml, uint32_t ranks, const char* expected) {
  uint32_t groups[STUDY_MOST_GROUPS];
  struct sw_profile* profile = read_profile(yaml);
  struct sw_text text = SW_TEXT_EMPTY;
  size_t count = verify_groups(profile, ranks, groups);
  for (size_t i = 0; i < count; i++) sw_text_printf(&text, "%s%u", i ? " " : "", groups[i]);
  assert_string_equal(sw_text_string(&text), expected);
  sw_text_free(&text);
  sw_profile_free(profile);
}

static void groups_that_the_job_can_form(void** state) {
  (void)state;
  const char* tables = START "tables:\n" SHAPE("2", SIZE("1024")) SHAPE("8", SIZE("1024")) SHAPE("4", SIZE("1024"));
  assert_groups(tables, 8, "8 4 2");
  assert_groups(tables, 6, "4 2");
  assert_groups(START "tables:\n" SHAPE("8", SIZE("1024")), 4, "");
  assert_groups(START "rules:\n  - {collective: allreduce, bytes: \"64KiB..1MiB\", channels: 4}\n", 6, "6");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(measured_sizes_and_those_between),
      cmocka_unit_test(sizes_split_evenly),
      cmocka_unit_test(the_ends_of_rules),
      cmocka_unit_test(each_size_once),
      cmocka_unit_test(no_more_than_there_is_room_for),
      cmocka_unit_test(groups_that_the_job_can_form),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
