#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/keep.h"
#include "calibrate/report.h"
#include "calibrate/setup.h"
#include "calibrate/wanted.h"
#include "command.h"

static struct calibrate_arguments arguments = {
    .budget = 300, .noise = -1, .min_gain = 0.03, .sizes = "1KiB..128MiB", .collectives = "allreduce", .ranks = ""};

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
  interrupted = number;
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
  struct keeper keeper;
  struct measure_watch watch = report_watch();
  study = (struct study){.plan = plan, .crew = crew, .watch = &watch};
  keeper_start(&keeper, &arguments, crew);
  report_start(crew, plan);
  study_measure(&study, keeper_keep, &keeper);
  if ((study.end == STUDY_DONE || study.end == STUDY_SPENT) && keeper.text.data) {
    char* measured = strdup(keeper.text.data);
    if (measured) study_verify(&study, measured);
    free(measured);
    keeper_keep(&keeper, &study);
  }
  report_end();
  int status = finish(&study, &keeper, crew);
  study_free(&study);
  keeper_free(&keeper);
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
  struct sw_text fault = SW_TEXT_EMPTY;
  struct words words = {.count = 0};
  if (!options_read(self, argc, argv, &words)) return SW_EXIT_MISUSE;
  if (words.count) return misuse(self, "'%s': it takes options alone", words.items[0]);
  if (!set_up_make(&arguments, &up, &fault) || !wanted_read(&arguments, up.job.ranks, &plan, &fault)) {
    misuse(self, "%s", sw_text_string(&fault));
    sw_text_free(&fault);
    set_up_free(&up);
    return SW_EXIT_MISUSE;
  }
  if (up.job.rank != 0) return supervisor_run(&up.job, up.job.rank, work, &up.work);
  signal(SIGINT, interrupt);
  signal(SIGTERM, interrupt);
  int status = drive(self, &up, &plan);
  set_up_free(&up);
  return status;
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
