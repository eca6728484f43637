/*
 * What a step takes under several settings: the step's time as given, less what its collectives take under the setting
 * that it was given for, is the rest; each row adds its own time in collectives to that.
 *
 *     rest(row) = step - sum over calls of count x time under the given setting
 *     step(row) = rest + sum over calls of count x time under the row's setting
 *
 * Times are the profile's, at exactly the call's size. What was not measured is said, and its row has no sum.
 */
#ifndef SW_PREDICTION_H
#define SW_PREDICTION_H

#include "predict/price.h"
#include "workload/workload.h"

enum { PREDICT_MOST_SETS = 7, PREDICT_MOST_ROWS = PREDICT_MOST_SETS + 3 };

enum predict_kind { PREDICT_GIVEN, PREDICT_AUTO, PREDICT_SET, PREDICT_PROFILE };

struct predict_row {
  enum predict_kind kind;
  char label[32];                        /* "given", "auto", "set 1", "profile" */
  const struct predict_setting* setting; /* of given and set */
  const struct call_price* prices;       /* one for each of the workload's calls; without a time: not priced */
  bool complete;                         /* every call that names its collective has a time */
  double collectives_ps;                 /* their sum, where it is complete; picoseconds a step, as below */
  double step_ps;                        /* 0: not known */
};

struct prediction {
  const struct workload* workload;
  const struct sw_profile* profile;
  uint32_t nodes; /* the workload's, or where it says none the profile's only one */
  uint32_t ranks;
  struct predict_row rows[PREDICT_MOST_ROWS]; /* given (where there is a step), auto, sets, profile */
  size_t row_count;
  double rest_ps; /* where `rest_known`; negative: the workload and the profile contradict each other */
  bool rest_known;
  const char** notes; /* what was not measured, or measured otherwise, and why there is no step time */
  size_t note_count;
  bool good; /* every row has what there is to compute */
};

/*
 * Finds the shape to predict for. False, with the shapes that the profile has in `fault`, when the workload's is not
 * among them, or the workload does not say enough to tell which one it is.
 */
bool prediction_shape(const struct workload* workload, const struct sw_profile* profile, struct prediction* out,
                      struct sw_text* fault);

/*
 * Computes all rows for that shape. `given` is the step's setting, `sets` at most PREDICT_MOST_SETS; all must outlive
 * `out`, which is in `arena`. False when memory runs out.
 */
bool prediction_compute(struct sw_arena* arena, const struct predict_setting* given, const struct predict_setting* sets,
                        size_t set_count, struct prediction* out);

/* Calls that are priced: those that name their collective. */
bool prediction_prices(const struct workload_calls* calls);

/* "allreduce 96 MiB" */
void prediction_add_call(struct sw_text* text, const struct workload_calls* calls);

/* "NCCL_PROTO=LL", "nothing forced", the profile's name */
const char* prediction_setting(const struct prediction* prediction, const struct predict_row* row);

/* Tokens a second of a row; 0: not known. */
double prediction_rate(const struct prediction* prediction, const struct predict_row* row);

/* A row's time in collectives as a part of auto's; 0: not known. */
double prediction_to_auto(const struct prediction* prediction, const struct predict_row* row);

void prediction_as_text(const struct prediction* prediction, const char* origin, struct sw_text* out);

/* False when memory runs out. */
bool prediction_as_json(const struct prediction* prediction, const char* origin, struct sw_text* out);

#endif
