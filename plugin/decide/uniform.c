#include "decide/uniform.h"

#include "decide/compete.h"
#include "decide/log2.h"
#include "decide/pieces_internal.h"
#include "nccl_tuner.h"

/* --- one choice at one size -------------------------------------------------------------------------------------- */

enum sw_uniform_look sw_uniform_time(const struct sw_policy* policy, const struct sw_point* point,
                                     struct sw_choice choice, uint64_t* time_ps) {
  const struct sw_time* own = sw_auto_time(point);
  const struct sw_time* found = NULL;
  enum sw_uniform_look look = SW_UNIFORM_MISSING;
  for (const struct sw_time* time = point->times; time < point->times + point->count; time++) {
    bool named = sw_choice_same(time->choice, choice);
    bool told = time->ran.what.channels != 0;
    bool ran = told && sw_choice_same(time->ran.what, choice);
    if (!named && !ran) continue;
    if (time->excluded) return SW_UNIFORM_EXCLUDED;
    bool foreign = !sw_settings_same(&time->settings, &own->settings);
    if (foreign && named) look = SW_UNIFORM_FOREIGN;
    if (foreign) continue;
    if (told && !ran) return SW_UNIFORM_OTHER_RAN;
    if (time != own && sw_extra_memory(time, own) > policy->max_extra_memory) return SW_UNIFORM_MEMORY;
    if (named || !found) found = time;
  }
  if (!found) return look;
  *time_ps = found->median_ps;
  return SW_UNIFORM_TIMED;
}

/* --- one choice at all sizes ------------------------------------------------------------------------------------- */

bool sw_uniform_sums(int collective) {
  return collective != NCCL_BROADCAST && collective != NCCL_ALLGATHER;
}

bool sw_uniform_is_firm(int collective, uint32_t ranks, struct sw_choice choice) {
  if (!sw_uniform_sums(collective)) return true;
  if (choice.channels != 1) return false;
  if (ranks == 2) return choice.algo == NCCL_ALGO_RING || choice.algo == NCCL_ALGO_TREE;
  return choice.algo == (collective == NCCL_ALLREDUCE ? NCCL_ALGO_TREE : NCCL_ALGO_RING);
}

struct score {
  struct sw_choice choice;
  bool firm;
  size_t timed; /* at how many sizes it was measured */
  double worst; /* the largest ratio to auto's time, */
  const struct sw_point* worst_at;
  double log2_sum;              /* of the ratios: orders choices as their geometric means do */
  const struct sw_point* lacks; /* the first size at which it was not, */
  enum sw_uniform_look lacking; /* and why */
};

static void add_ratio(struct score* score, const struct sw_point* point, double ratio) {
  score->timed++;
  score->log2_sum += sw_log2(ratio);
  if (ratio <= score->worst) return;
  score->worst = ratio;
  score->worst_at = point;
}

static struct score score_choice(const struct sw_policy* policy, const struct sw_table* table,
                                 struct sw_choice choice) {
  struct score score = {.choice = choice, .firm = sw_uniform_is_firm(table->collective, table->ranks, choice)};
  for (const struct sw_point* point = table->points; point < table->points + table->count; point++) {
    const struct sw_time* own = sw_auto_time(point);
    uint64_t time_ps = 0;
    if (!own) continue;
    enum sw_uniform_look look = sw_uniform_time(policy, point, choice, &time_ps);
    if (look == SW_UNIFORM_TIMED) {
      add_ratio(&score, point, (double)time_ps / (double)own->median_ps);
    } else if (!score.lacks) {
      score.lacks = point;
      score.lacking = look;
    }
  }
  return score;
}

/* --- all choices that a table names ------------------------------------------------------------------------------ */

enum { MOST_CHOICES = NCCL_NUM_ALGORITHMS * NCCL_NUM_PROTOCOLS * NCCL_MAX_CHANNELS };

struct choices {
  bool listed[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS][NCCL_MAX_CHANNELS + 1];
  struct sw_choice items[MOST_CHOICES];
  size_t count;
};

static void list_choice(struct choices* choices, int collective, struct sw_choice choice) {
  if (choice.algo < 0 || choice.proto < 0 || !choice.channels) return;
  bool* listed = &choices->listed[choice.algo][choice.proto][choice.channels];
  if (*listed || !sw_choice_possible(collective, choice.algo, choice.proto)) return;
  *listed = true;
  choices->items[choices->count++] = choice;
}

static void list_choices(const struct sw_table* table, struct choices* out) {
  for (const struct sw_point* point = table->points; point < table->points + table->count; point++)
    for (size_t i = 0; sw_auto_time(point) && i < point->count; i++) {
      list_choice(out, table->collective, point->times[i].choice);
      list_choice(out, table->collective, point->times[i].ran.what);
    }
}

/* Of two that qualify, both firm or both not, and as good in their worst case. */
static bool is_preferred(const struct score* a, const struct score* b) {
  if (a->choice.channels != b->choice.channels) return a->choice.channels < b->choice.channels;
  if (a->log2_sum != b->log2_sum) return a->log2_sum < b->log2_sum;
  return sw_choice_compare(a->choice, b->choice) < 0;
}

/* The nearest to qualifying: measured at the most sizes, then as among those that qualify. */
static bool is_nearer(const struct score* a, const struct score* b) {
  if (a->timed != b->timed) return a->timed > b->timed;
  if (a->firm != b->firm) return a->firm;
  return is_preferred(a, b);
}

/* What decides among all choices: the best worst case of the firm ones, if there are any, and what came nearest. */
struct field {
  bool firm;
  double best_worst; /* 0: no choice qualifies */
  struct score nearest;
};

static void survey(struct field* field, const struct score* score) {
  if (!field->nearest.choice.channels || is_nearer(score, &field->nearest)) field->nearest = *score;
  if (score->lacks || score->firm < field->firm) return;
  if (score->firm > field->firm || field->best_worst == 0 || score->worst < field->best_worst)
    field->best_worst = score->worst;
  field->firm = score->firm;
}

static struct score pick(const struct sw_policy* policy, const struct sw_table* table, const struct choices* choices,
                         const struct field* field) {
  struct score best = {.choice = SW_AUTO};
  for (size_t i = 0; i < choices->count; i++) {
    struct score score = score_choice(policy, table, choices->items[i]);
    bool stays = !score.lacks && score.firm == field->firm && sw_as_fast(score.worst, field->best_worst);
    if (stays && (!best.choice.channels || is_preferred(&score, &best))) best = score;
  }
  return best;
}

/* --- the answer -------------------------------------------------------------------------------------------------- */

static void find_measured(const struct sw_policy* policy, const struct sw_table* table, struct sw_uniform* out) {
  struct choices choices = {.count = 0};
  struct field field = {.nearest = {.choice = SW_AUTO}};
  list_choices(table, &choices);
  for (size_t i = 0; i < table->count; i++) out->sizes += sw_auto_time(&table->points[i]) != NULL;
  for (size_t i = 0; i < choices.count; i++) {
    struct score score = score_choice(policy, table, choices.items[i]);
    survey(&field, &score);
  }
  bool found = field.best_worst > 0;
  struct score best = found ? pick(policy, table, &choices, &field) : field.nearest;
  out->source = found ? SW_UNIFORM_MEASURED : SW_UNIFORM_NONE;
  out->choice = best.choice;
  out->firm = best.firm;
  out->worst = best.worst;
  out->at = found ? best.worst_at : best.lacks;
  out->lacking = best.lacking;
}

bool sw_uniform_is_found(const struct sw_uniform* uniform) {
  return uniform->source == SW_UNIFORM_MEASURED || uniform->source == SW_UNIFORM_RULE;
}

static bool holds_throughout(const struct sw_rule* rule) {
  struct sw_choice choice = rule->choice;
  return rule->from == 0 && rule->to == UINT64_MAX && choice.algo >= 0 && choice.proto >= 0 && choice.channels;
}

struct sw_uniform sw_uniform_find(const struct sw_profile* profile, int collective, uint32_t nodes, uint32_t ranks) {
  struct sw_uniform found = {.source = SW_UNIFORM_NO_TABLE, .choice = SW_AUTO};
  for (size_t i = 0; i < profile->rule_count; i++) {
    const struct sw_rule* rule = &profile->rules[i];
    if (!sw_rule_holds(rule, collective, nodes, ranks)) continue;
    if (!found.rule && holds_throughout(rule))
      found.rule = rule;
    else
      found.ignored_rules++;
  }
  const struct sw_table* table = sw_profile_table(profile, collective, nodes, ranks);
  if (found.rule) {
    found.source = SW_UNIFORM_RULE;
    found.choice = found.rule->choice;
    found.firm = sw_uniform_is_firm(collective, ranks, found.choice);
  } else if (table) {
    find_measured(&profile->policy, table, &found);
  }
  return found;
}
