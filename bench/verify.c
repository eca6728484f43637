#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/report.h"
#include "calibrate/setup.h"
#include "calibrate/verify_report.h"
#include "calibrate/wanted.h"
#include "command.h"
#include "select/match.h"

static const char all[] = "allreduce,allgather,reducescatter,broadcast,reduce";

static struct calibrate_arguments arguments = {
    .budget = 60, .noise = -1, .memory = 0.25, .sizes = "1KiB", .collectives = all, .ranks = ""};

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
  interrupted = number;
}

static void progress(const char* text) {
  report_waiting(NULL, text);
}

/* --- what is to be verified -------------------------------------------------------------------------------------- */

/* "has tables for 8 ranks on 8 nodes, ..." where nothing of it fits. */
static bool refuse_shape(const struct verify_plan* plan, uint32_t ranks, struct sw_text* fault) {
  const struct sw_profile* profile = plan->profile;
  sw_text_printf(fault, "%s has nothing for communicators of %u ranks", plan->name, ranks);
  for (size_t i = 0; i < profile->table_count; i++) {
    const struct sw_table* table = &profile->tables[i];
    if (i && table[-1].ranks == table->ranks && table[-1].nodes == table->nodes) continue;
    sw_text_printf(fault, "%s%u on %u node%s", i ? ", " : "; it has tables for ", table->ranks, table->nodes,
                   table->nodes == 1 ? "" : "s");
  }
  sw_text_add(fault, ": start as many ranks as one of them");
  return false;
}

static bool has_group(const uint32_t* groups, size_t count, uint32_t ranks) {
  for (size_t i = 0; i < count; i++)
    if (groups[i] == ranks) return true;
  return false;
}

/* With --ranks those and the job's own, as in a calibration; else all that the profile has. */
static bool choose_groups(const struct study_plan* wanted, struct verify_plan* plan, struct sw_text* fault) {
  uint32_t known[STUDY_MOST_GROUPS];
  size_t count = verify_groups(plan->profile, wanted->groups[0], known);
  if (!count) return refuse_shape(plan, wanted->groups[0], fault);
  for (size_t i = 1; i < wanted->group_count; i++)
    if (!has_group(known, count, wanted->groups[i])) return refuse_shape(plan, wanted->groups[i], fault);
  for (size_t i = 0; i < count; i++)
    if (!arguments.ranks[0] || has_group(wanted->groups, wanted->group_count, known[i]))
      plan->groups[plan->group_count++] = known[i];
  return true;
}

static bool speaks_of(const struct sw_profile* profile, int collective) {
  for (size_t i = 0; i < profile->table_count; i++)
    if (profile->tables[i].collective == collective) return true;
  for (size_t i = 0; i < profile->rule_count; i++)
    if (profile->rules[i].collective == collective) return true;
  return false;
}

static bool choose_collectives(const struct study_plan* wanted, struct verify_plan* plan, struct sw_text* fault) {
  for (size_t i = 0; i < wanted->collective_count; i++) {
    plan->collectives[wanted->collectives[i]] = true;
    if (arguments.collectives == all || speaks_of(plan->profile, wanted->collectives[i])) continue;
    sw_text_printf(fault, "%s says nothing about %s", plan->name,
                   sw_value_word(&sw_collectives, wanted->collectives[i]));
    return false;
  }
  return true;
}

static bool make_plan(const char* name, const struct opened* opened, uint32_t ranks, struct verify_plan* plan,
                      struct sw_text* fault) {
  static struct study_plan wanted;
  *plan = (struct verify_plan){.name = name,
                               .profile = opened->profile,
                               .digest = opened->digest,
                               .budget_us = arguments.budget * 1e6,
                               .progress = progress};
  return wanted_read(&arguments, ranks, &wanted, fault) && choose_collectives(&wanted, plan, fault) &&
         choose_groups(&wanted, plan, fault);
}

/* --- the run ----------------------------------------------------------------------------------------------------- */

/* The plugin says so in NCCL's log alone, and refuses the profile where it is pinned. */
static void warn_of_hardware(const struct verification* v) {
  struct sw_facts_source machine = sw_facts_this_machine(false);
  const struct fabric_report* report = crew_report(v->crew, 0);
  struct sw_facts facts;
  sw_facts_gather(&machine, &facts);
  snprintf(facts.gpu, sizeof facts.gpu, "%s", report->gpu);
  facts.nccl = report->nccl;
  struct sw_match match = sw_match_profile(v->plan->profile, &facts);
  if (match.fit == SW_CONTRADICTS)
    fprintf(stderr,
            "sizewise verify: warning: %s is for other machines: %s; the plugin warns of it, and with "
            "NCCL_SIZEWISE_EXPECT set it refuses to start here\n",
            v->plan->name, sw_text_string(&match.why));
  sw_text_free(&match.why);
}

static int finish(const struct command* self, const struct verification* v) {
  struct sw_text out = SW_TEXT_EMPTY;
  report_end();
  if (v->lost) {
    const struct team_failure* failure = crew_failure(v->crew);
    fprintf(stderr, "sizewise %s: %s\n%s", self->name, failure->text, failure->said);
  } else if (!v->count && !v->differing_count) {
    verify_add_unmatched(v, &out);
    misuse(self, "%s does not fit: these are %u ranks on %u node%s, and it has %s", v->plan->name, crew_group(v->crew),
           crew_nodes(v->crew), crew_nodes(v->crew) == 1 ? "" : "s", sw_text_string(&out));
    sw_text_free(&out);
    return SW_EXIT_MISUSE;
  }
  if (!v->lost && !arguments.simulate) warn_of_hardware(v);
  if (arguments.json)
    verify_add_json(v, &out);
  else
    verify_add_report(v, &out);
  fputs(sw_text_string(&out), stdout);
  sw_text_free(&out);
  return verify_is_good(v) ? SW_EXIT_GOOD : SW_EXIT_FINDINGS;
}

static int drive(const struct command* self, struct set_up* up, const struct verify_plan* plan) {
  static struct verification v;
  char fault[TEAM_TEXT];
  struct team_settings settings = {.interrupted = &interrupted, .progress = report_waiting};
  v = (struct verification){.plan = plan};
  v.crew = crew_open(&up->job, &up->work, &settings, fault);
  if (!v.crew) {
    fprintf(stderr, "sizewise %s: %s\n", self->name, fault);
    return SW_EXIT_FINDINGS;
  }
  verify_run(&v);
  int status = finish(self, &v);
  crew_close(v.crew);
  return status;
}

/* On rank 0; the others only work. */
static int verify(const struct command* self, const char* name, const struct opened* opened, struct set_up* up) {
  static struct verify_plan plan;
  struct sw_text text = SW_TEXT_EMPTY;
  struct sw_text fault = SW_TEXT_EMPTY;
  sw_add_diags(&text, &opened->diags);
  fputs(sw_text_string(&text), stderr);
  sw_text_free(&text);
  if (!opened->profile) return SW_EXIT_FINDINGS;
  if (!make_plan(name, opened, up->job.ranks, &plan, &fault)) {
    misuse(self, "%s", sw_text_string(&fault));
    sw_text_free(&fault);
    return SW_EXIT_MISUSE;
  }
  sw_profile_write(opened->profile, &text);
  plan.text = sw_text_string(&text);
  signal(SIGINT, interrupt);
  signal(SIGTERM, interrupt);
  int status = drive(self, up, &plan);
  sw_text_free(&text);
  return status;
}

static int run(const struct command* self, int argc, char** argv) {
  static struct set_up up;
  static struct opened opened;
  struct sw_text fault = SW_TEXT_EMPTY;
  struct words words = {.count = 0};
  if (!options_read(self, argc, argv, &words)) return SW_EXIT_MISUSE;
  if (words.count == 0) return misuse(self, "which PROFILE?");
  if (words.count > 1) return misuse(self, "one PROFILE at a time; '%s' is a second one", words.items[1]);
  int status = SW_EXIT_MISUSE;
  bool ready = set_up_make(&arguments, &up, &fault);
  bool found = ready && opened_open(words.items[0], &opened, &fault);
  if (found && opened.profile) up.work.own_digest = opened.digest.hex;
  if (ready && up.job.rank != 0)
    status = supervisor_run(&up.job, up.job.rank, work, &up.work);
  else if (found)
    status = verify(self, words.items[0], &opened, &up);
  else
    misuse(self, "%s", sw_text_string(&fault));
  sw_text_free(&fault);
  opened_close(&opened);
  set_up_free(&up);
  return status;
}

static const struct option options[] = {
    {"--collective", "LIST", OPTION_TEXT, &arguments.collectives, "only these; default: all that the profile has"},
    {"--ranks", "LIST", OPTION_TEXT, &arguments.ranks, "only these communicators, and that of all ranks: 2,4"},
    {"--budget", "TIME", OPTION_SECONDS, &arguments.budget, "how long to compare: 60s (default), 5m"},
    {"--gpus", "N", OPTION_COUNT, &arguments.gpus, "ranks to start here; default: one for each GPU"},
    {"--memory", "SHARE", OPTION_SHARE, &arguments.memory,
     "of free memory, for buffers; larger sizes are not compared; 25%"},
    SET_UP_OPTIONS(arguments),
    {0},
};

const struct command verify_command = {
    .name = "verify",
    .arguments = "PROFILE",
    .summary = "Prove on this cluster that a profile still holds",
    .help =
        "Has every rank load PROFILE into the plugin, proves that all of them compute the same digest and\n"
        "decide the same, and compares what the profile decides with NCCL's own choice afresh: at each size\n"
        "that was measured, between them, and at the ends of rules. PROFILE is a path, or a name as for\n"
        "'explain'; it is only read. Ranks are found as in 'calibrate': one for each GPU of this machine, or\n"
        "those that mpirun, srun or torchrun start; each of these also looks whether its own file of that\n"
        "name is the same one.\n"
        "\nA size holds where the whole 95% interval of its gain lies above 0. Exit status: 0 all holds;\n"
        "1 something does not, hung or failed, was not compared, or a rank differs; 2 misuse, or a profile for other "
        "ranks.\n"
        "\nThe JSON has \"holds\", \"digest\", \"failure\" (null, or what ended the run), \"differing_ranks\", and "
        "the\n"
        "array \"sizes\"; each has collective, nodes, ranks, bytes, measured, algo, proto, channels (null: NCCL's\n"
        "own), outcome (holds, fails, left_to_nccl, not_offered, failed, too_large, not_compared) and, where it was\n"
        "compared, auto_us, time_us, gain, gain_low, gain_high; why, where it failed.\n"
        "\nExamples:\n"
        "  sizewise verify cluster.yaml\n"
        "  mpirun -n 8 sizewise verify cluster.yaml --collective allreduce --budget 2m\n"
        "  sizewise verify simulated.yaml --simulate gb10-roce-8x1 --seed 7\n",
    .options = options,
    .run = run,
};
