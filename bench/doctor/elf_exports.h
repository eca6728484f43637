/*
 * What a shared library is to NCCL, read from its file: nothing is loaded or run, so a library that hangs or crashes
 * at loading can be looked at, and so can one for another processor.
 */
#ifndef SW_ELF_EXPORTS_H
#define SW_ELF_EXPORTS_H

#include <stdbool.h>

enum { ELF_LARGEST_TUNER = 31 };

struct elf_exports {
  unsigned tuners; /* bit v: it exports ncclTunerPlugin_v<v> */
  bool sizewise;   /* it exports sizewise_control: it is ours */
  bool net;        /* it exports an ncclNetPlugin_v<v> */
};

/* False when the file cannot be read or is no 64-bit little-endian ELF file. */
bool elf_exports_read(const char* path, struct elf_exports* out);

#endif
