/* What a calibration is at: raw files and the progress line name it. */
#ifndef SW_PHASE_H
#define SW_PHASE_H

enum phase {
  PHASE_PASSTHROUGH, /* auto with the plugin and without any tuner */
  PHASE_CALIBRATE,   /* the races, and their confirmation call by call */
  PHASE_VERIFY,      /* the finished table beside auto */
  PHASE_EXHAUSTIVE,  /* --exhaustive: every choice, the same number of rounds */
  PHASE_FRESH,       /* its best and the finished table's decision beside auto */
  PHASE_COUNT
};

#endif
