/*
 * plugin/decide/between: curves between two measured sizes, and where change-overs fall on them. Every expected size is
 * worked out by hand in the comment beside it. A = 2 channels, B = 8 channels; policy 3%, 2, 10 unless named.
 */
#include "decide.h"

#define HALF POLICY("min_gain: 50%, reach: 2, gap: 10")

#define FROM_TO(left, right) \
  TABLES(TABLE(POINT("1024", AUTO("100us") TIME(A, left)) POINT("4096", AUTO("100us") TIME(A, right))))

/* Straight lines in log(bytes), log(time); a change-over goes to the nearest 2^(k/16), which belongs to its right. */
static void change_over(void** state) {
  (void)state;
  static const struct decide_case cases[] = {
      /* log2 of A / auto from 0 to -2 over two octaves: 50% is passed at -1, so at 2048 = 2^(176/16) */
      {"on a line, upwards", HEAD HALF FROM_TO("100us", "25us"), "auto, 2048: 2 channels, 8193: auto"},
      {"on a line, downwards", HEAD HALF FROM_TO("25us", "100us"), "auto, 512: 2 channels, 2048: auto"},
      /* log2 0.2586 = -1.95121: at 10 + 2 / 1.95121 = 11.02501 = 176.40/16 */
      {"nearest below", HEAD HALF FROM_TO("100us", "25.86us"), "auto, 2048: 2 channels, 8193: auto"},
      /* log2 0.262846 = -1.92771: at 11.03750 = 176.60/16; 2^(177/16) = 2138.7 */
      {"nearest above", HEAD HALF FROM_TO("100us", "26.2846us"), "auto, 2139: 2 channels, 8193: auto"},
      /* with u = log2(bytes) - 10: auto 2^(4 + u) us, A 2^(7 - u / 2) us: equal at u = 2; in linear bytes at 6144 */
      {"curves cross",
       HEAD POLICY("min_gain: 0%, gap: 16")
           TABLES(TABLE(POINT("1024", AUTO("16us") TIME(A, "128us")) POINT("16384", AUTO("256us") TIME(A, "32us")))),
       "auto, 4096: 2 channels, 32769: auto"},
      /* B / A from log2 1.1 = 0.137504 to -0.137504 in 4 octaves; A wins while A <= 1.02 B, log2 1.02 = 0.028569: until
         u = 2 + 0.028569 / 0.068752 = 2.41554, 198.65/16; 2^(199/16) = 5547.03 */
      {"equals up to 2%",
       HEAD POLICY("gap: 16") TABLES(TABLE(POINT("1024", AUTO("1ms") TIME(A, "100us") TIME(B, "110us"))
                                               POINT("16384", AUTO("1ms") TIME(A, "100us") TIME(B, "90.90909us")))),
       "auto, 512: 2 channels, 5548: 8 channels, 32769: auto"},
      /* A's 0.503 to 0.25 passes 0.5 at 1030 * 2^0.0171, 160.41/16: 1024, below the measured size */
      {"not below the left size",
       HEAD HALF TABLES(TABLE(POINT("1030", AUTO("1ms") TIME(A, "503us")) POINT("4120", AUTO("1ms") TIME(A, "250us")))),
       "auto, 1031: 2 channels, 8241: auto"},
      /* 0.52 to 0.25 passes it at 1030 * 2^0.10711, 161.85/16; 2^(162/16) = 1116.7 */
      {"above the left size",
       HEAD HALF TABLES(TABLE(POINT("1030", AUTO("1ms") TIME(A, "520us")) POINT("4120", AUTO("1ms") TIME(A, "250us")))),
       "auto, 1117: 2 channels, 8241: auto"},
      /* 0.50236 to 0.25 passes it at 100 * 2^0.013496 = 100.94 = 2^(106.518/16), before the first size between, but
         2^(107/16) = 103.07 is the nearest line */
      {"just above the left size",
       HEAD HALF TABLES(
           TABLE(POINT("100", AUTO("1ms") TIME(A, "502.36us")) POINT("400", AUTO("1ms") TIME(A, "250us")))),
       "auto, 104: 2 channels, 801: auto"},
      /* 1 to 0.4975 passes it 2.03851 of 2.05325 octaves up, 192.62/16; 2^(193/16) = 4277 is above the measured size */
      {"not above the right size",
       HEAD HALF TABLES(TABLE(POINT("1024", AUTO("1ms") TIME(A, "1ms")) POINT("4250", AUTO("1ms") TIME(A, "497.5us")))),
       "auto, 4250: 2 channels, 8501: auto"},
      /* both in the cell 1024 to 1069; half way, sqrt(1030 * 1050) = 1040 = 2^(160.36/16), goes down ... */
      {"within a cell, down",
       HEAD HALF TABLES(TABLE(POINT("1030", AUTO("1ms") TIME(A, "1ms")) POINT("1050", AUTO("1ms") TIME(A, "250us")))),
       "auto, 1031: 2 channels, 2101: auto"},
      /* ... and sqrt(1050 * 1068) = 1059 = 2^(160.78/16) up */
      {"within a cell, up",
       HEAD HALF TABLES(TABLE(POINT("1050", AUTO("1ms") TIME(A, "1ms")) POINT("1068", AUTO("1ms") TIME(A, "250us")))),
       "auto, 1068: 2 channels, 2137: auto"},
      {"no size between",
       HEAD HALF TABLES(TABLE(POINT("1030", AUTO("1ms") TIME(A, "1ms")) POINT("1031", AUTO("1ms") TIME(A, "250us")))),
       "auto, 1031: 2 channels, 2063: auto"},
      /* from 1 to 4 bytes 50% is passed at 2 bytes */
      /* 1 to 0.25 in 3 octaves passes 0.5 at 1030 * 2^1.5 = 2913.3 = 2^(184.13/16); 2^11.5 = 2896.3 */
      {"half way of eight times",
       HEAD HALF TABLES(TABLE(POINT("1030", AUTO("1ms") TIME(A, "1ms")) POINT("8240", AUTO("1ms") TIME(A, "250us")))),
       "auto, 2897: 2 channels, 16481: auto"},
      /* 1 to 0.2448 in 2.0145 octaves more than one: reach ends at 2060 = 2^(176.13/16), but all is measured at both
         ends, so nothing ends there: log2 0.1261 = -2.9874, passed at 1030 * 2^(3 / 2.9874) = 2066.0 = 2^(176.20/16) */
      {"no cut at an idle reach",
       HEAD HALF TABLES(TABLE(POINT("1030", AUTO("1ms") TIME(A, "1ms")) POINT("8240", AUTO("1ms") TIME(A, "126.1us")))),
       "auto, 2048: 2 channels, 16481: auto"},
      /* 22 is the cell's only size; 50% is passed at 22.07 = 2^(71.42/16), so 2^(71/16) = 21.67 is the nearest line:
         from 11 bytes up, 1.00453 octaves, of 2 in all: log2 of the ratio at the end -2 / 1.00453 = -1.99098 */
      {"between two whole bytes",
       HEAD HALF TABLES(TABLE(POINT("11", AUTO("1ms") TIME(A, "1ms")) POINT("44", AUTO("1ms") TIME(A, "251.57us")))),
       "auto, 22: 2 channels, 89: auto"},
      {"the smallest sizes",
       HEAD HALF TABLES(TABLE(POINT("1", AUTO("1ms") TIME(A, "1ms")) POINT("4", AUTO("1ms") TIME(A, "250us")))),
       "auto, 2: 2 channels, 9: auto"},
      /* from 2^58 to 2^60 at 2^59 */
      {"the largest sizes",
       HEAD HALF TABLES(TABLE(POINT("288230376151711744", AUTO("1ms") TIME(A, "1ms"))
                                  POINT("1152921504606846976", AUTO("1ms") TIME(A, "250us")))),
       "auto, 576460752303423488: 2 channels, 2305843009213693953: auto"},
      {"neighbours that a double cannot tell apart",
       HEAD TABLES(TABLE(BOTH("1152921504606846970") BOTH("1152921504606846975"))),
       "auto, 576460752303423485: 2 channels, 2305843009213693951: auto"},
  };
  assert_cases(cases, COUNT(cases), add_winner);
}

#define TIME_S(choice, median, spread) "{" choice ", median: " median ", spread: " spread "},"

/* Between two sizes, each spread is the larger one of the two ends. */
static void spreads_between(void** state) {
  (void)state;
  static const struct decide_case cases[] = {
      {"A's at the right: 10% gained, 2% and 20%",
       HEAD TABLES(TABLE(POINT("1024", AUTO("100us") TIME_S(A, "90us", "2%"))
                             POINT("4096", AUTO("100us") TIME_S(A, "90us", "20%")))),
       "auto, 512: 2 channels, 1025: auto"},
      {"A's at the left",
       HEAD TABLES(TABLE(POINT("1024", AUTO("100us") TIME_S(A, "90us", "20%"))
                             POINT("4096", AUTO("100us") TIME_S(A, "90us", "2%")))),
       "auto, 4096: 2 channels, 8193: auto"},
      {"auto's at the right",
       HEAD TABLES(TABLE(POINT("1024", AUTO("100us") TIME(A, "90us"))
                             POINT("4096", TIME_S("choice: auto", "100us", "20%") TIME(A, "90us")))),
       "auto, 512: 2 channels, 1025: auto"},
      {"6% of auto at the left and 8% of A at the right make 10% between; 9% gained",
       HEAD TABLES(TABLE(POINT("1024", TIME_S("choice: auto", "100us", "6%") TIME(A, "91us"))
                             POINT("4096", AUTO("100us") TIME_S(A, "91us", "8%")))),
       "auto, 512: 2 channels, 1025: auto, 4096: 2 channels, 8193: auto"},
      {"the same with 11% gained",
       HEAD TABLES(TABLE(POINT("1024", TIME_S("choice: auto", "100us", "6%") TIME(A, "89us"))
                             POINT("4096", AUTO("100us") TIME_S(A, "89us", "8%")))),
       "auto, 512: 2 channels, 8193: auto"},
  };
  assert_cases(cases, COUNT(cases), add_winner);
}

/* A choice measured at one end keeps its ratio to auto, within that end's reach. */
static void one_end(void** state) {
  (void)state;
  static const struct decide_case cases[] = {
      {"left: up to 2048", HEAD TABLES(TABLE(BOTH("1024") POINT("8192", AUTO("200us")))),
       "auto, 512: 2 channels, 2049: auto"},
      {"right: from 2048", HEAD TABLES(TABLE(POINT("1024", AUTO("200us")) BOTH("4096"))),
       "auto, 2048: 2 channels, 8193: auto"},
      {"right, 1.5: from 4097 / 1.5 = 2731.3",
       HEAD POLICY("reach: 1.5") TABLES(TABLE(POINT("1024", AUTO("9us")) BOTH("4097"))),
       "auto, 2732: 2 channels, 6146: auto"},
      {"the ratio holds, not the time: 0.9, where auto falls to 90 us and below",
       HEAD TABLES(TABLE(POINT("1024", AUTO("100us") TIME(A, "90us")) POINT("8192", AUTO("50us")))),
       "auto, 512: 2 channels, 2049: auto"},
      {"2048 is as near to both, and so the right point's, which has no A",
       HEAD TABLES(TABLE(BOTH("1024") POINT("4096", AUTO("100us")))), "auto, 512: 2 channels, 2048: auto"},
      /* both reach everywhere between; the nearer speaks: 2^10.5 = 1448.2 */
      {"A left, B right", HEAD TABLES(TABLE(BOTH("1024") BOTH_B("2048"))),
       "auto, 512: 2 channels, 1449: 8 channels, 4097: auto"},
      /* B would win everywhere between (0.3 against 0.5), but is heard in its own half alone */
      {"the nearer end's alone", HEAD TABLES(TABLE(BOTH("1024") POINT("2048", AUTO("100us") TIME(B, "30us")))),
       "auto, 512: 2 channels, 1449: 8 channels, 4097: auto"},
      /* B, at both ends, falls from 1 to 0.25, to 0.63 at 2048, where A's reach ends */
      {"against one at both ends",
       HEAD TABLES(TABLE(POINT("1024", AUTO("100us") TIME(A, "50us") TIME(B, "100us"))
                             POINT("8192", AUTO("100us") TIME(B, "25us")))),
       "auto, 512: 2 channels, 2049: 8 channels, 16385: auto"},
      /* B's 0.9 at both ends beats nothing that A (0.5) reaches: A up to 2048, then B */
      {"one at both ends fills the rest",
       HEAD TABLES(TABLE(POINT("1024", AUTO("100us") TIME(A, "50us") TIME(B, "90us"))
                             POINT("8192", AUTO("100us") TIME(B, "90us")))),
       "auto, 512: 2 channels, 2049: 8 channels, 16385: auto"},
  };
  assert_cases(cases, COUNT(cases), add_winner);
}

/* A time that lies on a bound at both ends lies on it between them, and the bounds are inclusive. */
static void along_a_bound(void** state) {
  (void)state;
  static const struct decide_case cases[] = {
      {"3% gained at both ends",
       HEAD TABLES(TABLE(POINT("1000", AUTO("100us") TIME(A, "97us")) POINT("8000", AUTO("700us") TIME(A, "679us")))),
       "auto, 500: 2 channels, 16001: auto"},
      {"3% gained at one end",
       HEAD TABLES(TABLE(POINT("1000", AUTO("100us") TIME(A, "97us")) POINT("8000", AUTO("700us")))),
       "auto, 500: 2 channels, 2001: auto"},
      {"5% gained with spreads of 3% and 4%",
       HEAD TABLES(TABLE(POINT("1000", TIME_S("choice: auto", "100us", "3%") TIME_S(A, "95us", "4%"))
                             POINT("8000", TIME_S("choice: auto", "700us", "3%") TIME_S(A, "665us", "4%")))),
       "auto, 500: 2 channels, 16001: auto"},
      {"A is 2% slower than B at both ends",
       HEAD TABLES(TABLE(POINT("1000", AUTO("100us") TIME(A, "51us") TIME(B, "50us"))
                             POINT("8000", AUTO("700us") TIME(A, "357us") TIME(B, "350us")))),
       "auto, 500: 2 channels, 16001: auto"},
      {"as slow as auto, with nothing to gain asked for",
       HEAD POLICY("min_gain: 0%")
           TABLES(TABLE(POINT("1000", AUTO("100us") TIME(A, "100us")) POINT("8000", AUTO("700us") TIME(A, "700us")))),
       "auto"},
  };
  assert_cases(cases, COUNT(cases), add_winner);
}

/* Every choice that competes is kept, best first; between sizes, too. */
static void rankings(void** state) {
  (void)state;
  static const struct decide_case cases[] = {
      {"at a size",
       HEAD POLICY("reach: 1") TABLES(TABLE(POINT("1000", AUTO("100us") TIME("proto: ll", "70us") TIME(B, "50us")
                                                              TIME(A, "51us") TIME("algo: tree", "98us")))),
       "auto, 1000: 2 channels > 8 channels > ll, 1001: auto"},
      /* A falls from 1 to 0.25 and B rises from 0.25 to 1, both 2^-1 at 2048; 3% gained is log2 -0.043943, passed
         0.043943 octaves from the ends: 160.70/16 -> 2^(161/16) = 1069.3 and 191.30/16 -> 2^(191/16) = 3922.3; equal
         for A up to 2% above B: from 0.014285 octaves below 2048, 175.77/16 -> 2048. From there A leads */
      {"between",
       HEAD POLICY("reach: 1") TABLES(TABLE(POINT("1024", AUTO("100us") TIME(A, "100us") TIME(B, "25us"))
                                                POINT("4096", AUTO("100us") TIME(A, "25us") TIME(B, "100us")))),
       "auto, 1024: 8 channels, 1070: 8 channels > 2 channels, 2048: 2 channels > 8 channels, 3923: 2 channels, 4097: "
       "auto"},
  };
  assert_cases(cases, COUNT(cases), add_ranking);
}

static double ratio_at(const struct sw_pieces* pieces, uint64_t bytes) {
  const struct sw_piece* piece = sw_pieces_find(pieces, bytes);
  return piece->count ? piece->ranked[0].ratio : 1;
}

/* r = t / t_auto: 50/200 at 1000; between, on the curve from 1/4 to 1/16: 1/8 at half way, within half a cell (2.2%).
 */
static void ratios(void** state) {
  (void)state;
  struct sw_profile* profile = read_profile(HEAD TABLES(TABLE(POINT("1000", AUTO("200us") TIME(A, "50us")) POINT(
      "4000", AUTO("800us") TIME(A, "50us")) POINT("90000", AUTO("3us") TIME(A, "2us")))));
  struct sw_arena arena = SW_ARENA_EMPTY;
  struct sw_pieces pieces = compile_pieces(&arena, profile, NCCL_ALLREDUCE, 2, 2);
  assert_true(ratio_at(&pieces, 1000) == 0.25 && ratio_at(&pieces, 500) == 0.25);
  assert_true(ratio_at(&pieces, 4000) == 0.0625 && ratio_at(&pieces, 8000) == 0.0625);
  assert_true(ratio_at(&pieces, 45000) == 2.0 / 3 && ratio_at(&pieces, 180000) == 2.0 / 3);
  assert_true(ratio_at(&pieces, 2000) > 0.125 / 1.023 && ratio_at(&pieces, 2000) < 0.125 * 1.023);
  for (uint64_t bytes = 1001; bytes <= 4000; bytes++)
    if (ratio_at(&pieces, bytes) > ratio_at(&pieces, bytes - 1)) fail_msg("rises at %llu", (unsigned long long)bytes);
  assert_true(ratio_at(&pieces, 0) == 1 && ratio_at(&pieces, UINT64_MAX) == 1);
  sw_arena_free(&arena);
  sw_profile_free(profile);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(change_over),   cmocka_unit_test(spreads_between), cmocka_unit_test(one_end),
      cmocka_unit_test(along_a_bound), cmocka_unit_test(rankings),        cmocka_unit_test(ratios),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
