#include "facts/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* <root><path> in `out`, of PATH_MAX bytes; false when it does not fit. */
static bool make_path(char* out, const char* root, const char* path, va_list arguments) {
  size_t length = strlen(root);
  if (length >= PATH_MAX) return false;
  memcpy(out, root, length);
  int more = vsnprintf(out + length, PATH_MAX - length, path, arguments);
  return more >= 0 && (size_t)more < PATH_MAX - length;
}

/* Never waits: a FIFO or a device in a file's place is no file. */
static int open_regular(const char* path) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat status;
  if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode)) return file;
  if (file >= 0) close(file);
  return -1;
}

static size_t read_bytes(char* buffer, size_t size, const char* path) {
  int file = open_regular(path);
  if (file < 0) return 0;
  size_t length = 0;
  while (length < size) {
    ssize_t more = read(file, buffer + length, size - length);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    length += (size_t)more;
  }
  close(file);
  return length;
}

static size_t read_path(char* buffer, size_t size, const char* root, const char* path, va_list arguments) {
  char whole[PATH_MAX];
  size_t length = make_path(whole, root, path, arguments) ? read_bytes(buffer, size - 1, whole) : 0;
  buffer[length] = '\0';
  return length;
}

size_t sw_facts_read(char* buffer, size_t size, const char* root, const char* path, ...) {
  va_list arguments;
  va_start(arguments, path);
  size_t length = read_path(buffer, size, root, path, arguments);
  va_end(arguments);
  return length;
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/* Makes the first line of `length` bytes a trimmed string, in place; false when it is no line of text. */
static bool trim_line(char* text, size_t length, bool more_follows) {
  char* end = memchr(text, '\n', length);
  if (!end && more_follows) return false;
  if (!end) end = text + length;
  const char* start = text;
  while (start < end && is_blank(*start)) start++;
  while (end > start && is_blank(end[-1])) end--;
  for (const char* c = start; c < end; c++)
    if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f) return false;
  length = (size_t)(end - start);
  memmove(text, start, length);
  text[length] = '\0';
  return length > 0;
}

bool sw_facts_line(char* buffer, size_t size, const char* root, const char* path, ...) {
  va_list arguments;
  va_start(arguments, path);
  size_t length = read_path(buffer, size, root, path, arguments);
  va_end(arguments);
  bool good = trim_line(buffer, length, length == size - 1);
  if (!good) buffer[0] = '\0';
  return good;
}

/* Puts a name in its place; in a full list the last one makes room. */
static void insert_name(struct sw_facts_folder* folder, int (*order)(const char*, const char*), const char* name) {
  size_t place = folder->count;
  while (place > 0 && order(name, folder->names[place - 1]) < 0) place--;
  if (place == SW_FACTS_ENTRIES) return;
  if (folder->count < SW_FACTS_ENTRIES) folder->count++;
  memmove(folder->names[place + 1], folder->names[place], (folder->count - 1 - place) * SW_FACTS_NAME);
  snprintf(folder->names[place], SW_FACTS_NAME, "%.*s", SW_FACTS_NAME - 1, name);
}

void sw_facts_list(struct sw_facts_folder* folder, int (*order)(const char*, const char*), const char* root,
                   const char* path, ...) {
  char whole[PATH_MAX];
  folder->count = 0;
  va_list arguments;
  va_start(arguments, path);
  DIR* open_folder = make_path(whole, root, path, arguments) ? opendir(whole) : NULL;
  va_end(arguments);
  if (!open_folder) return;
  for (struct dirent* entry; (entry = readdir(open_folder));)
    if (entry->d_name[0] != '.' && strlen(entry->d_name) < SW_FACTS_NAME) insert_name(folder, order, entry->d_name);
  closedir(open_folder);
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* Compares the numbers that both start with, of any length, and moves both past them. */
static int number_order(const char** a, const char** b) {
  while (**a == '0') (*a)++;
  while (**b == '0') (*b)++;
  int first = 0;
  for (; is_digit(**a) && is_digit(**b); (*a)++, (*b)++)
    if (!first) first = **a - **b;
  if (is_digit(**a)) return 1;
  if (is_digit(**b)) return -1;
  return first;
}

int sw_facts_natural_order(const char* a, const char* b) {
  const char* x = a;
  const char* y = b;
  while (*x && *y) {
    if (is_digit(*x) && is_digit(*y)) {
      int order = number_order(&x, &y);
      if (order) return order;
    } else if (*x == *y) {
      x++;
      y++;
    } else {
      return (unsigned char)*x - (unsigned char)*y;
    }
  }
  if (*x || *y) return *x ? 1 : -1;
  return strcmp(a, b);
}

bool sw_facts_number(const char* word, size_t length, int largest, int* out) {
  long long value = 0;
  for (size_t i = 0; i < length; i++) {
    if (!is_digit(word[i])) return false;
    value = value * 10 + (word[i] - '0');
    if (value > largest) return false;
  }
  if (length == 0) return false;
  *out = (int)value;
  return true;
}
