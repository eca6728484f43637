/* bench/doctor: which profile applies, why others do not, and whether it is stale. */
#include "doctor.h"
#include "doctor_root.h"

/* `more` stands in the provenance. */
#define PROFILE(more)                                                                               \
  "sizewise: 1\nname: mine\n"                                                                       \
  "provenance: {kind: measured, source: a test, nccl: \"2.28.9 (a wheel)\", driver: \"580.1\"" more \
  "}\n"                                                                                             \
  "match: {gpu: \"*TEST*\"}\n" TABLES(TABLE_OF("allreduce", "1", "8", POINT("1MiB", AUTO("100us") TIME(A, "50us"))))

static void write_text(const char* path, const char* text) {
  write_file(path, text, strlen(text));
}

/* A machine with one GPU model and a driver, and a folder with one profile. */
static void make_machine(const char* model, const char* driver, const char* profile) {
  char text[256];
  snprintf(text, sizeof text, "Model: \t\t %s\n", model);
  write_text("/proc/driver/nvidia/gpus/0000:01:00.0/information", text);
  snprintf(text, sizeof text, "NVRM version: NVIDIA UNIX x86_64 Kernel Module  %s  Tue\n", driver);
  write_text("/proc/driver/nvidia/version", text);
  write_text("/etc/sizewise/profiles/mine.yaml", profile);
}

static void examine(const char* script, const char* nccl, struct shape_filter shape, struct examined* out) {
  examine_set(script, 0, (struct question){.root = root, .nccl = nccl, .shape = shape}, out);
}

static const struct shape_filter any = {0, 0};

static void fresh(void** state) {
  (void)state;
  struct examined examined;
  make_machine("NVIDIA TEST", "580.1", PROFILE(""));
  examine("", "2.28.9", any, &examined);
  assert_codes(&examined, "0 0");
  assert_says(&examined, "fits this machine; it applies by itself on one node");
  assert_says(&examined, "settings are priced with mine");
  forget(&examined);
  examine("", "2.28.9", (struct shape_filter){.nodes = 1, .ranks = 8}, &examined);
  assert_codes(&examined, "0 0");
  assert_says(&examined, "applies: fits this machine");
  forget(&examined);
  examine("", "2.28.9", (struct shape_filter){.nodes = 1, .ranks = 4}, &examined);
  assert_says(&examined, "no table for 4 ranks on 1 node");
  assert_silent(&examined, "settings are priced with");
  forget(&examined);
}

static void stale(void** state) {
  (void)state;
  struct examined examined;
  make_machine("NVIDIA TEST", "580.10", PROFILE(", settings: {NCCL_NVLS_ENABLE: \"0\"}"));
  examine("NCCL_BUFFSIZE=1\nNCCL_P2P_DISABLE=1", "2.30.7", any, &examined);
  assert_codes(&examined, "612 0 0");
  assert_says(&examined, "measured with NCCL 2.28.9 (a wheel); here it is 2.30.7\n");
  assert_says(&examined, "measured with driver 580.1; here it is 580.10\n");
  assert_says(&examined, "measured without NCCL_BUFFSIZE; here it is 1\n");
  assert_says(&examined, "measured without NCCL_P2P_DISABLE; here it is 1\n");
  assert_says(&examined, "measured with NCCL_NVLS_ENABLE=0; here it is not set\n");
  forget(&examined);
  examine("NCCL_NVLS_ENABLE=0", NULL, any, &examined);
  assert_says(&examined, "measured with driver 580.1; here it is 580.10\n");
  assert_silent(&examined, "measured with NCCL");
  forget(&examined);
}

static void other_hardware(void** state) {
  (void)state;
  struct examined examined;
  make_machine("NVIDIA OTHER", "580.1", PROFILE(""));
  examine("", "2.28.9", any, &examined);
  assert_says(&examined, "does not apply: gpu is 'NVIDIA OTHER', not '*TEST*'");
  assert_silent(&examined, "settings are priced with");
  forget(&examined);
}

static void invalid_file(void** state) {
  (void)state;
  struct examined examined;
  make_machine("NVIDIA TEST", "580.1", "sizewise: 1\nnmae: x\n");
  examine("", "2.28.9", any, &examined);
  assert_says(&examined, "406 skipped an invalid profile");
  assert_says(&examined, "mine.yaml does not apply: invalid");
  forget(&examined);
}

static void settings(void** state) {
  (void)state;
  static const struct {
    const char *script, *code, *says;
  } cases[] = {
      {"NCCL_SIZEWISE_PROFILE=nothing", "401 ", "no profile 'nothing'"},
      {"NCCL_SIZEWISE_PROFILE=gb10-roce-8x1\nNCCL_SIZEWISE_EXPECT=00000000000000000000000000000000", "402 ",
       "but NCCL_SIZEWISE_EXPECT is 0000"},
      {"NCCL_SIZEWISE_EXPECT=00000000000000000000000000000000", "402 ", "has the digest 0000"},
      {"NCCL_SIZEWISE_STRICT=maybe", "407 ", "it takes 1 or 0"},
      {"NCCL_SIZEWISE_DETERMINISTIC=2", "407 ", "it takes 1 or 0"},
      {"NCCL_SIZEWISE_PROFILE=off", "0 ", "switched off by NCCL_SIZEWISE_PROFILE=off"},
      {"NCCL_SIZEWISE_PROFIL=mine", "613 ", "there is no NCCL_SIZEWISE_PROFIL; did you mean NCCL_SIZEWISE_PROFILE?"},
      {"NCCL_SIZEWISE_XYZZY=1", "613 ", "there is no NCCL_SIZEWISE_XYZZY\n"},
      {"NCCL_SIZEWISE_PATH=/nowhere", "408 ", "/nowhere: No such file"},
  };
  make_machine("NVIDIA TEST", "580.1", PROFILE(""));
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct examined examined;
    examine(cases[i].script, "2.28.9", any, &examined);
    assert_says(&examined, cases[i].says);
    assert_says(&examined, cases[i].code);
    forget(&examined);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_ROOT(fresh), IN_ROOT(stale), IN_ROOT(other_hardware), IN_ROOT(invalid_file), IN_ROOT(settings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
