#include "ground/number.h"

#include <stdbool.h>
#include <string.h>

#include "ground/letters.h"

/* A decimal as it was written: digits, and how many of them stand behind the point. */
struct decimal {
  uint64_t digits;
  unsigned decimals;
  size_t length; /* characters read */
  bool rest;     /* a digit that was dropped is not 0 */
};

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* Digits with at most one point between them. Digits that no uint64_t holds: out of range before the point, dropped
   behind it. So are those beyond the 18th behind it, so that every power of ten here fits. */
static enum sw_number_fault read_decimal(const char* word, size_t length, struct decimal* out) {
  enum { MOST_DECIMALS = 18 };
  struct decimal decimal = {0};
  bool point = false;
  bool full = false;
  size_t i = 0;
  for (; i < length && (is_digit(word[i]) || (word[i] == '.' && !point)); i++) {
    if (word[i] == '.') {
      if (i == 0 || i + 1 == length || !is_digit(word[i + 1])) return SW_NUMBER_MALFORMED;
      point = true;
      continue;
    }
    full = full || decimal.digits > (UINT64_MAX - 9) / 10 || decimal.decimals == MOST_DECIMALS;
    if (full && !point) return SW_NUMBER_OUT_OF_RANGE;
    decimal.rest = decimal.rest || (full && word[i] != '0');
    if (full) continue;
    decimal.digits = decimal.digits * 10 + (uint64_t)(word[i] - '0');
    decimal.decimals += point;
  }
  if (i == 0) return SW_NUMBER_MALFORMED;
  decimal.length = i;
  *out = decimal;
  return SW_NUMBER_OK;
}

/* decimal x scale as an integer, rounded half up; `exact` tells whether it was one. */
static enum sw_number_fault scale_decimal(struct decimal decimal, uint64_t scale, uint64_t* out, bool* exact) {
  *exact = !decimal.rest;
  while (decimal.decimals && decimal.digits % 10 == 0) {
    decimal.digits /= 10;
    decimal.decimals--;
  }
  uint64_t divisor = 1;
  for (unsigned i = 0; i < decimal.decimals; i++) {
    if (scale % 10 == 0)
      scale /= 10;
    else
      divisor *= 10;
  }
  while (decimal.digits && scale > UINT64_MAX / 2 / decimal.digits) {
    if (divisor < 10) return SW_NUMBER_OUT_OF_RANGE;
    *exact = *exact && decimal.digits % 10 == 0;
    decimal.digits /= 10;
    divisor /= 10;
  }
  uint64_t product = decimal.digits * scale;
  *exact = *exact && product % divisor == 0;
  *out = product / divisor + (product % divisor >= divisor - product % divisor && divisor > 1);
  return SW_NUMBER_OK;
}

static bool is_unit(const char* unit, size_t length, const char* known) {
  return strlen(known) == length && sw_same_letters(unit, known, length);
}

static void skip_blanks(const char** word, size_t* length) {
  while (*length && **word == ' ') {
    (*word)++;
    (*length)--;
  }
}

/* Reads the decimal that a word begins with, and leaves its unit in the word. */
static enum sw_number_fault take_decimal(const char** word, size_t* length, struct decimal* out) {
  enum sw_number_fault fault = read_decimal(*word, *length, out);
  if (fault) return fault;
  *word += out->length;
  *length -= out->length;
  skip_blanks(word, length);
  return SW_NUMBER_OK;
}

enum sw_number_fault sw_read_whole(const char* word, size_t length, uint64_t largest, uint64_t* out) {
  struct decimal decimal;
  enum sw_number_fault fault = read_decimal(word, length, &decimal);
  if (fault) return fault;
  if (decimal.length != length) return SW_NUMBER_MALFORMED;
  if (decimal.decimals) return SW_NUMBER_NOT_WHOLE;
  if (decimal.digits > largest) return SW_NUMBER_OUT_OF_RANGE;
  *out = decimal.digits;
  return SW_NUMBER_OK;
}

static const struct size_unit {
  const char* letter;
  const char* name;
  const char* decimal; /* the spelling that is refused */
  uint64_t bytes;
} size_units[] = {
    {"G", "GiB", "GB", UINT64_C(1) << 30},
    {"M", "MiB", "MB", UINT64_C(1) << 20},
    {"K", "KiB", "KB", UINT64_C(1) << 10},
    {"B", "", "bytes", 1},
};
enum { SIZE_UNITS = sizeof size_units / sizeof size_units[0] };

static enum sw_number_fault read_size_unit(const char* unit, size_t length, uint64_t* bytes) {
  for (size_t i = 0; i < SIZE_UNITS; i++) {
    if (is_unit(unit, length, size_units[i].letter) || is_unit(unit, length, size_units[i].name)) {
      *bytes = size_units[i].bytes;
      return SW_NUMBER_OK;
    }
    if (size_units[i].bytes > 1 && is_unit(unit, length, size_units[i].decimal)) return SW_NUMBER_DECIMAL_UNIT;
  }
  return SW_NUMBER_MALFORMED;
}

enum sw_number_fault sw_read_size(const char* word, size_t length, uint64_t* bytes) {
  struct decimal decimal;
  enum sw_number_fault fault = take_decimal(&word, &length, &decimal);
  if (fault) return fault;
  uint64_t unit;
  uint64_t size;
  bool exact;
  fault = read_size_unit(word, length, &unit);
  if (!fault) fault = scale_decimal(decimal, unit, &size, &exact);
  if (fault) return fault;
  if (!exact) return SW_NUMBER_NOT_WHOLE;
  if (size > SW_LARGEST_BYTES) return SW_NUMBER_OUT_OF_RANGE;
  *bytes = size;
  return SW_NUMBER_OK;
}

enum sw_number_fault sw_read_time(const char* word, size_t length, uint64_t* picoseconds) {
  struct decimal decimal;
  enum sw_number_fault fault = take_decimal(&word, &length, &decimal);
  if (fault) return fault;
  uint64_t scale = is_unit(word, length, "us")   ? SW_PS_PER_US
                   : is_unit(word, length, "ms") ? SW_PS_PER_US * 1000
                   : is_unit(word, length, "s")  ? SW_PS_PER_US * 1000000
                                                 : 0;
  if (!scale) return length ? SW_NUMBER_MALFORMED : SW_NUMBER_NO_UNIT;
  uint64_t time;
  bool exact;
  fault = scale_decimal(decimal, scale, &time, &exact);
  if (fault) return fault;
  if (time == 0 || time > SW_LONGEST_PS) return SW_NUMBER_OUT_OF_RANGE;
  *picoseconds = time;
  return SW_NUMBER_OK;
}

enum sw_number_fault sw_read_fraction(const char* word, size_t length, int64_t* fraction) {
  struct decimal decimal;
  enum sw_number_fault fault = take_decimal(&word, &length, &decimal);
  if (fault) return fault;
  bool percent = length == 1 && *word == '%';
  if (length && !percent) return SW_NUMBER_MALFORMED;
  uint64_t value;
  bool exact;
  fault = scale_decimal(decimal, (uint64_t)(percent ? SW_ONE / 100 : SW_ONE), &value, &exact);
  if (fault) return fault;
  if (value > (uint64_t)(SW_ONE * 1000000)) return SW_NUMBER_OUT_OF_RANGE;
  *fraction = (int64_t)value;
  return SW_NUMBER_OK;
}

void sw_add_fixed(struct sw_text* text, uint64_t value, unsigned decimals) {
  uint64_t one = 1;
  for (unsigned i = 0; i < decimals; i++) one *= 10;
  uint64_t rest = value % one;
  sw_text_add_whole(text, value / one, 1);
  if (!rest) return;
  while (rest % 10 == 0) {
    rest /= 10;
    decimals--;
  }
  sw_text_add(text, ".");
  sw_text_add_whole(text, rest, decimals);
}

static void add_size(struct sw_text* text, uint64_t bytes, const char* blank, const char* byte_unit) {
  for (size_t i = 0; i < SIZE_UNITS; i++) {
    const struct size_unit* unit = &size_units[i];
    if (unit->bytes > 1 && bytes >= unit->bytes && bytes % unit->bytes == 0) {
      sw_text_add_whole(text, bytes / unit->bytes, 1);
      sw_text_add(text, blank);
      sw_text_add(text, unit->name);
      return;
    }
  }
  sw_text_add_whole(text, bytes, 1);
  sw_text_add(text, byte_unit);
}

void sw_add_size(struct sw_text* text, uint64_t bytes) {
  add_size(text, bytes, "", "");
}

void sw_add_size_words(struct sw_text* text, uint64_t bytes) {
  add_size(text, bytes, " ", " B");
}

void sw_add_time(struct sw_text* text, uint64_t picoseconds) {
  sw_add_fixed(text, picoseconds, 6);
  sw_text_add(text, "us");
}

void sw_add_time_words(struct sw_text* text, uint64_t picoseconds) {
  static const struct {
    uint64_t ps;
    const char* name;
  } units[] = {{1000000000000, "s"}, {1000000000, "ms"}, {1000000, "us"}};
  size_t i = 0;
  while (i < 2 && picoseconds < units[i].ps) i++;
  uint64_t whole = picoseconds / units[i].ps;
  unsigned decimals = whole >= 1000 ? 0 : whole >= 100 ? 1 : whole >= 10 ? 2 : 3;
  uint64_t step = units[i].ps;
  for (unsigned d = 0; d < decimals; d++) step /= 10;
  sw_add_fixed(text, (picoseconds + step / 2) / step, decimals);
  sw_text_printf(text, " %s", units[i].name);
}

void sw_add_percent(struct sw_text* text, int64_t fraction) {
  sw_add_fixed(text, (uint64_t)fraction, 6);
  sw_text_add(text, "%");
}

void sw_add_percent_words(struct sw_text* text, double fraction) {
  double tenths = fraction * 1000;
  bool negative = tenths < 0;
  uint64_t rounded = (uint64_t)((negative ? -tenths : tenths) + 0.5);
  if (negative && rounded) sw_text_add(text, "-");
  sw_add_fixed(text, rounded, 1);
  sw_text_add(text, "%");
}
