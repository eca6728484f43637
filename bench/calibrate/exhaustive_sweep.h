/* One size swept: exhaustive.c does so at all of them. */
#ifndef SW_EXHAUSTIVE_SWEEP_H
#define SW_EXHAUSTIVE_SWEEP_H

#include "calibrate/exhaustive.h"

/* Times every usable choice at a point and fills in what the sweep knows of it. A choice that hangs, crashes or fails
   is banned from then on. False: the crew was lost or interrupted. */
bool exhaustive_sweep(struct study* study, const struct measured* point, const struct exhaustive_watch* watch,
                      struct exhaustive_point* out);

#endif
