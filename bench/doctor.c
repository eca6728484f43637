#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "doctor/env_file.h"
#include "doctor/report.h"
#include "ground/file.h"
#include "open.h"

enum { LARGEST_SCRIPT = 4 * 1024 * 1024, LARGEST_PID = 4194304 /* of Linux */ };

#define NO_PID UINT64_MAX

static struct {
  const char* env;
  uint64_t pid;
  const char* profile;
  const char* nccl;
  const char* root;
  uint32_t ranks;
  uint32_t nodes;
  bool json;
} arguments;

/* --- one answer for each set ------------------------------------------------------------------------------------- */

struct answers {
  struct diagnosis* items;
  size_t count;
  bool failed;
};

static void answer(const struct question* question, struct answers* answers) {
  struct diagnosis* items = realloc(answers->items, (answers->count + 1) * sizeof *items);
  if (!items) {
    answers->failed = true;
    return;
  }
  answers->items = items;
  answers->failed |= !diagnosis_make(question, &items[answers->count++]);
}

static int print(const struct answers* answers) {
  struct sw_text text = SW_TEXT_EMPTY;
  bool good = !answers->failed;
  size_t found = 0;
  if (good && arguments.json) good = report_as_json(answers->items, answers->count, &text);
  for (size_t i = 0; i < answers->count && good; i++) {
    const struct findings* findings = &answers->items[i].findings;
    found += findings_errors(findings) || findings_warnings(findings);
    if (arguments.json) continue;
    if (i) sw_text_add(&text, "\n");
    report_as_text(&answers->items[i], &text);
  }
  if (answers->count > 1 && !arguments.json)
    sw_text_printf(&text, "\n%zu sets, %zu with findings\n", answers->count, found);
  good = good && !text.failed;
  if (good)
    fputs(sw_text_string(&text), stdout);
  else
    fputs("sizewise doctor: out of memory\n", stderr);
  sw_text_free(&text);
  return !good ? SW_EXIT_MISUSE : found ? SW_EXIT_FINDINGS : SW_EXIT_GOOD;
}

static int finish(struct answers* answers) {
  int status = print(answers);
  for (size_t i = 0; i < answers->count; i++) diagnosis_free(&answers->items[i]);
  free(answers->items);
  return status;
}

/* --- the three sources ------------------------------------------------------------------------------------------- */

extern char** environ;

static const char* home_of(const struct env_set* set) {
  const char* home = env_set_value(set, "HOME");
  if (!home) home = getenv("HOME");
  const struct passwd* user = home ? NULL : getpwuid(getuid());
  return home ? home : user ? user->pw_dir : NULL;
}

static int examine_environment(struct question question) {
  struct answers answers = {0};
  struct env_set set = ENV_SET_EMPTY;
  for (char** pair = environ; *pair; pair++) env_set_put_pair(&set, *pair, "environment", 0);
  question.set = &set;
  question.title = "this process's environment";
  question.home = home_of(&set);
  answers.failed = set.failed;
  answer(&question, &answers);
  int status = finish(&answers);
  env_set_free(&set);
  return status;
}

static int examine_sets(struct question question, const struct env_file* file) {
  struct answers answers = {0};
  struct sw_text* titles = calloc(file->count + 1, sizeof *titles);
  answers.failed = !titles;
  for (size_t i = 0; i < file->count && titles; i++) {
    const struct env_set* set = &file->sets[i];
    sw_text_printf(&titles[i], "%s, set %zu of %zu, line%s %u", arguments.env, i + 1, file->count,
                   set->first_line == set->last_line ? "" : "s", set->first_line);
    if (set->first_line != set->last_line) sw_text_printf(&titles[i], "..%u", set->last_line);
    question.set = set;
    question.title = sw_text_string(&titles[i]);
    question.home = home_of(set);
    answer(&question, &answers);
  }
  int status = finish(&answers);
  for (size_t i = 0; i < file->count && titles; i++) sw_text_free(&titles[i]);
  free(titles);
  return status;
}

static int examine_file(const struct command* self, struct question question) {
  struct env_file file;
  char* text = NULL;
  size_t length;
  int fault = sw_file_read(arguments.env, LARGEST_SCRIPT, &text, &length);
  if (fault) return misuse(self, "%s: %s", arguments.env, strerror(fault));
  int status = SW_EXIT_MISUSE;
  if (!env_file_parse(text, arguments.env, &file)) {
    fputs("sizewise doctor: out of memory\n", stderr);
  } else {
    if (file.count)
      status = examine_sets(question, &file);
    else
      misuse(self, "%s sets no variable; lines such as NCCL_PROTO=LL are looked for", arguments.env);
    env_file_free(&file);
  }
  free(text);
  return status;
}

static int examine_process(const struct command* self, struct question question) {
  struct answers answers = {0};
  struct process process;
  struct sw_text fault = SW_TEXT_EMPTY;
  struct sw_text title = SW_TEXT_EMPTY;
  int status;
  if (!process_read(question.root, (uint32_t)arguments.pid, &process, &fault)) {
    status = misuse(self, "%s", sw_text_string(&fault));
  } else {
    sw_text_printf(&title, "process %u (%s), as it was started; what it set itself later does not show", process.pid,
                   sw_text_string(&process.name));
    question.set = &process.set;
    question.process = &process;
    question.title = sw_text_string(&title);
    question.home = home_of(&process.set);
    answer(&question, &answers);
    status = finish(&answers);
  }
  process_free(&process);
  sw_text_free(&title);
  sw_text_free(&fault);
  return status;
}

/* --- the command ------------------------------------------------------------------------------------------------- */

static int examine(const struct command* self, struct question question) {
  if (arguments.env) return examine_file(self, question);
  if (arguments.pid != NO_PID) return examine_process(self, question);
  return examine_environment(question);
}

static int examine_with_profile(const struct command* self, struct question question) {
  struct opened opened;
  struct sw_text fault = SW_TEXT_EMPTY;
  int status;
  if (!opened_open(arguments.profile, &opened, &fault)) {
    status = misuse(self, "%s", sw_text_string(&fault));
  } else {
    struct sw_text findings = SW_TEXT_EMPTY;
    sw_add_diags(&findings, &opened.diags);
    fputs(sw_text_string(&findings), stderr);
    sw_text_free(&findings);
    question.profile = opened.profile;
    question.origin = sw_text_string(&opened.origin);
    status = opened.profile ? examine(self, question) : SW_EXIT_FINDINGS;
    opened_close(&opened);
  }
  sw_text_free(&fault);
  return status;
}

static int run(const struct command* self, int argc, char** argv) {
  struct words words = {.count = 0};
  arguments.pid = NO_PID;
  if (!options_read(self, argc, argv, &words)) return SW_EXIT_MISUSE;
  if (words.count) return misuse(self, "'%s' is no option; a start script is named by --env FILE", words.items[0]);
  if (arguments.env && arguments.pid != NO_PID) return misuse(self, "--env and --pid are two sources; name one");
  if (arguments.pid != NO_PID && (arguments.pid < 1 || arguments.pid > LARGEST_PID))
    return misuse(self, "--pid: a process is a number from 1 to %d", LARGEST_PID);
  if (!arguments.ranks != !arguments.nodes) return misuse(self, "--ranks and --nodes belong together");
  if (arguments.nodes > arguments.ranks)
    return misuse(self, "%u nodes cannot hold %u ranks", arguments.nodes, arguments.ranks);
  if (arguments.nccl && !nccl_version_code(arguments.nccl) && access(arguments.nccl, R_OK) != 0)
    return misuse(self, "--nccl: '%s' is neither a library that can be read nor a version such as 2.28.9",
                  arguments.nccl);
  if (arguments.root && access(arguments.root, X_OK) != 0)
    return misuse(self, "--root: %s: %s", arguments.root, strerror(errno));
  struct question question = {.root = arguments.root ? arguments.root : "",
                              .nccl = arguments.nccl,
                              .shape = {arguments.nodes, arguments.ranks}};
  return arguments.profile ? examine_with_profile(self, question) : examine(self, question);
}

static const struct option options[] = {
    {"--env", "FILE", OPTION_TEXT, &arguments.env, "the settings of a start script; a blank line separates sets"},
    {"--pid", "PID", OPTION_NUMBER, &arguments.pid, "a running process: its environment and the libraries it loaded"},
    {"--profile", "PROFILE", OPTION_TEXT, &arguments.profile, "price settings with this one, whatever applies"},
    {"--ranks", "N", OPTION_COUNT, &arguments.ranks, "the communicator: N ranks ..."},
    {"--nodes", "N", OPTION_COUNT, &arguments.nodes, "... on N nodes (default: every shape that the profile has)"},
    {"--nccl", "PATH|VERSION", OPTION_TEXT, &arguments.nccl, "the NCCL that is used (default: what the loader finds)"},
    {"--root", "FOLDER", OPTION_TEXT, &arguments.root, "look at a machine's files below FOLDER (an unpacked image)"},
    {"--json", NULL, OPTION_FLAG, &arguments.json, "the same as JSON, for programs"},
    {0},
};

const struct command doctor_command = {
    .name = "doctor",
    .arguments = "",
    .summary = "Say what forces NCCL's choices here, what it costs, and who decides",
    .help =
        "Looks at the environment (or a start script's settings, or a running process), then at NCCL's own\n"
        "files, $NCCL_CONF_FILE or ~/.nccl.conf and /etc/nccl.conf. Says what each forced setting does, as NCCL\n"
        "reads it, and what the profile knows it to cost at which size; which tuner NCCL loads, and who put it\n"
        "there; which profile applies, why others do not, and whether it is stale. Nothing is loaded, started\n"
        "or changed, and no GPU is touched.\n"
        "\nA start script's lines are NAME=VALUE, also behind export, -e, -x, ENV, and in YAML. A process's\n"
        "environment is the one that it was started with. A price is the measured time of the choice with the\n"
        "same algorithm and protocol against NCCL's own at that size, and how many times it is.\n"
        "\nFindings are errors and warnings with a code ('sizewise help SW-601' explains one); notes are none.\n"
        "Exit status: 0 nothing found, 1 findings, 2 misuse, or a process that cannot be looked at.\n"
        "\nThe JSON has the array \"sets\"; each has title, machine (gpu, net, arch, driver, nccl, nccl_library),\n"
        "settings (name, value, from, line, meaning), profile and profile_kind (what prices come from; null:\n"
        "none), costs (collective, nodes, ranks, bytes, forced_us, auto_us, ratio, measured_channels; null: not\n"
        "measured, or NCCL's own count), tuner (library, loaded, asked_for, put_there_by, sizewise,\n"
        "in_net_plugin, interfaces, interface_used), findings (section, severity, code, what, from, says, cure),\n"
        "errors, warnings, who_decides and verdict.\n"
        "\nExamples:\n"
        "  sizewise doctor\n"
        "  sizewise doctor --env start.sh --profile gb10-roce-8x1\n"
        "  sizewise doctor --pid 4711 --ranks 8 --nodes 1\n"
        "  sizewise doctor --root /mnt/image --nccl 2.31.2 --json\n",
    .options = options,
    .run = run,
};
