#include "explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "ground/names.h"

static struct {
  int collective;
  uint32_t ranks;
  uint32_t nodes;
  struct size_list sizes;
  bool deterministic;
  bool json;
} arguments;

/* --- what is shown ----------------------------------------------------------------------------------------------- */

struct shape {
  uint32_t nodes;
  uint32_t ranks;
};

struct shapes {
  struct shape* items;
  size_t count;
};

static bool is_wanted(struct shape shape) {
  return (!arguments.nodes || !shape.nodes || shape.nodes == arguments.nodes) &&
         (!arguments.ranks || !shape.ranks || shape.ranks == arguments.ranks);
}

static int compare_shapes(const void* a, const void* b) {
  const struct shape* x = a;
  const struct shape* y = b;
  if (x->nodes != y->nodes) return x->nodes < y->nodes ? -1 : 1;
  return (x->ranks > y->ranks) - (x->ranks < y->ranks);
}

static void keep_each_once(struct shapes* shapes) {
  size_t kept = 0;
  if (shapes->count) qsort(shapes->items, shapes->count, sizeof *shapes->items, compare_shapes);
  for (size_t i = 0; i < shapes->count; i++)
    if (!kept || compare_shapes(&shapes->items[kept - 1], &shapes->items[i]) != 0)
      shapes->items[kept++] = shapes->items[i];
  shapes->count = kept;
}

/* The shape that was asked for, or every one that the profile has tables or rules for. */
static bool find_shapes(const struct sw_profile* profile, struct shapes* out) {
  out->count = 0;
  out->items = calloc(profile->table_count + profile->rule_count + 1, sizeof *out->items);
  if (!out->items) return false;
  if (arguments.nodes && arguments.ranks) {
    out->items[out->count++] = (struct shape){arguments.nodes, arguments.ranks};
    return true;
  }
  for (size_t i = 0; i < profile->table_count; i++)
    out->items[out->count++] = (struct shape){profile->tables[i].nodes, profile->tables[i].ranks};
  for (size_t i = 0; i < profile->rule_count; i++)
    out->items[out->count++] = (struct shape){profile->rules[i].nodes, profile->rules[i].ranks};
  size_t wanted = 0;
  for (size_t i = 0; i < out->count; i++)
    if (is_wanted(out->items[i])) out->items[wanted++] = out->items[i];
  out->count = wanted;
  keep_each_once(out);
  return true;
}

static bool has_anything(const struct sw_pieces* pieces) {
  return pieces->count > 1 || pieces->items[0].basis != SW_BASIS_NO_TABLE;
}

struct collected {
  struct sw_plan** plans;
  size_t plan_count;
  struct part* parts;
  size_t count;
};

static bool collect_shape(const struct sw_profile* profile, struct shape shape, bool asked_for,
                          struct collected* collected) {
  struct sw_plan* plan = sw_plan_compile(profile, shape.nodes, shape.ranks);
  if (!plan) return false;
  collected->plans[collected->plan_count++] = plan;
  for (int c = NCCL_NUM_COLLECTIVES - 1; c >= 0; c--) {
    if (arguments.collective >= 0 && c != arguments.collective) continue;
    bool shown = has_anything(&plan->pieces[c]) || (asked_for && (arguments.collective >= 0 || c == NCCL_ALLREDUCE));
    if (!shown) continue;
    struct part* part = &collected->parts[collected->count++];
    *part =
        (struct part){.collective = c, .plan = plan, .table = sw_profile_table(profile, c, shape.nodes, shape.ranks)};
    part->segments = sw_segments_make(&plan->pieces[c], &part->count);
    if (!part->segments) return false;
  }
  return true;
}

static bool collect(const struct sw_profile* profile, struct collected* collected) {
  struct shapes shapes;
  memset(collected, 0, sizeof *collected);
  if (!find_shapes(profile, &shapes)) return false;
  collected->plans = calloc(shapes.count + 1, sizeof(struct sw_plan*));
  collected->parts = calloc((shapes.count + 1) * NCCL_NUM_COLLECTIVES, sizeof *collected->parts);
  bool good = collected->plans && collected->parts;
  bool asked_for = arguments.nodes && arguments.ranks;
  for (size_t i = 0; i < shapes.count && good; i++)
    good = collect_shape(profile, shapes.items[i], asked_for || arguments.collective >= 0, collected);
  free(shapes.items);
  return good;
}

static void free_collected(struct collected* collected) {
  for (size_t i = 0; i < collected->count; i++) free((void*)collected->parts[i].segments);
  for (size_t i = 0; i < collected->plan_count; i++) sw_plan_free(collected->plans[i]);
  free(collected->parts);
  free(collected->plans);
}

bool explain_shows(const struct explanation* explanation, const struct sw_segment* segment) {
  for (size_t i = 0; i < explanation->sizes->count; i++)
    if (segment->from <= explanation->sizes->items[i] && explanation->sizes->items[i] <= segment->to) return true;
  return explanation->sizes->count == 0;
}

const struct sw_time* explain_foreign(const struct explanation* explanation, const struct part* part,
                                      const struct sw_point* point) {
  if (!point->count || !sw_choice_is_auto(point->times[0].choice)) return NULL;
  struct sw_segment decided = sw_segment_at(&part->plan->pieces[part->collective], point->bytes);
  double bound = decided.time_ps * (double)(SW_ONE - explanation->opened->profile->policy.min_gain) / (double)SW_ONE;
  const struct sw_time* best = NULL;
  for (size_t i = 1; i < point->count; i++) {
    const struct sw_time* time = &point->times[i];
    if (time->excluded || sw_settings_same(&time->settings, &point->times[0].settings)) continue;
    if ((double)time->median_ps <= bound && (!best || time->median_ps < best->median_ps)) best = time;
  }
  return best;
}

/* --- the command ------------------------------------------------------------------------------------------------- */

static int out_of_memory(void) {
  fputs("sizewise explain: out of memory\n", stderr);
  return SW_EXIT_MISUSE;
}

/* The deterministic mode has a digest of its own. */
static bool has_digest(struct opened* opened) {
  return !arguments.deterministic ||
         sw_digest_compute_for(opened->profile, SW_MODE_DETERMINISTIC, &opened->digest, NULL);
}

static int show(const struct opened* opened) {
  struct collected collected;
  struct sw_text text = SW_TEXT_EMPTY;
  bool good = collect(opened->profile, &collected);
  struct explanation explanation = {opened, collected.parts, collected.count, arguments.deterministic,
                                    &arguments.sizes};
  if (good && arguments.json)
    good = explain_as_json(&explanation, &text);
  else if (good)
    explain_as_text(&explanation, &text);
  good = good && !text.failed;
  if (good)
    fputs(sw_text_string(&text), stdout);
  else
    out_of_memory();
  sw_text_free(&text);
  free_collected(&collected);
  return good ? SW_EXIT_GOOD : SW_EXIT_MISUSE;
}

static int explain(const struct command* self, const char* name) {
  struct opened opened;
  struct sw_text fault = SW_TEXT_EMPTY;
  int status = SW_EXIT_FINDINGS;
  if (!opened_open(name, &opened, &fault)) {
    status = misuse(self, "%s", sw_text_string(&fault));
  } else {
    struct sw_text findings = SW_TEXT_EMPTY;
    sw_add_diags(&findings, &opened.diags);
    fputs(sw_text_string(&findings), stderr);
    sw_text_free(&findings);
    if (opened.profile) status = has_digest(&opened) ? show(&opened) : out_of_memory();
    opened_close(&opened);
  }
  sw_text_free(&fault);
  return status;
}

static int run(const struct command* self, int argc, char** argv) {
  struct words words = {.count = 0};
  arguments.collective = -1;
  if (!options_read(self, argc, argv, &words)) return SW_EXIT_MISUSE;
  if (words.count == 0) return misuse(self, "which PROFILE?");
  if (words.count > 1) return misuse(self, "one PROFILE at a time; '%s' is a second one", words.items[1]);
  if (arguments.nodes && arguments.ranks && arguments.nodes > arguments.ranks)
    return misuse(self, "%u nodes cannot hold %u ranks", arguments.nodes, arguments.ranks);
  return explain(self, words.items[0]);
}

static const struct option options[] = {
    {"--collective", "NAME", OPTION_COLLECTIVE, &arguments.collective, "only allreduce, allgather, reducescatter, ..."},
    {"--ranks", "N", OPTION_COUNT, &arguments.ranks, "only communicators of N ranks"},
    {"--nodes", "N", OPTION_COUNT, &arguments.nodes, "only communicators on N nodes"},
    {"--bytes", "SIZE...", OPTION_SIZES, &arguments.sizes, "only what holds for these message sizes, e.g. 12KiB 6MiB"},
    {"--deterministic", NULL, OPTION_FLAG, &arguments.deterministic,
     "the one choice a collective of NCCL_SIZEWISE_DETERMINISTIC=1, and what it costs"},
    {"--json", NULL, OPTION_FLAG, &arguments.json, "the same as JSON, for programs"},
    {0},
};

const struct command explain_command = {
    .name = "explain",
    .arguments = "PROFILE",
    .summary = "Show what a profile decides at which size, and why",
    .help =
        "PROFILE is a path, or the name of a profile in NCCL_SIZEWISE_PATH or of a shipped one. Each line is\n"
        "a range of message sizes with both ends included, the choice made there, its time and that of NCCL's\n"
        "own choice (auto) as measured, and the reason. Sizes count as NCCL counts them: the whole buffer of\n"
        "an all-gather or reduce-scatter. A choice that names no algorithm, protocol or channel count leaves\n"
        "it to NCCL.\n"
        "\nThe JSON has the array \"segments\"; each has collective, nodes, ranks, from_bytes, to_bytes (null: no\n"
        "end), algo, proto, channels (null: NCCL's own), time_us, auto_us, gain, at_bytes (the size of the\n"
        "times) and reason. With --bytes, \"sizes\" has the decision at each of them; \"needs_environment\" lists "
        "what\n"
        "was faster under environment settings that a tuner cannot set.\n"
        "\nWith --deterministic: one algorithm, protocol and channel count for a collective at all sizes, so that\n"
        "the size of a batch does not change what a sum comes to. A choice qualifies that names all three and was\n"
        "measured at every size that has a time of auto. First come those whose sums cannot depend on the size:\n"
        "one channel, which NCCL cannot lower, and a tree for all-reduce or a ring for reduce and reduce-scatter.\n"
        "Of them the one is chosen whose worst ratio to auto's time is smallest (within 2% all are equal, and the\n"
        "fewest channels win, then the smaller geometric mean). Where none qualifies NCCL decides, and the mode\n"
        "does not hold. Rows are measured sizes, or those of --bytes; 'x auto' and 'x by size' are the choice's\n"
        "time divided by auto's and by that of the profile without the mode. The digest is the mode's own. In\n"
        "JSON, \"collectives\" stands instead of the other arrays: collective, nodes, ranks, source (measured, rule,\n"
        "none or no_table), algo, proto, channels (null: NCCL decides), size_independent_sums, measured_sizes,\n"
        "worst_ratio, worst_bytes, reason, doubt, ignored_rules and sizes, each with bytes, auto_us, time_us, ratio\n"
        "and by_size (algo, proto, channels, time_us).\n"
        "\nExamples:\n"
        "  sizewise explain gb10-roce-8x1\n"
        "  sizewise explain cluster.yaml --bytes 12KiB 6MiB 96MiB\n"
        "  sizewise explain cluster.yaml --deterministic\n"
        "  sizewise explain cluster.yaml --collective allgather --ranks 8 --nodes 1 --json\n",
    .options = options,
    .run = run,
};
