/* Files of a machine that a test makes up, below a folder of its own. */
#ifndef SW_TEST_DOCTOR_ROOT_H
#define SW_TEST_DOCTOR_ROOT_H

#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char root[PATH_MAX];

static inline int make_root(void** state) {
  (void)state;
  snprintf(root, sizeof root, "%s/doctor.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
  return mkdtemp(root) ? 0 : -1;
}

static inline int remove_one(const char* path, const struct stat* status, int kind, struct FTW* walk) {
  (void)status, (void)kind, (void)walk;
  return remove(path);
}

static inline int remove_root(void** state) {
  (void)state;
  return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Makes the folders of a path below the root, and returns the path. */
static inline const char* below_root(const char* path) {
  static char whole[PATH_MAX + 512];
  snprintf(whole, sizeof whole, "%s%s", root, path);
  for (char* slash = strchr(whole + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(whole, 0777);
    *slash = '/';
  }
  return whole;
}

static inline void write_file(const char* path, const void* bytes, size_t length) {
  FILE* file = fopen(below_root(path), "w");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

/* A library that the build made for tests, or one beside its folder. */
static inline const char* built(const char* name) {
  static char path[PATH_MAX];
  const char* folder = getenv("SW_TEST_BUILD");
  if (!folder) fail_msg("SW_TEST_BUILD has to name the folder of the fake tuners");
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

#define IN_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

#endif
