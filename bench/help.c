#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "ground/diag.h"
#include "ground/nearest.h"
#include "ground/number.h"
#include "ground/version.h"

const struct command* const commands[] = {&explain_command,
                                          &check_command,
                                          &calibrate_command,
                                          &verify_command,
                                          &predict_command,
                                          &import_command,
                                          &doctor_command,
                                          &env_command,
                                          &demo_command,
                                          &help_command,
                                          NULL};

const struct command* command_find(const char* name) {
  for (const struct command* const* command = commands; *command; command++)
    if (strcmp((*command)->name, name) == 0) return *command;
  return NULL;
}

static void print_option(const struct option* option) {
  char left[64];
  snprintf(left, sizeof left, "%s%s%s", option->name, option->placeholder ? " " : "",
           option->placeholder ? option->placeholder : "");
  printf("  %-24s %s\n", left, option->help);
}

void command_print_help(const struct command* command) {
  printf("usage: sizewise %s%s%s%s\n\n%s.\n\n%s", command->name, command->arguments[0] ? " " : "", command->arguments,
         command->options->name ? " [options]" : "", command->summary, command->help);
  if (command->options->name) puts("\nOptions:");
  for (const struct option* option = command->options; option->name; option++) print_option(option);
}

static void print_overview(void) {
  printf("sizewise %s: NCCL's algorithm, protocol and channels by message size, from measurements\n\n", SW_VERSION);
  puts("usage: sizewise COMMAND ...\n\nCommands:");
  for (const struct command* const* command = commands; *command; command++)
    printf("  %-10s %s\n", (*command)->name, (*command)->summary);
  puts(
      "\n'sizewise help COMMAND' says more; 'sizewise --version' prints the release.\n"
      "\nThe plugin itself is used through NCCL's environment:\n"
      "  NCCL_TUNER_PLUGIN=sizewise        with libnccl-tuner-sizewise.so on the loader's path, or its full path\n"
      "  NCCL_SIZEWISE_PROFILE=NAME        a path, a name, or 'off'\n"
      "  NCCL_SIZEWISE_PATH=FOLDERS        where profiles are searched, separated by ':'\n"
      "  NCCL_SIZEWISE_EXPECT=DIGEST       what every rank must have\n"
      "  NCCL_SIZEWISE_STRICT=1            an invalid file in a searched folder stops the job\n"
      "  NCCL_SIZEWISE_DETERMINISTIC=1     one choice a collective at all sizes, so that sums do not depend on them\n"
      "\nExit status: 0 done, 1 something is wrong with what was looked at, 2 misuse.");
}

static void print_code(const struct sw_code_entry* entry) {
  printf("SW-%d (%s)\n  cause  %s\n  cure   %s\n", (int)entry->code,
         entry->severity == SW_SEVERITY_WARNING ? "warning" : "error", entry->cause, entry->cure);
}

static int print_codes(void) {
  for (const struct sw_code_entry* entry = sw_codes; entry->cause; entry++) print_code(entry);
  return SW_EXIT_GOOD;
}

/* "SW-201" or "201"; -1: no code at all. */
static int code_number(const char* word) {
  uint64_t number;
  const char* digits = strncmp(word, "SW-", 3) == 0 || strncmp(word, "sw-", 3) == 0 ? word + 3 : word;
  return sw_read_whole(digits, strlen(digits), 9999, &number) == SW_NUMBER_OK ? (int)number : -1;
}

static int refuse_topic(const struct command* self, const char* topic) {
  struct sw_nearest nearest = sw_nearest_start(topic, strlen(topic));
  for (const struct command* const* command = commands; *command; command++)
    sw_nearest_offer(&nearest, (*command)->name);
  if (nearest.best) return misuse(self, "no help on '%s'; did you mean '%s'?", topic, nearest.best);
  return misuse(self, "no help on '%s'; topics are the commands, 'codes', and a code such as SW-201", topic);
}

static int run(const struct command* self, int argc, char** argv) {
  struct words words = {.count = 0};
  if (!options_read(self, argc, argv, &words)) return SW_EXIT_MISUSE;
  if (words.count > 1) return misuse(self, "one topic at a time");
  if (words.count == 0) {
    print_overview();
    return SW_EXIT_GOOD;
  }
  const char* topic = words.items[0];
  if (strcmp(topic, "codes") == 0) return print_codes();
  const struct command* command = command_find(topic);
  int code = code_number(topic);
  if (command) {
    command_print_help(command);
  } else if (code >= 0 && sw_code_entry(code)) {
    print_code(sw_code_entry(code));
  } else if (code >= 0) {
    return misuse(self, "there is no code SW-%d", code);
  } else {
    return refuse_topic(self, topic);
  }
  return SW_EXIT_GOOD;
}

static const struct option options[] = {{0}};

const struct command help_command = {
    .name = "help",
    .arguments = "[COMMAND | codes | SW-nnn]",
    .summary = "Explain a command, or a finding by its code",
    .help =
        "Every finding of Sizewise carries a code such as [SW-201], which never changes its meaning.\n"
        "\nExamples:\n"
        "  sizewise help explain\n"
        "  sizewise help SW-208\n"
        "  sizewise help codes\n",
    .options = options,
    .run = run,
};
