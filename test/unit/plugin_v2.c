/*
 * The built plugin under NCCL 2.21, whose v2 interface shows no cost table: a pair is named outright and runs whatever
 * NCCL_ALGO and NCCL_PROTO say, so the plugin has to obey them itself.
 */
#include "plugin_host.h"

enum { MIB = 1024 * 1024, NONE = -1 };

static struct standin_tuner* tuner;

static int load(void** state) {
  (void)state;
  tuner = host_load(22105);
  return 0;
}

static int unload(void** state) {
  standin_unload(tuner);
  return host_leave(state);
}

struct v2_case {
  const char *what, *times; /* besides auto's 100 us */
  const char* settings;
  int collective;
  int collnet, nvls;
  size_t nodes;
  int algorithm, protocol, channels;
};

static void check(const struct v2_case* example) {
  char settings[512];
  struct sw_text profile = SW_TEXT_EMPTY;
  sw_text_printf(&profile, PROFILE("p", "measured", "", TABLE("%s", "%zu", "4", "1MiB", "%s")),
                 sw_value_word(&sw_collectives, example->collective), example->nodes, example->times);
  host_write("p.yaml", sw_text_string(&profile));
  snprintf(settings, sizeof settings, "NCCL_SIZEWISE_PROFILE=@/p.yaml|%s", example->settings);
  host_set(settings);
  struct standin_communicator* c = host_create(tuner, 4, example->nodes);
  struct standin_question question = {.collective = example->collective,
                                      .bytes = MIB,
                                      .collnet = example->collnet,
                                      .nvls = example->nvls,
                                      .pipe_ops = 1,
                                      .algorithm = NONE,
                                      .protocol = NONE};
  assert_int_equal(standin_tuner_ask(tuner, standin_communicator_context(c), &question), NCCL_SUCCESS);
  if (question.algorithm != example->algorithm || question.protocol != example->protocol ||
      question.channels != example->channels)
    fail_msg("%s: %d/%d, %d channels", example->what, question.algorithm, question.protocol, question.channels);
  standin_communicator_destroy(c);
  sw_text_free(&profile);
}

#define CASE(what, times, settings, collective, collnet, nvls, nodes, algorithm, protocol, channels) \
  { what, times, settings, NCCL_##collective, collnet, nvls, nodes, algorithm, protocol, channels }
#define TREE_LL "{algo: tree, proto: ll, channels: 2, median: 40us}"
#define RING_SIMPLE "{algo: ring, proto: simple, median: 60us}"
#define FOUR "{channels: 4, median: 80us}"
enum { TREE = NCCL_ALGO_TREE, RING = NCCL_ALGO_RING, LL = NCCL_PROTO_LL, SIMPLE = NCCL_PROTO_SIMPLE };

static void pairs(void** state) {
  (void)state;
  static const struct v2_case cases[] = {
      CASE("tree + ll", TREE_LL, "", ALLREDUCE, 0, 0, 2, TREE, LL, 2),
      CASE("tree + simple", "{algo: tree, proto: simple, median: 40us}", "", ALLREDUCE, 0, 0, 2, TREE, SIMPLE, 0),
      CASE("ring + ll", "{algo: ring, proto: ll, median: 40us}", "", ALLREDUCE, 0, 0, 2, RING, LL, 0),
      CASE("ring + simple", RING_SIMPLE, "", BROADCAST, 0, 0, 2, RING, SIMPLE, 0),
      CASE("a named pair keeps its channels", TREE_LL, "", ALLREDUCE, 1, 1, 2, TREE, LL, 2),
      /* what may be missing on this machine cannot be named blindly */
      CASE("ll128", "{algo: ring, proto: ll128, median: 40us}", "", ALLREDUCE, 0, 0, 2, NONE, NONE, 0),
      CASE("nvls", "{algo: nvls, proto: simple, median: 40us}", "", ALLREDUCE, 0, 1, 2, NONE, NONE, 0),
      CASE("collnetdirect", "{algo: collnetdirect, proto: simple, median: 40us}", "", ALLREDUCE, 1, 0, 2, NONE, NONE,
           0),
      CASE("pat", "{algo: pat, proto: simple, median: 40us}", "", ALLGATHER, 0, 0, 2, NONE, NONE, 0),
      CASE("tree for a gather", "{algo: tree, proto: ll, median: 40us}", "", ALLGATHER, 0, 0, 2, NONE, NONE, 0),
      CASE("an algorithm alone", "{algo: tree, channels: 2, median: 40us}", "", ALLREDUCE, 0, 0, 2, NONE, NONE, 0),
      CASE("a protocol alone", "{proto: ll, channels: 2, median: 40us}", "", ALLREDUCE, 0, 0, 2, NONE, NONE, 0),
      CASE("the next that can be named", "{algo: nvls, median: 40us}, {proto: ll, median: 50us}, " RING_SIMPLE, "",
           ALLREDUCE, 0, 0, 2, RING, SIMPLE, 0),
      CASE("channels come last", "{algo: nvls, median: 40us}, " FOUR, "", ALLREDUCE, 0, 0, 2, NONE, NONE, 4),
  };
  for (size_t i = 0; i < COUNT(cases); i++) check(&cases[i]);
}

static void channels(void** state) {
  (void)state;
  static const struct v2_case cases[] = {
      CASE("two nodes", FOUR, "", ALLREDUCE, 0, 0, 2, NONE, NONE, 4),
      CASE("one node", FOUR, "", ALLREDUCE, 0, 0, 1, NONE, NONE, 4),
      CASE("NVLS on one node", FOUR, "", ALLREDUCE, 0, 1, 1, NONE, NONE, 4),
      CASE("NVLS on two nodes", FOUR, "", ALLREDUCE, 0, 1, 2, NONE, NONE, 0),
      CASE("CollNet", FOUR, "", ALLREDUCE, 1, 0, 2, NONE, NONE, 0),
      CASE("CollNet on one node", FOUR, "", ALLREDUCE, 1, 0, 1, NONE, NONE, 0),
  };
  for (size_t i = 0; i < COUNT(cases); i++) check(&cases[i]);
}

static void forced_by_the_environment(void** state) {
  (void)state;
#define ALL TREE_LL ", " RING_SIMPLE ", " FOUR
  static const struct v2_case cases[] = {
      CASE("nothing", ALL, "", ALLREDUCE, 0, 0, 2, TREE, LL, 2),
      CASE("tree", ALL, "NCCL_ALGO=Tree", ALLREDUCE, 0, 0, 2, TREE, LL, 2),
      CASE("ring", ALL, "NCCL_ALGO=ring", ALLREDUCE, 0, 0, 2, RING, SIMPLE, 0),
      CASE("all but tree", ALL, "NCCL_ALGO=^tree", ALLREDUCE, 0, 0, 2, RING, SIMPLE, 0),
      CASE("ring for another collective", ALL, "NCCL_ALGO=broadcast:ring", ALLREDUCE, 0, 0, 2, TREE, LL, 2),
      CASE("ring for this one", ALL, "NCCL_ALGO=tree;allreduce:ring", ALLREDUCE, 0, 0, 2, RING, SIMPLE, 0),
      CASE("simple", ALL, "NCCL_PROTO=Simple", ALLREDUCE, 0, 0, 2, RING, SIMPLE, 0),
      CASE("all but ll", ALL, "NCCL_PROTO=^LL", ALLREDUCE, 0, 0, 2, RING, SIMPLE, 0),
      CASE("ring and ll", ALL, "NCCL_ALGO=ring|NCCL_PROTO=ll", ALLREDUCE, 0, 0, 2, NONE, NONE, 4),
      CASE("nvls", ALL, "NCCL_ALGO=nvls", ALLREDUCE, 0, 0, 2, NONE, NONE, 4),
      CASE("what cannot be read restricts nothing here", ALL, "NCCL_ALGO=rign", ALLREDUCE, 0, 0, 2, TREE, LL, 2),
  };
  for (size_t i = 0; i < COUNT(cases); i++) check(&cases[i]);
}

/* The settings that count are those at init: a later change cannot make ranks differ. */
static void settings_are_read_at_init(void** state) {
  (void)state;
  host_write("p.yaml", PROFILE("p", "measured", "", TABLE("allreduce", "2", "4", "1MiB", TREE_LL)));
  host_set("NCCL_SIZEWISE_PROFILE=@/p.yaml");
  struct standin_communicator* c = host_create(tuner, 4, 2);
  host_set("NCCL_SIZEWISE_PROFILE=off|NCCL_ALGO=ring");
  struct standin_question question = {
      .collective = NCCL_ALLREDUCE, .bytes = MIB, .pipe_ops = 1, .algorithm = NONE, .protocol = NONE};
  assert_int_equal(standin_tuner_ask(tuner, standin_communicator_context(c), &question), NCCL_SUCCESS);
  assert_int_equal(question.algorithm, TREE);
  standin_communicator_destroy(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs),
      cmocka_unit_test(channels),
      cmocka_unit_test(forced_by_the_environment),
      cmocka_unit_test(settings_are_read_at_init),
  };
  return cmocka_run_group_tests(tests, load, unload);
}
