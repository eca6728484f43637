/* How a diagnosis is printed. */
#ifndef SW_DOCTOR_REPORT_H
#define SW_DOCTOR_REPORT_H

#include "doctor/diagnosis.h"

/* For people: settings, tuner, profile, verdict; within each the worst first. */
void report_as_text(const struct diagnosis* diagnosis, struct sw_text* out);

/* For programs: {"sets": [...]}; false when memory runs out. */
bool report_as_json(const struct diagnosis* diagnoses, size_t count, struct sw_text* out);

#endif
