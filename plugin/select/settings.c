#include "select/settings.h"

#include <stdlib.h>
#include <string.h>

#include "ground/letters.h"

static const char* value_of(const char* (*getenv)(const char*), const char* name) {
  const char* value = getenv(name);
  return value && value[0] ? value : NULL;
}

static void report(struct sw_diags* diags, const char* name, const char* value, const char* takes) {
  sw_report(diags, SW_BAD_SETTING, (struct sw_place){0}, "%s='%.60s': it takes %s", name, value, takes);
}

static bool is_one_of(const char* value, const char* const* words) {
  for (; *words; words++)
    if (sw_same_word(value, *words)) return true;
  return false;
}

static void read_switch(const char* (*getenv)(const char*), struct sw_diags* diags, const char* name, bool* out) {
  static const char* const on[] = {"1", "true", "yes", "on", NULL};
  static const char* const off[] = {"0", "false", "no", "off", NULL};
  const char* value = value_of(getenv, name);
  if (!value) return;
  *out = is_one_of(value, on);
  if (!*out && !is_one_of(value, off)) report(diags, name, value, "1 or 0");
}

static void read_expect(const char* (*getenv)(const char*), struct sw_diags* diags, struct sw_digest* out) {
  const char* value = value_of(getenv, "NCCL_SIZEWISE_EXPECT");
  if (!value) return;
  if (strlen(value) != SW_DIGEST_LENGTH || strspn(value, "0123456789abcdefABCDEF") != SW_DIGEST_LENGTH) {
    report(diags, "NCCL_SIZEWISE_EXPECT", value,
           "a digest of 32 hexadecimal digits, as 'sizewise check FILE' prints it");
    return;
  }
  for (int i = 0; i < SW_DIGEST_LENGTH; i++) {
    char c = value[i];
    out->hex[i] = c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c;
  }
}

bool sw_switches_read(const char* (*getenv)(const char* name), struct sw_diags* diags, struct sw_switches* out) {
  memset(out, 0, sizeof *out);
  const char* profile = value_of(getenv, "NCCL_SIZEWISE_PROFILE");
  const char* path = value_of(getenv, "NCCL_SIZEWISE_PATH");
  out->off = profile && sw_same_word(profile, "off");
  out->path_set = path != NULL;
  out->path = strdup(path ? path : SW_DEFAULT_PATH);
  out->profile = profile && !out->off ? strdup(profile) : NULL;
  read_expect(getenv, diags, &out->expect);
  read_switch(getenv, diags, "NCCL_SIZEWISE_STRICT", &out->strict);
  read_switch(getenv, diags, "NCCL_SIZEWISE_DETERMINISTIC", &out->deterministic);
  return out->path && (out->profile || out->off || !profile);
}

void sw_switches_free(struct sw_switches* switches) {
  free(switches->profile);
  free(switches->path);
  memset(switches, 0, sizeof *switches);
}

static bool same_text(const char* a, const char* b) {
  return a && b ? strcmp(a, b) == 0 : a == b;
}

bool sw_switches_same(const struct sw_switches* a, const struct sw_switches* b) {
  return same_text(a->profile, b->profile) && same_text(a->path, b->path) && a->off == b->off &&
         a->path_set == b->path_set && strcmp(a->expect.hex, b->expect.hex) == 0 && a->strict == b->strict &&
         a->deterministic == b->deterministic;
}
