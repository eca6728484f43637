/* What `sizewise verify` says at its end, on stdout. */
#ifndef SW_VERIFY_REPORT_H
#define SW_VERIFY_REPORT_H

#include "calibrate/verify.h"

/* A table for each collective and shape, what differs from rank to rank, and a closing line. */
void verify_add_report(const struct verification* v, struct sw_text* out);

/* The same as JSON. */
void verify_add_json(const struct verification* v, struct sw_text* out);

/* "allreduce for 8 ranks on 8 nodes, ...": what the profile has tables for and was not compared; all of them while
   nothing was. Returns how many. */
size_t verify_add_unmatched(const struct verification* v, struct sw_text* out);

#endif
