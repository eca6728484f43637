/* bench/calibrate/progress: the share that is done, and the time that is left. */
#include "calibrate/progress.h"

#include <math.h>

#include "unit/decide.h"

static bool near(double a, double b) {
  return fabs(a - b) < 1e-9;
}

static void outlooks(void** state) {
  (void)state;
  static const struct {
    size_t total, done;
    double started_us, size_us, now_us, budget_us; /* size_us: when the last size was done */
    double share, left_us;
  } cases[] = {
      {10, 0, 0, 0, 30, 300, 0.1, 270}, /* nothing is known but the budget */
      {10, 0, 0, 0, 30, 0, 0, -1},      /* nor that */
      {10, 2, 0, 40, 40, 0, 0.2, 160},  /* 20 each */
      {10, 2, 0, 40, 50, 0, 0.25, 150}, /* half of the next one is behind */
      {10, 2, 0, 40, 400, 0, 1, 0},     /* it takes longer than the others */
      {10, 2, 0, 40, 40, 100, 0.4, 60}, /* the budget ends it first */
      {10, 2, 0, 40, 120, 100, 1, 0},   /* it is spent */
      {10, 5, 100, 200, 200, 1000, 0.5, 100},
      {4, 6, 0, 60, 60, 0, 1, 0}, /* sizes in between were added */
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct progress progress = {
        .total = cases[i].total, .done = cases[i].done, .started_us = cases[i].started_us, .size_us = cases[i].size_us};
    struct outlook outlook = progress_outlook(&progress, cases[i].now_us, cases[i].budget_us);
    if (!near(outlook.share, cases[i].share) || !near(outlook.left_us, cases[i].left_us))
      fail_msg("case %zu: %g done, %g left", i, outlook.share, outlook.left_us);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(outlooks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
