#include <stdio.h>
#include <stdlib.h>

#include "calibrate/wanted.h"
#include "ground/number.h"
#include "workload/workload.h"

/* All calls of one size together. */
struct moved {
  uint64_t bytes;
  double all; /* bytes a step */
};

struct moved_list {
  struct moved* items;
  size_t count;
};

static void add_call(struct moved_list* list, uint64_t bytes, uint64_t count) {
  size_t at = 0;
  while (at < list->count && list->items[at].bytes != bytes) at++;
  if (at == list->count) list->items[list->count++] = (struct moved){.bytes = bytes};
  list->items[at].all += (double)bytes * (double)count;
}

/* What moves most comes first; of two that move as much, the smaller one. */
static int compare(const void* a, const void* b) {
  const struct moved* x = a;
  const struct moved* y = b;
  if (x->all != y->all) return x->all > y->all ? -1 : 1;
  return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The sizes that there is no room for, the largest movers among them first. */
static void name_left_out(const struct moved_list* list, size_t from, char out[256]) {
  enum { MOST_NAMED = 8 };
  struct sw_text text = SW_TEXT_EMPTY;
  for (size_t i = from; i < list->count && i < from + MOST_NAMED; i++) {
    if (i > from) sw_text_add(&text, ", ");
    sw_add_size_words(&text, list->items[i].bytes);
  }
  if (list->count > from + MOST_NAMED) sw_text_printf(&text, " and %zu more", list->count - from - MOST_NAMED);
  snprintf(out, 256, "%s", sw_text_string(&text));
  sw_text_free(&text);
}

static bool is_asked_for(const struct study_plan* plan, int collective) {
  for (size_t i = 0; i < plan->collective_count; i++)
    if (plan->collectives[i] == collective) return true;
  return collective == WORKLOAD_ANY_COLLECTIVE;
}

/* Its collectives where none were asked for; all-reduce where it names none either. */
static void take_collectives(const struct workload* workload, struct study_plan* plan) {
  if (plan->collective_count) return;
  for (size_t i = 0; i < workload->call_count; i++)
    if (workload->calls[i].collective != WORKLOAD_ANY_COLLECTIVE)
      wanted_add_collective(plan, workload->calls[i].collective);
  if (!plan->collective_count) wanted_add_collective(plan, NCCL_ALLREDUCE);
}

static bool take_sizes(const struct workload* workload, uint32_t ranks, struct study_plan* plan) {
  struct moved_list list = {calloc(workload->call_count + 1, sizeof *list.items), 0};
  for (size_t i = 0; list.items && i < workload->call_count; i++) {
    const struct workload_calls* calls = &workload->calls[i];
    if (is_asked_for(plan, calls->collective)) add_call(&list, study_size(calls->bytes, ranks), calls->count);
  }
  if (list.count) qsort(list.items, list.count, sizeof *list.items, compare);
  size_t taken = 0;
  while (taken < list.count && wanted_add_size(plan, list.items[taken].bytes)) taken++;
  if (taken < list.count) name_left_out(&list, taken, plan->workload.left_out);
  free(list.items);
  return taken > 0;
}

static bool has_group(const struct study_plan* plan, uint32_t ranks) {
  for (size_t i = 0; i < plan->group_count; i++)
    if (plan->groups[i] == ranks) return true;
  return false;
}

/* A workload of communicators that this run does not have would measure something else. */
static bool check_ranks(const struct workload* workload, uint32_t ranks, const struct study_plan* plan,
                        struct sw_text* fault) {
  uint32_t wanted = workload->ranks;
  if (!wanted || has_group(plan, wanted)) return true;
  sw_text_printf(fault, "--sizes-from: %s is of communicators of %u ranks, and this run has %u; ", workload->name,
                 wanted, ranks);
  if (wanted < ranks)
    sw_text_printf(fault, "measure them as well with --ranks %u", wanted);
  else
    sw_text_printf(fault, "start %u, or give the sizes alone with --sizes", wanted);
  return false;
}

static bool take(const struct workload* workload, uint32_t ranks, struct study_plan* plan, struct sw_text* fault) {
  if (!check_ranks(workload, ranks, plan, fault)) return false;
  plan->workload.ranks = workload->ranks;
  plan->workload.nodes = workload->nodes;
  take_collectives(workload, plan);
  if (take_sizes(workload, workload->ranks ? workload->ranks : ranks, plan)) return true;
  sw_text_printf(fault, "--sizes-from: %s has no call of the collectives that --collective names", workload->name);
  return false;
}

bool wanted_from_workload(const char* name, uint32_t ranks, struct study_plan* plan, struct sw_text* fault) {
  static struct workload_file file;
  if (!workload_open(name, &file, fault)) return false;
  bool good = file.valid && take(&file.workload, ranks, plan, fault);
  if (!file.valid) {
    sw_text_add(fault, "--sizes-from: the workload is not valid\n");
    sw_add_diags(fault, &file.diags);
  }
  workload_close(&file);
  return good;
}
