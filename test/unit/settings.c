/* plugin/select/settings: every form of the NCCL_SIZEWISE_* variables. */
#include "select/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof(table)[0])
#define DIGEST "0123456789abcdef0123456789abcdef"

static char environment[512]; /* NAME=value pairs, parted by NULs */

static const char* fake_getenv(const char* name) {
  size_t length = strlen(name);
  for (char* pair = environment; *pair; pair += strlen(pair) + 1)
    if (strncmp(pair, name, length) == 0 && pair[length] == '=') return pair + length + 1;
  return NULL;
}

/* "PROFILE=a|STRICT=1", without the NCCL_SIZEWISE_ that all have in common. */
static void set_environment(const char* settings) {
  size_t used = 0;
  memset(environment, 0, sizeof environment);
  while (*settings) {
    size_t length = strcspn(settings, "|");
    used +=
        (size_t)snprintf(environment + used, sizeof environment - used, "NCCL_SIZEWISE_%.*s", (int)length, settings) +
        1;
    assert_true(used < sizeof environment);
    settings += length + (settings[length] == '|');
  }
}

/* The switches as one line: profile, off, path where set, digest, strict, deterministic. */
static void describe(const struct sw_switches* switches, char out[512]) {
  snprintf(out, 512, "%s%s%s%s%s%s%s%s", switches->profile ? switches->profile : "-", switches->off ? " off" : "",
           switches->path_set ? " path " : "", switches->path_set ? switches->path : "",
           switches->expect.hex[0] ? " expect " : "", switches->expect.hex, switches->strict ? " strict" : "",
           switches->deterministic ? " deterministic" : "");
}

static void values(void** state) {
  (void)state;
  static const struct {
    const char *settings, *switches, *finding; /* finding: "" none */
  } cases[] = {
      {"", "-", ""},
      {"PROFILE=|PATH=|EXPECT=|STRICT=|DETERMINISTIC=", "-", ""}, /* empty is not set */
      {"PROFILE=a", "a", ""},
      {"PROFILE=/x/y.yaml", "/x/y.yaml", ""},
      {"PROFILE=off", "- off", ""},
      {"PROFILE=OFF", "- off", ""},
      {"PROFILE=offset", "offset", ""},
      {"PROFILE=none", "none", ""},
      {"PATH=/a:/b", "- path /a:/b", ""},
      {"EXPECT=" DIGEST, "- expect " DIGEST, ""},
      {"EXPECT=0123456789ABCDEF0123456789ABCDEF", "- expect " DIGEST, ""},
      {"EXPECT=0123", "-",
       "NCCL_SIZEWISE_EXPECT='0123': it takes a digest of 32 hexadecimal digits, as 'sizewise check FILE' prints it"},
      {"EXPECT=" DIGEST "0", "-",
       "NCCL_SIZEWISE_EXPECT='" DIGEST
       "0': it takes a digest of 32 hexadecimal digits, as 'sizewise check FILE' prints it"},
      {"EXPECT=" DIGEST " ", "-",
       "NCCL_SIZEWISE_EXPECT='" DIGEST
       " ': it takes a digest of 32 hexadecimal digits, as 'sizewise check FILE' prints it"},
      {"EXPECT=0123456789abcdef0123456789abcdeg", "-",
       "NCCL_SIZEWISE_EXPECT='0123456789abcdef0123456789abcdeg': it takes a digest of 32 hexadecimal digits, as "
       "'sizewise check FILE' prints it"},
      {"STRICT=1", "- strict", ""},
      {"STRICT=true", "- strict", ""},
      {"STRICT=Yes", "- strict", ""},
      {"STRICT=ON", "- strict", ""},
      {"STRICT=0", "-", ""},
      {"STRICT=false", "-", ""},
      {"STRICT=no", "-", ""},
      {"STRICT=Off", "-", ""},
      {"STRICT=2", "-", "NCCL_SIZEWISE_STRICT='2': it takes 1 or 0"},
      {"STRICT=1 ", "-", "NCCL_SIZEWISE_STRICT='1 ': it takes 1 or 0"},
      {"STRICT=y", "-", "NCCL_SIZEWISE_STRICT='y': it takes 1 or 0"},
      {"DETERMINISTIC=1", "- deterministic", ""},
      {"DETERMINISTIC=maybe", "-", "NCCL_SIZEWISE_DETERMINISTIC='maybe': it takes 1 or 0"},
      {"PROFILE=a|PATH=/p|EXPECT=" DIGEST "|STRICT=1|DETERMINISTIC=1",
       "a path /p expect " DIGEST " strict deterministic", ""},
      /* sixty letters of a long value are enough to recognise it */
      {"STRICT=aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg", "-",
       "NCCL_SIZEWISE_STRICT='aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff': it takes 1 or 0"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct sw_diags diags;
    struct sw_switches switches;
    char found[512];
    set_environment(cases[i].settings);
    sw_diags_start(&diags, "environment");
    assert_true(sw_switches_read(fake_getenv, &diags, &switches));
    describe(&switches, found);
    if (strcmp(found, cases[i].switches) != 0) fail_msg("%s: '%s'", cases[i].settings, found);
    assert_int_equal(diags.errors, cases[i].finding[0] != 0);
    if (diags.errors) assert_string_equal(diags.items[0].text, cases[i].finding);
    if (diags.errors) assert_int_equal(diags.items[0].code, SW_BAD_SETTING);
    sw_switches_free(&switches);
  }
}

static void default_path(void** state) {
  (void)state;
  struct sw_diags diags;
  struct sw_switches switches;
  set_environment("");
  sw_diags_start(&diags, "environment");
  assert_true(sw_switches_read(fake_getenv, &diags, &switches));
  assert_string_equal(switches.path, SW_DEFAULT_PATH);
  assert_memory_equal(switches.path, "/etc/sizewise/profiles:", strlen("/etc/sizewise/profiles:"));
  assert_false(switches.path_set);
  sw_switches_free(&switches);
}

/* Communicators share what they loaded only where every variable is the same. */
static void sameness(void** state) {
  (void)state;
  static const char* const settings[] = {"",
                                         "PROFILE=a",
                                         "PROFILE=b",
                                         "PROFILE=off",
                                         "PATH=/a",
                                         "PATH=" SW_DEFAULT_PATH,
                                         "EXPECT=0123456789abcdef0123456789abcdef",
                                         "STRICT=1",
                                         "DETERMINISTIC=1"};
  struct sw_switches switches[COUNT(settings)];
  for (size_t i = 0; i < COUNT(settings); i++) {
    struct sw_diags diags;
    sw_diags_start(&diags, "environment");
    set_environment(settings[i]);
    assert_true(sw_switches_read(fake_getenv, &diags, &switches[i]));
  }
  for (size_t i = 0; i < COUNT(settings); i++)
    for (size_t k = 0; k < COUNT(settings); k++)
      if (sw_switches_same(&switches[i], &switches[k]) != (i == k)) fail_msg("'%s' and '%s'", settings[i], settings[k]);
  for (size_t i = 0; i < COUNT(settings); i++) sw_switches_free(&switches[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values),
      cmocka_unit_test(default_path),
      cmocka_unit_test(sameness),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
