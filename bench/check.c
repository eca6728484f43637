#include <stdio.h>
#include <string.h>

#include "command.h"
#include "open.h"
#include "workload/workload.h"

/* "workload w: 120 calls a step in 1 entry, 8 ranks on 8 nodes, a step takes 11.72 s" */
static void add_workload(struct sw_text* text, const struct workload* workload) {
  uint64_t calls = 0;
  for (size_t i = 0; i < workload->call_count; i++) calls += workload->calls[i].count;
  sw_text_printf(text, "workload %s: %llu call%s a step in %zu entr%s", workload->name, (unsigned long long)calls,
                 calls == 1 ? "" : "s", workload->call_count, workload->call_count == 1 ? "y" : "ies");
  if (workload->nodes && workload->ranks) {
    sw_text_add(text, ", ");
    sw_add_shape(text, workload->ranks, workload->nodes);
  }
  if (!workload->step.known) return;
  sw_text_add(text, ", a step takes ");
  sw_add_time_words(text, (uint64_t)(workload->step.seconds * 1e12 + 0.5));
}

static void add_outcome(struct sw_text* text, const char* name, unsigned errors) {
  sw_text_printf(text, "%s: not valid, %u error%s\n", name, errors, errors == 1 ? "" : "s");
}

static bool deterministic;

/* The deterministic mode has a digest of its own. */
static bool has_digest(struct opened* opened) {
  return !deterministic || sw_digest_compute_for(opened->profile, SW_MODE_DETERMINISTIC, &opened->digest, NULL);
}

/* The findings of a profile and, where it is valid, its digest. */
static bool check_profile(const char* name, struct sw_text* text) {
  struct opened opened;
  struct sw_text fault = SW_TEXT_EMPTY;
  if (!opened_open(name, &opened, &fault)) {
    sw_text_printf(text, "%s: error: %s [SW-%d]\n", name, sw_text_string(&fault), (int)SW_NO_PROFILE);
    sw_text_free(&fault);
    return false;
  }
  bool good = opened.profile != NULL;
  sw_add_diags(text, &opened.diags);
  if (good && !has_digest(&opened))
    sw_text_printf(text, "%s: out of memory\n", name);
  else if (good)
    sw_text_printf(text, "%s: valid, profile %s,%s digest %s\n", name, opened.profile->name,
                   deterministic ? " deterministic" : "", opened.digest.hex);
  else
    add_outcome(text, name, opened.diags.errors);
  opened_close(&opened);
  return good;
}

/* The findings of a workload and what it is; false in `found` when the name is none of a workload. */
static bool check_workload(const char* name, struct sw_text* text, bool* found) {
  static struct workload_file file;
  struct sw_text fault = SW_TEXT_EMPTY;
  *found = workload_open(name, &file, &fault) && file.text && workload_recognise(file.text, file.length);
  bool good = *found && file.valid;
  if (*found) sw_add_diags(text, &file.diags);
  if (good) {
    sw_text_printf(text, "%s: valid, ", name);
    add_workload(text, &file.workload);
    sw_text_add(text, "\n");
  } else if (*found) {
    add_outcome(text, name, file.diags.errors);
  }
  workload_close(&file);
  sw_text_free(&fault);
  return good;
}

static int check(const char* name) {
  struct sw_text text = SW_TEXT_EMPTY;
  bool is_workload;
  bool good = check_workload(name, &text, &is_workload);
  if (!is_workload) good = check_profile(name, &text);
  fputs(sw_text_string(&text), stdout);
  sw_text_free(&text);
  return good ? SW_EXIT_GOOD : SW_EXIT_FINDINGS;
}

static int run(const struct command* self, int argc, char** argv) {
  struct words words = {.count = 0};
  if (!options_read(self, argc, argv, &words)) return SW_EXIT_MISUSE;
  if (words.count == 0) return misuse(self, "which FILE?");
  int status = SW_EXIT_GOOD;
  for (size_t i = 0; i < words.count; i++)
    if (check(words.items[i]) != SW_EXIT_GOOD) status = SW_EXIT_FINDINGS;
  return status;
}

static const struct option options[] = {
    {"--deterministic", NULL, OPTION_FLAG, &deterministic, "print the digests that NCCL_SIZEWISE_DETERMINISTIC=1 has"},
    {0},
};

const struct command check_command = {
    .name = "check",
    .arguments = "FILE...",
    .summary = "Validate profiles and workloads, print digests",
    .help =
        "Prints every finding with its place, up to ten errors a file, and the digest of each valid\n"
        "profile: the value for NCCL_SIZEWISE_EXPECT, equal on all ranks. FILE is a path, or the name of\n"
        "a profile in NCCL_SIZEWISE_PATH or of a shipped one. A file with the key 'workload' is checked as a\n"
        "workload (see sizewise help predict). Exit status 1 when any FILE has an error.\n"
        "\nExamples:\n"
        "  sizewise check cluster.yaml\n"
        "  sizewise check gb10-roce-8x1\n"
        "  sizewise check /etc/sizewise/profiles/*.yaml\n",
    .options = options,
    .run = run,
};
