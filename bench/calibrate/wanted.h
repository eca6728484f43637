/* What is to be measured, from the words of the command line. */
#ifndef SW_WANTED_H
#define SW_WANTED_H

#include "calibrate/arguments.h"
#include "calibrate/study.h"
#include "ground/text.h"

/* Whether the words make sense at all, before it is known which ranks there are; false with one line in `fault`. */
bool wanted_check(const struct calibrate_arguments* arguments, struct sw_text* fault);

/* Fills the plan for a job of `ranks`; false with one line in `fault`. */
bool wanted_read(const struct calibrate_arguments* arguments, uint32_t ranks, struct study_plan* plan,
                 struct sw_text* fault);

/* Adds a size in its place, once; false: there is no room for it. */
bool wanted_add_size(struct study_plan* plan, uint64_t bytes);
void wanted_add_collective(struct study_plan* plan, int collective);

/*
 * The sizes of the workload that --sizes-from names, rounded as calls of `ranks` are, and its collectives, unless the
 * plan has some; where there are too many sizes, those that move the most bytes. For a plan whose communicators are
 * known; false with what is wrong in `fault`, mostly one line.
 */
bool wanted_from_workload(const char* name, uint32_t ranks, struct study_plan* plan, struct sw_text* fault);

/* Leaves out the sizes of which two buffers take more than `buffers` bytes; names them in `left_out`. */
void wanted_fit(struct study_plan* plan, uint64_t buffers, struct sw_text* left_out);

#endif
