/*
 * plugin/decide/segments: what people read. Each segment is compared as one line:
 *
 *     range | choice | reason | its time of auto's time at a size
 *
 * A = 2 channels, B = 8 channels.
 */
#include "decide.h"

#include "decide/segments.h"

struct size_case {
  uint64_t bytes;
  const char* expected;
};

static void add_times(struct sw_text* text, const struct sw_segment* segment) {
  if (!segment->at_bytes) {
    assert_true(segment->time_ps == 0 && segment->auto_ps == 0);
    sw_text_add(text, "-");
    return;
  }
  sw_add_time_words(text, (uint64_t)(segment->time_ps + 0.5));
  sw_text_add(text, " of ");
  sw_add_time_words(text, (uint64_t)(segment->auto_ps + 0.5));
  sw_text_add(text, " at ");
  sw_add_size_words(text, segment->at_bytes);
}

static void add_segment(struct sw_text* text, const struct sw_policy* policy, const struct sw_segment* segment) {
  sw_add_range(text, segment->from, segment->to);
  sw_text_add(text, " | ");
  sw_add_choice(text, segment->choice);
  sw_text_add(text, " | ");
  sw_add_reason(text, policy, segment);
  sw_text_add(text, " | ");
  add_times(text, segment);
  sw_text_add(text, "\n");
}

/* The segments in words, after a check that they follow one another from 0 to UINT64_MAX. */
static struct sw_text segments_of(const struct sw_profile* profile, const struct sw_pieces* pieces) {
  struct sw_text text = SW_TEXT_EMPTY;
  size_t count;
  struct sw_segment* segments = sw_segments_make(pieces, &count);
  assert_non_null(segments);
  uint64_t from = 0;
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(segments[i].from, from);
    assert_int_equal(segments[i].first->from, from);
    assert_int_equal(segments[i].last->to, segments[i].to);
    add_segment(&text, &profile->policy, &segments[i]);
    from = segments[i].to + 1;
  }
  assert_int_equal(from, 0);
  free(segments);
  return text;
}

static void assert_segments(const struct sw_profile* profile, uint32_t nodes, uint32_t ranks, const char* expected) {
  struct sw_arena arena = SW_ARENA_EMPTY;
  struct sw_pieces pieces = compile_pieces(&arena, profile, NCCL_ALLREDUCE, nodes, ranks);
  struct sw_text text = segments_of(profile, &pieces);
  if (strcmp(sw_text_string(&text), expected) != 0) fail_msg("\nhave\n%swant\n%s", sw_text_string(&text), expected);
  sw_text_free(&text);
  sw_arena_free(&arena);
}

static void assert_yaml(const char* yaml, const char* expected) {
  struct sw_profile* profile = read_profile(yaml);
  assert_segments(profile, 2, 2, expected);
  sw_profile_free(profile);
}

#define OUTSIDE "auto | more than 2x from any measured size | -\n"

/* At 12 KiB tree gains 1 - 74/76 = 2.6%; at 96 MiB the fastest is 15.1 ms, against 14.7 ms. */
static void field_note(void** state) {
  (void)state;
  struct sw_profile* profile = read_shipped("gb10-roce-8x1");
  assert_segments(
      profile, 8, 8,
      "0 B to 6143 B | " OUTSIDE
      "6 KiB to 24 KiB | auto | at 12 KiB, tree: gain 2.6% is under min_gain 3% | 76 us of 76 us at 12 KiB\n"
      "24577 B to 3145727 B | " OUTSIDE
      "3 MiB to 12 MiB | 2 channels | measured at 6 MiB | 1.14 ms of 3.75 ms at 6 MiB\n"
      "12582913 B to 50331647 B | " OUTSIDE
      "48 MiB to 192 MiB | auto | at 96 MiB, nothing measured is faster than auto | 14.7 ms of 14.7 ms at 96 MiB\n"
      "from 201326593 B | " OUTSIDE);
  assert_segments(profile, 2, 2, "every size | auto | no table for this collective and shape | -\n");
  sw_profile_free(profile);
}

/* 1 - 360.2/1366.8 = 73.6%, 1 - 1331.4/2003.2 = 33.5%, 1 - 5014.4/5015.4 = 0.02%, 1 - 135.2/136.5 = 0.95%.
   Neighbours up to 10 apart share a segment with the left size's reason: 20480 to 122880 (6) to 983040 (8), and
   16777216 to 67108864 (4); 983040 to 16777216 (17) reach 1920 KiB and 8 MiB. */
static void needs_settings(void** state) {
  (void)state;
  struct sw_profile* profile = read_shipped("gb10-roce-8x1-switched");
#define CAP(n)                                                             \
  "NCCL_BUFFSIZE=1048576 NCCL_LL128_BUFFSIZE=262144 NCCL_MAX_NCHANNELS=" n \
  " NCCL_PROTO=^LL128, which a tuner cannot set"
  assert_segments(profile, 8, 8,
                  "0 B to 10239 B | " OUTSIDE
                  "10 KiB to 122879 B | auto | at 20 KiB, 16 channels: gain 1% is under min_gain 3% | 136.5 us of 136.5 us at 20 KiB\n"
                  "120 KiB to 983039 B | auto | at 120 KiB, nothing measured is faster than auto | 166.3 us of 166.3 us at 120 KiB\n"
                  "960 KiB to 1920 KiB | auto | at 960 KiB, 8 channels: gain 73.6% needs " CAP("8") " | 1.367 ms of 1.367 ms at 960 KiB\n"
                  "1966081 B to 8388607 B | " OUTSIDE
                  "8 MiB to 67108863 B | auto | at 16 MiB, 16 channels: gain 33.5% needs " CAP("16") " | 2.003 ms of 2.003 ms at 16 MiB\n"
                  "64 MiB to 128 MiB | auto | at 64 MiB, 8 channels: gain 0% is under min_gain 3% | 5.015 ms of 5.015 ms at 64 MiB\n"
                  "from 134217729 B | " OUTSIDE);
  sw_profile_free(profile);
}

#define TIME_S(choice, median, spread) "{" choice ", median: " median ", spread: " spread "},"
#define TIME_N(choice, median, settings) "{" choice ", median: " median ", settings: {" settings "}},"
#define ONE_POINT(times) HEAD POLICY("reach: 1.5") TABLES(TABLE(POINT("1000", times)))
#define AROUND(line)                                                       \
  "0 B to 666 B | auto | more than 1.5x from any measured size | -\n" line \
  "from 1501 B | auto | more than 1.5x from any measured size | -\n"

/* Each reason at one size. */
static void reasons_at_a_size(void** state) {
  (void)state;
  static const char* const cases[][2] = {
      {ONE_POINT(TIME(A, "50us")), AROUND("667 B to 1500 B | auto | at 1000 B, auto was not measured | -\n")},
      {ONE_POINT(""), AROUND("667 B to 1500 B | auto | at 1000 B, auto was not measured | -\n")},
      {ONE_POINT(AUTO("50us")),
       AROUND("667 B to 1500 B | auto | at 1000 B, no choice but auto was measured | 50 us of 50 us at 1000 B\n")},
      {ONE_POINT(AUTO("50us") TIME(A, "50us")),
       AROUND("667 B to 1500 B | auto | at 1000 B, nothing measured is faster than auto | 50 us of 50 us at 1000 B\n")},
      {ONE_POINT(AUTO("100us") TIME(A, "99us") TIME("algo: ring, proto: simple, channels: 1", "98.96us")),
       AROUND("667 B to 1500 B | auto | at 1000 B, ring + simple, 1 channel: gain 1% is under min_gain 3% | 100 us of "
              "100 us at 1000 B\n")},
      /* sqrt(10^2 + 5^2) = 11.18 */
      {ONE_POINT(TIME_S("choice: auto", "100us", "10%") TIME_S(A, "89us", "5%")),
       AROUND("667 B to 1500 B | auto | at 1000 B, 2 channels: gain 11% is within the spread 11.2% | 100 us of 100 us "
              "at 1000 B\n")},
      {ONE_POINT(AUTO("100us") TIME_N(B, "40us", "NCCL_B: '2', NCCL_A: x")),
       AROUND("667 B to 1500 B | auto | at 1000 B, 8 channels: gain 60% needs NCCL_A=x NCCL_B=2, which a tuner cannot "
              "set | 100 us of 100 us at 1000 B\n")},
      /* the settings are those of the time that is named, not of another time of the same choice */
      {ONE_POINT(AUTO("100us") TIME_N(B, "40us", "NCCL_B: '2'") TIME_N(B, "60us", "NCCL_A: '1'")),
       AROUND("667 B to 1500 B | auto | at 1000 B, 8 channels: gain 60% needs NCCL_B=2, which a tuner cannot set | 100 "
              "us of 100 us at 1000 B\n")},
      {ONE_POINT(TIME_N("choice: auto", "100us", "NCCL_A: '1'") TIME(B, "40us")),
       AROUND("667 B to 1500 B | auto | at 1000 B, 8 channels: gain 60% was measured without the settings that auto "
              "had | 100 us of 100 us at 1000 B\n")},
      {ONE_POINT(AUTO("100us") TIME(B, "40us")),
       AROUND("667 B to 1500 B | 8 channels | measured at 1000 B | 40 us of 100 us at 1000 B\n")},
      {HEAD TABLES(TABLE("")), "every size | " OUTSIDE},
  };
  for (size_t i = 0; i < COUNT(cases); i++) assert_yaml(cases[i][0], cases[i][1]);
}

#define ONLY POLICY("reach: 1") /* 1024 to 4096 and nothing beyond: fewer lines */
#define FROM_1K "0 B to 1023 B | auto | more than 1x from any measured size | -\n"
#define FROM_4K "from 4097 B | auto | more than 1x from any measured size | -\n"

/* Segments of several sizes. */
static void reasons_between(void** state) {
  (void)state;
  static const char* const cases[][2] = {
      {HEAD ONLY TABLES(TABLE(BOTH("1024") BOTH("4096"))),
       FROM_1K "1 KiB to 4 KiB | 2 channels | measured at 1 KiB and 4 KiB | 50 us of 100 us at 1 KiB\n" FROM_4K},
      {HEAD ONLY TABLES(TABLE(BOTH("1024") BOTH("2048") BOTH("4096"))), FROM_1K
       "1 KiB to 4 KiB | 2 channels | measured at 3 sizes, 1 KiB to 4 KiB | 50 us of 100 us at 1 KiB\n" FROM_4K},
      {HEAD ONLY TABLES(TABLE(BOTH("1024") BOTH("1025") BOTH("1026") BOTH("1027") BOTH("4096"))), FROM_1K
       "1 KiB to 4 KiB | 2 channels | measured at 5 sizes, 1 KiB to 4 KiB | 50 us of 100 us at 1 KiB\n" FROM_4K},
      /* 6% of auto's and 8% of A's spread make 10% between, where 9% is gained; at the ends A wins. Auto takes a size
         / 10.24 */
      {HEAD ONLY TABLES(TABLE(POINT("1024", TIME_S("choice: auto", "100us", "6%") TIME(A, "91us"))
                                  POINT("4096", AUTO("400us") TIME_S(A, "364us", "8%")))),
       FROM_1K "1 KiB | 2 channels | measured at 1 KiB | 91 us of 100 us at 1 KiB\n"
               "1025 B to 4095 B | auto | between 1 KiB and 4 KiB, 2 channels: gain 9% is within the spread 10% | 250 "
               "us of 250 us at 2560 B\n"
               "4 KiB | 2 channels | measured at 4 KiB | 364 us of 400 us at 4 KiB\n" FROM_4K},
      /* 1 channel 10 us -> 1 ms and 8 channels 1 ms -> 10 us leave the middle to A, 60 us all along: 1 channel wins up
         to 61.2 us, 0.7868 octaves = 172.59/16 -> 2^(173/16) = 1798.4; A up to 8 channels' 58.8 us, 1.2305 octaves =
         179.69/16
         -> 2^(180/16) = 2435.5. A's seven cells have 2048 to 2138 in the middle. */
      {HEAD ONLY TABLES(
           TABLE(POINT("1024", AUTO("100us") TIME("channels: 1", "10us") TIME(A, "60us") TIME(B, "1ms"))
                     POINT("4096", AUTO("100us") TIME("channels: 1", "1ms") TIME(A, "60us") TIME(B, "10us")))),
       FROM_1K "1 KiB to 1798 B | 1 channel | measured at 1 KiB | 10 us of 100 us at 1 KiB\n"
               "1799 B to 2435 B | 2 channels | interpolated between 1 KiB and 4 KiB | 60 us of 100 us at 2093 B\n"
               "2436 B to 4 KiB | 8 channels | measured at 4 KiB | 10 us of 100 us at 4 KiB\n" FROM_4K},
      /* auto all along: each measured size tells its own reason, from itself on */
      {HEAD ONLY TABLES(TABLE(POINT("1024", AUTO("100us")) POINT("4096", AUTO("200us") TIME(A, "300us")))),
       FROM_1K "1 KiB to 4095 B | auto | at 1 KiB, no choice but auto was measured | 100 us of 100 us at 1 KiB\n"
               "4 KiB | auto | at 4 KiB, nothing measured is faster than auto | 200 us of 200 us at 4 KiB\n" FROM_4K},
      /* two reaches that meet, and one choice: one segment */
      {HEAD POLICY("gap: 1") TABLES(TABLE(BOTH("1024") BOTH("4096"))),
       "0 B to 511 B | " OUTSIDE
       "512 B to 8 KiB | 2 channels | measured at 1 KiB and 4 KiB | 50 us of 100 us at 1 KiB\n"
       "from 8193 B | " OUTSIDE},
  };
  for (size_t i = 0; i < COUNT(cases); i++) assert_yaml(cases[i][0], cases[i][1]);
}

/* A rule is named by its line in the file; the table's segment around it is in two parts. */
static void rules(void** state) {
  (void)state;
  assert_yaml(HEAD TABLES(TABLE(BOTH("1024")))
              "rules:\n  - {collective: allreduce, bytes: 2KiB.., choice: auto}\n  - {collective: allreduce, bytes: 1KiB, channels: 4}\n",
              "0 B to 511 B | " OUTSIDE
              "512 B to 1023 B | 2 channels | measured at 1 KiB | 50 us of 100 us at 1 KiB\n"
              "1 KiB | 4 channels | rule on line 7, written by hand | -\n"
              "1025 B to 2047 B | 2 channels | measured at 1 KiB | 50 us of 100 us at 1 KiB\n"
              "from 2 KiB | auto | rule on line 6, written by hand | -\n");
  assert_yaml(HEAD
              "rules:\n- {collective: allreduce, bytes: ..7, channels: 4}\n- {collective: allreduce, channels: 4}\n",
              "0 B to 7 B | 4 channels | rule on line 5, written by hand | -\n"
              "from 8 B | 4 channels | rule on line 6, written by hand | -\n");
  assert_yaml(HEAD "rules:\n- {collective: allreduce, bytes: 7, channels: 4}\n",
              "0 B to 6 B | auto | no table for this collective and shape | -\n"
              "7 B | 4 channels | rule on line 5, written by hand | -\n"
              "from 8 B | auto | no table for this collective and shape | -\n");
}

/* One size, as a segment of its own. */
static void assert_sizes(const char* yaml, const struct size_case* cases, size_t count) {
  struct sw_profile* profile = read_profile(yaml);
  struct sw_arena arena = SW_ARENA_EMPTY;
  struct sw_pieces pieces = compile_pieces(&arena, profile, NCCL_ALLREDUCE, 2, 2);
  for (size_t i = 0; i < count; i++) {
    struct sw_segment segment = sw_segment_at(&pieces, cases[i].bytes);
    assert_int_equal(segment.from, cases[i].bytes);
    assert_int_equal(segment.to, cases[i].bytes);
    struct sw_text text = SW_TEXT_EMPTY;
    add_segment(&text, &profile->policy, &segment);
    assert_string_equal(sw_text_string(&text), cases[i].expected);
    sw_text_free(&text);
  }
  sw_arena_free(&arena);
  sw_profile_free(profile);
}

static void one_size(void** state) {
  (void)state;
  static const struct size_case cases[] = {
      {0, "0 B | " OUTSIDE},
      {511, "511 B | " OUTSIDE},
      {512, "512 B | 2 channels | measured at 1 KiB | 50 us of 100 us at 1 KiB\n"},
      {1024, "1 KiB | 2 channels | measured at 1 KiB | 50 us of 100 us at 1 KiB\n"},
      {2048, "2 KiB | 2 channels | measured at 1 KiB | 50 us of 100 us at 1 KiB\n"},
      {2049, "2049 B | " OUTSIDE},
      {32768, "32 KiB | auto | at 64 KiB, no choice but auto was measured | 100 us of 100 us at 64 KiB\n"},
      {UINT64_MAX, "from 18446744073709551615 B | " OUTSIDE},
  };
  assert_sizes(HEAD TABLES(TABLE(BOTH("1024") POINT("65536", AUTO("100us")))), cases, COUNT(cases));
}

/* Between two sizes, the times of that very size: log2 of both over three octaves, auto 100 us to 800 us (doubling each
   octave), A at both ends 50 us all along, B at the right end alone with 0.02 of auto's time, heard from 4 KiB on. */
static void one_size_between(void** state) {
  (void)state;
  static const struct size_case cases[] = {
      {2048, "2 KiB | 2 channels | interpolated between 1 KiB and 8 KiB | 50 us of 200 us at 2 KiB\n"},
      {4095, "4095 B | 2 channels | interpolated between 1 KiB and 8 KiB | 50 us of 399.9 us at 4095 B\n"},
      {4096, "4 KiB | 8 channels | interpolated between 1 KiB and 8 KiB | 8 us of 400 us at 4 KiB\n"},
  };
  assert_sizes(HEAD TABLES(TABLE(POINT("1024", AUTO("100us") TIME(A, "50us"))
                                     POINT("8192", AUTO("800us") TIME(A, "50us") TIME(B, "16us")))),
               cases, COUNT(cases));
  /* one piece without a choice, whatever its length */
  static const struct size_case plain[] = {
      {1025,
       "1025 B | auto | between 1 KiB and 8 KiB, no choice but auto was measured | 100.1 us of 100.1 us at 1025 B\n"},
      {2048, "2 KiB | auto | between 1 KiB and 8 KiB, no choice but auto was measured | 200 us of 200 us at 2 KiB\n"},
      {4096, "4 KiB | auto | between 1 KiB and 8 KiB, no choice but auto was measured | 400 us of 400 us at 4 KiB\n"},
  };
  assert_sizes(HEAD TABLES(TABLE(POINT("1024", AUTO("100us")) POINT("8192", AUTO("800us")))), plain, COUNT(plain));
}

static void ranges(void** state) {
  (void)state;
  static const struct {
    uint64_t from, to;
    const char* expected;
  } cases[] = {
      {0, UINT64_MAX, "every size"},   {0, 0, "0 B"},
      {0, 1023, "0 B to 1023 B"},      {1024, 1024, "1 KiB"},
      {1024, 1536, "1 KiB to 1536 B"}, {3 << 20, UINT64_MAX, "from 3 MiB"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct sw_text text = SW_TEXT_EMPTY;
    sw_add_range(&text, cases[i].from, cases[i].to);
    assert_string_equal(sw_text_string(&text), cases[i].expected);
    sw_text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(field_note),       cmocka_unit_test(needs_settings), cmocka_unit_test(reasons_at_a_size),
      cmocka_unit_test(reasons_between),  cmocka_unit_test(rules),          cmocka_unit_test(one_size),
      cmocka_unit_test(one_size_between), cmocka_unit_test(ranges),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
