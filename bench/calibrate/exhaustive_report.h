/* The exhaustive sweep beside what calibrate found, for people and for programs. */
#ifndef SW_EXHAUSTIVE_REPORT_H
#define SW_EXHAUSTIVE_REPORT_H

#include <jansson.h>

#include "calibrate/exhaustive.h"
#include "ground/text.h"

/* A table for each collective and communicator, what both cost, and how near calibrate comes. */
void exhaustive_add(const struct exhaustive* exhaustive, struct sw_text* out);

json_t* exhaustive_json(const struct exhaustive* exhaustive);

#endif
