/*
 * Numbers as profiles write them. Everything is a fixed-point integer, so that reading, writing and comparing are
 * exact and the same on every machine, whatever the host process's locale:
 *
 *     size      bytes                        12KiB
 *     time      picoseconds                  13.4us
 *     fraction  SW_ONE is 1 (8 decimals)     3%, 0.03
 *     ratio     SW_ONE is 1 (8 decimals)     2, 1.5
 */
#ifndef SW_NUMBER_H
#define SW_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "ground/text.h"

#define SW_ONE INT64_C(100000000)
#define SW_PS_PER_US UINT64_C(1000000)

/* One hour, in picoseconds: below 2^53, so every time is exact as a double. */
#define SW_LONGEST_PS UINT64_C(3600000000000000)

/* 2^60 bytes: the largest size a profile can name. */
#define SW_LARGEST_BYTES (UINT64_C(1) << 60)

enum sw_number_fault {
  SW_NUMBER_OK,
  SW_NUMBER_MALFORMED,    /* not a number, or something behind it that is no known unit */
  SW_NUMBER_NO_UNIT,      /* a time without us, ms or s */
  SW_NUMBER_DECIMAL_UNIT, /* KB, MB, GB: means 1000 to half the world */
  SW_NUMBER_NOT_WHOLE,    /* a size that is no whole number of bytes */
  SW_NUMBER_OUT_OF_RANGE
};

/* All four read exactly `length` characters and write `out` only on SW_NUMBER_OK. No sign, no exponent. */
enum sw_number_fault sw_read_whole(const char* word, size_t length, uint64_t largest, uint64_t* out);
enum sw_number_fault sw_read_size(const char* word, size_t length, uint64_t* bytes);
enum sw_number_fault sw_read_time(const char* word, size_t length, uint64_t* picoseconds);
enum sw_number_fault sw_read_fraction(const char* word, size_t length, int64_t* fraction);

/* `decimals` digits behind the point, trailing zeros dropped: (1500, 3) is "1.5". */
void sw_add_fixed(struct sw_text* text, uint64_t value, unsigned decimals);

/* The shortest exact spelling: "12KiB", "12300". */
void sw_add_size(struct sw_text* text, uint64_t bytes);

/* For people: as sw_add_size with a blank, "12 KiB"; sizes that are no whole KiB are given in bytes, "12300 B". */
void sw_add_size_words(struct sw_text* text, uint64_t bytes);

/* Exact, in microseconds: "13.4us". */
void sw_add_time(struct sw_text* text, uint64_t picoseconds);

/* For people: three to four digits with the unit that fits: "76 us", "1.14 ms", "58.2 ms". */
void sw_add_time_words(struct sw_text* text, uint64_t picoseconds);

/* Exact, in percent: "3%". */
void sw_add_percent(struct sw_text* text, int64_t fraction);

/* For people: one decimal, sign kept, "2.6%". */
void sw_add_percent_words(struct sw_text* text, double fraction);

#endif
