/* The node's GPUs: models from procfs, the calling thread's device from the CUDA driver. */
#ifndef SW_FACTS_GPU_H
#define SW_FACTS_GPU_H

#include "facts/facts.h"

/*
 * The CUDA driver's functions that we call, by the names and signatures of its documentation (results are 0 on
 * success, devices are ints).
 */
struct sw_cuda_driver {
  int (*cuInit)(unsigned flags);
  int (*cuCtxGetDevice)(int* device);
  int (*cuDeviceGet)(int* device, int ordinal);
  int (*cuDeviceGetName)(char* name, int size, int device);
  int (*cuDeviceGetAttribute)(int* value, int attribute, int device);
};

/*
 * Asks the driver for name and compute capability of the calling thread's device. Without a current device, device 0
 * where `may_start` allows to initialise the driver. What the driver does not answer is left as it is in `out`.
 */
void sw_facts_ask_driver(const struct sw_cuda_driver* driver, bool may_start, struct sw_facts* out);

/*
 * gpu, gpus, gpu_mixed and compute capability. The driver is asked only on the real machine, and only if its library
 * is already in the process or source->load_driver says so; a driver that we loaded stays loaded, since threads of
 * its own can outlive a call.
 */
void sw_facts_find_gpu(const struct sw_facts_source* source, struct sw_facts* out);

#endif
