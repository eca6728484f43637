#include <stdio.h>
#include <string.h>

#include "command.h"
#include "open.h"
#include "predict/prediction.h"
#include "select/shipped.h"

static struct {
  const char* workload;
  const char* profile;
  struct words sets;
  bool json;
} arguments;

/* Everything that a prediction is made from and refers to. */
struct inputs {
  struct workload_file file;
  struct opened opened;
  struct predict_setting given;
  struct predict_setting sets[PREDICT_MOST_SETS];
  struct prediction prediction;
};

static int print(const struct inputs* inputs) {
  const struct prediction* prediction = &inputs->prediction;
  const char* origin = sw_text_string(&inputs->opened.origin);
  struct sw_text text = SW_TEXT_EMPTY;
  bool good = true;
  if (arguments.json)
    good = prediction_as_json(prediction, origin, &text);
  else
    prediction_as_text(prediction, origin, &text);
  good = good && !text.failed;
  fputs(good ? sw_text_string(&text) : "", stdout);
  sw_text_free(&text);
  if (!good) return misuse(NULL, "predict: out of memory");
  return prediction->good ? SW_EXIT_GOOD : SW_EXIT_FINDINGS;
}

/* --- what is read ------------------------------------------------------------------------------------------------ */

static void show_findings(const struct sw_diags* diags) {
  struct sw_text findings = SW_TEXT_EMPTY;
  sw_add_diags(&findings, diags);
  fputs(sw_text_string(&findings), stderr);
  sw_text_free(&findings);
}

static int refuse_without_profile(const struct command* self, const struct workload* workload) {
  struct sw_text shipped = SW_TEXT_EMPTY;
  for (const struct sw_shipped* profile = sw_shipped_profiles; profile->name; profile++)
    sw_text_printf(&shipped, "%s %s", shipped.length ? "," : "", profile->name);
  int status =
      misuse(self, "which profile has the times? Workload %s names none, so add --profile PROFILE; shipped are%s",
             workload->name, sw_text_string(&shipped));
  sw_text_free(&shipped);
  return status;
}

static int read_sets(const struct command* self, struct inputs* inputs, struct sw_text* fault) {
  for (size_t i = 0; i < arguments.sets.count; i++)
    if (!predict_setting_read(&inputs->file.arena, arguments.sets.items[i], &inputs->sets[i], fault))
      return misuse(self, "--set: %s", sw_text_string(fault));
  const struct workload_step* step = &inputs->file.workload.step;
  struct sw_setting* under = sw_arena_allocate(&inputs->file.arena, step->under_count + 1, sizeof *under);
  if (!under) return misuse(self, "out of memory");
  for (size_t i = 0; i < step->under_count; i++)
    under[i] = (struct sw_setting){step->under[i].name, step->under[i].value};
  if (predict_setting_take(&inputs->file.arena, under, step->under_count, &inputs->given, fault)) return SW_EXIT_GOOD;
  return misuse(self, "%s: step, under: %s", sw_text_string(&inputs->file.path), sw_text_string(fault));
}

static int predict_with(const struct command* self, struct inputs* inputs, struct sw_text* fault) {
  show_findings(&inputs->opened.diags);
  if (!inputs->opened.profile) return SW_EXIT_FINDINGS;
  int status = read_sets(self, inputs, fault);
  if (status != SW_EXIT_GOOD) return status;
  struct prediction* prediction = &inputs->prediction;
  if (!prediction_shape(&inputs->file.workload, inputs->opened.profile, prediction, fault))
    return misuse(self, "%s", sw_text_string(fault));
  if (!prediction_compute(&inputs->file.arena, &inputs->given, inputs->sets, arguments.sets.count, prediction))
    return misuse(self, "out of memory");
  return print(inputs);
}

static int predict_file(const struct command* self, struct inputs* inputs, struct sw_text* fault) {
  show_findings(&inputs->file.diags);
  if (!inputs->file.valid) return SW_EXIT_FINDINGS;
  const char* profile = arguments.profile ? arguments.profile : inputs->file.workload.profile;
  if (!profile) return refuse_without_profile(self, &inputs->file.workload);
  if (!opened_open(profile, &inputs->opened, fault)) return misuse(self, "%s", sw_text_string(fault));
  int status = predict_with(self, inputs, fault);
  opened_close(&inputs->opened);
  return status;
}

/* --- the command ------------------------------------------------------------------------------------------------- */

static int run(const struct command* self, int argc, char** argv) {
  struct words words = {.count = 0};
  static struct inputs inputs;
  struct sw_text fault = SW_TEXT_EMPTY;
  if (!options_read(self, argc, argv, &words)) return SW_EXIT_MISUSE;
  if (words.count && !arguments.workload) return misuse(self, "which workload? Perhaps --workload %s", words.items[0]);
  if (words.count) return misuse(self, "'%s' is no option", words.items[0]);
  if (!arguments.workload) return misuse(self, "which workload? --workload FILE, a path or the name of a shipped one");
  if (arguments.sets.count > PREDICT_MOST_SETS) return misuse(self, "--set: at most %d at a time", PREDICT_MOST_SETS);
  if (!workload_open(arguments.workload, &inputs.file, &fault)) {
    misuse(self, "%s", sw_text_string(&fault));
    sw_text_free(&fault);
    return SW_EXIT_MISUSE;
  }
  int status = predict_file(self, &inputs, &fault);
  workload_close(&inputs.file);
  sw_text_free(&fault);
  return status;
}

static const struct option options[] = {
    {"--workload", "FILE", OPTION_TEXT, &arguments.workload, "a path, or the name of a shipped workload"},
    {"--profile", "PROFILE", OPTION_TEXT, &arguments.profile,
     "has the times; when left out, the one the workload names"},
    {"--set", "\"NAME=VALUE...\"", OPTION_TEXTS, &arguments.sets, "one more row, with these settings; can be repeated"},
    {"--json", NULL, OPTION_FLAG, &arguments.json, "the same as JSON, for programs"},
    {0},
};

const struct command predict_command = {
    .name = "predict",
    .arguments = "--workload FILE",
    .summary = "Compute what settings or a profile make of an application's step",
    .help =
        "A workload says which collectives a step has and, where it is known, how long the step takes under\n"
        "which settings. That time less its collectives is the rest, and each row adds its own collectives\n"
        "to the rest: the step as given, with nothing forced (auto), with each --set, and as the profile\n"
        "decides. Only times that the profile has at exactly that size are used. What was not measured is\n"
        "said and never guessed; its row has no step time then.\n"
        "\n--set takes one or several settings in quotes: NCCL_ALGO, NCCL_PROTO, NCCL_MIN_NCHANNELS,\n"
        "NCCL_MAX_NCHANNELS (or _CTAS) are understood as NCCL reads them; others count where the profile has\n"
        "times under the same settings. An empty one forces nothing. PROFILE is a path, or the name of a\n"
        "profile in NCCL_SIZEWISE_PATH or of a shipped one.\n"
        "\nThe JSON has \"workload\", \"profile\", nodes, ranks, \"step\" (null: not known; with what, tokens,\n"
        "time_us and rest_us), the array \"rows\" with row, setting, step_us, tokens_per_second,\n"
        "collectives_us, to_auto (its collectives as a part of auto's) and \"calls\" (collective, bytes, count,\n"
        "algo, proto, channels, time_us of one call, remark), and \"notes\": what was not measured, or was\n"
        "measured otherwise. null: not known, or left to NCCL.\n"
        "\nExit status 0: all rows were computed; 1: some were not, for want of measurements, or a file is not\n"
        "valid; 2: misuse.\n"
        "\nExamples:\n"
        "  sizewise predict --workload gb10-m3-prefill\n"
        "  sizewise predict --workload gb10-m3-prefill --set NCCL_ALGO=allreduce:tree --set NCCL_MAX_NCHANNELS=2\n"
        "  sizewise predict --workload mine.yaml --profile cluster.yaml --set \"NCCL_ALGO=ring NCCL_PROTO=LL\"\n",
    .options = options,
    .run = run,
};
