/* bench/doctor: a running process, which tuner it has loaded, and which NCCL. */
#include "doctor.h"
#include "doctor_root.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that has opened a library and waits; closing the pipe's end lets it go. */
static pid_t start_child(const char* library, int* hold) {
  int ready[2];
  int wait[2];
  assert_int_equal(pipe(ready) | pipe(wait), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    char byte = 0;
    close(wait[1]);
    bool good = dlopen(library, RTLD_NOW | RTLD_LOCAL) != NULL;
    if (write(ready[1], good ? "y" : "n", 1) == 1 && read(wait[0], &byte, 1) < 0) _exit(1);
    _exit(0);
  }
  char answer = 0;
  close(wait[0]);
  close(ready[1]);
  assert_int_equal(read(ready[0], &answer, 1), 1);
  assert_int_equal(answer, 'y');
  close(ready[0]);
  *hold = wait[1];
  return child;
}

static void end_child(pid_t child, int hold) {
  close(hold);
  assert_int_equal(waitpid(child, NULL, 0), child);
}

static void loaded(void** state) {
  (void)state;
  static const struct {
    const char *library, *codes;
    bool sizewise;
  } cases[] = {{"libfake-v5.so", "610 0", false}, {"../libnccl-tuner-sizewise.so", "0", true}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    int hold;
    pid_t child = start_child(built(cases[i].library), &hold);
    struct process process;
    struct sw_text fault = SW_TEXT_EMPTY;
    assert_true(process_read("", (uint32_t)child, &process, &fault));
    struct diagnosis diagnosis;
    struct question question = {
        .set = &process.set, .process = &process, .title = "test", .root = root, .nccl = "2.28.9"};
    env_set_free(&process.set); /* the test's own environment is not what is tested, nor profiles of this machine */
    env_set_put(&process.set, "NCCL_SIZEWISE_PROFILE", "off", "environment", 0);
    assert_true(diagnosis_make(&question, &diagnosis));
    struct sw_text codes = codes_of(&diagnosis.findings);
    assert_string_equal(sw_text_string(&codes), cases[i].codes);
    assert_true(diagnosis.tuner.loaded);
    assert_int_equal(diagnosis.tuner.exports.sizewise, cases[i].sizewise);
    assert_int_equal(diagnosis.tuner.interface, 5);
    sw_text_free(&codes);
    diagnosis_free(&diagnosis);
    process_free(&process);
    end_child(child, hold);
  }
}

static void started_with(void** state) {
  (void)state;
  int gone[2];
  assert_int_equal(pipe2(gone, O_CLOEXEC), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    char* const words[] = {"sleep", "60", NULL};
    char* const environment[] = {"NCCL_PROTO=LL", "NCCL_ALGO=", NULL};
    execve("/bin/sleep", words, environment);
    _exit(127);
  }
  char byte;
  close(gone[1]);
  assert_int_equal(read(gone[0], &byte, 1), 0); /* the child's end closes when it has become sleep */
  close(gone[0]);
  struct process process;
  struct sw_text fault = SW_TEXT_EMPTY;
  assert_true(process_read("", (uint32_t)child, &process, &fault));
  assert_string_equal(sw_text_string(&process.name), "sleep");
  assert_int_equal(process.set.count, 2);
  assert_string_equal(env_set_value(&process.set, "NCCL_PROTO"), "LL");
  assert_true(process.library_count >= 1);
  process_free(&process);
  kill(child, SIGKILL);
  assert_int_equal(waitpid(child, NULL, 0), child);
  assert_false(process_read("", (uint32_t)child, &process, &fault));
  char expected[96];
  snprintf(expected, sizeof expected, "there is no process %d; it may have ended", (int)child);
  assert_string_equal(sw_text_string(&fault), expected);
  sw_text_free(&fault);
  process_free(&process);
}

/* Of a captured machine: two NCCLs in one process. */
static void two_nccls(void** state) {
  (void)state;
  static const char maps[] =
      "1000-2000 r--p 00000000 00:00 1   /opt/a/libnccl.so.2.28.9\n"
      "2000-3000 r-xp 00000000 00:00 1   /opt/a/libnccl.so.2.28.9\n"
      "4000-5000 r-xp 00000000 00:00 2   /opt/b/libnccl.so.2.30.7\n"
      "6000-7000 rw-p 00000000 00:00 0   [heap]\n";
  write_file("/proc/7/environ", "A=1\0NCCL_ALGO=ring\0", 19);
  write_file("/proc/7/maps", maps, sizeof maps - 1);
  struct process process;
  struct nccl_found nccl;
  struct sw_text fault = SW_TEXT_EMPTY;
  assert_true(process_read(root, 7, &process, &fault));
  assert_int_equal(process.library_count, 2);
  nccl_find(root, &process.set, &process, &nccl);
  assert_int_equal(nccl.version, 22809);
  assert_int_equal(nccl.others, 1);
  sw_text_free(&nccl.path);
  process_free(&process);
}

/* An environment without its last NUL, with a name twice, of which getenv answers the first, and with what is none. */
static void odd_environments(void** state) {
  (void)state;
  static const char environment[] = "NCCL_PROTO=LL\0no name\0=x\0\0NCCL_PROTO=Simple\0NCCL_ALGO=\033[31mtree";
  struct process process;
  struct sw_text fault = SW_TEXT_EMPTY;
  write_file("/proc/7/environ", environment, sizeof environment - 1);
  write_file("/proc/7/maps", "", 0);
  write_file("/proc/7/comm", "\033[2J\nx\n", 7);
  assert_true(process_read(root, 7, &process, &fault));
  assert_int_equal(process.set.count, 2);
  assert_string_equal(env_set_value(&process.set, "NCCL_PROTO"), "LL");
  assert_string_equal(env_set_value(&process.set, "NCCL_ALGO"), "?[31mtree");
  assert_string_equal(sw_text_string(&process.name), "?[2J?x");
  assert_int_equal(process.library_count, 0);
  process_free(&process);
  write_file("/proc/8/environ", "", 0);
  write_file("/proc/8/maps", "", 0);
  assert_true(process_read(root, 8, &process, &fault));
  assert_int_equal(process.set.count, 0);
  process_free(&process);
}

/* As where a cluster's services all have their variables. */
static void many_variables(void** state) {
  (void)state;
  enum { MANY = 50000 };
  struct sw_text environment = SW_TEXT_EMPTY;
  struct sw_text fault = SW_TEXT_EMPTY;
  struct process process;
  for (int i = 0; i < MANY; i++) {
    sw_text_printf(&environment, "V%d=%d", i, i);
    sw_text_add_bytes(&environment, "", 1);
  }
  write_file("/proc/7/environ", environment.data, environment.length);
  write_file("/proc/7/maps", "", 0);
  assert_true(process_read(root, 7, &process, &fault));
  assert_int_equal(process.set.count, MANY);
  assert_string_equal(env_set_value(&process.set, "V0"), "0");
  assert_string_equal(env_set_value(&process.set, "V49999"), "49999");
  assert_null(env_set_find(&process.set, "V50000"));
  env_set_put(&process.set, "V31", "new", "environment", 0);
  assert_int_equal(process.set.count, MANY);
  assert_string_equal(env_set_value(&process.set, "V31"), "new");
  process_free(&process);
  sw_text_free(&environment);
}

/* A process in a container: its profile lies in its own files, by a full path as by one from its folder. */
static void own_files(void** state) {
  (void)state;
  static const char* const names[] = {"/data/mine.yaml", "../data/mine.yaml", "mine"};
  static const char profile[] =
      "sizewise: 1\nname: mine\nprovenance: {kind: measured, source: a test}\nrules:\n"
      "  - {collective: allreduce, channels: 2}\n";
  write_file("/proc/7/maps", "", 0);
  write_file("/proc/7/root/data/mine.yaml", profile, sizeof profile - 1);
  write_file("/proc/7/root/srv/nothing", "", 0);
  write_file("/proc/7/root/etc/sizewise/profiles/mine.yaml", profile, sizeof profile - 1);
  assert_int_equal(symlink("root/srv", below_root("/proc/7/cwd")), 0);
  for (size_t i = 0; i < COUNT(names); i++) {
    char environment[128];
    int length = snprintf(environment, sizeof environment, "NCCL_SIZEWISE_PROFILE=%s", names[i]);
    struct process process;
    struct diagnosis diagnosis;
    struct sw_text fault = SW_TEXT_EMPTY;
    write_file("/proc/7/environ", environment, (size_t)length + 1);
    assert_true(process_read(root, 7, &process, &fault));
    struct question question = {.set = &process.set, .process = &process, .title = "test", .root = root};
    assert_true(diagnosis_make(&question, &diagnosis));
    struct sw_text words = words_of(&diagnosis.findings);
    if (!strstr(sw_text_string(&words), "mine.yaml) applies: named by NCCL_SIZEWISE_PROFILE"))
      fail_msg("%s: %s", names[i], sw_text_string(&words));
    sw_text_free(&words);
    diagnosis_free(&diagnosis);
    process_free(&process);
  }
}

static void versions(void** state) {
  (void)state;
  assert_int_equal(nccl_version_code("2.28.9"), 22809);
  assert_int_equal(nccl_version_code("2.28"), 0);
  assert_int_equal(nccl_version_code("2.28.9x"), 0);
  assert_int_equal(nccl_version_code(""), 0);
  static const char library[] = "\177ELF NCCL version of\0NCCL version 2.29.7+cuda13.0\0";
  write_file("/opt/libnccl.so.2", library, sizeof library);
  assert_int_equal(nccl_version_of(below_root("/opt/libnccl.so.2")), 22907);
  /* a wheel of the active Python environment */
  struct env_set set = ENV_SET_EMPTY;
  struct nccl_found nccl;
  static const char wheel[] = "/home/me/env/lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2";
  write_file(wheel, library, sizeof library);
  nccl_find(root, &set, NULL, &nccl);
  assert_int_equal(nccl.version, 0);
  env_set_put(&set, "VIRTUAL_ENV", "/home/me/env", "environment", 0);
  nccl_find(root, &set, NULL, &nccl);
  assert_int_equal(nccl.version, 22907);
  assert_string_equal(sw_text_string(&nccl.path), wheel);
  sw_text_free(&nccl.path);
  env_set_free(&set);
}

int main(void) {
  const struct CMUnitTest tests[] = {IN_ROOT(loaded),           IN_ROOT(started_with),   IN_ROOT(two_nccls),
                                     IN_ROOT(odd_environments), IN_ROOT(many_variables), IN_ROOT(own_files),
                                     IN_ROOT(versions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
