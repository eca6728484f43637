/*
 * sizewise: the command line. A map of the folder:
 *
 *     main         finds the command and runs it
 *     command      the table of commands; explain, check, calibrate, verify, predict, import, doctor, env, demo,
 *                  help: one file each
 *     options      option tables, read by parsing, help and suggestions alike
 *     open         a profile by path or name, with all that is wrong with it
 *     calibrate    in calibrate/: what is wanted, where it runs, the crew of ranks, candidates, race, study, profile
 *     verify       in calibrate/ as well: what is compared afresh, and the proof that all ranks decide the same
 *     predict      in predict/: settings, prices, rows, text and JSON; workload/ reads and writes what it is about
 *     import       in import/: lines, kinds of files, nccl-tests, rules, NCCL's log; profile or workload from them
 *     env          in env/: the lines for each place, what helps and no tuner can set, JSON
 *     doctor       in doctor/: sources of settings, findings and costs, the tuner, profiles; diagnosis.h has its map
 *     screen       columns and wrapped paragraphs
 *     json_text    texts as JSON, whatever bytes they hold
 *     output/      a file written whole or not at all
 *     launch/      driver, supervisors and workers; who this process is under its launcher
 *     fabric/      one rank's collectives: real NCCL, or the simulator
 *     standin/     how NCCL loads a tuner, asks it and uses its answers, version by version
 *
 * What a profile decides is computed by plugin/'s archive, the same code that runs inside NCCL.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "ground/nearest.h"
#include "ground/version.h"

static int run_unknown(const char* name) {
  struct sw_nearest nearest = sw_nearest_start(name, strlen(name));
  for (const struct command* const* command = commands; *command; command++)
    sw_nearest_offer(&nearest, (*command)->name);
  sw_nearest_offer(&nearest, "--version");
  sw_nearest_offer(&nearest, "--help");
  const char* what = name[0] == '-' ? "option" : "command";
  if (nearest.best) return misuse(NULL, "unknown %s '%s'; did you mean '%s'?", what, name, nearest.best);
  return misuse(NULL, "unknown %s '%s'", what, name);
}

static bool asks_for_help(int argc, char** argv) {
  for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
  return false;
}

static int run(int argc, char** argv) {
  if (argc < 2) return misuse(NULL, "which command?");
  if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
    printf("sizewise %s\n", SW_VERSION);
    return SW_EXIT_GOOD;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return help_command.run(&help_command, 0, argv);
  const struct command* command = command_find(argv[1]);
  if (!command) return run_unknown(argv[1]);
  if (!asks_for_help(argc - 2, argv + 2)) return command->run(command, argc - 2, argv + 2);
  command_print_help(command);
  return SW_EXIT_GOOD;
}

/* Output that did not arrive is no success: a full disk, a closed pipe. */
int main(int argc, char** argv) {
  int status = run(argc, argv);
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  perror("sizewise: cannot write the output");
  return SW_EXIT_MISUSE;
}
