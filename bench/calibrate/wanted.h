/* What is to be measured, from the words of the command line. */
#ifndef SW_WANTED_H
#define SW_WANTED_H

#include "calibrate/arguments.h"
#include "calibrate/study.h"
#include "ground/text.h"

/* Fills the plan for a job of `ranks`; false with one line in `fault`. */
bool wanted_read(const struct calibrate_arguments* arguments, uint32_t ranks, struct study_plan* plan,
                 struct sw_text* fault);

/* Leaves out the sizes of which two buffers take more than `buffers` bytes; names them in `left_out`. */
void wanted_fit(struct study_plan* plan, uint64_t buffers, struct sw_text* left_out);

#endif
