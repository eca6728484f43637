/* plugin/select/match: whether a profile's `match` holds for a machine, how specific it is, and the reason in words. */
#include "profile_text.h"
#include "select/match.h"

static void patterns(void** state) {
  (void)state;
  static const struct {
    const char *pattern, *text;
    bool matches;
  } cases[] = {
      {"*GB10*", "NVIDIA GB10", true},
      {"*gb10*", "NVIDIA GB10", true},
      {"*GB10*", "NVIDIA GB100", true},
      {"*GB10", "NVIDIA GB100", false},
      {"NVIDIA GB10", "nvidia gb10", true},
      {"NVIDIA GB1", "NVIDIA GB10", false},
      {"NVIDIA GB10", "NVIDIA GB1", false},
      {"NVIDIA GB1?", "NVIDIA GB10", true},
      {"NVIDIA GB1?", "NVIDIA GB1", false},
      {"?", "", false},
      {"", "", true},
      {"", "x", false},
      {"*", "", true},
      {"***", "anything", true},
      {"*a*b*c", "xaxbxc", true},
      {"*a*b*c", "xaxbxcx", false},
      {"*aab", "aaab", true},    /* goes back to the star */
      {"a*ab*b", "aabab", true}, /* the second star alone has to give */
      {"*H200", "NVIDIA H200 NVL", false},
      {"[ab]", "a", false},
      {"[ab]", "[ab]", true},
      {"*.*", "580.95", true},
      {"\\*", "*", false}, /* no escapes */
  };
  for (size_t i = 0; i < COUNT(cases); i++)
    if (sw_match_pattern(cases[i].pattern, cases[i].text) != cases[i].matches)
      fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].text);
}

/* A pattern that makes a naive matcher try 10^20 ways. */
static void patterns_stay_quick(void** state) {
  (void)state;
  char text[4001];
  memset(text, 'a', 4000);
  text[4000] = '\0';
  assert_false(sw_match_pattern("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
  assert_true(sw_match_pattern("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*", text));
}

static struct sw_profile* profile_with(const char* match) {
  TEXT(text);
  sw_text_printf(&text,
                 "sizewise: 1\nname: p\nprovenance: {kind: measured, source: a test}\nmatch: {%s}\n"
                 "rules: [{collective: allreduce, channels: 1}]\n",
                 match);
  struct outcome outcome = read_text(text.data, text.length);
  if (!outcome.profile) fail_msg("%s", sw_text_string(&outcome.report));
  sw_text_free(&outcome.report);
  return outcome.profile;
}

static const struct sw_facts known = {.gpu = "NVIDIA GB10",
                                      .compute_major = 12,
                                      .compute_minor = 1,
                                      .gpus = 1,
                                      .net = SW_NET_ROCE,
                                      .net_mbps = 200000,
                                      .arch = "aarch64",
                                      .driver = "580.95.05",
                                      .nccl = 22907,
                                      .nvl_domains = 1};
static const struct sw_facts nothing = {.net = SW_NET_UNKNOWN};
static struct sw_facts mixed;

static void machines(void** state) {
  (void)state;
  mixed = known;
  mixed.gpu_mixed = true;
  static const struct {
    const char* match;
    const struct sw_facts* facts;
    enum sw_fit fit;
    const char* why;
  } cases[] = {
      {"", &known, SW_FITS, ""},
      {"", &nothing, SW_FITS, ""},
      {"gpu: '*GB10*'", &known, SW_FITS, ""},
      {"gpu: '*gb10'", &known, SW_FITS, ""},
      {"gpu: GB10", &known, SW_CONTRADICTS, "gpu is 'NVIDIA GB10', not 'GB10'"},
      {"gpu: '*'", &nothing, SW_UNKNOWN, "gpu is not known here, and has to be '*'"},
      {"compute: '12.1'", &known, SW_FITS, ""},
      {"compute: '12.0'", &known, SW_CONTRADICTS, "compute is '12.1', not '12.0'"},
      {"compute: '12.1'", &nothing, SW_UNKNOWN, "compute is not known here, and has to be '12.1'"},
      {"arch: aarch64", &known, SW_FITS, ""},
      {"arch: x86_64", &known, SW_CONTRADICTS, "arch is 'aarch64', not 'x86_64'"},
      {"arch: x86_64", &nothing, SW_UNKNOWN, "arch is not known here, and has to be 'x86_64'"},
      {"net: roce", &known, SW_FITS, ""},
      {"net: ib", &known, SW_CONTRADICTS, "net is 'roce', not 'ib'"},
      {"net: socket", &nothing, SW_UNKNOWN, "net is not known here, and has to be 'socket'"},
      {"net_gbps: 200", &known, SW_FITS, ""},
      {"net_gbps: 400", &known, SW_CONTRADICTS, "net_gbps is '200', not '400'"},
      {"net_gbps: 20", &known, SW_CONTRADICTS, "net_gbps is '200', not '20'"},
      {"net_gbps: 400", &nothing, SW_UNKNOWN, "net_gbps is not known here, and has to be '400'"},
      {"nvlink_domains: 1", &known, SW_FITS, ""},
      {"nvlink_domains: 2", &known, SW_CONTRADICTS, "nvlink_domains is '1', not '2'"},
      {"nvlink_domains: 2", &nothing, SW_UNKNOWN, "nvlink_domains is not known here, and has to be '2'"},
      {"nccl: '2.29'", &known, SW_FITS, ""},
      {"nccl: '2.29.7'", &known, SW_FITS, ""},
      {"nccl: '2'", &known, SW_FITS, ""},
      {"nccl: '2.2'", &known, SW_CONTRADICTS, "nccl is '2.29.7', not '2.2'"},
      {"nccl: '2.30'", &known, SW_CONTRADICTS, "nccl is '2.29.7', not '2.30'"},
      {"nccl: '2.29.70'", &known, SW_CONTRADICTS, "nccl is '2.29.7', not '2.29.70'"},
      {"nccl: '2.29'", &nothing, SW_UNKNOWN, "nccl is not known here, and has to be '2.29'"},
      {"driver: '580'", &known, SW_FITS, ""},
      {"driver: '580.95'", &known, SW_FITS, ""},
      {"driver: '580.9'", &known, SW_CONTRADICTS, "driver is '580.95.05', not '580.9'"},
      {"driver: '580'", &nothing, SW_UNKNOWN, "driver is not known here, and has to be '580'"},
      /* of several keys all have to hold; a contradiction is said before what is open, the first before the others */
      {"gpu: '*GB10*', net: roce, arch: aarch64", &known, SW_FITS, ""},
      {"gpu: '*GB10*', net: ib, arch: x86_64", &known, SW_CONTRADICTS, "arch is 'aarch64', not 'x86_64'"},
      {"gpu: '*GB10*', arch: x86_64", &nothing, SW_UNKNOWN, "gpu is not known here, and has to be '*GB10*'"},
      /* each rank of a mixed node sees its own GPU, so nobody can speak for the others */
      {"gpu: '*GB10*'", &mixed, SW_UNKNOWN, "this node holds GPUs of different models, so gpu is open"},
      {"gpu: '*H200*'", &mixed, SW_UNKNOWN, "this node holds GPUs of different models, so gpu is open"},
      {"compute: '12.1'", &mixed, SW_UNKNOWN, "this node holds GPUs of different models, so compute is open"},
      {"net: roce", &mixed, SW_FITS, ""},
      {"gpu: '*H200*', net: ib", &mixed, SW_CONTRADICTS, "net is 'roce', not 'ib'"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct sw_profile* profile = profile_with(cases[i].match);
    struct sw_match match = sw_match_profile(profile, cases[i].facts);
    if (match.fit != cases[i].fit || strcmp(sw_text_string(&match.why), cases[i].why) != 0)
      fail_msg("{%s}: %d, '%s'", cases[i].match, (int)match.fit, sw_text_string(&match.why));
    sw_text_free(&match.why);
    sw_profile_free(profile);
  }
}

/* Each asks for more than the one before: keys count first, then the letters of the GPU pattern. */
static void specificity(void** state) {
  (void)state;
  static const char* const matches[] = {
      "",
      "gpu: '*'",
      "gpu: '*GB*'",
      "gpu: '*GB10*'",
      "gpu: 'NVIDIA GB10'",
      "net: roce, arch: aarch64",
      "gpu: '*GB10*', net: roce",
      "gpu: '*GB10*', net: roce, net_gbps: 200",
      "gpu: '*GB10*', net: roce, net_gbps: 200, nccl: '2.29', driver: '580', compute: '12.1', nvlink_domains: 1"};
  int last = -1;
  for (size_t i = 0; i < COUNT(matches); i++) {
    struct sw_profile* profile = profile_with(matches[i]);
    struct sw_match match = sw_match_profile(profile, &nothing);
    if (match.specificity <= last) fail_msg("{%s} asks for %d, after %d", matches[i], match.specificity, last);
    last = match.specificity;
    sw_text_free(&match.why);
    sw_profile_free(profile);
  }
}

/* A pattern of any length asks for less than a second key. */
static void one_key_is_less_than_two(void** state) {
  (void)state;
  char gpu[1600];
  snprintf(gpu, sizeof gpu, "gpu: '%01500d'", 0);
  struct sw_profile* one = profile_with(gpu);
  struct sw_profile* two = profile_with("net: roce, arch: aarch64");
  struct sw_match a = sw_match_profile(one, &nothing);
  struct sw_match b = sw_match_profile(two, &nothing);
  assert_true(a.specificity < b.specificity);
  sw_text_free(&a.why);
  sw_text_free(&b.why);
  sw_profile_free(one);
  sw_profile_free(two);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(patterns),    cmocka_unit_test(patterns_stay_quick),      cmocka_unit_test(machines),
      cmocka_unit_test(specificity), cmocka_unit_test(one_key_is_less_than_two),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
