#include "import/gather.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* A file while it is read. Until a line tells, it may be any kind. */
struct reading {
  struct gathered* gathered;
  struct import_file* file;
  struct perf perf;
  bool begun; /* the first line with anything but a comment was seen */
  bool rules;
  bool json;
};

static void take_line(struct reading* reading, const struct line* line) {
  const char* first = line->text + strspn(line->text, " \t");
  if (!reading->begun && *first && *first != '#') {
    reading->begun = true;
    reading->rules = rules_recognise(line);
    reading->json = *first == '{';
  }
  if (reading->rules) {
    rules_line(&reading->gathered->rules, line);
    return;
  }
  perf_line(&reading->perf, line);
  calls_line(&reading->gathered->calls, line);
}

static void report_unknown(const struct reading* reading, const struct line* line) {
  struct sw_diags* diags = &reading->file->diags;
  if (!line->number)
    sw_report(diags, SW_EMPTY, (struct sw_place){0}, "the file holds nothing");
  else if (reading->json)
    sw_report(diags, SW_UNKNOWN_FILE, (struct sw_place){0},
              "nccl-tests' JSON is not read; import takes the table that it prints beside it");
  else
    sw_report(diags, SW_UNKNOWN_FILE, (struct sw_place){0},
              "neither nccl-tests output, nor rules of NCCL's example tuner, nor a log with NCCL's TUNING lines");
}

static void finish(struct reading* reading, const struct import_wanted* wanted, const struct line* last) {
  struct gathered* gathered = reading->gathered;
  struct import_file* file = reading->file;
  file->kind = reading->rules          ? IMPORT_RULES
               : reading->perf.tables  ? IMPORT_TESTS
               : gathered->calls.lines ? IMPORT_CALLS
                                       : IMPORT_UNKNOWN;
  if (file->kind == IMPORT_UNKNOWN) report_unknown(reading, last);
  if (file->kind == IMPORT_TESTS) perf_finish_file(&reading->perf, last);
  if (file->kind == IMPORT_CALLS) calls_finish_file(&gathered->calls, wanted->ranks, &file->diags);
}

static FILE* open_file(const char* name) {
  struct stat status;
  if (strcmp(name, "-") == 0) return stdin;
  FILE* file = fopen(name, "re");
  if (file && fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
    fclose(file);
    errno = EISDIR;
    return NULL;
  }
  return file;
}

static bool read_file(struct gathered* gathered, struct import_file* file, const struct import_wanted* wanted) {
  static struct line line;
  static struct reading reading;
  FILE* input = open_file(file->name);
  if (!input) return false;
  line = (struct line){.number = 0};
  reading = (struct reading){.gathered = gathered, .file = file};
  reading.perf = (struct perf){
      .wanted = wanted, .arena = &gathered->arena, .facts = &gathered->facts, .samples = &gathered->samples};
  sw_diags_start(&file->diags, input == stdin ? "standard input" : file->name);
  perf_start_file(&reading.perf, &file->diags, file->setting);
  rules_start_file(&gathered->rules, &file->diags);
  calls_start_file(&gathered->calls);
  while (line_next(input, &line)) take_line(&reading, &line);
  bool good = !ferror(input);
  if (input != stdin) fclose(input);
  if (good) finish(&reading, wanted, &line);
  return good;
}

static void compare_kinds(struct gathered* gathered) {
  static const char* const words[] = {"", "nccl-tests output", "rules", "a log with TUNING lines"};
  struct import_file* first = &gathered->files[0];
  gathered->kind = first->kind;
  for (size_t i = 1; i < gathered->file_count; i++) {
    struct import_file* file = &gathered->files[i];
    if (file->kind != first->kind) gathered->kind = IMPORT_UNKNOWN;
    if (file->kind && first->kind && file->kind != first->kind)
      sw_report(&file->diags, SW_UNKNOWN_FILE, (struct sw_place){0},
                "this is %s and %s is %s; import each kind by itself", words[file->kind], first->diags.file,
                words[first->kind]);
  }
}

/* What was measured on different machines or under different releases is no comparison. */
static void compare_facts(struct gathered* gathered) {
  struct sw_diags* diags = &gathered->files[0].diags;
  if (gathered->facts.gpus_differ)
    sw_report(diags, SW_NOT_ALIKE, (struct sw_place){0},
              "the files name different GPUs; the profile matches any, and its times may not compare");
  if (gathered->facts.nccls_differ)
    sw_report(diags, SW_NOT_ALIKE, (struct sw_place){0},
              "the files name different NCCL releases; their times may not compare");
}

static void report_memory(struct gathered* gathered) {
  if (gathered->samples.failed || gathered->rules.list.failed || gathered->calls.failed)
    sw_report(&gathered->files[0].diags, SW_NO_MEMORY, (struct sw_place){0}, "out of memory");
}

bool gather(struct gathered* gathered, const struct import_wanted* wanted, const char** missing) {
  for (size_t i = 0; i < gathered->file_count; i++) {
    if (read_file(gathered, &gathered->files[i], wanted)) continue;
    *missing = gathered->files[i].name;
    return false;
  }
  compare_kinds(gathered);
  if (gathered->kind == IMPORT_TESTS) compare_facts(gathered);
  if (gathered->kind == IMPORT_RULES && !gathered->rules.list.count && !gathered_errors(gathered))
    sw_report(&gathered->files[0].diags, SW_NOTHING_USED, (struct sw_place){0}, "there is no rule in it");
  report_memory(gathered);
  return true;
}

unsigned gathered_errors(const struct gathered* gathered) {
  unsigned errors = 0;
  for (size_t i = 0; i < gathered->file_count; i++) errors += gathered->files[i].diags.errors;
  return errors;
}

void gathered_free(struct gathered* gathered) {
  samples_free(&gathered->samples);
  rules_free(&gathered->rules);
  calls_free(&gathered->calls);
  sw_arena_free(&gathered->arena);
}
