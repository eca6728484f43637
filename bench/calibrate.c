#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/profile_out.h"
#include "calibrate/report.h"
#include "command.h"
#include "facts/forced.h"
#include "fabric/simulator.h"
#include "launch/job.h"
#include "open.h"
#include "plugin_file.h"

static struct {
  const char* output;
  const char* collectives;
  const char* sizes;
  const char* ranks;
  const char* name;
  const char* raw;
  const char* plugin;
  const char* nccl;
  const char* cudart;
  const char* master;
  const char* simulate;
  uint32_t gpus;
  double budget;
  double noise;
  double min_gain;
  uint64_t seed;
  struct words faults;
  bool within_settings;
  bool json;
} arguments;

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
  interrupted = number;
}

/* --- what is asked for ------------------------------------------------------------------------------------------- */

enum { DEFAULT_BUDGET = 300, GRID = 4 };

static int refuse(const struct command* self, const char* option, const char* word, const char* takes) {
  misuse(self, "%s: '%s': it takes %s", option, word, takes);
  return 0;
}

/* Each word of a comma-separated list in turn; false at its end. */
static bool next_word(const char** list, const char** word, size_t* length) {
  while (**list == ',') (*list)++;
  *word = *list;
  *length = strcspn(*list, ",");
  *list += *length;
  return *length > 0;
}

static int read_collectives(const struct command* self, struct study_plan* plan) {
  const char* list = arguments.collectives ? arguments.collectives : "allreduce";
  const char* word;
  size_t length;
  while (next_word(&list, &word, &length)) {
    int collective = sw_word_value(&sw_collectives, word, length);
    if (collective < 0 || plan->collective_count == NCCL_NUM_COLLECTIVES)
      return refuse(self, "--collective", arguments.collectives,
                    "allreduce, allgather, reducescatter, broadcast, reduce, separated by commas");
    plan->collectives[plan->collective_count++] = collective;
  }
  return 1;
}

static void add_size(struct study_plan* plan, uint64_t bytes) {
  size_t at = plan->size_count;
  if (at == STUDY_MOST_SIZES || bytes == 0) return;
  for (size_t i = 0; i < plan->size_count; i++)
    if (plan->sizes[i] == bytes) return;
  for (; at > 0 && plan->sizes[at - 1] > bytes; at--) plan->sizes[at] = plan->sizes[at - 1];
  plan->sizes[at] = bytes;
  plan->size_count++;
}

/* "1KiB..128MiB": every fourth power of two from the first, and the last. */
static int read_size_range(const struct command* self, const char* dots, struct study_plan* plan) {
  uint64_t from;
  uint64_t to;
  const char* text = arguments.sizes;
  bool good = sw_read_size(text, (size_t)(dots - text), &from) == SW_NUMBER_OK &&
              sw_read_size(dots + 2, strlen(dots + 2), &to) == SW_NUMBER_OK && from > 0 && from <= to;
  if (!good) return refuse(self, "--sizes", text, "a range such as 1KiB..128MiB, or a list such as 12KiB,6MiB");
  for (uint64_t bytes = from; bytes < to && bytes <= UINT64_MAX / GRID; bytes *= GRID) add_size(plan, bytes);
  add_size(plan, to);
  plan->refine = true;
  return 1;
}

static int read_sizes(const struct command* self, struct study_plan* plan) {
  if (!arguments.sizes) arguments.sizes = "1KiB..128MiB";
  const char* dots = strstr(arguments.sizes, "..");
  if (dots) return read_size_range(self, dots, plan);
  const char* list = arguments.sizes;
  const char* word;
  size_t length;
  uint64_t bytes;
  while (next_word(&list, &word, &length)) {
    if (sw_read_size(word, length, &bytes) != SW_NUMBER_OK || bytes == 0 || plan->size_count == STUDY_MOST_SIZES)
      return refuse(self, "--sizes", arguments.sizes, "a range such as 1KiB..128MiB, or up to 48 sizes: 12KiB,6MiB");
    add_size(plan, bytes);
  }
  return 1;
}

static int read_groups(const struct command* self, uint32_t all, struct study_plan* plan) {
  plan->groups[plan->group_count++] = all;
  const char* list = arguments.ranks ? arguments.ranks : "";
  const char* word;
  size_t length;
  uint64_t ranks;
  while (next_word(&list, &word, &length)) {
    bool good = sw_read_whole(word, length, all, &ranks) == SW_NUMBER_OK && ranks >= 2;
    if (!good || plan->group_count == STUDY_MOST_GROUPS) {
      misuse(self, "--ranks: '%s': it takes sizes of communicators from 2 to %u, such as 2,4", arguments.ranks, all);
      return 0;
    }
    if (ranks != all) plan->groups[plan->group_count++] = (uint32_t)ranks;
  }
  return 1;
}

/* --- where it runs ----------------------------------------------------------------------------------------------- */

struct set_up {
  struct job job;
  struct work_context work;
  struct fabric_simulation simulation;
  struct opened simulated;
  struct sw_text plugin;
};

static int find_plugin(const struct command* self, struct set_up* up) {
  char path[4096];
  if (arguments.plugin)
    sw_text_add(&up->plugin, realpath(arguments.plugin, path) ? path : arguments.plugin);
  else if (!plugin_file_find(&up->plugin)) {
    misuse(self, "no plugin: looked for %s; name it with --plugin", sw_text_string(&up->plugin));
    return 0;
  }
  up->work.paths = (struct fabric_paths){arguments.nccl, arguments.cudart, sw_text_string(&up->plugin)};
  return 1;
}

static int set_up_simulation(const struct command* self, struct set_up* up) {
  struct sw_text fault = SW_TEXT_EMPTY;
  char why[256];
  if (!opened_open(arguments.simulate, &up->simulated, &fault)) {
    misuse(self, "--simulate: %s", sw_text_string(&fault));
    sw_text_free(&fault);
    return 0;
  }
  if (!up->simulated.profile) {
    sw_add_diags(&fault, &up->simulated.diags);
    fputs(sw_text_string(&fault), stderr);
    sw_text_free(&fault);
    return 0;
  }
  up->simulation = fabric_simulation_default;
  up->simulation.profile = up->simulated.profile;
  up->simulation.seed = arguments.seed;
  if (arguments.noise >= 0) up->simulation.noise = arguments.noise;
  for (size_t i = 0; i < arguments.faults.count; i++)
    if (!fabric_simulation_fault(&up->simulation, arguments.faults.items[i], why)) {
      misuse(self, "--fault: %s", why);
      return 0;
    }
  up->work.simulation = &up->simulation;
  return 1;
}

/* GPUs that the driver shows; 0 without one. */
static uint32_t count_gpus(void) {
  struct sw_facts_source source = sw_facts_this_machine(false);
  struct sw_facts facts;
  sw_facts_gather(&source, &facts);
  return facts.gpus > 0 ? (uint32_t)facts.gpus : 0;
}

/* The simulated ranks stand on as many nodes as the profile's first table has them, where that divides them. */
static uint32_t simulated_nodes(const struct set_up* up) {
  const struct sw_profile* profile = up->simulated.profile;
  uint32_t nodes = profile->table_count ? profile->tables[0].nodes : 1;
  return up->job.ranks % nodes == 0 ? nodes : 1;
}

/* A local job has a rank for each GPU, or as many as the simulated profile's first table. */
static int find_ranks(const struct command* self, struct set_up* up) {
  char fault[JOB_FAULT_BYTES];
  if (!job_read(NULL, arguments.master, &up->job, fault)) {
    misuse(self, "%s", fault);
    return 0;
  }
  if (!job_is_local(&up->job)) return 1;
  uint32_t ranks = arguments.gpus ? arguments.gpus : count_gpus();
  if (arguments.simulate && !arguments.gpus)
    ranks = up->simulated.profile->table_count ? up->simulated.profile->tables[0].ranks : 8;
  up->job.ranks = up->job.local_ranks = ranks;
  if (ranks >= 2) return 1;
  misuse(self, "%s; it takes two GPUs or more, or --simulate PROFILE to try it without",
         ranks ? "this machine has one GPU" : "no GPU is found here");
  return 0;
}

/* Settings that take choices away would be measured as if they were the machine. */
static int check_settings(const struct command* self) {
  struct sw_facts_source source = sw_facts_this_machine(false);
  struct sw_forced forced;
  sw_forced_read(source.getenv, &forced);
  const char* set = forced.algo_text          ? "NCCL_ALGO"
                    : forced.proto_text       ? "NCCL_PROTO"
                    : forced.max_channels > 0 ? forced.max_variable
                    : forced.min_channels > 0 ? forced.min_variable
                                              : NULL;
  if (!set || arguments.within_settings) return 1;
  misuse(self,
         "%s is set (%s): it takes choices away at every size, and they could not be measured; unset it, or "
         "measure inside it with --within-settings",
         set, getenv(set) ? getenv(set) : "by nccl.conf");
  return 0;
}

/* --- the run ----------------------------------------------------------------------------------------------------- */

static bool write_file(const char* path, const char* text) {
  char temporary[4096];
  snprintf(temporary, sizeof temporary, "%s.%d.tmp", path, (int)getpid());
  FILE* file = fopen(temporary, "w");
  bool good = file && fputs(text, file) >= 0;
  good = file && fflush(file) == 0 && fsync(fileno(file)) == 0 && good;
  if (file) good = fclose(file) == 0 && good;
  good = good && rename(temporary, path) == 0;
  if (!good) {
    perror(path);
    unlink(temporary);
  }
  return good;
}

struct keeper {
  struct profile_head head;
  struct sw_text text; /* the profile as of now */
};

/* The profile as it is known now goes to its place after every size: what ends the run later leaves it there. */
static void keep(void* context, const struct study* study) {
  struct keeper* keeper = context;
  static struct sw_diags diags;
  sw_text_free(&keeper->text);
  if (!profile_out(study, &keeper->head, &diags, &keeper->text)) {
    struct sw_text fault = SW_TEXT_EMPTY;
    sw_add_diags(&fault, &diags);
    fputs(sw_text_string(&fault), stderr);
    sw_text_free(&fault);
  } else if (arguments.output) {
    write_file(arguments.output, keeper->text.data);
  }
}

static void make_head(struct crew* crew, struct sw_text* source, const struct sw_facts* facts, struct keeper* keeper) {
  static const struct sw_settings none = {NULL, 0};
  const struct fabric_report* report = crew_report(crew, 0);
  sw_text_printf(source, "sizewise calibrate on %s, %u ranks", report->host, crew_ranks(crew));
  if (arguments.simulate)
    sw_text_printf(source, ", simulated from %s with seed %llu: no machine was measured", arguments.simulate,
                   (unsigned long long)arguments.seed);
  keeper->head = (struct profile_head){.name = arguments.name ? arguments.name : "calibrated",
                                       .simulated = arguments.simulate != NULL,
                                       .source = sw_text_string(source),
                                       .report = report,
                                       .facts = facts,
                                       .settings = &none};
}

static int finish(const struct study* study, const struct keeper* keeper, const struct crew* crew) {
  report_print(study, arguments.json);
  if (!arguments.output && keeper->text.data && !arguments.json) fputs(keeper->text.data, stdout);
  if (arguments.output && !arguments.json) report_deployment(arguments.output, keeper->text.data);
  if (study->end == STUDY_LOST) {
    const struct team_failure* failure = crew_failure(crew);
    fprintf(stderr, "sizewise calibrate: %s\n%s", failure->text, failure->said);
    return SW_EXIT_FINDINGS;
  }
  return study->end == STUDY_INTERRUPTED ? SW_EXIT_FINDINGS : SW_EXIT_GOOD;
}

static int measure(struct crew* crew, const struct study_plan* plan) {
  static struct study study;
  struct keeper keeper = {.text = SW_TEXT_EMPTY};
  struct sw_text source = SW_TEXT_EMPTY;
  struct sw_facts_source machine = sw_facts_this_machine(false);
  struct sw_facts facts;
  struct measure_watch watch = report_watch();
  sw_facts_gather(&machine, &facts);
  study = (struct study){.plan = plan, .crew = crew, .watch = &watch};
  make_head(crew, &source, &facts, &keeper);
  report_start(crew, plan);
  study_measure(&study, keep, &keeper);
  if ((study.end == STUDY_DONE || study.end == STUDY_SPENT) && keeper.text.data) {
    char* measured = strdup(keeper.text.data);
    if (measured) study_verify(&study, measured);
    free(measured);
    keep(&keeper, &study);
  }
  report_end();
  int status = finish(&study, &keeper, crew);
  study_free(&study);
  sw_text_free(&keeper.text);
  sw_text_free(&source);
  return status;
}

static int drive(const struct command* self, struct set_up* up, const struct study_plan* plan) {
  char fault[TEAM_TEXT];
  struct team_settings settings = {.interrupted = &interrupted, .progress = report_waiting};
  struct crew* crew = crew_open(&up->job, &up->work, &settings, fault);
  if (!crew) {
    fprintf(stderr, "sizewise %s: %s\n", self->name, fault);
    return SW_EXIT_FINDINGS;
  }
  int status = SW_EXIT_FINDINGS;
  if (crew_start(crew, NULL))
    status = measure(crew, plan);
  else
    fprintf(stderr, "sizewise %s: %s\n%s", self->name, crew_failure(crew)->text, crew_failure(crew)->said);
  crew_close(crew);
  return status;
}

static int run(const struct command* self, int argc, char** argv) {
  static struct study_plan plan;
  static struct set_up up;
  struct words words = {.count = 0};
  arguments.budget = DEFAULT_BUDGET;
  arguments.noise = -1;
  arguments.min_gain = (double)sw_policy_default.min_gain / (double)SW_ONE;
  if (!options_read(self, argc, argv, &words)) return SW_EXIT_MISUSE;
  if (words.count) return misuse(self, "'%s': it takes options alone", words.items[0]);
  if (!check_settings(self) || !find_plugin(self, &up)) return SW_EXIT_MISUSE;
  if (arguments.simulate && !set_up_simulation(self, &up)) return SW_EXIT_MISUSE;
  if (!find_ranks(self, &up)) return SW_EXIT_MISUSE;
  if (arguments.simulate) up.work.simulated_nodes = simulated_nodes(&up);
  up.work.job = &up.job;
  plan.budget_us = arguments.budget * 1e6;
  plan.min_gain = (int64_t)(arguments.min_gain * (double)SW_ONE + 0.5);
  if (!read_collectives(self, &plan) || !read_sizes(self, &plan) || !read_groups(self, up.job.ranks, &plan))
    return SW_EXIT_MISUSE;
  if (up.job.rank != 0) return supervisor_run(&up.job, up.job.rank, work, &up.work);
  signal(SIGINT, interrupt);
  signal(SIGTERM, interrupt);
  return drive(self, &up, &plan);
}

static const struct option options[] = {
    {"-o", "FILE", OPTION_TEXT, &arguments.output, "where the profile goes; without it, to standard output"},
    {"--collective", "LIST", OPTION_TEXT, &arguments.collectives, "allreduce (default), allgather, reducescatter, ..."},
    {"--sizes", "SIZES", OPTION_TEXT, &arguments.sizes, "1KiB..128MiB (default), or a list: 12KiB,6MiB"},
    {"--budget", "TIME", OPTION_SECONDS, &arguments.budget, "how long to measure: 90s, 5m (default), 1h"},
    {"--ranks", "LIST", OPTION_TEXT, &arguments.ranks, "sizes of sub-communicators to measure as well: 2,4"},
    {"--gpus", "N", OPTION_COUNT, &arguments.gpus, "ranks to start here; default: one for each GPU"},
    {"--name", "NAME", OPTION_TEXT, &arguments.name, "the profile's name; default: calibrated"},
    {"--min-gain", "SHARE", OPTION_SHARE, &arguments.min_gain, "a gain below this is none; default 3%"},
    {"--within-settings", NULL, OPTION_FLAG, &arguments.within_settings, "measure inside NCCL_ALGO, NCCL_PROTO, ..."},
    {"--plugin", "FILE", OPTION_TEXT, &arguments.plugin, "the plugin; default: the one beside this program"},
    {"--nccl", "FILE", OPTION_TEXT, &arguments.nccl, "libnccl.so.2; default: the usual search, wheels included"},
    {"--cudart", "FILE", OPTION_TEXT, &arguments.cudart, "libcudart; default: likewise"},
    {"--master", "HOST[:PORT]", OPTION_TEXT, &arguments.master, "host of rank 0, where the launcher does not tell"},
    {"--json", NULL, OPTION_FLAG, &arguments.json, "the result as JSON, for programs"},
    {"--simulate", "PROFILE", OPTION_TEXT, &arguments.simulate, "no GPU: simulate a cluster with this profile's times"},
    {"--seed", "N", OPTION_NUMBER, &arguments.seed, "of the simulation; default 0"},
    {"--noise", "SHARE", OPTION_SHARE, &arguments.noise, "of the simulation; default 5%"},
    {"--fault", "SPEC", OPTION_TEXTS, &arguments.faults,
     "of the simulation: hang:tree, crash:ll, corrupt:tree+ll, ..."},
    {0},
};

const struct command calibrate_command = {
    .name = "calibrate",
    .arguments = "",
    .summary = "Measure this cluster and write its profile",
    .help =
        "Measures NCCL's own choice and every algorithm, protocol and channel count beside it, at each size,\n"
        "checks their data, keeps what is proven faster, compares the finished table with auto afresh, and\n"
        "writes a profile. Without a launcher it starts one process for each GPU of this machine; under\n"
        "mpirun, srun or torchrun each process is one rank. The profile is written after every size: Ctrl-C\n"
        "and an exhausted budget leave a valid one.\n"
        "\nExamples:\n"
        "  sizewise calibrate -o cluster.yaml\n"
        "  mpirun -n 8 sizewise calibrate -o cluster.yaml --collective allreduce,allgather --budget 10m\n"
        "  sizewise calibrate --simulate gb10-roce-8x1 --seed 7 --sizes 12KiB..96MiB -o simulated.yaml\n",
    .options = options,
    .run = run,
};
