/* ground/utf8: RFC 3629, at the edges of what its table allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ground/utf8.h"

static void characters(void** state) {
  (void)state;
  static const struct {
    const char* text;
    bool good;
  } cases[] = {{"", true},
               {"plain \x01\x7f", true},
               {"\xc2\x80\xdf\xbf", true},
               {"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf", true},
               {"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", true},
               {"\x80", false},
               {"\xc1\xbf", false},
               {"\xe0\x9f\xbf", false},
               {"\xed\xa0\x80", false},
               {"\xf0\x8f\xbf\xbf", false},
               {"\xf4\x90\x80\x80", false},
               {"\xf5\x80\x80\x80", false},
               {"a\xc3", false},
               {"\xe2\x82", false},
               {"\xe2(\xac", false}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    if (sw_is_utf8(cases[i].text) != cases[i].good) fail_msg("case %zu", i);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(characters)};
  return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
