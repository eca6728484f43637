/* What a machine is: the captured machines, the settings of its network, the real machine, driver and NCCL. */
#include <dlfcn.h>
#include <sys/utsname.h>
#include <sys/stat.h>
#include <unistd.h>

#include "facts_source.h"

#include "facts/devices.h"
#include "facts/files.h"
#include "facts/forced.h"
#include "facts/gpu.h"

static struct sw_facts gather_machine(const char* machine, const char* settings) {
  char root[PATH_MAX];
  snprintf(root, sizeof root, "%s/test/fixtures/machines/%s", source_root(), machine);
  struct stat status;
  if (stat(root, &status) != 0) fail_msg("no machine %s", root);
  return gather(root, settings);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_machine),  cmocka_unit_test(network_settings), cmocka_unit_test(device_lists),
      cmocka_unit_test(natural_order), cmocka_unit_test(this_machine),     cmocka_unit_test(driver_calls),
      cmocka_unit_test(communicators), cmocka_unit_test(nccl_versions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
