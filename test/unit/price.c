/* plugin/select/price: what NCCL's own variables cost, in figures from the profile. */
#include "select/price.h"

#include "decide.h"

static char environment[512];

static const char* fake_getenv(const char* name) {
  size_t length = strlen(name);
  for (char* pair = environment; *pair; pair += strlen(pair) + 1)
    if (strncmp(pair, name, length) == 0 && pair[length] == '=') return pair + length + 1;
  return NULL;
}

/* "NCCL_ALGO=ring|NCCL_PROTO=ll" */
static struct sw_forced forced_by(const char* settings) {
  struct sw_forced forced;
  memset(environment, 0, sizeof environment);
  assert_true(strlen(settings) + 2 < sizeof environment);
  for (size_t i = 0; settings[i]; i++) environment[i] = settings[i] == '|' ? '\0' : settings[i];
  sw_forced_read(fake_getenv, &forced);
  return forced;
}

struct line_case {
  const char *settings, *line; /* line: NULL none */
};

static void assert_lines(const struct sw_profile* profile, uint32_t nodes, uint32_t ranks,
                         const struct line_case* cases, size_t count) {
  struct sw_plan* plan = sw_plan_compile(profile, nodes, ranks);
  assert_non_null(plan);
  for (size_t i = 0; i < count; i++) {
    struct sw_text text = SW_TEXT_EMPTY;
    struct sw_forced forced = forced_by(cases[i].settings);
    bool any = sw_add_forced(&text, &forced, profile, plan);
    const char* expected = cases[i].line ? cases[i].line : "";
    if (any != (cases[i].line != NULL) || strcmp(sw_text_string(&text), expected) != 0)
      fail_msg("%s:\n  have %s\n  want %s", cases[i].settings, sw_text_string(&text), expected);
    sw_text_free(&text);
  }
  sw_plan_free(plan);
}

#define UNKNOWN "; the profile knows of no loss by that"
#define SECTION_A_OFF "; allreduce: the profile's 2 channels for 3 MiB to 12 MiB is switched off"

/*
 * Section A. At 12 KiB: auto 76 us, tree + ll 79, ll 83, tree 74, 2 channels 78. At 96 MiB, in ms: auto 14.7, tree + ll
 * 67.1, ll 140.7, tree 58.2, 2 channels 15.1. A loss counts from min_gain on: 1 - 76/79 = 3.8%, 1 - 76/83 = 8.4%,
 * 1 - 76/78 = 2.6%, 1 - 14.7/15.1 = 2.6%.
 */
static void section_a(void** state) {
  (void)state;
  static const struct line_case cases[] = {
      {"", NULL},
      {"NCCL_ALGO=|NCCL_PROTO=|NCCL_MAX_NCHANNELS=", NULL},
      {"NCCL_ALGO=allreduce:tree",
       "NCCL_ALGO=allreduce:tree holds at every size; at 96 MiB tree was measured at 58.2 ms against 14.7 ms"},
      {"NCCL_ALGO=Tree", "NCCL_ALGO=Tree holds at every size; at 96 MiB tree was measured at 58.2 ms against 14.7 ms"},
      {"NCCL_PROTO=LL",
       "NCCL_PROTO=LL holds at every size; at 12 KiB ll was measured at 83 us against 76 us; at 96 MiB ll was measured "
       "at "
       "140.7 ms against 14.7 ms"},
      {"NCCL_PROTO=^LL128,Simple",
       "NCCL_PROTO=^LL128,Simple holds at every size; at 12 KiB ll was measured at 83 us against 76 us; at 96 MiB ll "
       "was "
       "measured at 140.7 ms against 14.7 ms"},
      {"NCCL_ALGO=tree|NCCL_PROTO=ll",
       "NCCL_ALGO=tree, NCCL_PROTO=ll hold at every size; at 12 KiB tree + ll was measured at 79 us (with 2 channels) "
       "against 76 us; at 96 MiB tree + ll was measured at 67.1 ms (with 2 channels) against 14.7 ms"},
      /* nobody measured it there */
      {"NCCL_ALGO=ring", "NCCL_ALGO=ring holds at every size" UNKNOWN},
      {"NCCL_ALGO=ring,tree", "NCCL_ALGO=ring,tree holds at every size" UNKNOWN},
      {"NCCL_ALGO=broadcast:ring", "NCCL_ALGO=broadcast:ring holds at every size" UNKNOWN},
      /* a cap of 2 is what the profile asks for, costs less than 3%, and so is worth no figure */
      {"NCCL_MAX_NCHANNELS=2", "NCCL_MAX_NCHANNELS=2 holds at every size" UNKNOWN},
      {"NCCL_MAX_CTAS=1", "NCCL_MAX_CTAS=1 holds at every size" SECTION_A_OFF},
      {"NCCL_MIN_NCHANNELS=4", "NCCL_MIN_NCHANNELS=4 holds at every size" UNKNOWN},
      {"NCCL_MIN_NCHANNELS=4|NCCL_MAX_NCHANNELS=16",
       "NCCL_MIN_NCHANNELS=4, NCCL_MAX_NCHANNELS=16 hold at every size" UNKNOWN},
      {"NCCL_MIN_NCHANNELS=0|NCCL_MAX_NCHANNELS=0", NULL},
  };
  struct sw_profile* profile = read_shipped("gb10-roce-8x1");
  assert_lines(profile, 8, 8, cases, COUNT(cases));
  sw_profile_free(profile);
}

/* A profile whose choices name an algorithm, for two collectives. */
static void several_collectives(void** state) {
  (void)state;
  static const struct line_case cases[] = {
      /* auto 100 us: tree 60 us wins, ring 150 us loses; the gather's ring 200 us loses against 90 us */
      {"NCCL_ALGO=ring",
       "NCCL_ALGO=ring holds at every size; at 1 MiB allgather with ring was measured at 200 us against 90 us; at 1 "
       "MiB "
       "allreduce with ring was measured at 150 us (with 4 channels) against 100 us; allreduce: the profile's tree for "
       "512 KiB to 2 MiB is switched off"},
      {"NCCL_ALGO=allreduce:tree", "NCCL_ALGO=allreduce:tree holds at every size" UNKNOWN},
      {"NCCL_ALGO=tree;allgather:ring",
       "NCCL_ALGO=tree;allgather:ring holds at every size; at 1 MiB allgather with ring was measured at 200 us against "
       "90 us"},
  };
  struct sw_profile* profile = read_profile(HEAD TABLES(
      TABLE_OF("allreduce", "2", "2",
               POINT("1MiB", AUTO("100us") TIME("algo: tree", "60us") TIME("algo: ring, channels: 2", "140us")
                                 TIME("algo: ring, channels: 4", "150us")))
          TABLE_OF("allgather", "2", "2", POINT("1MiB", AUTO("90us") TIME("algo: ring", "200us")))));
  assert_lines(profile, 2, 2, cases, COUNT(cases));
  sw_profile_free(profile);
}

/* Only times that were measured under auto's settings say what a variable costs. C1's were not, ring's here neither. */
static void other_settings(void** state) {
  (void)state;
  static const struct line_case ring = {"NCCL_ALGO=ring", "NCCL_ALGO=ring holds at every size" UNKNOWN};
  struct sw_profile* made = read_profile(HEAD TABLES(
      TABLE(POINT("1MiB", AUTO("100us") TIME("algo: ring, settings: {NCCL_BUFFSIZE: '1048576'}", "200us")))));
  assert_lines(made, 2, 2, &ring, 1);
  sw_profile_free(made);
  static const struct line_case cases[] = {
      {"NCCL_MAX_NCHANNELS=8", "NCCL_MAX_NCHANNELS=8 holds at every size" UNKNOWN},
      {"NCCL_MAX_NCHANNELS=16", "NCCL_MAX_NCHANNELS=16 holds at every size" UNKNOWN},
  };
  struct sw_profile* profile = read_shipped("gb10-roce-8x1-switched");
  assert_lines(profile, 8, 8, cases, COUNT(cases));
  sw_profile_free(profile);
}

static void forced_choices(void** state) {
  (void)state;
  static const struct {
    const char* settings;
    struct sw_choice allreduce, broadcast;
  } cases[] = {
      {"", {-1, -1, 0}, {-1, -1, 0}},
      {"NCCL_ALGO=ring", {NCCL_ALGO_RING, -1, 0}, {NCCL_ALGO_RING, -1, 0}},
      {"NCCL_ALGO=allreduce:tree", {NCCL_ALGO_TREE, -1, 0}, {-1, -1, 0}},
      {"NCCL_ALGO=ring,tree", {-1, -1, 0}, {-1, -1, 0}},
      {"NCCL_PROTO=simple", {-1, NCCL_PROTO_SIMPLE, 0}, {-1, NCCL_PROTO_SIMPLE, 0}},
      {"NCCL_PROTO=^LL", {-1, -1, 0}, {-1, -1, 0}},
      {"NCCL_PROTO=^LL,LL128", {-1, NCCL_PROTO_SIMPLE, 0}, {-1, NCCL_PROTO_SIMPLE, 0}},
      {"NCCL_ALGO=ring;allreduce:tree|NCCL_PROTO=ll",
       {NCCL_ALGO_TREE, NCCL_PROTO_LL, 0},
       {NCCL_ALGO_RING, NCCL_PROTO_LL, 0}},
      {"NCCL_MAX_NCHANNELS=8", {-1, -1, 8}, {-1, -1, 8}},
      {"NCCL_MAX_NCHANNELS=64", {-1, -1, 64}, {-1, -1, 64}},
      {"NCCL_MAX_NCHANNELS=65", {-1, -1, 0}, {-1, -1, 0}},
      {"NCCL_MIN_NCHANNELS=8", {-1, -1, 0}, {-1, -1, 0}},
      {"NCCL_ALGO=ring|NCCL_MAX_NCHANNELS=8", {NCCL_ALGO_RING, -1, 0}, {NCCL_ALGO_RING, -1, 0}},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct sw_forced forced = forced_by(cases[i].settings);
    if (!sw_choice_same(sw_forced_choice(&forced, NCCL_ALLREDUCE), cases[i].allreduce) ||
        !sw_choice_same(sw_forced_choice(&forced, NCCL_BROADCAST), cases[i].broadcast))
      fail_msg("%s", cases[i].settings);
  }
}

/* Of several channel counts the one with NCCL's own is quoted, else the largest. */
static void quoted_times(void** state) {
  (void)state;
  struct sw_profile* profile = read_profile(HEAD TABLES(
      TABLE(POINT("1KiB", AUTO("10us") TIME("algo: ring, channels: 2", "12us") TIME("algo: ring", "13us")
                              TIME("algo: ring, channels: 8", "14us") TIME("algo: tree, channels: 2", "15us")
                                  TIME("algo: tree, channels: 8", "16us")) POINT("1MiB", TIME("algo: ring", "13us"))
                POINT("2MiB",
                      AUTO("4us") TIME("channels: 2", "6us") TIME("channels: 4", "5us") TIME("channels: 8", "7us")))));
  const struct sw_point* points = profile->tables[0].points;
  struct sw_price ring = sw_forced_price(&points[0], (struct sw_choice){NCCL_ALGO_RING, -1, 0});
  assert_true(ring.known);
  assert_int_equal(ring.time->median_ps, 13000000);
  assert_int_equal(ring.own->median_ps, 10000000);
  assert_int_equal(sw_forced_price(&points[0], (struct sw_choice){NCCL_ALGO_TREE, -1, 0}).time->median_ps, 16000000);
  assert_false(sw_forced_price(&points[0], (struct sw_choice){NCCL_ALGO_RING, NCCL_PROTO_LL, 0}).known);
  assert_false(sw_forced_price(&points[0], (struct sw_choice){-1, -1, 2}).known);
  assert_false(sw_forced_price(&points[0], SW_AUTO).known);
  assert_int_equal(sw_forced_price(&points[2], (struct sw_choice){-1, -1, 4}).time->median_ps, 5000000);
  assert_false(sw_forced_price(&points[1], (struct sw_choice){NCCL_ALGO_RING, -1, 0}).known); /* no auto there */
  sw_profile_free(profile);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(section_a),      cmocka_unit_test(several_collectives), cmocka_unit_test(other_settings),
      cmocka_unit_test(forced_choices), cmocka_unit_test(quoted_times),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
