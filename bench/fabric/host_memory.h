/* Memory of this machine that a program can still have. */
#ifndef SW_HOST_MEMORY_H
#define SW_HOST_MEMORY_H

#include <stdint.h>

/* In bytes: what the kernel would give away without swapping, files in its cache included; 0: not known. */
uint64_t host_memory_free(void);

#endif
