/*
 * plugin/facts: machines from test/fixtures/machines and from trees made here, and every published form of NCCL's own
 * settings. SW_TEST_SOURCE names the repository's root. Link with -rdynamic: the program stands in for an NCCL.
 */
#include <dlfcn.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#include "facts/devices.h"
#include "facts/facts.h"
#include "facts/files.h"
#include "facts/forced.h"
#include "facts/gpu.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* --- a stand-in environment: NAME=value pairs between bars */

static char environment[1024];

static const char* fake_getenv(const char* name) {
  size_t length = strlen(name);
  for (char* pair = environment; *pair; pair += strlen(pair) + 1)
    if (strncmp(pair, name, length) == 0 && pair[length] == '=') return pair + length + 1;
  return NULL;
}

static void set_environment(const char* pairs) {
  memset(environment, 0, sizeof environment);
  assert_true(strlen(pairs) + 2 < sizeof environment);
  for (size_t i = 0; pairs[i]; i++) environment[i] = pairs[i] == '|' ? '\0' : pairs[i];
}

/* --- machines */

static const char* source_root(void) {
  const char* root = getenv("SW_TEST_SOURCE");
  if (!root) fail_msg("SW_TEST_SOURCE has to name the repository's root");
  return root;
}

static struct sw_facts gather(const char* root, const char* settings) {
  struct sw_facts facts;
  memset(&facts, 0x5a, sizeof facts);
  set_environment(settings);
  sw_facts_gather(&(struct sw_facts_source){.root = root, .getenv = fake_getenv, .load_driver = true}, &facts);
  return facts;
}

static struct sw_facts gather_machine(const char* machine, const char* settings) {
  char root[PATH_MAX];
  snprintf(root, sizeof root, "%s/test/fixtures/machines/%s", source_root(), machine);
  struct stat status;
  if (stat(root, &status) != 0) fail_msg("no machine %s", root);
  return gather(root, settings);
}

/* "kind device speed": all that is known of a network. */
static void assert_net(const struct sw_facts* facts, const char* expected, const char* what) {
  char text[128];
  snprintf(text, sizeof text, "%s %s %d", sw_value_word(&sw_nets, facts->net), facts->net_device, facts->net_mbps);
  if (strcmp(text, expected) != 0) fail_msg("%s: \"%s\", expected \"%s\"", what, text, expected);
}

static void each_machine(void** state) {
  (void)state;
  static const struct {
    const char* name;
    const char* gpu;
    int gpus;
    bool mixed;
    const char *net, *arch, *driver;
  } machines[] = {
      {"gb10-roce", "NVIDIA GB10", 1, false, "roce rocep1s0f0 200000", "aarch64", "580.95.05"},
      {"rtx-pro-6000-pcie", "NVIDIA RTX PRO 6000 Blackwell Server Edition", 8, false, "socket eno1 10000", "x86_64",
       "580.159.04"},
      {"h200-ib", "NVIDIA H200", 8, false, "ib mlx5_0 400000", "x86_64", "580.159.04"},
      {"mixed-gpus", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 2, true, "socket enp5s0 2500", "x86_64",
       "580.159.04"},
      {"bare", "", 0, false, "socket  0", "", ""},
  };
  for (size_t i = 0; i < COUNT(machines); i++) {
    struct sw_facts facts = gather_machine(machines[i].name, "");
    assert_string_equal(facts.gpu, machines[i].gpu);
    assert_int_equal(facts.gpus, machines[i].gpus);
    assert_int_equal(facts.gpu_mixed, machines[i].mixed);
    assert_string_equal(facts.arch, machines[i].arch);
    assert_string_equal(facts.driver, machines[i].driver);
    assert_net(&facts, machines[i].net, machines[i].name);
    assert_int_equal(facts.compute_major, 0);
    assert_int_equal(facts.ranks, 0);
    assert_int_equal(facts.nccl, 0);
  }
}

static void network_settings(void** state) {
  (void)state;
  static const struct {
    const char *machine, *settings, *net;
  } cases[] = {
      {"h200-ib", "NCCL_IB_DISABLE=1", "socket ibp3bs0 400000"},
      {"h200-ib", "NCCL_IB_DISABLE=0", "ib mlx5_0 400000"},
      {"h200-ib", "NCCL_IB_DISABLE=", "ib mlx5_0 400000"},
      {"h200-ib", "NCCL_IB_DISABLE=yes", "ib mlx5_0 400000"},
      {"h200-ib", "NCCL_NET=Socket", "socket ibp3bs0 400000"},
      {"h200-ib", "NCCL_NET=SOCKET|NCCL_SOCKET_IFNAME=bond", "socket bond0 50000"},
      {"h200-ib", "NCCL_NET=ib", "ib mlx5_0 400000"},
      {"h200-ib", "NCCL_NET=AWS Libfabric", "other  0"},
      {"h200-ib", "NCCL_NET=", "ib mlx5_0 400000"},
      {"h200-ib", "NCCL_NET=IB|NCCL_IB_DISABLE=1", "?  0"},
      {"h200-ib", "NCCL_NET_PLUGIN=spectrum-x", "ib mlx5_0 400000"},
      {"h200-ib", "NCCL_NET_PLUGIN=none", "ib mlx5_0 400000"},
      {"h200-ib", "NCCL_IB_HCA=mlx5_1", "ib mlx5_10 400000"},
      {"h200-ib", "NCCL_IB_HCA==mlx5_1", "socket ibp3bs0 400000"},
      {"h200-ib", "NCCL_IB_HCA==mlx5_1,mlx5_6", "ib mlx5_6 400000"},
      {"h200-ib", "NCCL_IB_HCA==mlx5_11,mlx5_10,mlx5_9", "ib mlx5_9 400000"},
      {"h200-ib", "NCCL_IB_HCA=^mlx5_0,mlx5_3", "ib mlx5_4 400000"},
      {"h200-ib", "NCCL_IB_HCA=^=mlx5_0,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_9,mlx5_1", "ib mlx5_10 400000"},
      {"h200-ib", "NCCL_IB_HCA=^mlx5", "socket ibp3bs0 400000"},
      {"h200-ib", "NCCL_IB_HCA=mlx5_4:1", "ib mlx5_4 400000"},
      {"h200-ib", "NCCL_IB_HCA=mlx5_4:2", "socket ibp3bs0 400000"},
      {"h200-ib", "NCCL_IB_HCA=^mlx5_0:2", "ib mlx5_0 400000"},
      {"h200-ib", "NCCL_IB_HCA=^mlx5_0:1", "ib mlx5_3 400000"},
      {"h200-ib", "NCCL_IB_HCA=^", "ib mlx5_0 400000"},
      {"gb10-roce", "NCCL_IB_HCA=rocep1s0f0,roceP2p1s0f0", "roce rocep1s0f0 200000"},
      {"gb10-roce", "NCCL_IB_HCA=roceP2p1s0f0", "socket enP7s7 1000"},
      {"gb10-roce", "NCCL_IB_DISABLE=1|NCCL_SOCKET_IFNAME=enp1s0f0np0", "socket enp1s0f0np0 200000"},
      {"rtx-pro-6000-pcie", "NCCL_NET=IB", "?  0"},
      {"rtx-pro-6000-pcie", "NCCL_SOCKET_IFNAME=docker", "socket docker0 10000"},
      {"rtx-pro-6000-pcie", "NCCL_SOCKET_IFNAME==lo", "socket lo 0"},
      {"rtx-pro-6000-pcie", "NCCL_SOCKET_IFNAME=^docker,eno", "socket lo 0"},
      {"rtx-pro-6000-pcie", "NCCL_SOCKET_IFNAME=^=lo,docker0,eno", "socket eno1 10000"},
      {"rtx-pro-6000-pcie", "NCCL_SOCKET_IFNAME=eno2", "socket  0"},
      {"rtx-pro-6000-pcie", "NCCL_SOCKET_IFNAME=,,", "socket eno1 10000"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct sw_facts facts = gather_machine(cases[i].machine, cases[i].settings);
    assert_net(&facts, cases[i].net, cases[i].settings);
  }
}

static void device_lists(void** state) {
  (void)state;
  static const struct {
    const char *setting, *name;
    int port;
    bool admitted;
  } cases[] = {
      {NULL, "mlx5_0", 1, true},
      {"", "mlx5_0", 1, true},
      {"=", "mlx5_0", 1, true},
      {"mlx5", "mlx5_0", 1, true},
      {"MLX5", "mlx5_0", 1, false},
      {"mlx5_0:1", "mlx5_0", 1, true},
      {"mlx5_0:1", "mlx5_0", 2, false},
      {"mlx5_0:1", "mlx5_0", SW_ANY_PORT, true},
      {"mlx5_0:x", "mlx5_0", 1, false},
      {"mlx5_0:", "mlx5_0", 1, false},
      {"mlx5_0:99999999999", "mlx5_0", 1, false},
      {":1", "mlx5_0", 1, false},
      {"mlx5_00", "mlx5_0", 1, false},
      {"=mlx5", "mlx5_0", 1, false},
      {"^=mlx5", "mlx5_0", 1, true},
      {"^mlx5", "mlx5_0", 1, false},
      {"=^mlx5", "mlx5_0", 1, false},
      {",,mlx5_0,", "mlx5_0", 1, true},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct sw_device_list list = sw_device_list_read(cases[i].setting);
    if (sw_device_list_admits(&list, cases[i].name, cases[i].port) != cases[i].admitted)
      fail_msg("%s against %s:%d", cases[i].setting, cases[i].name, cases[i].port);
  }
}

static void natural_order(void** state) {
  (void)state;
  static const char* const ascending[] = {"mlx5",
                                          "mlx5_0",
                                          "mlx5_02",
                                          "mlx5_2",
                                          "mlx5_2a",
                                          "mlx5_10",
                                          "mlx5_10a",
                                          "mlx5_11",
                                          "mlx5_999999999999999999998",
                                          "mlx5_999999999999999999999",
                                          "mlx5_a",
                                          "mlx6"};
  for (size_t i = 0; i < COUNT(ascending); i++)
    for (size_t j = 0; j < COUNT(ascending); j++) {
      int order = sw_facts_natural_order(ascending[i], ascending[j]);
      bool as_expected = i < j ? order < 0 : i > j ? order > 0 : order == 0;
      if (!as_expected) fail_msg("%s against %s: %d", ascending[i], ascending[j], order);
    }
}

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

/* --- the real machine, the driver, communicators */

static void this_machine(void** state) {
  (void)state;
  struct utsname machine;
  void* before = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  struct sw_facts_source source = sw_facts_this_machine(false);
  struct sw_facts facts;
  sw_facts_gather(&source, &facts);
  assert_int_equal(uname(&machine), 0);
  assert_string_equal(facts.arch, machine.machine);
  void* after = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  assert_ptr_equal(before, after); /* nothing was loaded for it */
  setenv("NCCL_NET", "sizewise-test", 1);
  sw_facts_gather(&source, &facts);
  unsetenv("NCCL_NET");
  assert_int_equal(facts.net, SW_NET_OTHER);
}

static int no_context, initialised, asked_device;
static int cu_init(unsigned flags) {
  initialised++;
  return (int)flags;
}
static int cu_context(int* device) {
  if (!no_context) *device = 3;
  return no_context ? 201 : 0;
}
static int cu_device(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
static int cu_name(char* name, int size, int device) {
  asked_device = device;
  memset(name, 'G', (size_t)size); /* no NUL: the caller has to cope */
  return 0;
}
static int cu_attribute(int* value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? 12 : attribute == 76 ? 1 : -1;
  return 0;
}
static int cu_refuses(int* value, int attribute, int device) {
  (void)value, (void)attribute, (void)device;
  return 1;
}

static int cu_too_old(int* value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? 0 : 7;
  return 0;
}

static void driver_calls(void** state) {
  (void)state;
  struct sw_cuda_driver driver = {cu_init, cu_context, cu_device, cu_name, cu_attribute};
  struct sw_facts facts = {.gpu = "from proc"};
  no_context = 1;
  sw_facts_ask_driver(&driver, false, &facts);
  assert_string_equal(facts.gpu, "from proc");
  assert_int_equal(initialised, 0);
  sw_facts_ask_driver(&driver, true, &facts);
  assert_int_equal(initialised, 1);
  assert_int_equal(asked_device, 0);
  assert_int_equal(strlen(facts.gpu), sizeof facts.gpu - 1);
  assert_int_equal(facts.compute_major, 12);
  assert_int_equal(facts.compute_minor, 1);
  no_context = 0;
  driver.cuDeviceGetAttribute = cu_refuses;
  facts = (struct sw_facts){0};
  sw_facts_ask_driver(&driver, true, &facts);
  assert_int_equal(initialised, 1);
  assert_int_equal(asked_device, 3);
  assert_int_equal(facts.compute_major, 0);
  driver.cuDeviceGetAttribute = cu_too_old;
  sw_facts_ask_driver(&driver, true, &facts);
  assert_int_equal(facts.compute_minor, 0);
}

static void communicators(void** state) {
  (void)state;
  struct sw_facts facts = {0};
  sw_facts_set_shape(&facts, 16, 2);
  assert_int_equal(facts.ranks, 16);
  assert_int_equal(facts.nodes, 2);
  assert_int_equal(facts.ranks_per_node, 8);
  sw_facts_set_shape(&facts, 7, 2);
  assert_int_equal(facts.ranks_per_node, 0);
  sw_facts_set_shape(&facts, SIZE_MAX, 0);
  assert_int_equal(facts.ranks, 0);
  assert_int_equal(facts.ranks_per_node, 0);
  sw_facts_set_domains(&facts, &(nccl_nvl_domain_info){2, 4, 8});
  assert_int_equal(facts.nvl_domains, 2);
  assert_int_equal(facts.nvl_min_ranks, 4);
  assert_int_equal(facts.nvl_max_ranks, 8);
  sw_facts_set_domains(&facts, &(nccl_nvl_domain_info){2, 8, 4});
  assert_int_equal(facts.nvl_domains + facts.nvl_min_ranks + facts.nvl_max_ranks, 0);
  sw_facts_set_domains(&facts, &(nccl_nvl_domain_info){1, 1, 1});
  sw_facts_set_domains(&facts, NULL);
  assert_int_equal(facts.nvl_domains + facts.nvl_min_ranks + facts.nvl_max_ranks, 0);
}

/* The program is the NCCL here: it exports this, and holds the logger. */
static int version_result, version_code;
__attribute__((visibility("default"))) int ncclGetVersion(int* version);
int ncclGetVersion(int* version) {
  *version = version_code;
  return version_result;
}

static void own_logger(nccl_log_level level, unsigned long flags, const char* file, int line, const char* fmt, ...) {
  (void)level, (void)flags, (void)file, (void)line, (void)fmt;
}

static nccl_logger logger_in(void* library, const char* symbol) {
  nccl_logger logger = NULL;
  void* address = dlsym(library, symbol);
  memcpy(&logger, &address, sizeof logger);
  return logger;
}

static void nccl_versions(void** state) {
  (void)state;
  version_code = 22809;
  assert_int_equal(sw_facts_nccl_version(own_logger), 22809);
  version_result = NCCL_INTERNAL_ERROR;
  assert_int_equal(sw_facts_nccl_version(own_logger), 0);
  version_result = NCCL_SUCCESS;
  version_code = -5;
  assert_int_equal(sw_facts_nccl_version(own_logger), 0);
  version_code = 22809;
  nccl_logger elsewhere = logger_in(RTLD_NEXT, "fopen"); /* in libc, which is no NCCL */
  assert_non_null(elsewhere);
  assert_int_equal(sw_facts_nccl_version(elsewhere), 0);
  assert_int_equal(sw_facts_nccl_version(NULL), 0);
  char nowhere[64] = "";
  memcpy(&elsewhere, &(char*){nowhere}, sizeof elsewhere); /* in no object at all */
  assert_int_equal(sw_facts_nccl_version(elsewhere), 0);
}

/* --- forced settings */

static void add_mask(char* out, const struct sw_vocabulary* words, unsigned mask) {
  for (size_t i = 0; i < words->count; i++)
    if (mask >> words->words[i].value & 1)
      strcat(strcat(out, strchr("= ", out[strlen(out) - 1]) ? "" : ","), words->words[i].word);
}

/* "allreduce=tree reduce=ring,pat": the restricted collectives; "*=ring": all of them alike. */
static void print_masks(char* out, const struct sw_vocabulary* words, const bool* set, const unsigned* masks) {
  bool alike = true;
  *out = '\0';
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) alike &= set[c] && masks[c] == masks[0];
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) {
    if (!set[c]) assert_int_equal(masks[c], (1U << words->count) - 1);
    if (!set[c] || (alike && c > 0)) continue;
    strcat(strcat(strcat(out, *out ? " " : ""), alike ? "*" : sw_value_word(&sw_collectives, c)), "=");
    add_mask(out, words, masks[c]);
  }
}

static struct sw_forced read_forced(const char* settings) {
  struct sw_forced forced;
  memset(&forced, 0x5a, sizeof forced);
  set_environment(settings);
  sw_forced_read(fake_getenv, &forced);
  return forced;
}

static void assert_forced(const char* settings, const char* algo, const char* proto) {
  struct sw_forced forced = read_forced(settings);
  unsigned algorithms[NCCL_NUM_COLLECTIVES], protocols[NCCL_NUM_COLLECTIVES];
  char text[512];
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) {
    algorithms[c] = forced.algorithms[c];
    protocols[c] = forced.protocols[c];
  }
  print_masks(text, &sw_algorithms, forced.algo_set, algorithms);
  if (strcmp(text, algo) != 0) fail_msg("%s: algorithms \"%s\", expected \"%s\"", settings, text, algo);
  print_masks(text, &sw_protocols, forced.proto_set, protocols);
  if (strcmp(text, proto) != 0) fail_msg("%s: protocols \"%s\", expected \"%s\"", settings, text, proto);
}

static void forced_forms(void** state) {
  (void)state;
  static const struct {
    const char *settings, *algo, *proto;
    int least, most;
  } cases[] = {
      {"", "", "", 0, 0},
      /* as published in start scripts and recipes */
      {"NCCL_ALGO=allreduce:tree|NCCL_PROTO=allreduce:LL", "allreduce=tree", "allreduce=ll", 0, 0},
      {"NCCL_ALGO=Ring|NCCL_MIN_NCHANNELS=1|NCCL_PROTO=LL", "*=ring", "*=ll", 1, 0},
      {"NCCL_ALGO=Ring|NCCL_PROTO=Simple", "*=ring", "*=simple", 0, 0},
      {"NCCL_PROTO=LL", "", "*=ll", 0, 0},
      {"NCCL_PROTO=LL,LL128,Simple", "", "*=ll,ll128,simple", 0, 0},
      {"NCCL_PROTO=^LL128|NCCL_MAX_NCHANNELS=8|NCCL_BUFFSIZE=1048576", "", "*=ll,simple", 0, 8},
      {"NCCL_ALGO=Tree|NCCL_MIN_NCHANNELS=8", "*=tree", "", 8, 0},
      {"NCCL_PROTO=Simple|NCCL_ALGO=allreduce:tree|NCCL_MIN_NCHANNELS=1|NCCL_MAX_NCHANNELS=1|NCCL_NTHREADS=1",
       "allreduce=tree", "*=simple", 1, 1},
      {"NCCL_ALGO=RING|NCCL_PROTO=SIMPLE", "*=ring", "*=simple", 0, 0},
      {"NCCL_ALGO=^NVLS,NVLSTree", "*=tree,ring,collnetdirect,collnetchain,pat", "", 0, 0},
      {"NCCL_ALGO=allreduce:tree;broadcast:ring", "broadcast=ring allreduce=tree", "", 0, 0},
      /* the grammar's corners */
      {"NCCL_ALGO=ring;allreduce:tree", "broadcast=ring reduce=ring allgather=ring reducescatter=ring allreduce=tree",
       "", 0, 0},
      {"NCCL_ALGO=AllReduce:^Tree,PAT;allgather:PAT",
       "allgather=pat allreduce=ring,collnetdirect,collnetchain,nvls,nvlstree", "", 0, 0},
      {"NCCL_PROTO=reduce:LL;reduce:Simple", "", "reduce=simple", 0, 0},
      {"NCCL_PROTO=^LL,LL128,Simple", "", "*=", 0, 0},
      {"NCCL_ALGO=|NCCL_PROTO=|NCCL_MIN_CTAS=|NCCL_MAX_CTAS=0", "", "", 0, 0},
      {"NCCL_MIN_CTAS=4|NCCL_MAX_CTAS=16", "", "", 4, 16},
      {"NCCL_MIN_CTAS=4|NCCL_MIN_NCHANNELS=2|NCCL_MAX_CTAS=16|NCCL_MAX_NCHANNELS=32", "", "", 4, 16},
      {"NCCL_MIN_CTAS=2|NCCL_MIN_NCHANNELS=4|NCCL_MAX_CTAS=32|NCCL_MAX_NCHANNELS=16", "", "", 4, 16},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    assert_forced(cases[i].settings, cases[i].algo, cases[i].proto);
    struct sw_forced forced = read_forced(cases[i].settings);
    if (forced.error.variable) fail_msg("%s: %s", cases[i].settings, forced.error.text);
    assert_int_equal(forced.min_channels, cases[i].least);
    assert_int_equal(forced.max_channels, cases[i].most);
    assert_int_equal(forced.min_variable != NULL, cases[i].least > 0);
    assert_int_equal(forced.max_variable != NULL, cases[i].most > 0);
  }
}

static void forced_names(void** state) {
  (void)state;
  struct sw_forced forced = read_forced("NCCL_MIN_CTAS=4|NCCL_MIN_NCHANNELS=2|NCCL_MAX_CTAS=16|NCCL_MAX_NCHANNELS=8");
  assert_string_equal(forced.min_variable, "NCCL_MIN_CTAS");
  assert_string_equal(forced.max_variable, "NCCL_MAX_NCHANNELS");
  assert_null(forced.algo_text);
  assert_string_equal(read_forced("NCCL_ALGO=RiNg").algo_text, "RiNg");
  assert_string_equal(read_forced("NCCL_PROTO=bad").proto_text, "bad");
}

static void forced_errors(void** state) {
  (void)state;
  static const struct {
    const char* settings;
    const char* variable;
    size_t column;
    const char* text;
  } cases[] = {
      {"NCCL_ALGO=rign", "NCCL_ALGO", 1, "unknown algorithm \"rign\"; did you mean \"ring\"?"},
      {"NCCL_ALGO=ring,tre", "NCCL_ALGO", 6, "unknown algorithm \"tre\"; did you mean \"tree\"?"},
      {"NCCL_ALGO=ring, tree", "NCCL_ALGO", 6, "unknown algorithm \" tree\"; did you mean \"tree\"?"},
      {"NCCL_ALGO=allreduc:tree", "NCCL_ALGO", 1, "unknown collective \"allreduc\"; did you mean \"allreduce\"?"},
      {"NCCL_ALGO=allreduce:tree;xyz:ring", "NCCL_ALGO", 16, "unknown collective \"xyz\""},
      {"NCCL_ALGO=ring;tree", "NCCL_ALGO", 6, "only the first group may lack \"collective:\""},
      {"NCCL_ALGO=allreduce:ring;", "NCCL_ALGO", 16, "only the first group may lack \"collective:\""},
      {"NCCL_ALGO=allreduce:", "NCCL_ALGO", 11, "algorithm missing"},
      {"NCCL_ALGO=:ring", "NCCL_ALGO", 1, "a collective is missing before \":\""},
      {"NCCL_ALGO=ring,,tree", "NCCL_ALGO", 6, "algorithm missing"},
      {"NCCL_ALGO=ring,^tree", "NCCL_ALGO", 6, "\"^\" belongs before the first name of a group"},
      {"NCCL_ALGO=allreduce:tree:ring", "NCCL_ALGO", 11, "unknown algorithm \"tree:ring\""},
      {"NCCL_PROTO=^", "NCCL_PROTO", 2, "protocol missing"},
      {"NCCL_PROTO=LL;allreduce:LL12", "NCCL_PROTO", 14, "unknown protocol \"LL12\"; did you mean \"ll128\"?"},
      {"NCCL_PROTO=\x1b[31m\xc3\xa9", "NCCL_PROTO", 1, "unknown protocol \"?[31m??\""},
      {"NCCL_ALGO=0123456789012345678901234567890123456789", "NCCL_ALGO", 1,
       "unknown algorithm \"01234567890123456789012345678901...\""},
      {"NCCL_MIN_NCHANNELS=8x", "NCCL_MIN_NCHANNELS", 2, "not a number of channels"},
      {"NCCL_MAX_CTAS=-1", "NCCL_MAX_CTAS", 1, "not a number of channels"},
      {"NCCL_MAX_CTAS=99999999999999999999", "NCCL_MAX_CTAS", 21, "not a number of channels"},
      {"NCCL_PROTO=l|NCCL_ALGO=ringg", "NCCL_ALGO", 1, "unknown algorithm \"ringg\"; did you mean \"ring\"?"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    assert_forced(cases[i].settings, "", "");
    struct sw_forced forced = read_forced(cases[i].settings);
    if (!forced.error.variable) fail_msg("%s: no error", cases[i].settings);
    assert_string_equal(forced.error.text, cases[i].text);
    assert_string_equal(forced.error.variable, cases[i].variable);
    if (forced.error.column != cases[i].column) fail_msg("%s: column %zu", cases[i].settings, forced.error.column);
    assert_int_equal(forced.min_channels + forced.max_channels, 0);
  }
  assert_forced("NCCL_ALGO=rign|NCCL_PROTO=LL|NCCL_MAX_CTAS=x", "", "*=ll"); /* one wrong variable leaves the others */
}

static void forced_answers(void** state) {
  (void)state;
  static const struct {
    const char* settings;
    int collective, algo, proto;
    bool allowed;
  } cases[] = {
      {"", NCCL_ALLREDUCE, NCCL_ALGO_TREE, NCCL_PROTO_LL128, true},
      {"", NCCL_ALLREDUCE, 9, 5, true},
      {"NCCL_ALGO=allreduce:tree", NCCL_ALLREDUCE, NCCL_ALGO_TREE, -1, true},
      {"NCCL_ALGO=allreduce:tree", NCCL_ALLREDUCE, NCCL_ALGO_RING, -1, false},
      {"NCCL_ALGO=allreduce:tree", NCCL_BROADCAST, NCCL_ALGO_RING, NCCL_PROTO_LL, true},
      {"NCCL_ALGO=allreduce:tree", NCCL_ALLREDUCE, -1, -1, true},
      {"NCCL_ALGO=^tree", NCCL_ALLREDUCE, NCCL_NUM_ALGORITHMS, -1, false},
      {"NCCL_PROTO=^LL128", NCCL_ALLGATHER, -1, NCCL_PROTO_LL128, false},
      {"NCCL_PROTO=^LL128", NCCL_ALLGATHER, NCCL_ALGO_RING, NCCL_PROTO_LL, true},
      {"NCCL_PROTO=^LL,LL128,Simple", NCCL_ALLREDUCE, NCCL_ALGO_RING, -1, false},
      {"NCCL_ALGO=ring|NCCL_PROTO=LL", NCCL_ALLREDUCE, NCCL_ALGO_RING, NCCL_PROTO_SIMPLE, false},
      {"NCCL_ALGO=ring", NCCL_NUM_COLLECTIVES, NCCL_ALGO_TREE, -1, true},
      {"NCCL_ALGO=ring", -1, NCCL_ALGO_TREE, -1, true},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct sw_forced forced = read_forced(cases[i].settings);
    if (sw_forced_allows(&forced, cases[i].collective, cases[i].algo, cases[i].proto) != cases[i].allowed)
      fail_msg("case %zu: %s", i, cases[i].settings);
  }
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, make_tree, remove_tree)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_machine),
      cmocka_unit_test(network_settings),
      cmocka_unit_test(device_lists),
      cmocka_unit_test(natural_order),
      IN_TREE(port_forms),
      IN_TREE(ports_in_order),
      IN_TREE(interfaces),
      IN_TREE(hostile_files),
      IN_TREE(files_that_are_none),
      IN_TREE(driver_versions),
      IN_TREE(full_folders),
      cmocka_unit_test(this_machine),
      cmocka_unit_test(driver_calls),
      cmocka_unit_test(communicators),
      cmocka_unit_test(nccl_versions),
      cmocka_unit_test(forced_forms),
      cmocka_unit_test(forced_names),
      cmocka_unit_test(forced_errors),
      cmocka_unit_test(forced_answers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
