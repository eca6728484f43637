#include "calibrate/verify.h"

#include <stdio.h>
#include <stdlib.h>

#include "calibrate/failed.h"
#include "ground/names.h"

enum { LONGEST_WHY = 130 };

static bool lose(struct verification* v, const char* at) {
  v->lost = true;
  if (!v->at[0]) snprintf(v->at, sizeof v->at, "%s", at);
  return false;
}

static void say(const struct verification* v, const char* text) {
  if (v->plan->progress) v->plan->progress(text);
}

/* --- all ranks decide the same ----------------------------------------------------------------------------------- */

static void note_rank(struct verification* v, uint32_t rank, const struct rank_proof* proof, uint64_t decisions) {
  enum proof_fault fault = proof_judge(proof, v->plan->digest.hex, decisions);
  if (fault == PROOF_NO_FILE && !v->without_file++) v->first_without_file = rank;
  if (fault == PROOF_GOOD || fault == PROOF_NO_FILE) return;
  for (size_t i = 0; i < v->differing_count; i++)
    if (v->differing[i].rank == rank) return;
  if (v->differing_count < VERIFY_MOST_DIFFERING)
    v->differing[v->differing_count++] = (struct verify_differing){rank, fault, *proof};
}

/* Ranks that decide differently hang: then nothing may be run by the profile. Another file on a rank's disk is a
   finding, too, but here all were given the same text. */
static bool can_run(const struct verification* v) {
  for (size_t i = 0; i < v->differing_count; i++)
    if (v->differing[i].fault != PROOF_OTHER_FILE) return false;
  return true;
}

static bool prove(struct verification* v, const struct sw_plan* plan) {
  uint32_t count = crew_used(v->crew);
  struct rank_proof* proofs = calloc(count, sizeof *proofs);
  bool good = proofs && crew_prove(v->crew, proofs);
  uint64_t decisions = proof_hash(plan);
  v->without_file = 0;
  for (uint32_t rank = 0; good && rank < count; rank++) note_rank(v, rank, &proofs[rank], decisions);
  free(proofs);
  return good || lose(v, "comparing digests and decisions");
}

/* --- what they decide is faster ---------------------------------------------------------------------------------- */

/* The first of the ranked choices that NCCL offers for the call here: that is what the plugin brings about. All ranks
   have to see the same; the crew fails where one does not. */
static bool find_choice(struct verification* v, const struct fabric_call* call, struct sw_decision decision,
                        struct verify_size* size) {
  struct fabric_probe probe;
  if (!crew_probe(v->crew, call, SW_AUTO, &probe)) return false;
  size->outcome = VERIFY_UNFIT;
  size->verified.choice = decision.ranked[0].choice;
  for (uint32_t i = 0; i < decision.count; i++) {
    if (!crew_probe(v->crew, call, decision.ranked[i].choice, &probe)) return false;
    if (!probe.obeyed) continue;
    size->verified.choice = decision.ranked[i].choice;
    size->outcome = VERIFY_NOT_REACHED;
    return true;
  }
  return true;
}

static void describe(char text[160], const struct verify_table* table, const struct verify_size* size) {
  struct sw_text words = SW_TEXT_EMPTY;
  sw_text_printf(&words, "comparing %s ", sw_value_word(&sw_collectives, table->collective));
  sw_add_size_words(&words, size->verified.bytes);
  snprintf(text, 160, "%s", sw_text_string(&words));
  sw_text_free(&words);
}

/* The workers failed at this size: whose fault it was is found out, and the others go on. */
static bool take_failure(struct verification* v, const struct fabric_call* call, struct verify_size* size) {
  char why[FAILED_WORDS];
  enum failed_by by = failed_by_which(v->crew, call, &size->verified.pair.own, why);
  if (by == FAILED_LOST) return false;
  size->outcome = VERIFY_BROKE;
  snprintf(size->why, sizeof size->why, "%s%.*s", by == FAILED_AUTO ? "NCCL's own choice: " : "", LONGEST_WHY, why);
  return true;
}

static bool compare_size(struct verification* v, const struct verify_table* table, const struct sw_plan* plan,
                         struct verify_size* size, double share_us) {
  char text[160];
  uint64_t bytes = size->verified.bytes;
  struct fabric_call call = {table->collective, FABRIC_BF16, study_mode(bytes), bytes};
  struct sw_decision decision = sw_plan_decide(plan, table->collective, bytes);
  struct compare_rules rules = {v->plan->profile->policy.min_gain, COMPARE_ROUNDS, share_us};
  describe(text, table, size);
  say(v, text);
  if (!find_choice(v, &call, decision, size)) return take_failure(v, &call, size) || lose(v, text);
  if (size->outcome == VERIFY_UNFIT) return true;
  if (!compare_call(v->crew, &call, &rules, &size->verified)) return take_failure(v, &call, size) || lose(v, text);
  size->outcome = size->verified.holds ? VERIFY_HOLDS : VERIFY_FAILS;
  return true;
}

/* What is left of the budget, in equal parts; 0: nothing is left. */
static double share(const struct verification* v, size_t groups_left) {
  double spent = crew_clock(v->crew) - v->started_us;
  double left = (double)(verify_count(v, VERIFY_NOT_REACHED) * groups_left);
  return spent < v->plan->budget_us ? (v->plan->budget_us - spent) / left : 0;
}

/* Whether a send and a receive buffer of this size may be taken on every rank. */
static bool fits_memory(const struct verification* v, uint64_t bytes) {
  for (uint32_t rank = 0; rank < crew_used(v->crew); rank++) {
    uint64_t buffers = crew_report(v->crew, rank)->buffers;
    if (buffers && bytes > buffers / 2) return false;
  }
  return true;
}

/* Tables of groups to come are not known yet: each group is taken to be as large as those so far. */
static bool compare_table(struct verification* v, struct verify_table* table, const struct sw_plan* plan,
                          size_t groups_left) {
  for (size_t i = 0; i < table->count; i++) {
    struct verify_size* size = &table->sizes[i];
    if (size->outcome == VERIFY_LEFT) continue;
    double share_us = share(v, groups_left);
    if (share_us <= 0) return true;
    if (!fits_memory(v, size->verified.bytes))
      size->outcome = VERIFY_TOO_LARGE;
    else if (!compare_size(v, table, plan, size, share_us))
      return false;
  }
  return true;
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

static void mark_left(struct verify_table* table, const struct sw_plan* plan) {
  for (size_t i = 0; i < table->count; i++)
    if (!sw_plan_decide(plan, table->collective, table->sizes[i].verified.bytes).count)
      table->sizes[i].outcome = VERIFY_LEFT;
}

static size_t add_tables(struct verification* v, const struct sw_plan* plan) {
  size_t before = v->count;
  for (int c = NCCL_NUM_COLLECTIVES - 1; c >= 0; c--) {
    struct verify_table* table = &v->tables[v->count];
    if (!v->plan->collectives[c] || v->count == VERIFY_MOST_TABLES) continue;
    table->count = verify_sizes(v->plan->profile, c, plan->nodes, plan->ranks, table->sizes);
    table->collective = c;
    table->nodes = plan->nodes;
    table->ranks = plan->ranks;
    mark_left(table, plan);
    v->count += table->count > 0;
  }
  return v->count - before;
}

static bool compare_group(struct verification* v, const struct sw_plan* plan, size_t groups_left) {
  size_t first = v->count;
  size_t added = add_tables(v, plan);
  for (size_t i = 0; i < added; i++)
    if (!compare_table(v, &v->tables[first + i], plan, groups_left)) return false;
  return true;
}

/* How many nodes a communicator spans is NCCL's to say: a probe tells. */
static bool join(struct verification* v, uint32_t ranks) {
  struct fabric_call call = {NCCL_ALLREDUCE, FABRIC_BF16, FABRIC_GRAPH, study_size(4096, ranks)};
  struct fabric_probe probe;
  return crew_connect(v->crew, ranks) && crew_probe(v->crew, &call, SW_AUTO, &probe);
}

static bool verify_group(struct verification* v, uint32_t ranks, size_t groups_left) {
  char text[160];
  snprintf(text, sizeof text, "joining %u ranks", ranks);
  say(v, text);
  if (!join(v, ranks)) return lose(v, text);
  struct sw_plan* plan = sw_plan_compile(v->plan->profile, crew_nodes(v->crew), ranks);
  bool good = plan ? prove(v, plan) : lose(v, "compiling the profile: out of memory");
  good = good && can_run(v) && compare_group(v, plan, groups_left);
  sw_plan_free(plan);
  return good;
}

void verify_run(struct verification* v) {
  if (!crew_start(v->crew, v->plan->text)) {
    lose(v, "starting the ranks");
    return;
  }
  v->started_us = crew_clock(v->crew);
  for (size_t g = 0; g < v->plan->group_count; g++)
    if (!verify_group(v, v->plan->groups[g], v->plan->group_count - g)) return;
}

size_t verify_count(const struct verification* v, enum verify_outcome outcome) {
  size_t count = 0;
  for (size_t i = 0; i < v->count; i++)
    for (size_t k = 0; k < v->tables[i].count; k++) count += v->tables[i].sizes[k].outcome == outcome;
  return count;
}

bool verify_is_good(const struct verification* v) {
  return !v->lost && !v->differing_count && !verify_count(v, VERIFY_FAILS) && !verify_count(v, VERIFY_UNFIT) &&
         !verify_count(v, VERIFY_BROKE) && !verify_count(v, VERIFY_NOT_REACHED) && !verify_count(v, VERIFY_TOO_LARGE);
}
