/* plugin/ground/number: every form of a number that a profile can hold, read and written, to the last digit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <locale.h>
#include <string.h>

#include <cmocka.h>

#include "ground/number.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

enum { UNTOUCHED = 4711 };

struct number_case {
  const char* word;
  enum sw_number_fault fault;
  uint64_t value;
};

typedef enum sw_number_fault (*read_number)(const char* word, size_t length, uint64_t* out);

/* The word stands at the end of its memory, so that a sanitizer sees a read behind it. */
static void check(const struct number_case* cases, size_t count, read_number read) {
  for (size_t i = 0; i < count; i++) {
    uint64_t value = UNTOUCHED;
    size_t length = strlen(cases[i].word);
    char* word = test_malloc(length + 1);
    memcpy(word + 1, cases[i].word, length);
    enum sw_number_fault fault = read(word + 1, length, &value);
    test_free(word);
    uint64_t expected = cases[i].fault ? UNTOUCHED : cases[i].value;
    if (fault != cases[i].fault || value != expected)
      fail_msg("'%s': fault %d, value %llu, not fault %d, value %llu", cases[i].word, (int)fault,
               (unsigned long long)value, (int)cases[i].fault, (unsigned long long)expected);
  }
}

static enum sw_number_fault read_up_to_64(const char* word, size_t length, uint64_t* out) {
  return sw_read_whole(word, length, 64, out);
}

static void wholes(void** state) {
  (void)state;
  static const struct number_case cases[] = {
      {"0", SW_NUMBER_OK, 0},
      {"1", SW_NUMBER_OK, 1},
      {"64", SW_NUMBER_OK, 64},
      {"007", SW_NUMBER_OK, 7},
      {"65", SW_NUMBER_OUT_OF_RANGE, 0},
      {"300", SW_NUMBER_OUT_OF_RANGE, 0},
      {"18446744073709551616", SW_NUMBER_OUT_OF_RANGE, 0},
      {"99999999999999999999999999999999", SW_NUMBER_OUT_OF_RANGE, 0},
      {"2.5", SW_NUMBER_NOT_WHOLE, 0},
      {"2.0", SW_NUMBER_NOT_WHOLE, 0},
      {"", SW_NUMBER_MALFORMED, 0},
      {"-1", SW_NUMBER_MALFORMED, 0},
      {"+1", SW_NUMBER_MALFORMED, 0},
      {" 1", SW_NUMBER_MALFORMED, 0},
      {"1 ", SW_NUMBER_MALFORMED, 0},
      {"1x", SW_NUMBER_MALFORMED, 0},
      {"0x10", SW_NUMBER_MALFORMED, 0},
      {"1e1", SW_NUMBER_MALFORMED, 0},
      {"1_0", SW_NUMBER_MALFORMED, 0},
      {"1,0", SW_NUMBER_MALFORMED, 0},
      {"1.", SW_NUMBER_MALFORMED, 0},
      {".1", SW_NUMBER_MALFORMED, 0},
      {"two", SW_NUMBER_MALFORMED, 0},
  };
  check(cases, COUNT(cases), read_up_to_64);
}

static void sizes(void** state) {
  (void)state;
  static const struct number_case cases[] = {
      {"0", SW_NUMBER_OK, 0},
      {"12288", SW_NUMBER_OK, 12288},
      {"12288B", SW_NUMBER_OK, 12288},
      {"12288 b", SW_NUMBER_OK, 12288},
      {"12K", SW_NUMBER_OK, 12288},
      {"12k", SW_NUMBER_OK, 12288},
      {"12KiB", SW_NUMBER_OK, 12288},
      {"12 KiB", SW_NUMBER_OK, 12288},
      {"12kib", SW_NUMBER_OK, 12288},
      {"12KIB", SW_NUMBER_OK, 12288},
      {"6M", SW_NUMBER_OK, 6291456},
      {"6m", SW_NUMBER_OK, 6291456},
      {"6MiB", SW_NUMBER_OK, 6291456},
      {"2G", SW_NUMBER_OK, 2147483648},
      {"2g", SW_NUMBER_OK, 2147483648},
      {"2GiB", SW_NUMBER_OK, 2147483648},
      {"1.5K", SW_NUMBER_OK, 1536},
      {"0.5KiB", SW_NUMBER_OK, 512},
      {"1.25MiB", SW_NUMBER_OK, 1310720},
      {"0.0009765625K", SW_NUMBER_OK, 1},
      {"512.000", SW_NUMBER_OK, 512},
      {"3.000000000000000000000000000000K", SW_NUMBER_OK, 3072},
      {"1073741824GiB", SW_NUMBER_OK, SW_LARGEST_BYTES},
      {"1152921504606846976", SW_NUMBER_OK, SW_LARGEST_BYTES},
      {"1152921504606846977", SW_NUMBER_OUT_OF_RANGE, 0},
      {"1073741825GiB", SW_NUMBER_OUT_OF_RANGE, 0},
      {"18446744073709551615", SW_NUMBER_OUT_OF_RANGE, 0},
      {"18446744073709551616", SW_NUMBER_OUT_OF_RANGE, 0},
      {"18014398509481984K", SW_NUMBER_OUT_OF_RANGE, 0},
      {"17179869184G", SW_NUMBER_OUT_OF_RANGE, 0},
      {"17179869185.5G", SW_NUMBER_OUT_OF_RANGE, 0},
      {"999999999999999999999999K", SW_NUMBER_OUT_OF_RANGE, 0},
      {"1.5", SW_NUMBER_NOT_WHOLE, 0},
      {"0.1K", SW_NUMBER_NOT_WHOLE, 0},
      {"0.3MiB", SW_NUMBER_NOT_WHOLE, 0},
      {"0.00048828125K", SW_NUMBER_NOT_WHOLE, 0},
      {"1.0000000000000000001", SW_NUMBER_NOT_WHOLE, 0},
      {"1.00000000000000000000000000000000000000000000000000000000000000000000000000001K", SW_NUMBER_NOT_WHOLE, 0},
      {"0.00000000000000000000000000000000000000000000000000000000000000000000000000001G", SW_NUMBER_NOT_WHOLE, 0},
      {"12KB", SW_NUMBER_DECIMAL_UNIT, 0},
      {"12kb", SW_NUMBER_DECIMAL_UNIT, 0},
      {"12 MB", SW_NUMBER_DECIMAL_UNIT, 0},
      {"1GB", SW_NUMBER_DECIMAL_UNIT, 0},
      {"", SW_NUMBER_MALFORMED, 0},
      {"KiB", SW_NUMBER_MALFORMED, 0},
      {"-1K", SW_NUMBER_MALFORMED, 0},
      {"1.K", SW_NUMBER_MALFORMED, 0},
      {".5K", SW_NUMBER_MALFORMED, 0},
      {"1.5.5K", SW_NUMBER_MALFORMED, 0},
      {"1..5K", SW_NUMBER_MALFORMED, 0},
      {"1e3", SW_NUMBER_MALFORMED, 0},
      {"12Ki", SW_NUMBER_MALFORMED, 0},
      {"12KiBs", SW_NUMBER_MALFORMED, 0},
      {"12T", SW_NUMBER_MALFORMED, 0},
      {"12bytes", SW_NUMBER_MALFORMED, 0},
      {"12\tK", SW_NUMBER_MALFORMED, 0},
      {"1,5K", SW_NUMBER_MALFORMED, 0},
      {"all", SW_NUMBER_MALFORMED, 0},
  };
  check(cases, COUNT(cases), sw_read_size);
}

static void times(void** state) {
  (void)state;
  static const struct number_case cases[] = {
      {"76us", SW_NUMBER_OK, 76000000},
      {"76 us", SW_NUMBER_OK, 76000000},
      {"76US", SW_NUMBER_OK, 76000000},
      {"13.4us", SW_NUMBER_OK, 13400000},
      {"1.14ms", SW_NUMBER_OK, 1140000000},
      {"2s", SW_NUMBER_OK, 2000000000000},
      {"0.000001us", SW_NUMBER_OK, 1},
      {"0.0000005us", SW_NUMBER_OK, 1},
      {"1.2345674us", SW_NUMBER_OK, 1234567},
      {"1.2345675us", SW_NUMBER_OK, 1234568},
      {"0.333333333333333333333333333333ms", SW_NUMBER_OK, 333333333},
      {"3600s", SW_NUMBER_OK, SW_LONGEST_PS},
      {"3600000000us", SW_NUMBER_OK, SW_LONGEST_PS},
      {"3600.000000000001s", SW_NUMBER_OUT_OF_RANGE, 0},
      {"3601s", SW_NUMBER_OUT_OF_RANGE, 0},
      {"18446744073709551615s", SW_NUMBER_OUT_OF_RANGE, 0},
      {"18446744073709.5s", SW_NUMBER_OUT_OF_RANGE, 0},
      {"99999999999999999999us", SW_NUMBER_OUT_OF_RANGE, 0},
      {"0us", SW_NUMBER_OUT_OF_RANGE, 0},
      {"0.0000004us", SW_NUMBER_OUT_OF_RANGE, 0},
      {"0.00000000000000000000000000000000000000000000000000000000000000000000000000001s", SW_NUMBER_OUT_OF_RANGE, 0},
      {"76", SW_NUMBER_NO_UNIT, 0},
      {"76.5", SW_NUMBER_NO_UNIT, 0},
      {"", SW_NUMBER_MALFORMED, 0},
      {"us", SW_NUMBER_MALFORMED, 0},
      {"-76us", SW_NUMBER_MALFORMED, 0},
      {"76ns", SW_NUMBER_MALFORMED, 0},
      {"76min", SW_NUMBER_MALFORMED, 0},
      {"1e3us", SW_NUMBER_MALFORMED, 0},
      {"1,5ms", SW_NUMBER_MALFORMED, 0},
      {"infs", SW_NUMBER_MALFORMED, 0},
  };
  check(cases, COUNT(cases), sw_read_time);
}

static enum sw_number_fault read_fraction(const char* word, size_t length, uint64_t* out) {
  int64_t value = UNTOUCHED;
  enum sw_number_fault fault = sw_read_fraction(word, length, &value);
  *out = (uint64_t)value;
  return fault;
}

static void fractions(void** state) {
  (void)state;
  static const struct number_case cases[] = {
      {"3%", SW_NUMBER_OK, 3000000},
      {"3 %", SW_NUMBER_OK, 3000000},
      {"0.03", SW_NUMBER_OK, 3000000},
      {"2", SW_NUMBER_OK, 200000000},
      {"1.5", SW_NUMBER_OK, 150000000},
      {"150%", SW_NUMBER_OK, 150000000},
      {"0", SW_NUMBER_OK, 0},
      {"0%", SW_NUMBER_OK, 0},
      {"0.00000001", SW_NUMBER_OK, 1},
      {"0.000001%", SW_NUMBER_OK, 1},
      {"0.000000004", SW_NUMBER_OK, 0},
      {"0.000000005", SW_NUMBER_OK, 1},
      {"1000000", SW_NUMBER_OK, 100000000000000},
      {"1000000.00000001", SW_NUMBER_OUT_OF_RANGE, 0},
      {"18446744073709551615%", SW_NUMBER_OUT_OF_RANGE, 0},
      {"184467440737095516", SW_NUMBER_OUT_OF_RANGE, 0},
      {"", SW_NUMBER_MALFORMED, 0},
      {"%", SW_NUMBER_MALFORMED, 0},
      {"-3%", SW_NUMBER_MALFORMED, 0},
      {"3%%", SW_NUMBER_MALFORMED, 0},
      {"3 percent", SW_NUMBER_MALFORMED, 0},
      {"3e-2", SW_NUMBER_MALFORMED, 0},
      {"0,03", SW_NUMBER_MALFORMED, 0},
      {"nan", SW_NUMBER_MALFORMED, 0},
  };
  check(cases, COUNT(cases), read_fraction);
}

/* --- writing */

static void assert_text(struct sw_text* text, const char* expected) {
  assert_string_equal(sw_text_string(text), expected);
  sw_text_free(text);
}

static void written_exactly(void** state) {
  (void)state;
  struct sw_text text = SW_TEXT_EMPTY;
  static const struct {
    uint64_t value;
    unsigned decimals;
    const char* text;
  } fixed[] = {{0, 0, "0"},        {0, 8, "0"},    {1500, 3, "1.5"},
               {1005, 3, "1.005"}, {1000, 3, "1"}, {1, 8, "0.00000001"},
               {7, 0, "7"},        {70, 1, "7"},   {UINT64_MAX, 0, "18446744073709551615"}};
  for (size_t i = 0; i < COUNT(fixed); i++) {
    sw_add_fixed(&text, fixed[i].value, fixed[i].decimals);
    assert_text(&text, fixed[i].text);
  }
  static const struct {
    uint64_t bytes;
    const char *exact, *words;
  } sizes_written[] = {{0, "0", "0 B"},
                       {1, "1", "1 B"},
                       {1023, "1023", "1023 B"},
                       {1024, "1KiB", "1 KiB"},
                       {12288, "12KiB", "12 KiB"},
                       {12300, "12300", "12300 B"},
                       {1048576, "1MiB", "1 MiB"},
                       {1049600, "1025KiB", "1025 KiB"},
                       {100663296, "96MiB", "96 MiB"},
                       {1073741824, "1GiB", "1 GiB"},
                       {SW_LARGEST_BYTES, "1073741824GiB", "1073741824 GiB"}};
  for (size_t i = 0; i < COUNT(sizes_written); i++) {
    sw_add_size(&text, sizes_written[i].bytes);
    assert_text(&text, sizes_written[i].exact);
    sw_add_size_words(&text, sizes_written[i].bytes);
    assert_text(&text, sizes_written[i].words);
  }
}

static void times_written(void** state) {
  (void)state;
  static const struct {
    uint64_t ps;
    const char *exact, *words;
  } cases[] = {{1, "0.000001us", "0 us"},
               {13400000, "13.4us", "13.4 us"},
               {76000000, "76us", "76 us"},
               {9999600, "9.9996us", "10 us"},
               {999940000, "999.94us", "999.9 us"},
               {999960000, "999.96us", "1000 us"},
               {1140000000, "1140us", "1.14 ms"},
               {58234000000, "58234us", "58.23 ms"},
               {140700000000, "140700us", "140.7 ms"},
               {2000000000000, "2000000us", "2 s"},
               {SW_LONGEST_PS, "3600000000us", "3600 s"}};
  struct sw_text text = SW_TEXT_EMPTY;
  for (size_t i = 0; i < COUNT(cases); i++) {
    sw_add_time(&text, cases[i].ps);
    assert_text(&text, cases[i].exact);
    sw_add_time_words(&text, cases[i].ps);
    assert_text(&text, cases[i].words);
  }
}

static void percents_written(void** state) {
  (void)state;
  struct sw_text text = SW_TEXT_EMPTY;
  static const struct {
    int64_t fraction;
    const char* text;
  } exact[] = {{3000000, "3%"}, {0, "0%"}, {1, "0.000001%"}, {150000000, "150%"}, {2500000, "2.5%"}};
  for (size_t i = 0; i < COUNT(exact); i++) {
    sw_add_percent(&text, exact[i].fraction);
    assert_text(&text, exact[i].text);
  }
  static const struct {
    double fraction;
    const char* text;
  } words[] = {{0.026, "2.6%"}, {0.0264, "2.6%"}, {-0.026, "-2.6%"}, {0, "0%"},
               {-0.0001, "0%"}, {0.5, "50%"},     {2.339, "233.9%"}, {-1, "-100%"}};
  for (size_t i = 0; i < COUNT(words); i++) {
    sw_add_percent_words(&text, words[i].fraction);
    assert_text(&text, words[i].text);
  }
}

/* The host process may have any locale: a decimal comma, or Turkish letters, must change nothing. */
static void any_locale(void** state) {
  static const char* const locales[] = {"de_DE.UTF-8", "de_DE", "tr_TR.UTF-8", "tr_TR.ISO-8859-9", "tr_TR"};
  size_t tried = 0;
  for (size_t i = 0; i < COUNT(locales); i++) {
    if (!setlocale(LC_ALL, locales[i])) continue;
    tried++;
    wholes(state);
    sizes(state);
    times(state);
    fractions(state);
    written_exactly(state);
    times_written(state);
    percents_written(state);
  }
  setlocale(LC_ALL, "C");
  if (!tried) skip();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wholes),           cmocka_unit_test(sizes),           cmocka_unit_test(times),
      cmocka_unit_test(fractions),        cmocka_unit_test(written_exactly), cmocka_unit_test(times_written),
      cmocka_unit_test(percents_written), cmocka_unit_test(any_locale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
