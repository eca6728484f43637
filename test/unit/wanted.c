/* bench/calibrate/wanted: what --collective, --sizes and --ranks ask for, and what they refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/wanted.h"
#include "ground/names.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])
#define LIST_WANTED "a range such as 1KiB..128MiB, or up to 48 sizes: 12KiB,6MiB"
#define RANGE_WANTED "a range such as 1KiB..128MiB, or a list such as 12KiB,6MiB"
#define COLLECTIVES_WANTED "allreduce, allgather, reducescatter, broadcast, reduce, separated by commas"

static struct calibrate_arguments plain(void) {
  return (struct calibrate_arguments){
      .budget = 90, .min_gain = 0.03, .sizes = "12KiB", .collectives = "allreduce", .ranks = ""};
}

static void add_plan(const struct study_plan* plan, struct sw_text* text) {
  for (size_t i = 0; i < plan->collective_count; i++)
    sw_text_printf(text, "%s ", sw_value_word(&sw_collectives, plan->collectives[i]));
  for (size_t i = 0; i < plan->size_count; i++) {
    sw_text_add(text, i ? "," : "");
    sw_add_size(text, plan->sizes[i]);
  }
  for (size_t i = 0; i < plan->group_count; i++) sw_text_printf(text, " %u", plan->groups[i]);
  if (plan->refine) sw_text_add(text, " and between");
}

/* The plan of eight ranks in words, or the fault. */
static void assert_wanted(const struct calibrate_arguments* arguments, const char* words) {
  static struct study_plan plan;
  struct sw_text text = SW_TEXT_EMPTY;
  plan = (struct study_plan){.collective_count = 0};
  if (wanted_read(arguments, 8, &plan, &text)) {
    assert_int_equal(text.length, 0);
    add_plan(&plan, &text);
  }
  assert_string_equal(sw_text_string(&text), words);
  sw_text_free(&text);
}

static void sizes(void** state) {
  (void)state;
  static const struct {
    const char* sizes;
    const char* words;
  } cases[] = {
      {"12KiB", "allreduce 12KiB 8"},
      {"6MiB,12KiB,1", "allreduce 1,12KiB,6MiB 8"},
      {"12K,12288,12KiB", "allreduce 12KiB 8"}, /* each once */
      {"12KiB..96MiB", "allreduce 12KiB,48KiB,192KiB,768KiB,3MiB,12MiB,48MiB,96MiB 8 and between"},
      {"1KiB..1KiB", "allreduce 1KiB 8 and between"},
      {"1KiB..4KiB", "allreduce 1KiB,4KiB 8 and between"},
      {"1KiB..4097", "allreduce 1KiB,4KiB,4097 8 and between"},
      {"1..2", "allreduce 1,2 8 and between"},
      {"", "--sizes: '': it takes " LIST_WANTED},
      {",", "--sizes: ',': it takes " LIST_WANTED},
      {"12KiB,,6MiB", "--sizes: '12KiB,,6MiB': it takes " LIST_WANTED},
      {"12KiB,", "--sizes: '12KiB,': it takes " LIST_WANTED},
      {"0", "--sizes: '0': it takes " LIST_WANTED},
      {"12KB", "--sizes: '12KB': it takes " LIST_WANTED
               "; KB, MB and GB mean 1000 to some and 1024 to others: write KiB, MiB, GiB"},
      {"12KiB 6MiB", "--sizes: '12KiB 6MiB': it takes " LIST_WANTED},
      {"-1", "--sizes: '-1': it takes " LIST_WANTED},
      {"99999999999999999999", "--sizes: '99999999999999999999': it takes " LIST_WANTED},
      {"0..1KiB", "--sizes: '0..1KiB': it takes " RANGE_WANTED},
      {"2KiB..1KiB", "--sizes: '2KiB..1KiB': it takes " RANGE_WANTED},
      {"1KiB..", "--sizes: '1KiB..': it takes " RANGE_WANTED},
      {"..1KiB", "--sizes: '..1KiB': it takes " RANGE_WANTED},
      {"1KiB...2KiB", "--sizes: '1KiB...2KiB': it takes " RANGE_WANTED},
      {"1KiB..2KiB,4KiB", "--sizes: '1KiB..2KiB,4KiB': it takes " RANGE_WANTED},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct calibrate_arguments arguments = plain();
    arguments.sizes = cases[i].sizes;
    assert_wanted(&arguments, cases[i].words);
  }
}

/* 48 of a list; a range is never longer than half of that. */
static void many_sizes(void** state) {
  (void)state;
  static struct study_plan plan;
  struct calibrate_arguments arguments = plain();
  struct sw_text list = SW_TEXT_EMPTY;
  struct sw_text fault = SW_TEXT_EMPTY;
  for (unsigned i = 0; i < 48; i++) sw_text_printf(&list, "%s%u", i ? "," : "", 4096 - i);
  arguments.sizes = sw_text_string(&list);
  plan = (struct study_plan){.size_count = 0};
  assert_true(wanted_read(&arguments, 8, &plan, &fault));
  assert_int_equal(plan.size_count, 48);
  for (size_t i = 0; i < 48; i++) assert_int_equal(plan.sizes[i], 4096 - 47 + i);
  sw_text_add(&list, ",1");
  arguments.sizes = sw_text_string(&list);
  plan = (struct study_plan){.size_count = 0};
  assert_false(wanted_read(&arguments, 8, &plan, &fault));
  arguments.sizes = "1..1152921504606846976";
  plan = (struct study_plan){.size_count = 0};
  assert_true(wanted_read(&arguments, 8, &plan, &fault));
  assert_int_equal(plan.size_count, 31);
  assert_true(plan.sizes[30] == UINT64_C(1) << 60 && plan.sizes[29] == UINT64_C(1) << 58);
  sw_text_free(&list);
  sw_text_free(&fault);
}

static void collectives(void** state) {
  (void)state;
  static const struct {
    const char* collectives;
    const char* words;
  } cases[] = {
      {"allgather", "allgather 12KiB 8"},
      {"reduce,allreduce", "reduce allreduce 12KiB 8"},
      {"allreduce,allgather,reducescatter,broadcast,reduce",
       "allreduce allgather reducescatter broadcast reduce 12KiB 8"},
      {"allreduce,allreduce", "allreduce 12KiB 8"}, /* each once */
      {"", "--collective: '': it takes " COLLECTIVES_WANTED},
      {"allreduce,", "--collective: 'allreduce,': it takes " COLLECTIVES_WANTED},
      {"all", "--collective: 'all': it takes " COLLECTIVES_WANTED},
      {"allreduce allgather", "--collective: 'allreduce allgather': it takes " COLLECTIVES_WANTED},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct calibrate_arguments arguments = plain();
    arguments.collectives = cases[i].collectives;
    assert_wanted(&arguments, cases[i].words);
  }
}

static void ranks(void** state) {
  (void)state;
#define RANKS_WANTED "it takes sizes of communicators from 2 to 8, such as 2,4"
  static const struct {
    const char* ranks;
    const char* words;
  } cases[] = {
      {"", "allreduce 12KiB 8"},
      {"2,4", "allreduce 12KiB 8 2 4"},
      {"3", "allreduce 12KiB 8 3"},
      {"8", "allreduce 12KiB 8"},
      {"2,2", "allreduce 12KiB 8 2"}, /* each once */
      {"1", "--ranks: '1': " RANKS_WANTED},
      {"9", "--ranks: '9': " RANKS_WANTED},
      {"2,x", "--ranks: '2,x': " RANKS_WANTED},
      {"2,,4", "--ranks: '2,,4': " RANKS_WANTED},
      {"2.5", "--ranks: '2.5': " RANKS_WANTED},
      {"7,6,5,4,3,2", "allreduce 12KiB 8 7 6 5 4 3 2"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct calibrate_arguments arguments = plain();
    arguments.ranks = cases[i].ranks;
    assert_wanted(&arguments, cases[i].words);
  }
}

static void names(void** state) {
  (void)state;
#define NAME_WANTED "it takes letters, digits, '.', '_' and '-', 64 at most, a letter or digit first"
  static const struct {
    const char* name;
    const char* words;
  } cases[] = {
      {"gb10-roce-8x1", "allreduce 12KiB 8"},
      {"0_.A", "allreduce 12KiB 8"},
      {"a234567890123456789012345678901234567890123456789012345678901234", "allreduce 12KiB 8"},
      {"a2345678901234567890123456789012345678901234567890123456789012345",
       "--name: 'a2345678901234567890123456789012345678901234567890123456789012345': " NAME_WANTED},
      {"", "--name: '': " NAME_WANTED},
      {"a b", "--name: 'a b': " NAME_WANTED},
      {"-a", "--name: '-a': " NAME_WANTED},
      {"a\"", "--name: 'a\"': " NAME_WANTED},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct calibrate_arguments arguments = plain();
    arguments.name = cases[i].name;
    assert_wanted(&arguments, cases[i].words);
  }
}

/* What no profile can hold is not measured. */
static void min_gain(void** state) {
  (void)state;
  struct calibrate_arguments arguments = plain();
  arguments.min_gain = 0.99;
  assert_wanted(&arguments, "allreduce 12KiB 8");
  arguments.min_gain = 0.995;
  assert_wanted(&arguments, "--min-gain: '99.5%': it takes a share from 0% to 99%");
}

/* Two buffers, as each call needs. */
static void memory(void** state) {
  (void)state;
  static struct study_plan plan;
  struct sw_text left_out = SW_TEXT_EMPTY;
  plan = (struct study_plan){.sizes = {1024, 2048, 4096, 8192}, .size_count = 4};
  wanted_fit(&plan, 8192, &left_out);
  assert_int_equal(plan.size_count, 3);
  assert_string_equal(sw_text_string(&left_out), "8 KiB");
  sw_text_free(&left_out);
  wanted_fit(&plan, 4095, &left_out);
  assert_int_equal(plan.size_count, 1);
  assert_int_equal(plan.sizes[0], 1024);
  assert_string_equal(sw_text_string(&left_out), "2 KiB, 4 KiB");
  sw_text_free(&left_out);
}

static void numbers(void** state) {
  (void)state;
  static struct study_plan plan;
  struct calibrate_arguments arguments = plain();
  struct sw_text fault = SW_TEXT_EMPTY;
  plan = (struct study_plan){.size_count = 0};
  assert_true(wanted_read(&arguments, 8, &plan, &fault));
  assert_true(plan.budget_us == 90e6);
  assert_int_equal(plan.min_gain, 3 * SW_ONE / 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes),   cmocka_unit_test(many_sizes), cmocka_unit_test(collectives), cmocka_unit_test(ranks),
      cmocka_unit_test(numbers), cmocka_unit_test(names),      cmocka_unit_test(min_gain),    cmocka_unit_test(memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
