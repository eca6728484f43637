#include "doctor/mapped.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool mapped_open(const char* path, struct mapped* out) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return false;
  struct stat status;
  void* bytes = MAP_FAILED;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (bytes == MAP_FAILED) return false;
  *out = (struct mapped){bytes, (size_t)status.st_size};
  return true;
}

void mapped_close(struct mapped* file) {
  union {
    const char* bytes;
    void* address;
  } memory = {.bytes = file->bytes};
  munmap(memory.address, file->length);
}
