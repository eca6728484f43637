/*
 * plugin/decide/pieces: where one decision ends and the next begins. Every expected size is worked out by hand from
 * the rules in the comment beside it. A = 2 channels, B = 8 channels; policy 3%, 2, 10 unless named.
 */
#include "decide.h"

/* A point's decision reaches a factor of `reach` up and down, inclusive. */
static void reach(void** state) {
  (void)state;
  static const struct decide_case cases[] = {
      {"2: 1000 / 2 and 1000 * 2", HEAD TABLES(TABLE(BOTH("1000"))), "auto, 500: 2 channels, 2001: auto"},
      {"2 of an odd size: 1001 / 2 = 500.5", HEAD TABLES(TABLE(BOTH("1001"))), "auto, 501: 2 channels, 2003: auto"},
      {"1.5: 1001 / 1.5 = 667.3 and 1501.5", HEAD POLICY("reach: 1.5") TABLES(TABLE(BOTH("1001"))),
       "auto, 668: 2 channels, 1502: auto"},
      {"1.5: 1500 / 1.5 = 1000 and 2250", HEAD POLICY("reach: 1.5") TABLES(TABLE(BOTH("1500"))),
       "auto, 1000: 2 channels, 2251: auto"},
      {"1: the size alone", HEAD POLICY("reach: 1") TABLES(TABLE(BOTH("1001"))), "auto, 1001: 2 channels, 1002: auto"},
      {"1.00000001: 1e8 + 1, and 1e8 / 1.00000001 = 99999999.00000001",
       HEAD POLICY("reach: 1.00000001") TABLES(TABLE(BOTH("100000000"))),
       "auto, 100000000: 2 channels, 100000002: auto"},
      {"1 byte: from 0.5", HEAD TABLES(TABLE(BOTH("1"))), "auto, 1: 2 channels, 3: auto"},
      {"1 byte, 1000", HEAD POLICY("reach: 1000") TABLES(TABLE(BOTH("1"))), "auto, 1: 2 channels, 1001: auto"},
      {"2^60: 2^59 and 2^61", HEAD TABLES(TABLE(BOTH("1152921504606846976"))),
       "auto, 576460752303423488: 2 channels, 2305843009213693953: auto"},
      {"2^60, 4: 2^58 and 2^62", HEAD POLICY("reach: 4") TABLES(TABLE(BOTH("1152921504606846976"))),
       "auto, 288230376151711744: 2 channels, 4611686018427387905: auto"},
      {"2^60, 15.99999999: up to 2^64 - 2^60 / 1e8 = 18446744062180336569.9, from 72057594082963932.9",
       HEAD POLICY("reach: 15.99999999") TABLES(TABLE(BOTH("1152921504606846976"))),
       "auto, 72057594082963933: 2 channels, 18446744062180336570: auto"},
      {"2^60, 1000: above 2^64; 2^60 / 1000 = 1152921504606846.976",
       HEAD POLICY("reach: 1000") TABLES(TABLE(BOTH("1152921504606846976"))), "auto, 1152921504606847: 2 channels"},
      {"auto reaches, too, and is auto", HEAD TABLES(TABLE(POINT("1000", AUTO("50us") TIME(A, "100us")))), "auto"},
      {"no auto time", HEAD TABLES(TABLE(POINT("1000", TIME(A, "50us")))), "auto"},
      {"auto alone", HEAD TABLES(TABLE(POINT("1000", AUTO("50us")))), "auto"},
      {"no times", HEAD TABLES(TABLE(POINT("1000", ""))), "auto"},
      {"no points", HEAD TABLES(TABLE("")), "auto"},
  };
  assert_cases(cases, COUNT(cases), add_winner);
}

/* Neighbours up to `gap` apart, inclusive, are interpolated; further apart each reaches for itself. */
static void gap(void** state) {
  (void)state;
  static const struct decide_case cases[] = {
      {"10000 = 10 * 1000", HEAD TABLES(TABLE(BOTH("1000") BOTH("10000"))), "auto, 500: 2 channels, 20001: auto"},
      {"10001 > 10 * 1000; 10001 / 2 = 5000.5", HEAD TABLES(TABLE(BOTH("1000") BOTH("10001"))),
       "auto, 500: 2 channels, 2001: auto, 5001: 2 channels, 20003: auto"},
      {"1501 <= 1.5 * 1001", HEAD POLICY("reach: 1, gap: 1.5") TABLES(TABLE(BOTH("1001") BOTH("1501"))),
       "auto, 1001: 2 channels, 1502: auto"},
      {"1502 > 1.5 * 1001", HEAD POLICY("reach: 1, gap: 1.5") TABLES(TABLE(BOTH("1001") BOTH("1502"))),
       "auto, 1001: 2 channels, 1002: auto, 1502: 2 channels, 1503: auto"},
      {"gap 1 joins nothing", HEAD POLICY("reach: 1, gap: 1") TABLES(TABLE(BOTH("1000") BOTH("1002"))),
       "auto, 1000: 2 channels, 1001: auto, 1002: 2 channels, 1003: auto"},
      {"no auto at the right: nothing to interpolate with",
       HEAD TABLES(TABLE(BOTH("1000") POINT("8000", TIME(A, "50us")))), "auto, 500: 2 channels, 2001: auto"},
      /* the point without auto decides auto, and that reaches to half way in log: 2^10.5 = 1448.2, 2^11.5 = 2896.3 */
      {"no auto in the middle", HEAD TABLES(TABLE(BOTH("1024") POINT("2048", TIME(A, "50us")) BOTH("4096"))),
       "auto, 512: 2 channels, 1449: auto, 2897: 2 channels, 8193: auto"},
  };
  assert_cases(cases, COUNT(cases), add_winner);
}

/* Where two reaches meet, the nearer in log(bytes) decides, up to the grid line nearest to the middle. */
static void reaches_meet(void** state) {
  (void)state;
  static const struct decide_case cases[] = {
      /* sqrt(1000 * 10000) = 3162.3 = 2^(186.03/16); 2^(186/16) = 3158.4 */
      {"middle 3162", HEAD POLICY("reach: 4, gap: 5") TABLES(TABLE(BOTH("1000") BOTH_B("10000"))),
       "auto, 250: 2 channels, 3159: 8 channels, 40001: auto"},
      /* sqrt(1000 * 3900) = 1974.8 = 2^(175.16/16); 2^(175/16) = 1961.2; 1950 and 2000 are reached */
      {"middle 1975", HEAD POLICY("gap: 3") TABLES(TABLE(BOTH("1000") BOTH_B("3900"))),
       "auto, 500: 2 channels, 1962: 8 channels, 7801: auto"},
      /* the same line, but B reaches down to 1998 only */
      {"line below the reach", HEAD POLICY("gap: 3") TABLES(TABLE(BOTH("1000") BOTH_B("3996"))),
       "auto, 500: 2 channels, 1998: 8 channels, 7993: auto"},
      /* sqrt(1020 * 4072) = 2038 = 2^(175.89/16); 2^11 = 2048, but A reaches up to 2040 only */
      {"line above the reach", HEAD POLICY("gap: 3") TABLES(TABLE(BOTH("1020") BOTH_B("4072"))),
       "auto, 510: 2 channels, 2041: 8 channels, 8145: auto"},
      {"both at 2000 alone: the line, 1962, is below", HEAD POLICY("gap: 3") TABLES(TABLE(BOTH("1000") BOTH_B("4000"))),
       "auto, 500: 2 channels, 2000: 8 channels, 8001: auto"},
      {"to 2000, from 2000.5", HEAD POLICY("gap: 3") TABLES(TABLE(BOTH("1000") BOTH_B("4001"))),
       "auto, 500: 2 channels, 2001: 8 channels, 8003: auto"},
      {"to 2000, from 2001.5", HEAD POLICY("gap: 3") TABLES(TABLE(BOTH("1000") BOTH_B("4003"))),
       "auto, 500: 2 channels, 2001: auto, 2002: 8 channels, 8007: auto"},
      /* nothing lies between, though 2^10 is the line nearest to the middle: 1021 / 2 = 510.5 */
      {"no size between", HEAD POLICY("gap: 1") TABLES(TABLE(BOTH("1021") BOTH_B("1022"))),
       "auto, 511: 2 channels, 1022: 8 channels, 2045: auto"},
      /* a reach beyond the neighbour ends at it: 2^10.5 = 1448.2 */
      {"reach over the neighbour", HEAD POLICY("reach: 100, gap: 1") TABLES(TABLE(BOTH("1024") BOTH_B("2048"))),
       "auto, 11: 2 channels, 1449: 8 channels, 204801: auto"},
  };
  assert_cases(cases, COUNT(cases), add_winner);
}

#define SET "settings: {NCCL_BUFFSIZE: \"1048576\"}"
#define TIME_SET(choice, median) "{" choice ", median: " median ", " SET "},"
#define AUTO_SET(median) TIME_SET("choice: auto", median)

/* A choice measured under other settings than auto's cannot win. */
static void settings(void** state) {
  (void)state;
  static const struct decide_case cases[] = {
      {"A's own", HEAD TABLES(TABLE(POINT("1000", AUTO("100us") TIME_SET(A, "10us")))), "auto"},
      {"the same as auto's", HEAD TABLES(TABLE(POINT("1000", AUTO_SET("100us") TIME_SET(A, "10us")))),
       "auto, 500: 2 channels, 2001: auto"},
      {"auto's own", HEAD TABLES(TABLE(POINT("1000", AUTO_SET("100us") TIME(A, "10us")))), "auto"},
      {"A with and without", HEAD TABLES(TABLE(POINT("1000", AUTO("100us") TIME_SET(A, "10us") TIME(A, "50us")))),
       "auto, 500: 2 channels, 2001: auto"},
      {"between, too",
       HEAD TABLES(
           TABLE(POINT("1000", AUTO("100us") TIME_SET(A, "10us")) POINT("2000", AUTO("100us") TIME_SET(A, "10us")))),
       "auto"},
      {"with at the left and without at the right: at one end each",
       HEAD TABLES(TABLE(POINT("1024", AUTO("100us") TIME_SET(A, "10us")) BOTH("4096"))),
       "auto, 2048: 2 channels, 8193: auto"},
      {"auto's differ: no common baseline",
       HEAD TABLES(TABLE(POINT("1024", AUTO_SET("100us") TIME_SET(A, "50us")) BOTH("8192"))),
       "auto, 512: 2 channels, 2049: auto, 4096: 2 channels, 16385: auto"},
      {"auto's differ: the right one's spread says nothing about the left one's sizes",
       HEAD TABLES(TABLE(POINT("1024", AUTO_SET("100us") TIME_SET(A, "90us"))
                             POINT("8192", "{choice: auto, median: 100us, spread: 20%},"))),
       "auto, 512: 2 channels, 2049: auto"},
  };
  assert_cases(cases, COUNT(cases), add_winner);
}

/* What the published rows must lead to; one byte outside is auto. */
static void shipped(void** state) {
  (void)state;
  static const struct {
    const char* name;
    uint32_t nodes, ranks;
    const char* expected;
  } profiles[] = {
      {"gb10-roce-8x1", 8, 8, "auto, 3145728: 2 channels, 12582913: auto"},    /* 3 MiB to 12 MiB */
      {"gb10-roce-8x1-switched", 8, 8, "auto"},                                /* all need settings */
      {"gb10-roce-4x1-ring", 4, 4, "auto, 262144: 4 channels, 2097153: auto"}, /* 256 KiB to 2 MiB */
      {"rtx-pro-6000-pcie-8", 1, 8, "auto, 6144: ll, 24577: auto"},            /* 6 KiB to 24 KiB */
      {"gb10-roce-8x1", 4, 8, "auto"},
      {"gb10-roce-8x1", 8, 4, "auto"},
      {"rtx-pro-6000-pcie-8", 2, 8, "auto"},
  };
  for (size_t i = 0; i < COUNT(profiles); i++) {
    struct sw_profile* profile = read_shipped(profiles[i].name);
    for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++)
      assert_pieces(profile, c, profiles[i].nodes, profiles[i].ranks, add_ranking,
                    c == NCCL_ALLREDUCE ? profiles[i].expected : "auto", profiles[i].name);
    sw_profile_free(profile);
  }
}

/* Each table is for its own collective and shape. */
static void shapes(void** state) {
  (void)state;
  struct sw_profile* profile = read_profile(
      HEAD TABLES(TABLE_OF("allreduce", "2", "2", BOTH("1000")) TABLE_OF("allreduce", "2", "4", BOTH("3000"))
                      TABLE_OF("broadcast", "2", "2", BOTH_B("5000")) TABLE_OF("allreduce", "1", "2", BOTH_B("7000"))));
  static const struct {
    int collective;
    uint32_t nodes, ranks;
    const char* expected;
  } cases[] = {
      {NCCL_ALLREDUCE, 2, 2, "auto, 500: 2 channels, 2001: auto"},
      {NCCL_ALLREDUCE, 2, 4, "auto, 1500: 2 channels, 6001: auto"},
      {NCCL_BROADCAST, 2, 2, "auto, 2500: 8 channels, 10001: auto"},
      {NCCL_ALLREDUCE, 1, 2, "auto, 3500: 8 channels, 14001: auto"},
      {NCCL_BROADCAST, 2, 4, "auto"},
      {NCCL_REDUCE, 2, 2, "auto"},
      {NCCL_ALLREDUCE, 4, 4, "auto"},
      {NCCL_ALLREDUCE, 0, 0, "auto"},
      {NCCL_ALLREDUCE, 4, 2, "auto"},
  };
  for (size_t i = 0; i < COUNT(cases); i++)
    assert_pieces(profile, cases[i].collective, cases[i].nodes, cases[i].ranks, add_winner, cases[i].expected,
                  "shapes");
  sw_profile_free(profile);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reach),    cmocka_unit_test(gap),     cmocka_unit_test(reaches_meet),
      cmocka_unit_test(settings), cmocka_unit_test(shipped), cmocka_unit_test(shapes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
