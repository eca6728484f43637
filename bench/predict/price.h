/* What one call of a collective takes under settings, or as a profile decides: a measured time or none, no guess. */
#ifndef SW_PREDICT_PRICE_H
#define SW_PREDICT_PRICE_H

#include "decide/plan.h"
#include "predict/setting.h"

struct call_price {
  const struct sw_time* time; /* NULL: not measured */
  const char* remark;         /* with a time: how it differs, "measured with 2 channels"; without: of what; or NULL */
};

/* Nothing forced. `point` is the call's size in the profile, here and below. */
struct call_price price_auto(const struct sw_point* point);

/*
 * A setting: the time that was measured under exactly these environment variables, else the time of the choice that
 * they leave, as sw_forced_price finds it. Settings that `profile` or auto at this size had, too, change nothing.
 * Remarks are in `arena`.
 */
struct call_price price_setting(struct sw_arena* arena, const struct sw_profile* profile, const struct sw_point* point,
                                int collective, const struct predict_setting* setting);

/* What the plan of the profile decides at this size. */
struct call_price price_plan(struct sw_arena* arena, const struct sw_point* point, int collective,
                             const struct sw_plan* plan);

#endif
