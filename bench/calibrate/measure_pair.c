#include "calibrate/measure.h"
#include "calibrate/statistics.h"

static struct race_result result_of(const float* us, size_t rounds, size_t offset) {
  double values[MEASURE_MOST_PAIR_ROUNDS];
  for (size_t i = 0; i < rounds; i++) values[i] = (double)us[2 * i + offset];
  struct middle middle = middle_of(values, rounds, OUTSIDE_95);
  return (struct race_result){.samples = rounds,
                              .median_us = middle.median,
                              .low_us = middle.low,
                              .high_us = middle.high,
                              .spread = middle.sure ? (middle.high - middle.low) / 2 / middle.median : -1};
}

bool measure_pair(struct crew* crew, const struct fabric_call* call, struct sw_choice choice, size_t rounds,
                  struct measured_pair* out) {
  struct sw_choice choices[] = {SW_AUTO, choice};
  float us[2 * MEASURE_MOST_PAIR_ROUNDS];
  double ratios[MEASURE_MOST_PAIR_ROUNDS];
  if (rounds > MEASURE_MOST_PAIR_ROUNDS) rounds = MEASURE_MOST_PAIR_ROUNDS;
  if (!crew_prepare(crew, call, choices, 2)) return false;
  for (size_t done = 0, more; done < rounds; done += more) {
    more = rounds - done < 60 ? rounds - done : 60;
    if (!crew_rounds(crew, more, us + 2 * done)) return false;
  }
  for (size_t i = 0; i < rounds; i++) ratios[i] = (double)us[2 * i + 1] / (double)us[2 * i];
  struct middle ratio = middle_of(ratios, rounds, OUTSIDE_95);
  out->own = result_of(us, rounds, 0);
  out->other = result_of(us, rounds, 1);
  out->gain = 1 - ratio.median;
  out->low = 1 - ratio.high;
  out->high = 1 - ratio.low;
  return true;
}
