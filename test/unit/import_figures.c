/* bench/import/figures: what a printed row proves about its own units. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "import/figures.h"
#include "nccl_tuner.h"

static struct word word(const char* text) {
  return (struct word){text, strlen(text)};
}

static struct figure figure(const char* text) {
  struct figure out = {0};
  if (!figure_read(word(text), &out)) fail_msg("'%s' is a figure", text);
  return out;
}

static void assert_figure(const char* text, double value, double half) {
  assert_float_equal(figure(text).value, value, value * 1e-12);
  assert_float_equal(figure(text).half, half, half * 1e-9);
}

static void figures(void** state) {
  (void)state;
  struct figure out;
  assert_figure("25.47", 25.47, 0.005);
  assert_figure("1284.8", 1284.8, 0.05);
  assert_figure("16512", 16512, 0.5);
  assert_figure("1.2e+08", 1.2e8, 5e6);
  static const char* const none[] = {"", "N/A", "-1", ".5", "1.2.3", "12us", "nan", "inf", "1e", "0x10", "1,5"};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
    if (figure_read(word(none[i]), &out)) fail_msg("'%s' is no figure", none[i]);
}

/* The published rows of eight GPUs at 1 MiB, and of two GB10 at 1 GiB: 39.46 GB/s, of which the bus sees half. */
static void good_rows(void** state) {
  (void)state;
  double factor = busbw_factor(NCCL_ALLREDUCE, 8);
  assert_float_equal(factor, 1.75, 0);
  assert_true(bandwidth_fits(1048576, figure("74.74"), 1, figure("14.03")));
  assert_true(bandwidth_fits(1048576, figure("74.74"), factor, figure("24.55")));
  assert_float_equal(busbw_factor(NCCL_ALLGATHER, 2), 0.5, 0);
  assert_float_equal(busbw_factor(NCCL_REDUCESCATTER, 4), 0.75, 0);
  assert_float_equal(busbw_factor(NCCL_BROADCAST, 4), 1, 0);
  assert_float_equal(busbw_factor(NCCL_REDUCE, 4), 1, 0);
  assert_true(bandwidth_fits(1073741824, figure("27211.0"), 1, figure("39.46")));
  assert_true(bandwidth_fits(1073741824, figure("27211.0"), 0.5, figure("19.73")));
}

/* 0.00 GB/s fits whatever is small enough: it proves nothing, and is no mismatch. */
static void small_rows(void** state) {
  (void)state;
  assert_true(bandwidth_fits(8, figure("25.47"), 1, figure("0.00")));
  assert_true(bandwidth_fits(2, figure("25.47"), 1, figure("0.00")));
  assert_int_equal(element_bytes(1024, figure("25.47"), figure("1.00")), 0);
}

static void assert_element(uint64_t bytes, unsigned expected) {
  assert_int_equal(element_bytes(bytes, figure("74.74"), figure("14.03")), expected);
  assert_int_equal(bandwidth_fits(bytes, figure("74.74"), 1, figure("14.03")), expected == 1);
}

static void element_counts(void** state) {
  (void)state;
  assert_element(1048576 / 2, 2);
  assert_element(1048576 / 4, 4);
  assert_element(1048576 / 8, 8);
  assert_element(1048576 / 3, 0);
  assert_element(1048576 * 2, 0);
}

/* Just inside and just outside of what rounding allows: 74.735 to 74.745 us are 14.0287 to 14.0306 GB/s. */
static void rounding(void** state) {
  (void)state;
  assert_false(bandwidth_fits(1048576, figure("74.74"), 1, figure("14.04")));
  assert_true(bandwidth_fits(1048576, figure("74.74"), 1, figure("14.03")));
  assert_false(bandwidth_fits(1048576, figure("74.74"), 1, figure("14.02")));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(figures),        cmocka_unit_test(good_rows), cmocka_unit_test(small_rows),
      cmocka_unit_test(element_counts), cmocka_unit_test(rounding),
  };
  return cmocka_run_group_tests_name("import_figures", tests, NULL, NULL);
}
