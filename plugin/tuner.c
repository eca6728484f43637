#include "tuner.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cost.h"
#include "decide/uniform.h"
#include "facts/forced.h"
#include "promise.h"
#include "select/price.h"
#include "say.h"
#include "select/select.h"
#include "share.h"
#include "steering.h"

struct sw_tuner {
  const struct sw_plan* plan; /* NULL: NCCL decides everything */
  uint32_t ranks;
  uint32_t nodes;
  int most_merged; /* operations merged into one call that it answers for */
  bool deterministic;
  atomic_bool broken; /* the deterministic mode could not be kept in a call, and that was said */
  nccl_logger logger;
  struct sw_forced forced; /* for v2, whose answer NCCL does not filter; its texts are not used after init */
  struct sw_share* share;
  struct sw_steering* steering; /* NULL, but in a calibration */
  struct sw_tuner* older;       /* of those that live */
};

static void say_forced(nccl_logger logger, const struct sw_tuner* tuner, const struct sw_profile* profile) {
  struct sw_text line = SW_TEXT_EMPTY;
  bool forced = sw_add_forced(&line, &tuner->forced, profile, tuner->plan);
  if (forced && sw_share_is_first(SW_WARNED_FORCED)) {
    sw_text_printf(&line, " [SW-%d]", (int)SW_FORCED);
    sw_say(logger, NCCL_LOG_WARN, sw_text_string(&line));
  }
  sw_text_free(&line);
}

/* --- init -------------------------------------------------------------------------------------------------------- */

/* What applies, what is in its way, and what the deterministic mode cannot promise. */
static void say_plan(const struct sw_tuner* tuner, const struct sw_selection* selection,
                     const struct sw_profile* profile, nccl_logger logger) {
  struct sw_text broken = SW_TEXT_EMPTY;
  struct sw_text left = SW_TEXT_EMPTY;
  if (tuner->deterministic) sw_add_promise(profile, &tuner->forced, tuner->nodes, tuner->ranks, &broken, &left);
  sw_say_applies(logger, selection, tuner->plan, tuner->deterministic ? sw_text_string(&left) : NULL);
  say_forced(logger, tuner, profile);
  if (broken.length && sw_share_is_first_shape(tuner->nodes, tuner->ranks))
    sw_say_promise(logger, sw_text_string(&broken));
  sw_text_free(&broken);
  sw_text_free(&left);
}

static bool adopt(struct sw_tuner* tuner, const struct sw_selection* selection, const struct sw_facts* facts,
                  nccl_logger logger) {
  const struct sw_profile* profile = selection->entry->profile;
  tuner->plan = sw_share_plan(tuner->share, profile, (uint32_t)facts->nodes, (uint32_t)facts->ranks);
  if (!tuner->plan) return false;
  say_plan(tuner, selection, profile, logger);
  return true;
}

/* Who asked for the deterministic mode and does not get it has to be told, once for each shape. */
static void leave(const struct sw_tuner* tuner, const char* why, nccl_logger logger) {
  sw_say_left_to_nccl(logger, why, tuner->nodes, tuner->ranks);
  if (tuner->deterministic && tuner->ranks > 1 && sw_share_is_first_shape(tuner->nodes, tuner->ranks))
    sw_say_no_promise(logger, tuner->nodes, tuner->ranks);
}

static bool follow(struct sw_tuner* tuner, const struct sw_selection* selection, const struct sw_facts* facts,
                   nccl_logger logger) {
  if (selection->warning.length && sw_share_is_first(SW_WARNED_SELECTION))
    sw_say(logger, NCCL_LOG_WARN, sw_text_string(&selection->warning));
  if (selection->outcome == SW_REFUSED) {
    sw_say(logger, NCCL_LOG_WARN, sw_text_string(&selection->why));
    return false;
  }
  if (facts->ranks > 1 && selection->outcome == SW_APPLIES) return adopt(tuner, selection, facts, logger);
  bool alone = facts->ranks == 1;
  leave(tuner, alone ? "a single rank has nobody to exchange data with" : sw_text_string(&selection->why), logger);
  return true;
}

static bool prepare(struct sw_tuner* tuner, const struct sw_facts_source* source, struct sw_facts* facts, bool first,
                    nccl_logger logger) {
  const struct sw_library* library = sw_share_library(tuner->share);
  for (size_t i = 0; first && i < library->warning_count; i++)
    sw_say(logger, NCCL_LOG_WARN, sw_text_string(&library->warnings[i]));
  sw_forced_read(source->getenv, &tuner->forced);
  struct sw_selection selection = sw_select(library, facts);
  bool good = follow(tuner, &selection, facts, logger);
  sw_selection_free(&selection);
  return good;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sw_tuner* living; /* the newest first */

static void enlist(struct sw_tuner* tuner) {
  pthread_mutex_lock(&lock);
  tuner->older = living;
  living = tuner;
  pthread_mutex_unlock(&lock);
}

/* One whose init failed was never enlisted. */
static void strike(struct sw_tuner* tuner) {
  pthread_mutex_lock(&lock);
  struct sw_tuner** link = &living;
  while (*link && *link != tuner) link = &(*link)->older;
  if (*link) *link = tuner->older;
  pthread_mutex_unlock(&lock);
}

nccl_result sw_tuner_init(size_t ranks, size_t nodes, nccl_logger logger, const nccl_nvl_domain_info* domains,
                          void** context) {
  struct sw_facts_source source = sw_facts_this_machine(false);
  struct sw_tuner* tuner = calloc(1, sizeof *tuner);
  bool first = false;
  *context = NULL;
  if (!tuner || !(tuner->share = sw_share_acquire(&source, &first))) {
    sw_say(logger, NCCL_LOG_WARN, "out of memory");
    free(tuner);
    return NCCL_SYSTEM_ERROR;
  }
  struct sw_facts facts = sw_share_library(tuner->share)->machine;
  sw_facts_set_shape(&facts, ranks, nodes);
  sw_facts_set_domains(&facts, domains);
  facts.nccl = sw_facts_nccl_version(logger);
  tuner->ranks = (uint32_t)facts.ranks;
  tuner->nodes = (uint32_t)facts.nodes;
  tuner->deterministic = sw_share_library(tuner->share)->mode == SW_MODE_DETERMINISTIC;
  tuner->most_merged = tuner->deterministic ? INT_MAX : 1;
  tuner->logger = logger;
  if (!prepare(tuner, &source, &facts, first, logger)) {
    sw_tuner_finalize(tuner);
    return NCCL_INVALID_USAGE;
  }
  enlist(tuner);
  *context = tuner;
  return NCCL_SUCCESS;
}

void sw_tuner_finalize(struct sw_tuner* tuner) {
  if (!tuner) return;
  strike(tuner);
  sw_share_release(tuner->share);
  free(tuner->steering);
  free(tuner);
}

/* --- steering ---------------------------------------------------------------------------------------------------- */

struct sw_tuner* sw_tuner_steer_newest(void) {
  pthread_mutex_lock(&lock);
  struct sw_tuner* tuner = living;
  pthread_mutex_unlock(&lock);
  if (tuner && !tuner->steering) {
    tuner->steering = calloc(1, sizeof *tuner->steering);
    if (tuner->steering)
      *tuner->steering = (struct sw_steering){SW_AUTO, {.ranks = tuner->ranks, .nodes = tuner->nodes}};
  }
  return tuner && tuner->steering ? tuner : NULL;
}

struct sw_steering* sw_tuner_steering(const struct sw_tuner* tuner) {
  return tuner ? tuner->steering : NULL;
}

void sw_tuner_release(struct sw_tuner* tuner) {
  if (!tuner) return;
  free(tuner->steering);
  tuner->steering = NULL;
}

/* --- the hot path ------------------------------------------------------------------------------------------------ */

/*
 * Merged operations were measured by nobody, so only the deterministic mode, which holds whatever the call, answers for
 * them; and a collective that we do not know cannot be in a table.
 */
static bool has_answer(const struct sw_tuner* tuner, nccl_collective collective, int merged_operations) {
  return tuner && tuner->plan && collective >= 0 && collective < NCCL_NUM_COLLECTIVES &&
         merged_operations <= tuner->most_merged;
}

/* The choice of the deterministic mode could not be made in a call that adds: said once for each communicator. */
__attribute__((cold)) static void say_broken(struct sw_tuner* tuner, int collective, uint64_t bytes,
                                             struct sw_choice choice) {
  if (!tuner->deterministic || !sw_uniform_sums(collective) || atomic_exchange(&tuner->broken, true)) return;
  struct sw_text line = SW_TEXT_EMPTY;
  sw_add_broken_promise(&line, collective, bytes, choice);
  sw_say(tuner->logger, NCCL_LOG_WARN, sw_text_string(&line));
  sw_text_free(&line);
}

void sw_tuner_ask(struct sw_tuner* tuner, nccl_collective collective, size_t bytes, int merged_operations, float* table,
                  int algorithms, int protocols, int* channels) {
  if (tuner && tuner->steering) {
    struct sw_cost_table costs = {table, algorithms, protocols, tuner->nodes > 1};
    sw_steering_answer(tuner->steering, collective, bytes, merged_operations, &costs, channels);
    return;
  }
  if (!has_answer(tuner, collective, merged_operations)) return;
  struct sw_decision decision = sw_plan_decide(tuner->plan, collective, bytes);
  if (!decision.count) return;
  struct sw_cost_table costs = {table, algorithms, protocols, tuner->nodes > 1};
  if (!sw_cost_apply(&costs, decision, channels)) say_broken(tuner, collective, bytes, decision.ranked[0].choice);
}

/* Without a table only what always exists can be named: Ring and Tree, LL and Simple. */
static bool exists_without_table(const struct sw_tuner* tuner, int collective, struct sw_choice choice) {
  bool known = (choice.algo == NCCL_ALGO_RING || choice.algo == NCCL_ALGO_TREE) &&
               (choice.proto == NCCL_PROTO_LL || choice.proto == NCCL_PROTO_SIMPLE);
  return known && sw_choice_possible(collective, choice.algo, choice.proto) &&
         sw_forced_allows(&tuner->forced, collective, choice.algo, choice.proto);
}

void sw_tuner_ask_without_table(struct sw_tuner* tuner, nccl_collective collective, size_t bytes, int merged_operations,
                                int unclamped, int* algorithm, int* protocol, int* channels) {
  if (!has_answer(tuner, collective, merged_operations)) return;
  struct sw_decision decision = sw_plan_decide(tuner->plan, collective, bytes);
  for (uint32_t i = 0; i < decision.count; i++) {
    struct sw_choice choice = decision.ranked[i].choice;
    if (choice.algo < 0 && choice.proto < 0) {
      if (!unclamped) *channels = choice.channels;
      return;
    }
    if (!exists_without_table(tuner, collective, choice)) continue;
    *algorithm = choice.algo;
    *protocol = choice.proto;
    if (choice.channels) *channels = choice.channels;
    return;
  }
  if (decision.count) say_broken(tuner, collective, bytes, decision.ranked[0].choice);
}

int sw_tuner_has_several_nodes(const struct sw_tuner* tuner) {
  return tuner && tuner->nodes > 1;
}
