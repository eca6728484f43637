#include "calibrate/verify_report.h"

#include "ground/names.h"
#include "screen.h"

static const char* outcome_words(enum verify_outcome outcome) {
  static const char* const words[] = {[VERIFY_NOT_REACHED] = "not compared",
                                      [VERIFY_LEFT] = "left to NCCL",
                                      [VERIFY_HOLDS] = "holds",
                                      [VERIFY_FAILS] = "does not hold",
                                      [VERIFY_UNFIT] = "NCCL does not offer it here",
                                      [VERIFY_BROKE] = "FAILED",
                                      [VERIFY_TOO_LARGE] = "too large for memory"};
  return words[outcome];
}

/* --- tables ------------------------------------------------------------------------------------------------------ */

static void add_time(struct grid* grid, double us, bool known) {
  struct sw_text cell = SW_TEXT_EMPTY;
  if (known)
    sw_add_time_words(&cell, (uint64_t)(us * 1e6 + 0.5));
  else
    sw_text_add(&cell, "-");
  grid_take(grid, &cell);
}

static void add_row(struct grid* grid, const struct verify_size* size) {
  const struct verified* v = &size->verified;
  bool compared = size->outcome == VERIFY_HOLDS || size->outcome == VERIFY_FAILS;
  struct sw_text cell = SW_TEXT_EMPTY;
  sw_add_size_words(&cell, v->bytes);
  if (!size->measured) sw_text_add(&cell, " *");
  grid_take(grid, &cell);
  if (size->outcome == VERIFY_NOT_REACHED || size->outcome == VERIFY_TOO_LARGE)
    sw_text_add(&cell, "-");
  else
    sw_add_choice(&cell, v->choice);
  grid_take(grid, &cell);
  add_time(grid, v->pair.own.median_us, compared);
  add_time(grid, v->pair.other.median_us, compared);
  if (compared)
    sw_text_printf(&cell, "%.1f%% (%.1f to %.1f)", v->pair.gain * 100, v->pair.low * 100, v->pair.high * 100);
  else
    sw_text_add(&cell, "-");
  grid_take(grid, &cell);
  grid_add(grid, outcome_words(size->outcome));
}

static bool has_unmeasured(const struct verification* v) {
  for (size_t i = 0; i < v->count; i++)
    for (size_t k = 0; k < v->tables[i].count; k++)
      if (!v->tables[i].sizes[k].measured) return true;
  return false;
}

static void add_shape(struct sw_text* out, int collective, uint32_t ranks, uint32_t nodes, const char* joint) {
  sw_text_printf(out, "%s%s%u ranks on %u node%s", sw_value_word(&sw_collectives, collective), joint, ranks, nodes,
                 nodes == 1 ? "" : "s");
}

static void add_table(const struct verify_table* table, struct sw_text* out) {
  static const char* const titles[] = {"size", "choice", "auto", "time", "gain afresh (95%)", ""};
  struct grid grid = grid_start(6);
  add_shape(out, table->collective, table->ranks, table->nodes, ", ");
  sw_text_add(out, "\n");
  for (size_t i = 0; i < 6; i++) grid_add(&grid, titles[i]);
  for (size_t i = 0; i < table->count; i++) add_row(&grid, &table->sizes[i]);
  grid_finish(&grid, 2, out);
  sw_text_add(out, "\n");
}

/* What hung, crashed or failed, a line each. */
static void add_broken(const struct verification* v, struct sw_text* out) {
  for (size_t i = 0; i < v->count; i++)
    for (size_t k = 0; k < v->tables[i].count; k++) {
      const struct verify_size* size = &v->tables[i].sizes[k];
      if (size->outcome != VERIFY_BROKE) continue;
      add_shape(out, v->tables[i].collective, v->tables[i].ranks, v->tables[i].nodes, ", ");
      sw_text_add(out, ", ");
      sw_add_size_words(out, size->verified.bytes);
      sw_text_printf(out, " FAILED: %s\n", size->why);
    }
}

/* --- ranks ------------------------------------------------------------------------------------------------------- */

static void add_differing(const struct verification* v, const struct verify_differing* d, struct sw_text* out) {
  const char* host = crew_report(v->crew, d->rank)->host;
  sw_text_printf(out, "Rank %u on %s ", d->rank, host);
  switch (d->fault) {
    case PROOF_UNREADABLE:
      sw_text_add(out, "cannot read this profile: its Sizewise is another release");
      break;
    case PROOF_OTHER_DIGEST:
      sw_text_printf(out, "computes digest %s from the same text: its Sizewise is another release", d->proof.given);
      break;
    case PROOF_OTHER_DECISIONS:
      sw_text_add(out, "decides something else from the same profile: such ranks hang");
      break;
    default:
      sw_text_printf(out, "has another %s, digest %s: copy the same file to every node", v->plan->name, d->proof.own);
  }
  sw_text_add(out, ".\n");
}

static void add_ranks(const struct verification* v, struct sw_text* out) {
  for (size_t i = 0; i < v->differing_count; i++) add_differing(v, &v->differing[i], out);
  if (!v->without_file) return;
  sw_text_printf(out,
                 "%zu rank%s, the first of them rank %u on %s, found no %s there: copy it before it is deployed.\n",
                 v->without_file, v->without_file == 1 ? "" : "s", v->first_without_file,
                 crew_report(v->crew, v->first_without_file)->host, v->plan->name);
}

/* --- the closing line -------------------------------------------------------------------------------------------- */

static void find_gains(const struct verification* v, double* least, double* most) {
  *least = 1;
  *most = 0;
  for (size_t i = 0; i < v->count; i++)
    for (size_t k = 0; k < v->tables[i].count; k++) {
      double gain = v->tables[i].sizes[k].verified.pair.gain;
      if (v->tables[i].sizes[k].outcome != VERIFY_HOLDS) continue;
      if (gain < *least) *least = gain;
      if (gain > *most) *most = gain;
    }
}

static void add_good(const struct verification* v, struct sw_text* out) {
  double least;
  double most;
  size_t held = verify_count(v, VERIFY_HOLDS);
  find_gains(v, &least, &most);
  if (!held)
    sw_text_printf(out, "%s leaves every size to NCCL here: there was nothing to compare", v->plan->name);
  else
    sw_text_printf(out, "%s holds: it gains %.1f%% to %.1f%% at the %zu size%s where it differs from NCCL",
                   v->plan->name, least * 100, most * 100, held, held == 1 ? "" : "s");
  sw_text_printf(out, "; all %u ranks decide the same (digest %s).\n", crew_ranks(v->crew), v->plan->digest.hex);
}

static void add_bad(const struct verification* v, struct sw_text* out) {
  size_t failed = verify_count(v, VERIFY_FAILS) + verify_count(v, VERIFY_UNFIT) + verify_count(v, VERIFY_BROKE);
  size_t compared = failed + verify_count(v, VERIFY_HOLDS);
  size_t open = verify_count(v, VERIFY_NOT_REACHED);
  const char* name = v->plan->name;
  if (failed)
    sw_text_printf(out,
                   "%s does not hold at %zu of %zu size%s: calibrate again on this cluster as it is now (sizewise "
                   "calibrate -o FILE) and deploy that profile. %s was not changed.\n",
                   name, failed, compared, compared == 1 ? "" : "s", name);
  if (open && !v->lost)
    sw_text_printf(out, "%zu size%s not compared: the budget was spent; give more with --budget.\n", open,
                   open == 1 ? " was" : "s were");
  size_t large = verify_count(v, VERIFY_TOO_LARGE);
  if (large)
    sw_text_printf(out, "%zu size%s not compared: two buffers are more than may be taken of the free memory here.\n",
                   large, large == 1 ? " was" : "s were");
  if (v->differing_count) sw_text_printf(out, "%s must not be deployed before all ranks agree.\n", name);
  if (v->lost) sw_text_printf(out, "%s was not verified: the run ended while %s.\n", name, v->at);
}

void verify_add_report(const struct verification* v, struct sw_text* out) {
  for (size_t i = 0; i < v->count; i++) add_table(&v->tables[i], out);
  if (has_unmeasured(v))
    sw_text_add(out, "* a size that was not measured: its choice comes from its neighbours, or from a rule\n");
  struct sw_text unmatched = SW_TEXT_EMPTY;
  if (v->count && verify_add_unmatched(v, &unmatched))
    sw_text_printf(out, "Not verified with these ranks: %s.\n", sw_text_string(&unmatched));
  sw_text_free(&unmatched);
  add_broken(v, out);
  add_ranks(v, out);
  if (verify_is_good(v))
    add_good(v, out);
  else
    add_bad(v, out);
}

static bool is_compared(const struct verification* v, const struct sw_table* table) {
  for (size_t i = 0; i < v->count; i++)
    if (v->tables[i].collective == table->collective && v->tables[i].ranks == table->ranks &&
        v->tables[i].nodes == table->nodes)
      return true;
  return false;
}

size_t verify_add_unmatched(const struct verification* v, struct sw_text* out) {
  size_t count = 0;
  for (size_t i = 0; i < v->plan->profile->table_count; i++) {
    const struct sw_table* table = &v->plan->profile->tables[i];
    if (!v->plan->collectives[table->collective] || is_compared(v, table)) continue;
    if (count++) sw_text_add(out, ", ");
    add_shape(out, table->collective, table->ranks, table->nodes, " for ");
  }
  return count;
}
