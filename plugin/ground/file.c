#include "ground/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads until the end or until `room` is full; the number of bytes, or -1 with errno set. */
static ssize_t read_all(int file, char* data, size_t room) {
  size_t length = 0;
  while (length < room) {
    ssize_t got = read(file, data + length, room - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    length += (size_t)got;
  }
  return (ssize_t)length;
}

static int read_open_file(int file, size_t largest, char** data, size_t* length) {
  struct stat status;
  if (fstat(file, &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  if (!S_ISREG(status.st_mode)) return EINVAL;
  if (status.st_size > 0 && (size_t)status.st_size > largest) return EFBIG;
  size_t room = (status.st_size > 0 ? (size_t)status.st_size : largest) + 1; /* one more shows that it grew */
  char* memory = malloc(room + 1);
  if (!memory) return ENOMEM;
  ssize_t got = read_all(file, memory, room);
  int fault = got < 0 ? errno : (size_t)got > largest ? EFBIG : 0;
  if (fault) {
    free(memory);
    return fault;
  }
  memory[got] = '\0';
  *data = memory;
  *length = (size_t)got;
  return 0;
}

int sw_file_read(const char* path, size_t largest, char** data, size_t* length) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return errno;
  int fault = read_open_file(file, largest, data, length);
  close(file);
  return fault;
}
