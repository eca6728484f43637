#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/report.h"
#include "calibrate/session.h"
#include "calibrate/setup.h"
#include "calibrate/wanted.h"
#include "command.h"

static struct calibrate_arguments arguments = {
    .budget = 300, .noise = -1, .min_gain = 0.03, .memory = 0.25, .ranks = ""};

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
  interrupted = number;
}

static int measure(const struct command* self, struct session* session, struct crew* crew) {
  struct sw_text fault = SW_TEXT_EMPTY;
  if (!session_begin(session, crew, &fault)) {
    misuse(self, "%s", sw_text_string(&fault));
    sw_text_free(&fault);
    return SW_EXIT_MISUSE;
  }
  session_run(session);
  session_report(session);
  if (!session_is_written(session)) return SW_EXIT_MISUSE;
  return session_is_good(session) ? SW_EXIT_GOOD : SW_EXIT_FINDINGS;
}

static int drive(const struct command* self, struct set_up* up, struct session* session) {
  char fault[TEAM_TEXT];
  struct team_settings settings = {.interrupted = &interrupted, .progress = report_waiting};
  struct crew* crew = crew_open(&up->job, &up->work, &settings, fault);
  if (!crew) {
    fprintf(stderr, "sizewise %s: %s\n", self->name, fault);
    return SW_EXIT_FINDINGS;
  }
  int status = SW_EXIT_FINDINGS;
  if (crew_start(crew, NULL))
    status = measure(self, session, crew);
  else
    fprintf(stderr, "sizewise %s: %s\n%s", self->name, crew_failure(crew)->text, crew_failure(crew)->said);
  session_close(session);
  crew_close(crew);
  return status;
}

static int refuse(const struct command* self, struct set_up* up, struct sw_text* fault) {
  misuse(self, "%s", sw_text_string(fault));
  sw_text_free(fault);
  set_up_free(up);
  return SW_EXIT_MISUSE;
}

static int run(const struct command* self, int argc, char** argv) {
  static struct study_plan plan;
  static struct set_up up;
  static struct session session;
  struct sw_text fault = SW_TEXT_EMPTY;
  struct words words = {.count = 0};
  if (!options_read(self, argc, argv, &words)) return SW_EXIT_MISUSE;
  if (words.count) return misuse(self, "'%s': it takes options alone", words.items[0]);
  if (!wanted_check(&arguments, &fault) || !set_up_make(&arguments, &up, &fault) ||
      !wanted_read(&arguments, up.job.ranks, &plan, &fault))
    return refuse(self, &up, &fault);
  if (up.job.rank != 0) return supervisor_run(&up.job, up.job.rank, work, &up.work);
  if (!session_open(&session, &arguments, &plan, &fault)) {
    session_close(&session);
    return refuse(self, &up, &fault);
  }
  signal(SIGINT, interrupt);
  signal(SIGTERM, interrupt);
  int status = drive(self, &up, &session);
  set_up_free(&up);
  return status;
}

static const struct option options[] = {
    {"-o", "FILE", OPTION_TEXT, &arguments.output, "where the profile goes; without it, to standard output"},
    {"--collective", "LIST", OPTION_TEXT, &arguments.collectives, "allreduce (default), allgather, reducescatter, ..."},
    {"--sizes", "SIZES", OPTION_TEXT, &arguments.sizes, "1KiB..128MiB (default), or a list: 12KiB,6MiB"},
    {"--sizes-from", "WORKLOAD", OPTION_TEXT, &arguments.workload, "the sizes and collectives of an application"},
    {"--budget", "TIME", OPTION_SECONDS, &arguments.budget, "how long to measure: 90s, 5m (default), 1h"},
    {"--ranks", "LIST", OPTION_TEXT, &arguments.ranks, "sizes of sub-communicators to measure as well: 2,4"},
    {"--gpus", "N", OPTION_COUNT, &arguments.gpus, "ranks to start here; default: one for each GPU"},
    {"--name", "NAME", OPTION_TEXT, &arguments.name, "the profile's name; default: calibrated"},
    {"--min-gain", "SHARE", OPTION_SHARE, &arguments.min_gain, "a gain below this is none; default 3%"},
    {"--max-extra-memory", "SIZE", OPTION_TEXT, &arguments.max_extra_memory,
     "a rank: what connects with more cannot win; default: no limit"},
    {"--resume", NULL, OPTION_FLAG, &arguments.resume, "go on from the file that -o names, left by an earlier run"},
    {"--exhaustive", NULL, OPTION_FLAG, &arguments.exhaustive, "also time every choice, to see what calibrate misses"},
    {"--raw", "FILE", OPTION_TEXT, &arguments.raw, "write every sample down, tab-separated"},
    {"--memory", "SHARE", OPTION_SHARE, &arguments.memory,
     "of free memory, for buffers; larger sizes are left out; 25%"},
    SET_UP_OPTIONS(arguments),
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
        "mpirun, srun or torchrun each process is one rank.\n"
        "\nThe profile is written after every size: Ctrl-C, SIGTERM and an exhausted budget leave a valid one, and\n"
        "the report says what was not measured. A choice that hangs, crashes, fails or spoils data is left out; a\n"
        "size where NCCL's own choice does so is left out. Where nothing can be measured no profile is written.\n"
        "\n--budget: a tenth of it is for comparing afresh; communicators get equal parts, and in each of them the\n"
        "collectives take turns, size by size.\n"
        "\n--sizes-from: the collectives (unless --collective names some) and sizes of a workload, a file or a\n"
        "shipped one's name; of more than 48 sizes those that move the most bytes.\n"
        "\n--resume goes on from the file that -o names: sizes measured in it are kept as they are. FILE.in-flight,\n"
        "beside it, names the choice that is being tried; where a run ended with it (a machine froze), the next one\n"
        "leaves that choice out. A profile of another machine, NCCL, number of ranks, or other NCCL settings is\n"
        "refused.\n"
        "\n--exhaustive, behind the calibration and outside its budget, times every usable algorithm and protocol, "
        "and\n"
        "auto, with NCCL's own channels and 1, 2, 4, 8 and 16, nine rounds each, and compares its best choices and "
        "the\n"
        "profile's with auto afresh: what calibrate misses, and what it saves.\n"
        "\n--raw: tab-separated, a header line, a line for each sample: phase (passthrough, no-tuner, calibrate,\n"
        "verify, exhaustive, fresh), collective, ranks, nodes, bytes, mode (graph, stream), algo, proto (auto: NCCL's\n"
        "own; profile: as the profile decides), channels (0: NCCL's own), round, microseconds (most over all ranks).\n"
        "\n--json: \"end\" (done, budget_spent, interrupted, lost); \"points\", what the profile decides at each size, "
        "with\n"
        "collective, ranks, nodes, bytes, measured (false: between two that were), auto_us, choice, time_us, verified\n"
        "(null: auto), verified_gain; \"not_measured\" and \"failed\" (NCCL's own choice failed), with collective, "
        "ranks,\n"
        "bytes, the latter also while (measuring, verifying) and why; \"passthrough\", the plugin passing everything\n"
        "through beside no tuner: verdict (equal, not_shown_equal, differs: by 2%; not_compared), why, and sizes with\n"
        "bytes, difference, low, high, verdict; \"measuring_s\"; \"profile\", its text, where it is in no file; with "
        "those options\n"
        "\"exhaustive\" and \"raw\".\n"
        "\nExit status: 0 measured, as far as the budget went; 1 NCCL's own choice failed at a size, the ranks were\n"
        "lost, it was interrupted, or nothing was measured; 2 misuse, or the profile could not be written (then it is\n"
        "on standard output).\n"
        "\nExamples:\n"
        "  sizewise calibrate -o cluster.yaml\n"
        "  mpirun -n 8 sizewise calibrate -o cluster.yaml --collective allreduce,allgather --budget 10m\n"
        "  sizewise calibrate -o cluster.yaml --sizes-from gb10-m3-prefill --max-extra-memory 256MiB\n"
        "  sizewise calibrate --simulate gb10-roce-8x1 --seed 7 --sizes 12KiB..96MiB -o simulated.yaml\n",
    .options = options,
    .run = run,
};
