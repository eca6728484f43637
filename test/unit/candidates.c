/* bench/calibrate/candidates: what there is to choose from, each distinct thing once; what is banned is not tried. */
#include "calibrate/candidates.h"
#include "unit/simulated_crew.h"

static struct candidates found;

/* The choice that was announced last. */
static struct sw_choice announced;

static void announce(void* context, struct sw_choice choice) {
  *(struct sw_choice*)context = choice;
}

static const struct candidates_watch watch = {announce, &announced};

static bool try_to_find(struct simulated* s, uint64_t bytes, const struct ban_list* bans, struct sw_choice* culprit) {
  struct fabric_call call = call_of(NCCL_ALLREDUCE, bytes);
  return candidates_find(s->crew, &call, bans, &watch, &found, culprit);
}

static void find(struct simulated* s, uint64_t bytes, const struct ban_list* bans) {
  struct sw_choice culprit;
  if (!try_to_find(s, bytes, bans, &culprit)) fail_msg("%s", crew_failure(s->crew)->text);
}

static bool runs_same(const struct fabric_probe* a, const struct fabric_probe* b) {
  return a->algo == b->algo && a->proto == b->proto && a->channels == b->channels;
}

static const struct candidate* find_choice(struct sw_choice choice) {
  for (size_t i = 0; i < found.count; i++)
    if (sw_choice_same(found.items[i].choice, choice)) return &found.items[i];
  return NULL;
}

static const struct twin* find_twin(struct sw_choice choice) {
  for (size_t i = 0; i < found.twin_count; i++)
    if (sw_choice_same(found.twins[i].choice, choice)) return &found.twins[i];
  return NULL;
}

/* How many candidates, or twins, have this algorithm and protocol. */
static size_t count_pair(int algo, int proto, bool twins) {
  size_t count = 0;
  for (size_t i = 0; i < (twins ? found.twin_count : found.count); i++) {
    struct sw_choice choice = twins ? found.twins[i].choice : found.items[i].choice;
    count += choice.algo == algo && choice.proto == proto;
  }
  return count;
}

static void each_distinct_thing_once(void** state) {
  (void)state;
  static const struct ban_list none;
  struct simulated* s = join_simulated(GAINS, 2, 0, NULL);
  static const uint64_t sizes[] = {8, KIB, 64 * KIB, MIB, 64 * MIB};
  for (size_t n = 0; n < COUNT(sizes); n++) {
    find(s, sizes[n], &none);
    assert_true(sw_choice_is_auto(found.items[0].choice));
    for (size_t i = 0; i < found.count; i++) {
      const struct candidate* c = &found.items[i];
      assert_int_equal(c->excluded[0], 0);
      if (c->choice.algo >= 0) assert_int_equal(c->probe.algo, c->choice.algo);
      if (c->choice.proto >= 0) assert_int_equal(c->probe.proto, c->choice.proto);
      if (i > 0 && c->choice.channels) assert_true(c->probe.channels <= c->choice.channels);
      for (size_t k = 0; k < i; k++) assert_false(runs_same(&c->probe, &found.items[k].probe));
    }
    for (size_t i = 0; i < found.twin_count; i++) {
      assert_true(found.twins[i].of < found.count);
      assert_null(find_choice(found.twins[i].choice));
    }
  }
  end_simulated(s);
}

/*
 * On two nodes there are 16 channels; 64 MiB earn them all, and 32 bring no more. NCCL takes ring + Simple: fewer
 * channels alone are the same as fewer of that.
 */
static void channels_as_far_as_they_run(void** state) {
  (void)state;
  static const struct ban_list none;
  struct simulated* s = join_simulated(GAINS, 2, 0, NULL);
  find(s, 64 * MIB, &none);
  for (int algo = 0; algo <= 1; algo++)
    for (int proto = 0; proto < NCCL_NUM_PROTOCOLS; proto++) {
      bool own = algo == found.items[0].probe.algo && proto == found.items[0].probe.proto;
      size_t all = count_pair(algo, proto, false) + count_pair(algo, proto, true);
      assert_int_equal(all, 7); /* own, 1, 2, 4, 8, 16, and 32 that shows that there are no more */
      assert_int_equal(count_pair(algo, proto, true), own ? 7 : 2);
      assert_null(find_choice(CHOICE((int8_t)algo, (int8_t)proto, 64)));
    }
  assert_int_equal(count_pair(-1, -1, false), 5); /* auto, 1, 2, 4, 8 */
  assert_int_equal(found.items[find_twin(RING(SIMPLE, 4))->of].choice.channels, 4);
  assert_int_equal(found.items[0].probe.algo, NCCL_ALGO_RING);
  assert_int_equal(found.items[0].probe.proto, NCCL_PROTO_SIMPLE);
  assert_int_equal(found.items[0].probe.channels, 16);
  const struct twin* twin = find_twin(RING(SIMPLE, 0));
  assert_non_null(twin);
  assert_int_equal(twin->of, 0);
  find(s, 8, &none); /* one channel is all that 8 bytes earn */
  assert_non_null(find_twin(TREE(SIMPLE, 1)));
  assert_null(find_choice(TREE(SIMPLE, 2)));
  end_simulated(s);
}

/* Both would bring the workers down, were they tried. */
static void banned_ones_are_not_tried(void** state) {
  (void)state;
  struct ban_list bans = {.count = 0};
  ban(&bans, NCCL_ALLREDUCE, 2, TREE(LL, 0), "hung: of old");
  ban(&bans, NCCL_ALLREDUCE, 2, RING(LL, 4), "killed");
  struct simulated* s = join_simulated(GAINS, 2, 0, FAULTS("crash:tree+ll", "crash:tree+ll/2", "crash:ring+ll/4"));
  find(s, 64 * MIB, &bans);
  assert_int_equal(crew_starts(s->crew), 1);
  assert_string_equal(find_choice(TREE(LL, 0))->excluded, "hung: of old");
  for (size_t i = 0; i < found.count; i++)
    if (found.items[i].choice.algo == NCCL_ALGO_TREE && found.items[i].choice.proto == NCCL_PROTO_LL)
      assert_string_equal(found.items[i].excluded, "hung: of old");
  assert_string_equal(find_choice(RING(LL, 4))->excluded, "killed");
  assert_int_equal(find_choice(RING(LL, 2))->excluded[0], 0);
  assert_int_equal(find_choice(RING(LL, 8))->excluded[0],
                   0); /* more channels than banned ones are tried all the same */
  assert_int_equal(count_pair(NCCL_ALGO_TREE, NCCL_PROTO_LL, false), 1);
  end_simulated(s);
}

static void a_culprit_is_named(void** state) {
  (void)state;
  struct ban_list bans = {.count = 0};
  struct sw_choice culprit;
  struct simulated* s = join_simulated(GAINS, 2, 0, FAULTS("crash:tree+ll/2", "error:ring+simple/4"));
  assert_false(try_to_find(s, MIB, &bans, &culprit));
  assert_true(sw_choice_same(culprit, TREE(LL, 2)));
  assert_true(sw_choice_same(announced, culprit)); /* before it was tried */
  assert_int_equal(crew_failure(s->crew)->kind, TEAM_DIED);
  ban(&bans, NCCL_ALLREDUCE, 2, culprit, "killed");
  assert_true(crew_restart(s->crew));
  assert_false(try_to_find(s, MIB, &bans, &culprit));
  assert_true(sw_choice_same(culprit, RING(SIMPLE, 4)));
  assert_int_equal(crew_failure(s->crew)->kind, TEAM_ERROR);
  ban(&bans, NCCL_ALLREDUCE, 2, culprit, "failed");
  assert_true(crew_restart(s->crew));
  find(s, MIB, &bans);
  assert_string_equal(find_choice(TREE(LL, 2))->excluded, "killed");
  assert_string_equal(find_choice(RING(SIMPLE, 4))->excluded, "failed");
  end_simulated(s);
}

static void ranks_that_differ(void** state) {
  (void)state;
  static const struct ban_list none;
  struct sw_choice culprit;
  struct simulated* s = join_simulated(GAINS, 2, 0, FAULTS("rank-table:1"));
  assert_false(try_to_find(s, MIB, &none, &culprit));
  assert_true(sw_choice_is_auto(culprit));
  assert_int_equal(crew_failure(s->crew)->kind, TEAM_ERROR);
  assert_int_equal(crew_failure(s->crew)->rank, 1);
  assert_non_null(strstr(crew_failure(s->crew)->text, "rank 1 would run "));
  end_simulated(s);
}

static void bans(void** state) {
  (void)state;
  static const struct {
    int collective;
    uint32_t ranks;
    struct sw_choice choice;
    const char* why;
  } cases[] = {
      {NCCL_ALLREDUCE, 8, {0, 0, 0}, "a"},  {NCCL_ALLREDUCE, 8, {0, 0, 2}, "a"},  {NCCL_ALLREDUCE, 8, {1, 2, 4}, "b"},
      {NCCL_ALLREDUCE, 8, {1, 2, 0}, NULL}, {NCCL_ALLREDUCE, 8, {1, 2, 8}, NULL}, {NCCL_ALLREDUCE, 8, {0, 2, 0}, NULL},
      {NCCL_ALLREDUCE, 4, {0, 0, 0}, NULL}, {NCCL_BROADCAST, 8, {0, 0, 0}, NULL}, {NCCL_ALLREDUCE, 8, {1, 0, 0}, NULL},
  };
  struct ban_list list = {.count = 0};
  ban(&list, NCCL_ALLREDUCE, 8, TREE(LL, 0), "a");
  ban(&list, NCCL_ALLREDUCE, 8, RING(SIMPLE, 4), "b");
  for (size_t i = 0; i < COUNT(cases); i++) {
    const char* why = ban_of(&list, cases[i].collective, cases[i].ranks, cases[i].choice);
    if (!cases[i].why != !why || (why && strcmp(why, cases[i].why) != 0)) fail_msg("row %zu: %s", i, why ? why : "-");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_distinct_thing_once),  cmocka_unit_test(channels_as_far_as_they_run),
      cmocka_unit_test(banned_ones_are_not_tried), cmocka_unit_test(a_culprit_is_named),
      cmocka_unit_test(ranks_that_differ),         cmocka_unit_test(bans),
  };
  alarm(120);
  return cmocka_run_group_tests(tests, quiet_environment, NULL);
}
