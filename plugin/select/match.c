#include "select/match.h"

#include <stdio.h>
#include <string.h>

#include "ground/letters.h"

static bool same_letter(char a, char b) {
  return sw_lower(a) == sw_lower(b);
}

/* Goes back only to the last star: what an earlier one swallowed never has to change. */
bool sw_match_pattern(const char* pattern, const char* text) {
  const char* star = NULL;
  const char* retry = NULL;
  while (*text) {
    if (*pattern == '*') {
      star = pattern++;
      retry = text;
    } else if (*pattern && (*pattern == '?' || same_letter(*pattern, *text))) {
      pattern++;
      text++;
    } else if (star) {
      pattern = star + 1;
      text = ++retry;
    } else {
      return false;
    }
  }
  while (*pattern == '*') pattern++;
  return *pattern == '\0';
}

/* "2.28" holds for "2.28" and "2.28.9", not for "2.280". */
static bool is_version_prefix(const char* prefix, const char* version) {
  size_t length = strlen(prefix);
  return strncmp(prefix, version, length) == 0 && (version[length] == '\0' || version[length] == '.');
}

static bool is_same(const char* wanted, const char* found) {
  return sw_same_word(wanted, found);
}

static bool is_pattern_of(const char* wanted, const char* found) {
  return sw_match_pattern(wanted, found);
}

enum { LONGEST_FACT = 96 };

/* A fact as a profile writes it; "" when it is not known. */
static void describe(const struct sw_facts* facts, enum sw_match_key key, char out[LONGEST_FACT]) {
  out[0] = '\0';
  switch (key) {
    case SW_MATCH_GPU:
      snprintf(out, LONGEST_FACT, "%s", facts->gpu);
      break;
    case SW_MATCH_COMPUTE:
      if (facts->compute_major) snprintf(out, LONGEST_FACT, "%d.%d", facts->compute_major, facts->compute_minor);
      break;
    case SW_MATCH_ARCH:
      snprintf(out, LONGEST_FACT, "%s", facts->arch);
      break;
    case SW_MATCH_NET:
      if (facts->net != SW_NET_UNKNOWN) snprintf(out, LONGEST_FACT, "%s", sw_value_word(&sw_nets, facts->net));
      break;
    case SW_MATCH_NET_GBPS:
      if (facts->net_mbps) snprintf(out, LONGEST_FACT, "%d", facts->net_mbps / 1000);
      break;
    case SW_MATCH_NVLINK_DOMAINS:
      if (facts->nvl_domains) snprintf(out, LONGEST_FACT, "%d", facts->nvl_domains);
      break;
    case SW_MATCH_NCCL:
      if (facts->nccl)
        snprintf(out, LONGEST_FACT, "%d.%d.%d", facts->nccl / 10000, facts->nccl / 100 % 100, facts->nccl % 100);
      break;
    case SW_MATCH_DRIVER:
      snprintf(out, LONGEST_FACT, "%s", facts->driver);
      break;
    case SW_MATCH_COUNT:
      break;
  }
}

static bool (*const holds[SW_MATCH_COUNT])(const char* wanted, const char* found) = {
    [SW_MATCH_GPU] = is_pattern_of,      [SW_MATCH_COMPUTE] = is_same,
    [SW_MATCH_ARCH] = is_same,           [SW_MATCH_NET] = is_same,
    [SW_MATCH_NET_GBPS] = is_same,       [SW_MATCH_NVLINK_DOMAINS] = is_same,
    [SW_MATCH_NCCL] = is_version_prefix, [SW_MATCH_DRIVER] = is_version_prefix,
};

static int specificity_of(const struct sw_profile* profile) {
  int keys = 0;
  int letters = 0;
  for (int key = 0; key < SW_MATCH_COUNT; key++) keys += profile->match[key] != NULL;
  for (const char* c = profile->match[SW_MATCH_GPU]; c && *c; c++) letters += *c != '*' && *c != '?';
  return keys * 1000 + (letters < 1000 ? letters : 999);
}

/* Where a node holds different GPUs, each rank sees its own: no rank can speak for the others. */
static bool is_uncertain(const struct sw_facts* facts, int key) {
  return facts->gpu_mixed && (key == SW_MATCH_GPU || key == SW_MATCH_COMPUTE);
}

struct sw_match sw_match_profile(const struct sw_profile* profile, const struct sw_facts* facts) {
  struct sw_match match = {.fit = SW_FITS, .specificity = specificity_of(profile), .why = SW_TEXT_EMPTY};
  for (int key = 0; key < SW_MATCH_COUNT; key++) {
    const char* wanted = profile->match[key];
    if (!wanted) continue;
    char found[LONGEST_FACT];
    describe(facts, (enum sw_match_key)key, found);
    bool known = found[0] && !is_uncertain(facts, key);
    if (known && holds[key](wanted, found)) continue;
    enum sw_fit fit = known ? SW_CONTRADICTS : SW_UNKNOWN;
    if (fit <= match.fit) continue;
    match.fit = fit;
    sw_text_free(&match.why);
    const char* word = sw_value_word(&sw_match_keys, key);
    if (known)
      sw_text_printf(&match.why, "%s is '%s', not '%s'", word, found, wanted);
    else if (found[0])
      sw_text_printf(&match.why, "this node holds GPUs of different models, so %s is open", word);
    else
      sw_text_printf(&match.why, "%s is not known here, and has to be '%s'", word, wanted);
  }
  return match;
}
