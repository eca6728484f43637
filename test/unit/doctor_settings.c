/* bench/doctor: what is said of settings, first of all of every set that public start scripts force. */
#include "doctor.h"

#include "doctor/settings.h"
#include "ground/file.h"

static char* forced_settings;

static int read_forced_settings(void** state) {
  (void)state;
  char path[PATH_MAX];
  size_t length;
  snprintf(path, sizeof path, "%s/test/fixtures/inputs/forced-settings.env", source_root());
  return sw_file_read(path, 1 << 20, &forced_settings, &length);
}

static int free_forced_settings(void** state) {
  (void)state;
  free(forced_settings);
  return 0;
}

struct set_case {
  size_t set;
  const char* codes;
  const char* says[8];
  const char* silent[4];
};

static void check_sets(const char* script, const char* shipped, const char* machine, const char* nccl,
                       const struct set_case* cases, size_t count) {
  struct sw_profile* profile = shipped ? read_shipped(shipped) : NULL;
  for (size_t i = 0; i < count; i++) {
    struct examined examined;
    struct question question = {.root = machine_root(machine), .profile = profile, .origin = "shipped", .nccl = nccl};
    examine_set(script, cases[i].set - 1, question, &examined);
    assert_codes(&examined, cases[i].codes);
    for (const char* const* words = cases[i].says; *words; words++) assert_says(&examined, *words);
    for (const char* const* words = cases[i].silent; *words; words++) assert_silent(&examined, *words);
    forget(&examined);
  }
  sw_profile_free(profile);
}

/* The last note of each is of the section Profile: which one prices come from. */
static void forced_sets_on_gb10(void** state) {
  (void)state;
  static const struct set_case cases[] = {
      /* 67.1 / 14.7 = 4.56, 79 / 76 = 1.04, 58.2 / 14.7 = 3.96, 140.7 / 14.7 = 9.57 */
      {1,
       "601 0 0",
       {"together at 96 MiB: 67.1 ms against 14.7 ms, 4.6x (published, measured with 2 channels)",
        "together at 12 KiB: 79 us against 76 us, 1.04x (published, measured with 2 channels)",
        "together at 6 MiB: not measured",
        "NCCL_ALGO=allreduce:tree alone at 96 MiB: 58.2 ms against 14.7 ms, 4.0x (published)",
        "NCCL_PROTO=allreduce:LL alone at 96 MiB: 140.7 ms against 14.7 ms, 9.6x (published)", "from start.sh:2, 3",
        "means more from NCCL 2.31 on"},
       {"unsafe", NULL}},
      {2,
       "405 0",
       {"together at 12 KiB: not measured", "together at 96 MiB: not measured",
        "NCCL_PROTO=LL alone at 96 MiB: 140.7 ms against 14.7 ms, 9.6x (published)",
        "unset NCCL_ALGO NCCL_MIN_NCHANNELS NCCL_PROTO"},
       {"2.31", "no algorithm", NULL}},
      {3, "605 0", {"unsafe over PCIe", "unset NCCL_PROTO, or take LL128 out of it"}, {"[SW-405]", "costs", NULL}},
      {4,
       "405 612 0",
       {"NCCL_PROTO=^LL128 NCCL_MAX_NCHANNELS=8 hold at every size", "together at 6 MiB: not measured",
        "measured without NCCL_BUFFSIZE; here it is 1048576"},
       {"unsafe", "switches off", NULL}},
      {5,
       "603 601 0",
       {"NCCL_ALGO=Tree leaves no algorithm available for broadcast, reduce, allgather, reducescatter",
        "together at 96 MiB: 58.2 ms against 14.7 ms, 4.0x (published, measured with NCCL's own channels)",
        "together at 12 KiB: 74 us against 76 us, 0.97x", "together at 6 MiB: not measured"},
       {"2.31", NULL}},
      {6,
       "0 0 0",
       {"batch-invariant settings: they fix sums, and are respected", "do not unset them",
        "NCCL_SIZEWISE_DETERMINISTIC=1", "from start.sh:18, 19, 20, 21", "means more from NCCL 2.31 on"},
       {"cure unset", "documents", NULL}},
  };
  check_sets(forced_settings, "gb10-roce-8x1", "gb10-roce", NULL, cases, COUNT(cases));
}

/* LL alone: 70.2 us against 106.3 us, 34% less. */
static void forced_sets_on_rtx(void** state) {
  (void)state;
  static const char ll[] =
      "NCCL_PROTO=LL alone at 12 KiB: 70.2 us against 106.3 us, 0.66x, a gain of 34% (published); the "
      "profile chooses ll for 6 KiB to 24 KiB only";
  static const struct set_case cases[] = {
      {1, "405 0 0", {"together at 12 KiB: not measured", "the profile chooses ll for 6 KiB to 24 KiB only"}, {NULL}},
      {2, "405 0", {ll}, {NULL}},
      {3, "605 0", {"forces LL128 on over PCIe: unsafe", "none; PCIe inside one node"}, {"not known", NULL}},
      {4, "405 612 0", {"measured without NCCL_BUFFSIZE; here it is 1048576"}, {NULL}},
      {5, "603 405 0", {"no algorithm available"}, {NULL}},
      {6, "0 0 0", {"batch-invariant"}, {NULL}},
  };
  check_sets(forced_settings, "rtx-pro-6000-pcie-8", "rtx-pro-6000-pcie", NULL, cases, COUNT(cases));
}

static void under_2_31(void** state) {
  (void)state;
  static const struct set_case cases[] = {
      {1, "604 601 0", {"switches every other collective off in this NCCL", "broadcast, reduce, allgather"}, {NULL}},
      {2, "405 0", {"not measured"}, {"switches every other", NULL}},
  };
  static const struct set_case before[] = {
      {1, "602 602 601 0 0", {"NCCL reads 'collective:' from 2.24 on only"}, {NULL}},
  };
  check_sets(forced_settings, "gb10-roce-8x1", "gb10-roce", "2.31.2", cases, COUNT(cases));
  check_sets(forced_settings, "gb10-roce-8x1", "gb10-roce", "2.23.4", before, COUNT(before));
}

/* Measured under these very settings and one more, which is said: 1336.9 us against 2003.2 us. */
static void measured_settings(void** state) {
  (void)state;
  static const struct set_case cases[] = {
      {4,
       "405 612 0",
       {"together at 16 MiB: 1.337 ms against 2.003 ms, 0.67x, a gain of 33.3% (published, measured with "
        "NCCL_LL128_BUFFSIZE=262144)",
        "no tuner can set that"},
       {NULL}},
  };
  check_sets(forced_settings, "gb10-roce-8x1-switched", "gb10-roce", NULL, cases, COUNT(cases));
}

static void single_settings(void** state) {
  (void)state;
  static const char script[] =
      "NCCL_PROTO=allreduce:LL\n\n"
      "NCCL_MAX_NCHANNELS=2\n\n"
      "NCCL_MAX_CTAS=1\n\n"
      "NCCL_ALGO=ring;allreduce:rign\n\n"
      "NCCL_PROTOCOL=LL NCCL_MAX_NCHANNEL=4 NCCL_ALGOS=ring NCCL_NET=IB NCCL_MIN_P2P_NCHANNELS=4\n\n"
      "NCCL_NTHREADS=1\n\n"
      "VLLM_BATCH_INVARIANT=1\n\n"
      "NCCL_PROTO=allreduce:^LL128;broadcast:Simple,ll128\n\n"
      "NCCL_MAX_NCHANNELS=two\n\n"
      "NCCL_ALGO=^Ring\n\n"
      "NCCL_PROTO=\n\n"
      "VLLM_BATCH_INVARIANT=0 SGLANG_ENABLE_DETERMINISTIC_INFERENCE=true\n\n"
      "NCCL_MAX_CTAS=1 NCCL_SIZEWISE_DETERMINISTIC=1\n";
  static const struct set_case cases[] = {
      {1,
       "601 0",
       {"NCCL_PROTO=allreduce:LL at 96 MiB: 140.7 ms against 14.7 ms, 9.6x (published)", "costs allreduce up to 9.6x"},
       {NULL}},
      /* 1.14 / 3.75 = 0.304 */
      {2,
       "405 0",
       {"at 6 MiB: 1.14 ms against 3.75 ms, 0.30x, a gain of 69.6% (published)",
        "the profile chooses 2 channels for 3 MiB to 12 MiB only"},
       {"switches off", NULL}},
      {3, "608 405 0", {"allreduce, 8 ranks on 8 nodes: 2 channels for 3 MiB to 12 MiB"}, {NULL}},
      {4, "602 0", {"column 16: unknown algorithm \"rign\"; did you mean \"ring\"?"}, {NULL}},
      {5,
       "606 606 606 0",
       {"NCCL knows no NCCL_PROTOCOL and ignores it; did you mean NCCL_PROTO?", "did you mean NCCL_MAX_NCHANNELS?",
        "did you mean NCCL_ALGO?"},
       {"NCCL_NET", "P2P", NULL}},
      {6, "607 612 0", {"NCCL documents 64, 128, 256, 512"}, {NULL}},
      {7, "0 0", {"VLLM_BATCH_INVARIANT is on: batch-invariant settings are meant, and are respected"}, {NULL}},
      {8, "605 405 0", {"unsafe over PCIe"}, {NULL}},
      {9, "602 0", {"not a number of channels"}, {NULL}},
      {10, "603 405 0", {"NCCL_ALGO=^Ring leaves no algorithm available for broadcast, reduce\n"}, {NULL}},
      {11, "0", {"priced with"}, {"NCCL_PROTO", NULL}},
      {12, "0 0", {"SGLANG_ENABLE_DETERMINISTIC_INFERENCE is on"}, {"VLLM", NULL}},
      /* none of the profile's choices qualifies for the deterministic mode, so there is nothing to take away */
      {13, "611 405 0", {"NCCL_MAX_CTAS=1 holds"}, {"switches off", NULL}},
  };
  check_sets(script, "gb10-roce-8x1", "gb10-roce", NULL, cases, COUNT(cases));
}

/* Whether one algorithm, protocol and channel fix sums: a tree does, a ring of two ranks, NVLS not. */
static void invariance(void** state) {
  (void)state;
  static const char one[] = "NCCL_ALGO=%s\nNCCL_PROTO=Simple\nNCCL_MIN_NCHANNELS=1\nNCCL_MAX_NCHANNELS=%d\n";
  static const struct {
    const char* algo;
    int channels;
    uint32_t ranks;
    enum invariance invariance;
  } cases[] = {
      {"allreduce:tree", 1, 0, INVARIANT_SETTINGS}, {"Ring", 1, 0, NOT_INVARIANT}, {"Ring", 1, 8, NOT_INVARIANT},
      {"Ring", 1, 2, INVARIANT_SETTINGS},           {"NVLS", 1, 2, NOT_INVARIANT}, {"Tree", 2, 8, NOT_INVARIANT}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    char script[256];
    struct env_file file;
    snprintf(script, sizeof script, one, cases[i].algo, cases[i].channels);
    assert_true(env_file_parse(script, "start.sh", &file));
    struct subject subject = {.set = &file.sets[0], .shape = {.nodes = 1, .ranks = cases[i].ranks}};
    if (settings_invariance(&subject) != cases[i].invariance) fail_msg("%s %u", cases[i].algo, cases[i].ranks);
    env_file_free(&file);
  }
}

static void without_profile(void** state) {
  (void)state;
  static const struct set_case cases[] = {
      {1,
       "405 0 0 0",
       {"without a profile the cost is not known",
        "shipped profiles for this hardware: gb10-roce-4x1-ring, "
        "gb10-roce-8x1-switched, gb10-roce-8x1"},
       {"gb10-roce-8x1, rtx-pro-6000-pcie-8\n  from \nThey", NULL}},
  };
  check_sets(forced_settings, NULL, "gb10-roce", NULL, cases, COUNT(cases));
}

/* Only the shape that is asked for is priced. */
static void shape(void** state) {
  (void)state;
  struct sw_profile* profile = read_shipped("gb10-roce-8x1");
  struct examined examined;
  struct question question = {
      .root = machine_root("gb10-roce"), .profile = profile, .origin = "shipped", .shape = {.nodes = 4, .ranks = 4}};
  examine_set("NCCL_PROTO=LL", 0, question, &examined);
  assert_codes(&examined, "405 0");
  assert_says(&examined, "The profile has no table for what it restricts.");
  forget(&examined);
  sw_profile_free(profile);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forced_sets_on_gb10), cmocka_unit_test(forced_sets_on_rtx),
      cmocka_unit_test(under_2_31),          cmocka_unit_test(measured_settings),
      cmocka_unit_test(single_settings),     cmocka_unit_test(invariance),
      cmocka_unit_test(without_profile),     cmocka_unit_test(shape),
  };
  return cmocka_run_group_tests(tests, read_forced_settings, free_forced_settings);
}
