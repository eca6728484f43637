#include "fabric/host_memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ground/number.h"

/* "MemAvailable:   123456 kB" */
static uint64_t read_kib(const char* line) {
  uint64_t kib;
  line += strcspn(line, "0123456789");
  return sw_read_whole(line, strspn(line, "0123456789"), UINT64_MAX >> 10, &kib) == SW_NUMBER_OK ? kib : 0;
}

uint64_t host_memory_free(void) {
  char line[128];
  uint64_t kib = 0;
  FILE* file = fopen("/proc/meminfo", "r");
  while (file && !kib && fgets(line, sizeof line, file))
    if (strncmp(line, "MemAvailable:", 13) == 0) kib = read_kib(line);
  if (file) fclose(file);
  return kib ? kib << 10 : (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}
