#include "fabric/sim_curve.h"

#include "decide/log2.h"

/* Of no machine in particular: 20 us and 20 GB/s on one node, 40 us and 5 GB/s over several. */
static const struct sim_plain plain[2] = {{20, 20000}, {40, 5000}};

/* Times that curves are kept within, so that a steep slope far outside its sizes is still a time: 1 ns to 12 days. */
enum { LEAST_LOG2_US = -10, MOST_LOG2_US = 40 };

struct knot {
  double bytes;
  double us;
};

/* The logarithm of 0 bytes is not wanted; a call of 0 bytes is as good as one of 1. */
static double as_double(uint64_t bytes) {
  return bytes ? (double)bytes : 1;
}

/* A choice that was excluded may never have been timed. */
static bool counts(const struct sw_time* time) {
  return time->median_ps && !time->settings.count;
}

static const struct sw_time* find_time(const struct sw_point* point, struct sw_choice choice) {
  for (size_t i = 0; i < point->count; i++)
    if (sw_choice_same(point->times[i].choice, choice) && counts(&point->times[i])) return &point->times[i];
  return NULL;
}

size_t sim_curve_sizes(const struct sw_table* table, struct sw_choice choice) {
  size_t count = 0;
  for (size_t i = 0; i < table->count; i++) count += find_time(&table->points[i], choice) != NULL;
  return count;
}

bool sim_curve_next(const struct sw_table* table, struct sw_choice* choice) {
  const struct sw_choice* next = NULL;
  for (size_t p = 0; p < table->count; p++)
    for (size_t t = 0; t < table->points[p].count; t++) {
      const struct sw_time* time = &table->points[p].times[t];
      if (!counts(time) || sw_choice_compare(time->choice, *choice) <= 0) continue;
      if (!next || sw_choice_compare(time->choice, *next) < 0) next = &time->choice;
    }
  if (next) *choice = *next;
  return next != NULL;
}

/* --- shapes ------------------------------------------------------------------------------------------------------ */

static double apart(uint32_t a, uint32_t b) {
  double ratio = sw_log2((double)a / (double)b);
  return ratio < 0 ? -ratio : ratio;
}

const struct sw_table* sim_table_for(const struct sw_profile* profile, int collective, uint32_t nodes, uint32_t ranks) {
  const struct sw_table* nearest = NULL;
  double distance = 0;
  for (size_t i = 0; i < profile->table_count; i++) {
    const struct sw_table* table = &profile->tables[i];
    if (table->collective != collective || !sim_curve_sizes(table, SW_AUTO)) continue;
    double here = apart(table->nodes, nodes) + apart(table->ranks, ranks);
    if (nearest && here >= distance) continue;
    nearest = table;
    distance = here;
  }
  return nearest;
}

/* --- times ------------------------------------------------------------------------------------------------------- */

struct sim_plain sim_plain(bool several_nodes) {
  return plain[several_nodes];
}

double sim_plain_us(bool several_nodes, uint64_t bytes) {
  return plain[several_nodes].latency_us + (double)bytes / plain[several_nodes].bytes_per_us;
}

/* The two of the choice's knots whose line holds at this size: those around it, or the outermost two. Returns how many
   there are, 1 only where the choice has no second one. */
static size_t find_line(const struct sw_table* table, struct sw_choice choice, double bytes, struct knot line[2]) {
  size_t count = 0;
  for (size_t i = 0; i < table->count; i++) {
    const struct sw_time* time = find_time(&table->points[i], choice);
    if (!time) continue;
    if (count == 2 && line[1].bytes >= bytes) break;
    if (count == 2) line[0] = line[1];
    if (count < 2) count++;
    line[count - 1].bytes = as_double(table->points[i].bytes);
    line[count - 1].us = (double)time->median_ps / (double)SW_PS_PER_US;
  }
  return count;
}

static double on_line(const struct knot line[2], double bytes) {
  double slope = sw_log2(line[1].us / line[0].us) / sw_log2(line[1].bytes / line[0].bytes);
  double log2_us = sw_log2(line[0].us) + slope * sw_log2(bytes / line[0].bytes);
  if (log2_us < LEAST_LOG2_US) log2_us = LEAST_LOG2_US;
  if (log2_us > MOST_LOG2_US) log2_us = MOST_LOG2_US;
  return sw_exp2(log2_us);
}

/* A curve through the knot that runs parallel to auto's, and auto's own parallel to the plain one. */
static double on_parallel(const struct sw_table* table, struct sw_choice choice, const struct knot* knot,
                          uint64_t bytes) {
  uint64_t at = (uint64_t)knot->bytes;
  if (!sw_choice_is_auto(choice))
    return knot->us * (sim_curve_us(table, SW_AUTO, bytes) / sim_curve_us(table, SW_AUTO, at));
  return knot->us * (sim_plain_us(table->nodes > 1, bytes) / sim_plain_us(table->nodes > 1, at));
}

double sim_curve_us(const struct sw_table* table, struct sw_choice choice, uint64_t bytes) {
  struct knot line[2] = {{0}};
  size_t count = find_line(table, choice, as_double(bytes), line);
  for (size_t i = 0; i < count; i++)
    if (line[i].bytes == as_double(bytes)) return line[i].us;
  return count == 1 ? on_parallel(table, choice, &line[0], bytes) : on_line(line, as_double(bytes));
}
