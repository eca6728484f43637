#include "control.h"

#include "tuner.h"

static void* newest(void) {
  return sw_tuner_steer_newest();
}

static void force(void* tuner, struct sw_choice choice) {
  struct sw_steering* steering = sw_tuner_steering(tuner);
  if (steering) steering->forced = choice;
}

static void release(void* tuner) {
  sw_tuner_release(tuner);
}

static void last(void* tuner, struct sw_control_answer* out) {
  const struct sw_steering* steering = sw_tuner_steering(tuner);
  if (steering) *out = steering->last;
}

__attribute__((visibility("default")))
const struct sw_control sizewise_control = {SW_CONTROL_VERSION, newest, force, release, last};
