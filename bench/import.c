#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "import/compose.h"
#include "import/report.h"
#include "output/replace.h"

static struct {
  struct import_wanted wanted;
  struct words as;
  const char* kind;
  const char* output;
  bool json;
} arguments = {.wanted = {.collective = -1, .kind = -1}};

static struct gathered gathered;
static struct import_setting settings[256];

/* --- what the command line says ---------------------------------------------------------------------------------- */

static int refuse(const struct command* self, const char* before, struct sw_text* fault) {
  misuse(self, "%s: %s", before, sw_text_string(fault));
  sw_text_free(fault);
  return SW_EXIT_MISUSE;
}

static bool is_name(const char* name) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return name[0] && !strchr("._-", name[0]) && strspn(name, allowed) == strlen(name) && strlen(name) <= 64 &&
         strcmp(name, "off") != 0;
}

static bool is_empty(const char* text) {
  return text && !text[0];
}

static int read_kind(const struct command* self) {
  if (!arguments.kind) return SW_EXIT_GOOD;
  arguments.wanted.kind = sw_word_value(&sw_kinds, arguments.kind, strlen(arguments.kind));
  if (arguments.wanted.kind >= 0) return SW_EXIT_GOOD;
  return misuse(self, "--kind: '%s' is none of measured, published, simulated", arguments.kind);
}

/* Each --as belongs to the file at the same place in the order given. */
static int read_settings(const struct command* self, struct import_file* files, size_t count) {
  struct sw_text fault = SW_TEXT_EMPTY;
  for (size_t i = 0; i < arguments.as.count; i++) {
    if (!setting_read(arguments.as.items[i], &gathered.arena, &settings[i], &fault))
      return refuse(self, "--as", &fault);
    if (i < count) files[i].setting = &settings[i];
  }
  if (arguments.as.count == 0 || arguments.as.count == count) return SW_EXIT_GOOD;
  return misuse(self, "%zu FILE%s and %zu --as: give one --as for each file, in the files' order", count,
                count == 1 ? "" : "s", arguments.as.count);
}

static int check_output(const struct command* self) {
  if (!arguments.output || file_can_replace(arguments.output)) return SW_EXIT_GOOD;
  return misuse(self, "cannot write '%s': %s", arguments.output, strerror(errno));
}

static int read_arguments(const struct command* self, struct words* words) {
  if (words->count == 0) return misuse(self, "which FILE? ('-' is standard input)");
  gathered.files = calloc(words->count, sizeof *gathered.files);
  gathered.file_count = gathered.files ? words->count : 0;
  if (!gathered.files) return misuse(self, "out of memory");
  size_t inputs = 0;
  for (size_t i = 0; i < words->count; i++) {
    gathered.files[i].name = words->items[i];
    inputs += strcmp(words->items[i], "-") == 0;
  }
  if (inputs > 1) return misuse(self, "standard input can be read once");
  if (arguments.wanted.name && !is_name(arguments.wanted.name))
    return misuse(
        self, "--name: '%s' is no name; names take letters, digits, '.', '_' and '-', and begin with a letter or digit",
        arguments.wanted.name);
  if (is_empty(arguments.wanted.source)) return misuse(self, "--source: it is empty");
  if (is_empty(arguments.wanted.date)) return misuse(self, "--date: it is empty");
  int status = read_kind(self);
  if (!status) status = read_settings(self, gathered.files, words->count);
  return status ? status : check_output(self);
}

/* What only the files' kind tells: --as says how tables were measured, and nothing else needs it. */
static int check_settings(const struct command* self) {
  bool tests = gathered.kind == IMPORT_TESTS;
  if (tests && !arguments.as.count)
    return misuse(self,
                  "under which setting was %s measured? Add --as auto where nothing was forced, else what was:\n"
                  "  --as algo=tree,proto=ll,channels=2",
                  gathered.files[0].name);
  if (!tests && arguments.as.count) return misuse(self, "--as is for nccl-tests output; these files hold none");
  if (!tests && arguments.wanted.collective >= 0) return misuse(self, "--collective is for nccl-tests output");
  if (!tests && arguments.wanted.in_place) return misuse(self, "--in-place is for nccl-tests output");
  const struct import_setting* own = NULL;
  for (size_t i = 0; i < arguments.as.count; i++) {
    if (!sw_choice_is_auto(settings[i].choice)) continue;
    if (own && setting_compare(&settings[i], own) != 0)
      return misuse(self,
                    "auto under two environments: a profile holds one time of NCCL's own choice; import them apart");
    own = &settings[i];
  }
  return SW_EXIT_GOOD;
}

/* --- what is made ------------------------------------------------------------------------------------------------ */

static bool any_auto(void) {
  for (size_t i = 0; i < arguments.as.count; i++)
    if (sw_choice_is_auto(settings[i].choice)) return true;
  return false;
}

/* The place of what lacks an auto time is in the profile; that all of them do is one finding, about the files. */
static void warn_of_auto(struct sw_diags* about) {
  if (gathered.kind == IMPORT_RULES) about->count = about->warnings = 0; /* said at the rules themselves */
  if (gathered.kind != IMPORT_TESTS || any_auto()) return;
  sw_diags_start(about, about->file);
  sw_report(about, SW_NOTHING_AUTO, (struct sw_place){0},
            "nothing in it was measured with nothing forced, so it decides nothing; import an --as auto run with it");
}

/* A measured profile that lies in a searched folder can apply by itself; rules were not measured. */
static int default_kind(void) {
  return gathered.kind == IMPORT_RULES ? SW_KIND_PUBLISHED : SW_KIND_MEASURED;
}

static bool compose(struct sw_diags* about, struct sw_text* out) {
  if (arguments.wanted.kind < 0) arguments.wanted.kind = default_kind();
  samples_sort(&gathered.samples);
  bool good = gathered.kind == IMPORT_CALLS ? compose_workload(&gathered, &arguments.wanted, about, out)
                                            : compose_profile(&gathered, &arguments.wanted, about, out);
  if (good) warn_of_auto(about);
  if (arguments.output) about->file = arguments.output;
  if (!good && !about->errors) sw_report(about, SW_NO_MEMORY, (struct sw_place){0}, "out of memory");
  return good;
}

static void print(FILE* where, struct sw_text* text) {
  fputs(sw_text_string(text), where);
  sw_text_free(text);
}

static void print_report(const struct import_report* report) {
  struct sw_text text = SW_TEXT_EMPTY;
  if (arguments.json) {
    import_report_as_json(report, &text);
    print(stdout, &text);
    return;
  }
  import_report_findings(report, &text);
  print(stderr, &text);
  if (report->output)
    printf("%s: written, %s from %zu file%s\n", report->output,
           gathered.kind == IMPORT_CALLS ? "a workload" : "a profile", gathered.file_count,
           gathered.file_count == 1 ? "" : "s");
  else if (report->text)
    fputs(report->text, stdout);
}

static int make(void) {
  static struct sw_diags about;
  struct sw_text text = SW_TEXT_EMPTY;
  struct import_report report = {.gathered = &gathered};
  int status = SW_EXIT_FINDINGS;
  if (!gathered_errors(&gathered)) {
    report.about = &about;
    if (compose(&about, &text)) {
      about.source = text.data;
      about.source_length = text.length;
      report.text = sw_text_string(&text);
      status = SW_EXIT_GOOD;
    }
  }
  if (report.text && arguments.output) {
    if (file_replace(arguments.output, report.text)) {
      report.output = arguments.output;
    } else {
      report.text = NULL;
      status = SW_EXIT_MISUSE;
    }
  }
  print_report(&report);
  sw_text_free(&text);
  return status;
}

static int run_gathered(const struct command* self, struct words* words) {
  const char* missing;
  int status = read_arguments(self, words);
  if (status) return status;
  if (!gather(&gathered, &arguments.wanted, &missing))
    return misuse(self, "cannot read '%s': %s", missing, strerror(errno));
  status = gathered.kind == IMPORT_UNKNOWN ? SW_EXIT_GOOD : check_settings(self);
  return status ? status : make();
}

static int run(const struct command* self, int argc, char** argv) {
  struct words words = {.count = 0};
  if (!options_read(self, argc, argv, &words)) return SW_EXIT_MISUSE;
  int status = run_gathered(self, &words);
  gathered_free(&gathered);
  free(gathered.files);
  return status;
}

static const struct option options[] = {
    {"--as", "SETTING", OPTION_TEXTS, &arguments.as, "auto, or what was forced; once a file, in the files' order"},
    {"-o", "FILE", OPTION_TEXT, &arguments.output, "where it goes; without it, to standard output"},
    {"--in-place", NULL, OPTION_FLAG, &arguments.wanted.in_place,
     "nccl-tests' in-place times, not the out-of-place ones"},
    {"--collective", "NAME", OPTION_COLLECTIVE, &arguments.wanted.collective, "where nccl-tests' log does not name it"},
    {"--ranks", "N", OPTION_COUNT, &arguments.wanted.ranks, "where the log does not show its ranks"},
    {"--nodes", "N", OPTION_COUNT, &arguments.wanted.nodes, "where the log does not show its nodes"},
    {"--name", "NAME", OPTION_TEXT, &arguments.wanted.name, "its name; default: from the first file's"},
    {"--kind", "KIND", OPTION_TEXT, &arguments.kind, "measured (default), published (default of rules) or simulated"},
    {"--source", "TEXT", OPTION_TEXT, &arguments.wanted.source, "who measured, on what; default: the files' names"},
    {"--date", "DATE", OPTION_TEXT, &arguments.wanted.date, "when it was measured, as a log does not say"},
    {"--json", NULL, OPTION_FLAG, &arguments.json, "findings and what was made as JSON, for programs"},
    {0},
};

const struct command import_command = {
    .name = "import",
    .arguments = "FILE...",
    .summary = "Make a profile or a workload of logs and rules that exist already",
    .help =
        "FILEs are of one kind, recognised by what they hold; '-' is standard input. What a launcher puts in\n"
        "front of lines, and other programs' lines in between, do not matter.\n"
        "\n"
        "  nccl-tests output   becomes a profile's tables. --as says under which setting each file was measured:\n"
        "                      auto (nothing forced), or algo=, proto=, channels= and other environment variables\n"
        "                      as NAME=VALUE, separated by commas. Size, time and bandwidths have to agree. Several\n"
        "                      runs of one setting become their median.\n"
        "  tuner rules         (collective,min_bytes,max_bytes,algorithm,protocol,channels,nodes,ranks\n"
        "                      [,pipe_ops[,reg_buff]]: NCCL's example tuner) become a profile's rules.\n"
        "  NCCL's own log      (NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING) becomes a workload: which sizes were\n"
        "                      called how often, for `sizewise calibrate --sizes-from`. Its all-gathers and\n"
        "                      reduce-scatters need --ranks: NCCL logs one rank's part of them.\n"
        "\nErrors leave nothing behind: no output, and a file that -o names stays as it was.\n"
        "\nExit status: 0 done, warnings or not; 1 something is wrong with a FILE; 2 misuse, or a FILE that cannot be\n"
        "read or written.\n"
        "\n--json: {\"kind\": \"profile\" | \"rules\" | \"workload\" | null, \"files\": [NAME...],\n"
        "\"findings\": [{\"file\", \"line\", \"column\" (null: the file as a whole), \"severity\": \"error\" | "
        "\"warning\",\n"
        "\"code\": \"SW-703\", \"text\"}...], \"output\": the file that was written or null,\n"
        "\"text\": what was made, null with -o or after an error}.\n"
        "\nExamples:\n"
        "  sizewise import auto.log --as auto -o cluster.yaml\n"
        "  sizewise import --as auto auto.log --as algo=tree,proto=ll,channels=2 tree.log -o cluster.yaml\n"
        "  sizewise import --as auto old.log --collective allreduce --ranks 8 --nodes 1\n"
        "  sizewise import rules.csv --name from-rules -o from-rules.yaml\n"
        "  sizewise import nccl.log --ranks 8 -o workload.yaml\n",
    .options = options,
    .run = run,
};
