#include "tuner.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost.h"
#include "decide/segments.h"
#include "facts/forced.h"
#include "ground/version.h"
#include "select/price.h"
#include "select/select.h"
#include "share.h"
#include "steering.h"

struct sw_tuner {
  const struct sw_plan* plan; /* NULL: NCCL decides everything */
  uint32_t ranks;
  uint32_t nodes;
  struct sw_forced forced; /* for v2, whose answer NCCL does not filter; its texts are not used after init */
  struct sw_share* share;
  struct sw_steering* steering; /* NULL, but in a calibration */
  struct sw_tuner* older;       /* of those that live */
};

/* --- the log ----------------------------------------------------------------------------------------------------- */

/* NCCL formats into 1024 bytes; a longer line would lose its end without a word. */
enum { LONGEST_LINE = 900 };

/* One line, whatever a setting or a file's name that it quotes may hold. */
static void say(nccl_logger logger, nccl_log_level level, const char* text) {
  if (!logger) return;
  char line[LONGEST_LINE + 1];
  unsigned long flags = level == NCCL_LOG_WARN ? ~0UL : NCCL_SUBSYS_INIT | NCCL_SUBSYS_TUNING;
  const char* cut = strlen(text) > LONGEST_LINE ? " ..." : "";
  snprintf(line, sizeof line, "%s", text);
  for (char* c = line; *c; c++)
    if (*c > 0 && *c < ' ') *c = ' ';
  logger(level, flags, "sizewise", 0, "sizewise: %s%s", line, cut);
}

/* "allreduce 3 MiB to 12 MiB: 2 channels; ..." for every segment that is not NCCL's own. Returns their number. */
static size_t add_overrides(struct sw_text* text, const struct sw_plan* plan) {
  size_t overrides = 0;
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) {
    size_t count = 0;
    struct sw_segment* segments = sw_segments_make(&plan->pieces[c], &count);
    for (size_t i = 0; segments && i < count; i++) {
      if (sw_choice_is_auto(segments[i].choice)) continue;
      overrides++;
      if (text->length > LONGEST_LINE) continue; /* counted, but nobody would see it */
      sw_text_printf(text, "%s%s ", overrides > 1 ? "; " : ": ", sw_value_word(&sw_collectives, c));
      sw_add_range(text, segments[i].from, segments[i].to);
      sw_text_add(text, ": ");
      sw_add_choice(text, segments[i].choice);
    }
    free(segments);
  }
  return overrides;
}

static void say_applies(nccl_logger logger, const struct sw_selection* selection, const struct sw_facts* facts,
                        const struct sw_plan* plan) {
  const struct sw_entry* entry = selection->entry;
  struct sw_text overrides = SW_TEXT_EMPTY;
  struct sw_text line = SW_TEXT_EMPTY;
  size_t count = add_overrides(&overrides, plan);
  sw_text_printf(&line, "%s, profile %s (%s, %s), digest %s, %s, for ", SW_VERSION, entry->profile->name, entry->origin,
                 sw_value_word(&sw_kinds, entry->profile->kind), entry->digest.hex, sw_text_string(&selection->why));
  sw_add_shape(&line, (uint32_t)facts->ranks, (uint32_t)facts->nodes);
  sw_text_printf(&line, ": %zu segment%s override%s NCCL's choice", count, count == 1 ? "" : "s",
                 count == 1 ? "s" : "");
  sw_text_add(&line, sw_text_string(&overrides));
  say(logger, NCCL_LOG_INFO, sw_text_string(&line));
  sw_text_free(&line);
  sw_text_free(&overrides);
}

static void say_left_to_nccl(nccl_logger logger, const char* why, const struct sw_facts* facts) {
  struct sw_text line = SW_TEXT_EMPTY;
  sw_text_printf(&line, "%s, NCCL decides everything for ", SW_VERSION);
  sw_add_shape(&line, (uint32_t)facts->ranks, (uint32_t)facts->nodes);
  sw_text_printf(&line, ": %s", why);
  say(logger, NCCL_LOG_INFO, sw_text_string(&line));
  sw_text_free(&line);
}

static void say_forced(nccl_logger logger, const struct sw_tuner* tuner, const struct sw_profile* profile) {
  struct sw_text line = SW_TEXT_EMPTY;
  bool forced = sw_add_forced(&line, &tuner->forced, profile, tuner->plan);
  if (forced && sw_share_is_first(SW_WARNED_FORCED)) {
    sw_text_printf(&line, " [SW-%d]", (int)SW_FORCED);
    say(logger, NCCL_LOG_WARN, sw_text_string(&line));
  }
  sw_text_free(&line);
}

/* --- init -------------------------------------------------------------------------------------------------------- */

static bool adopt(struct sw_tuner* tuner, const struct sw_selection* selection, const struct sw_facts* facts,
                  nccl_logger logger) {
  const struct sw_profile* profile = selection->entry->profile;
  tuner->plan = sw_share_plan(tuner->share, profile, (uint32_t)facts->nodes, (uint32_t)facts->ranks);
  if (!tuner->plan) return false;
  say_applies(logger, selection, facts, tuner->plan);
  say_forced(logger, tuner, profile);
  return true;
}

/* A plan for deterministic sums is not part of this release; half of one would break what it is for. */
static bool is_deterministic(const struct sw_tuner* tuner) {
  return sw_share_library(tuner->share)->switches.deterministic;
}

static bool follow(struct sw_tuner* tuner, const struct sw_selection* selection, const struct sw_facts* facts,
                   nccl_logger logger) {
  if (selection->warning.length && sw_share_is_first(SW_WARNED_SELECTION))
    say(logger, NCCL_LOG_WARN, sw_text_string(&selection->warning));
  if (selection->outcome == SW_REFUSED) {
    say(logger, NCCL_LOG_WARN, sw_text_string(&selection->why));
    return false;
  }
  if (is_deterministic(tuner))
    say_left_to_nccl(logger, "NCCL_SIZEWISE_DETERMINISTIC is set, which this release answers with NCCL's own choices",
                     facts);
  else if (facts->ranks == 1)
    say_left_to_nccl(logger, "a single rank has nobody to exchange data with", facts);
  else if (selection->outcome == SW_APPLIES)
    return adopt(tuner, selection, facts, logger);
  else
    say_left_to_nccl(logger, sw_text_string(&selection->why), facts);
  return true;
}

static bool prepare(struct sw_tuner* tuner, const struct sw_facts_source* source, struct sw_facts* facts, bool first,
                    nccl_logger logger) {
  const struct sw_library* library = sw_share_library(tuner->share);
  for (size_t i = 0; first && i < library->warning_count; i++)
    say(logger, NCCL_LOG_WARN, sw_text_string(&library->warnings[i]));
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
    say(logger, NCCL_LOG_WARN, "out of memory");
    free(tuner);
    return NCCL_SYSTEM_ERROR;
  }
  struct sw_facts facts = sw_share_library(tuner->share)->machine;
  sw_facts_set_shape(&facts, ranks, nodes);
  sw_facts_set_domains(&facts, domains);
  facts.nccl = sw_facts_nccl_version(logger);
  tuner->ranks = (uint32_t)facts.ranks;
  tuner->nodes = (uint32_t)facts.nodes;
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

/* Merged operations were measured by nobody, and a collective that we do not know cannot be in a table. */
static bool has_answer(const struct sw_tuner* tuner, nccl_collective collective, int merged_operations) {
  return tuner && tuner->plan && collective >= 0 && collective < NCCL_NUM_COLLECTIVES && merged_operations <= 1;
}

void sw_tuner_ask(const struct sw_tuner* tuner, nccl_collective collective, size_t bytes, int merged_operations,
                  float* table, int algorithms, int protocols, int* channels) {
  if (tuner && tuner->steering) {
    struct sw_cost_table costs = {table, algorithms, protocols, tuner->nodes > 1};
    sw_steering_answer(tuner->steering, collective, bytes, merged_operations, &costs, channels);
    return;
  }
  if (!has_answer(tuner, collective, merged_operations)) return;
  struct sw_decision decision = sw_plan_decide(tuner->plan, collective, bytes);
  if (!decision.count) return;
  struct sw_cost_table costs = {table, algorithms, protocols, tuner->nodes > 1};
  sw_cost_apply(&costs, decision, channels);
}

/* Without a table only what always exists can be named: Ring and Tree, LL and Simple. */
static bool exists_without_table(const struct sw_tuner* tuner, int collective, struct sw_choice choice) {
  bool known = (choice.algo == NCCL_ALGO_RING || choice.algo == NCCL_ALGO_TREE) &&
               (choice.proto == NCCL_PROTO_LL || choice.proto == NCCL_PROTO_SIMPLE);
  return known && sw_choice_possible(collective, choice.algo, choice.proto) &&
         sw_forced_allows(&tuner->forced, collective, choice.algo, choice.proto);
}

void sw_tuner_ask_without_table(const struct sw_tuner* tuner, nccl_collective collective, size_t bytes,
                                int merged_operations, int unclamped, int* algorithm, int* protocol, int* channels) {
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
}

int sw_tuner_has_several_nodes(const struct sw_tuner* tuner) {
  return tuner && tuner->nodes > 1;
}
