/* The commands of `sizewise`: one file each, one table of them all. */
#ifndef SW_COMMAND_H
#define SW_COMMAND_H

#include "options.h"

/* Exit statuses, the same for every command. */
enum {
  SW_EXIT_GOOD = 0,     /* done; nothing was found wrong */
  SW_EXIT_FINDINGS = 1, /* done, and something is wrong with what was looked at */
  SW_EXIT_MISUSE = 2    /* not done: wrong words, or a file that is not there */
};

struct command {
  const char* name;
  const char* arguments;                                         /* "PROFILE", for the usage line */
  const char* summary;                                           /* one line */
  const char* help;                                              /* paragraphs: what it does, its output, examples */
  const struct option* options;                                  /* ends with a name of NULL */
  int (*run)(const struct command* self, int argc, char** argv); /* argv[0] is the first word behind the name */
};

extern const struct command explain_command;
extern const struct command check_command;
extern const struct command calibrate_command;
extern const struct command verify_command;
extern const struct command predict_command;
extern const struct command import_command;
extern const struct command doctor_command;
extern const struct command env_command;
extern const struct command demo_command;
extern const struct command help_command;

/* All commands, in the order of `sizewise help`; ends with NULL. */
extern const struct command* const commands[];

/* The command of this name, or NULL. */
const struct command* command_find(const char* name);

/* Prints the usage, the options and the help of a command to stdout. */
void command_print_help(const struct command* command);

#endif
