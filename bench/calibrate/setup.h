/* Where a calibration runs: the job's ranks, the plugin, the libraries or the simulation. */
#ifndef SW_SETUP_H
#define SW_SETUP_H

#include "calibrate/arguments.h"
#include "calibrate/work.h"
#include "fabric/simulator.h"
#include "launch/job.h"
#include "open.h"

/* Has to stay where it is: `work` points into it. */
struct set_up {
  struct job job;
  struct work_context work;
  struct fabric_simulation simulation;
  struct opened simulated;
  struct sw_text plugin;
};

/* False with what is wrong in `fault`, mostly one line. set_up_free frees what is in `up` either way. */
bool set_up_make(const struct calibrate_arguments* arguments, struct set_up* up, struct sw_text* fault);
void set_up_free(struct set_up* up);

#endif
