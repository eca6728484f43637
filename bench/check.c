#include <stdio.h>
#include <string.h>

#include "command.h"
#include "open.h"

/* Prints the findings of one file and, where it is valid, its digest. */
static int check(const char* name) {
  struct opened opened;
  struct sw_text text = SW_TEXT_EMPTY;
  struct sw_text fault = SW_TEXT_EMPTY;
  bool found = opened_open(name, &opened, &fault);
  bool good = found && opened.profile;
  if (!found) {
    sw_text_printf(&text, "%s: error: %s [SW-%d]\n", name, sw_text_string(&fault), (int)SW_NO_PROFILE);
  } else {
    sw_add_diags(&text, &opened.diags);
    if (good)
      sw_text_printf(&text, "%s: valid, profile %s, digest %s\n", name, opened.profile->name, opened.digest.hex);
    else
      sw_text_printf(&text, "%s: not valid, %u error%s\n", name, opened.diags.errors,
                     opened.diags.errors == 1 ? "" : "s");
    opened_close(&opened);
  }
  fputs(sw_text_string(&text), stdout);
  sw_text_free(&text);
  sw_text_free(&fault);
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

static const struct option options[] = {{0}};

const struct command check_command = {
    .name = "check",
    .arguments = "FILE...",
    .summary = "Validate profiles and print their digests",
    .help =
        "Prints every finding with its place, up to ten errors a file, and the digest of each valid\n"
        "profile: the value for NCCL_SIZEWISE_EXPECT, equal on all ranks. FILE is a path, or the name of\n"
        "a profile in NCCL_SIZEWISE_PATH or of a shipped one. Exit status 1 when any FILE has an error.\n"
        "\nExamples:\n"
        "  sizewise check cluster.yaml\n"
        "  sizewise check gb10-roce-8x1\n"
        "  sizewise check /etc/sizewise/profiles/*.yaml\n",
    .options = options,
    .run = run,
};
