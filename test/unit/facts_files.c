/* Facts from trees that are made here: every form of port, interface, driver version; hostile and absent files. */
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "facts_source.h"

#include "facts/files.h"

/* --- trees made here */

static char tree[64];

static int make_tree(void** state) {
  (void)state;
  strcpy(tree, "/tmp/sizewise-facts-XXXXXX");
  return mkdtemp(tree) ? 0 : -1;
}

static int remove_entry(const char* path, const struct stat* status, int kind, struct FTW* place) {
  (void)status, (void)kind, (void)place;
  return remove(path);
}

static int remove_tree(void** state) {
  (void)state;
  return nftw(tree, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_folders(char* path) {
  for (char* slash = strchr(path + strlen(tree) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0777);
    *slash = '/';
  }
}

static void put_bytes(const char* name, const void* bytes, size_t length) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", tree, name);
  make_folders(path);
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

static void put(const char* name, const char* text) {
  put_bytes(name, text, strlen(text));
}

#define PORT "sys/class/infiniband/mlx5_0/ports/1/"
#define GPU(n) "proc/driver/nvidia/gpus/0000:0" #n ":00.0/information"

static void put_port(const char* layer, const char* state, const char* rate) {
  put(PORT "link_layer", layer);
  put(PORT "state", state);
  put(PORT "rate", rate);
}

static void port_forms(void** state) {
  (void)state;
  static const struct {
    const char *layer, *state, *rate, *net;
  } cases[] = {
      {"InfiniBand\n", "4: ACTIVE\n", "200 Gb/sec (2X NDR)\n", "ib mlx5_0 200000"},
      {"Ethernet", "4: ACTIVE", "100 Gb/sec", "roce mlx5_0 100000"},
      {"InfiniBand\n", "4: ACTIVE\n", "2.5 Gb/sec (1X SDR)\n", "ib mlx5_0 2500"},
      {"InfiniBand\n", "4: ACTIVE\n", "", "ib mlx5_0 0"},
      {"InfiniBand\n", "4: ACTIVE\n", "fast\n", "ib mlx5_0 0"},
      {"InfiniBand\n", "4: ACTIVE\n", "200 Gb/second\n", "ib mlx5_0 0"},
      {"InfiniBand\n", "4: ACTIVE\n", "-200 Gb/sec\n", "ib mlx5_0 0"},
      {"InfiniBand\n", "4: ACTIVE\n", "99999999999999999999 Gb/sec\n", "ib mlx5_0 0"},
      {"InfiniBand\n", "5: ACTIVE_DEFER\n", "200 Gb/sec\n", "socket  0"},
      {"InfiniBand\n", "2: INIT\n", "200 Gb/sec\n", "socket  0"},
      {"InfiniBand\n", "", "200 Gb/sec\n", "socket  0"},
      {"Unspecified\n", "4: ACTIVE\n", "100 Gb/sec\n", "socket  0"},
      {"", "4: ACTIVE\n", "100 Gb/sec\n", "socket  0"},
      {"InfiniBand\x01\n", "4: ACTIVE\n", "100 Gb/sec\n", "socket  0"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    put_port(cases[i].layer, cases[i].state, cases[i].rate);
    struct sw_facts facts = gather(tree, "");
    assert_net(&facts, cases[i].net, cases[i].rate);
  }
}

static void ports_in_order(void** state) {
  (void)state;
  put_port("InfiniBand\n", "1: DOWN\n", "400 Gb/sec\n");
  put("sys/class/infiniband/mlx5_0/ports/10/state", "4: ACTIVE\n");
  put("sys/class/infiniband/mlx5_0/ports/10/link_layer", "InfiniBand\n");
  put("sys/class/infiniband/mlx5_0/ports/2/state", "4: ACTIVE\n");
  put("sys/class/infiniband/mlx5_0/ports/2/link_layer", "Ethernet\n");
  put("sys/class/infiniband/mlx5_0/ports/x/state", "4: ACTIVE\n");
  struct sw_facts facts = gather(tree, "");
  assert_net(&facts, "roce mlx5_0 0", "port 2 before port 10");
  facts = gather(tree, "NCCL_IB_HCA=mlx5_0:10");
  assert_net(&facts, "ib mlx5_0 0", "port 10 by name");
}

static void interfaces(void** state) {
  (void)state;
  put("sys/class/net/virbr0/operstate", "up\n");
  put("sys/class/net/docker_gwbridge/operstate", "up\n");
  put("sys/class/net/lo/operstate", "unknown\n");
  put("sys/class/net/dummy0/operstate", "up\n");
  put("sys/class/net/dummy0/type", "772\n");
  put("sys/class/net/wg10/operstate", "unknown\n");
  struct sw_facts facts = gather(tree, "");
  assert_net(&facts, "socket wg10 0", "what is skipped by default");
  put("sys/class/net/wg9/operstate", "up\n");
  put("sys/class/net/wg9/speed", "-1\n");
  facts = gather(tree, "");
  assert_net(&facts, "socket wg9 0", "natural order");
  put("sys/class/net/zz0/operstate", "up\n");
  put("sys/class/net/zz0/speed", "25000");
  facts = gather(tree, "NCCL_SOCKET_IFNAME=zz");
  assert_net(&facts, "socket zz0 25000", "no newline");
}

static void hostile_files(void** state) {
  (void)state;
  size_t size = 1 << 20;
  char* large = malloc(size);
  assert_non_null(large);
  memset(large, '9', size);
  put_port("InfiniBand\n", "4: ACTIVE\n", "");
  put_bytes(PORT "rate", large, size);
  put_bytes("arch", large, size);
  put_bytes("proc/driver/nvidia/version", large, size);
  put_bytes(GPU(1), "Model: \t\t NVIDIA\0H200\n", 22);
  put_bytes(GPU(2), large, size);
  put(GPU(3), "Model: \x1b[31mred\n");
  put(GPU(4), "Model:");
  memcpy(large, "IRQ:\t1\nModel: ", 14);
  put_bytes(GPU(5), large, size);
  free(large);
  struct sw_facts facts = gather(tree, "");
  assert_net(&facts, "ib mlx5_0 0", "a rate of 1 MB");
  assert_string_equal(facts.arch, "");
  assert_string_equal(facts.driver, "");
  assert_string_equal(facts.gpu, "NVIDIA");
  assert_int_equal(facts.gpus, 5);
  assert_false(facts.gpu_mixed);
}

static void files_that_are_none(void** state) {
  (void)state;
  char path[128];
  put("sys/class/infiniband", "not a folder");
  put("proc/driver/nvidia/gpus", "not a folder");
  put("arch/folder", "");
  snprintf(path, sizeof path, "%s/proc/driver/nvidia/version", tree);
  assert_int_equal(mkfifo(path, 0600), 0);
  struct sw_facts facts = gather(tree, ""); /* must not wait for the FIFO's writer */
  assert_net(&facts, "socket  0", "files in folders' places");
  assert_string_equal(facts.arch, "");
  assert_string_equal(facts.driver, "");
  snprintf(path, sizeof path, "%s/zero", tree);
  assert_int_equal(symlink("/dev/zero", path), 0);
  assert_int_equal(sw_facts_read(path, sizeof path, tree, "/zero"), 0);
  facts = gather("/nonexistent/root", "");
  assert_net(&facts, "socket  0", "no root");
}

static void driver_versions(void** state) {
  (void)state;
  static const struct {
    const char *text, *version;
  } cases[] = {
      {"NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue Mar  3 20:11:05 UTC 2026\nGCC version: 13.3.0",
       "580.159.04"},
      {"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build", "580.159.04"},
      {"NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86", "570.86"},
      {"NVRM version: none\nGCC version: 13.3.0\n", ""},
      {"NVRM version: 580 .5 5. 1..2a", ""},
      {"GCC version: 13.3.0\n", ""},
      {"NVRM version: 1.2222222222222222222222222222222222222222", ""},
      {"", ""},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    put("proc/driver/nvidia/version", cases[i].text);
    assert_string_equal(gather(tree, "").driver, cases[i].version);
  }
}

static void full_folders(void** state) {
  (void)state;
  char name[64];
  for (int i = 0; i < SW_FACTS_ENTRIES + 70; i++) {
    snprintf(name, sizeof name, "d/mlx5_%d", (i * 131 + 97) % (SW_FACTS_ENTRIES + 70)); /* 131 and 198: no factor */
    put(name, "");
  }
  put("d/.hidden", "");
  put("d/a23456789012345678901234567890123456789012345678901234567890123", "");
  put("d/a234567890123456789012345678901234567890123456789012345678901234", "");
  static struct sw_facts_folder folder;
  sw_facts_list(&folder, sw_facts_natural_order, tree, "/%s", "d");
  assert_int_equal(folder.count, SW_FACTS_ENTRIES);
  assert_string_equal(folder.names[0], "a23456789012345678901234567890123456789012345678901234567890123");
  for (int i = 1; i < SW_FACTS_ENTRIES; i++) {
    snprintf(name, sizeof name, "mlx5_%d", i - 1);
    assert_string_equal(folder.names[i], name);
  }
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, make_tree, remove_tree)

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_TREE(port_forms),          IN_TREE(ports_in_order),  IN_TREE(interfaces),   IN_TREE(hostile_files),
      IN_TREE(files_that_are_none), IN_TREE(driver_versions), IN_TREE(full_folders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
