/*
 * The main job without a cluster: the plugin, loaded and asked as NCCL does it, on the published figures of eight GB10
 * nodes. Every time printed was published and stands in the profile; the stand-in's own estimates are named as such.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "ground/names.h"
#include "open.h"
#include "plugin_file.h"
#include "screen.h"
#include "standin/standin.h"

#define PROFILE "gb10-roce-8x1"
enum { NCCL_VERSION = 22809, NODES = 8, CHANNELS = 16, MOST_SETTINGS = 16 };

static const uint64_t sizes[] = {12 << 10, 6 << 20, 96 << 20};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* --- what was published ------------------------------------------------------------------------------------------ */

static const struct sw_point* point_of(const struct sw_table* table, uint64_t bytes) {
  for (size_t i = 0; i < table->count; i++)
    if (table->points[i].bytes == bytes) return &table->points[i];
  return NULL;
}

static void add_published(struct grid* grid, const struct sw_table* table, uint64_t bytes, struct sw_choice choice) {
  struct sw_text cell = SW_TEXT_EMPTY;
  const struct sw_point* point = point_of(table, bytes);
  const struct sw_time* time = point ? sw_point_time(point, choice) : NULL;
  if (time)
    sw_add_time_words(&cell, time->median_ps);
  else
    sw_text_add(&cell, "not published");
  grid_take(grid, &cell);
}

/* Every choice of the table once. */
static size_t find_choices(const struct sw_table* table, struct sw_choice choices[MOST_SETTINGS]) {
  size_t count = 0;
  for (size_t p = 0; p < table->count; p++)
    for (size_t t = 0; t < table->points[p].count; t++) {
      bool known = false;
      for (size_t i = 0; i < count; i++) known = known || sw_choice_same(choices[i], table->points[p].times[t].choice);
      if (!known && count < MOST_SETTINGS) choices[count++] = table->points[p].times[t].choice;
    }
  return count;
}

static void add_settings(struct grid* grid, const struct sw_table* table) {
  struct sw_choice choices[MOST_SETTINGS];
  size_t count = find_choices(table, choices);
  for (size_t i = 0; i < count; i++) {
    struct sw_text name = SW_TEXT_EMPTY;
    bool own = sw_choice_is_auto(choices[i]);
    if (own)
      sw_text_add(&name, "nothing");
    else
      sw_add_choice(&name, choices[i]);
    sw_text_add(&name, own ? " forced" : " forced, at every size");
    grid_take(grid, &name);
    for (size_t s = 0; s < SIZES; s++) add_published(grid, table, sizes[s], choices[i]);
  }
}

/* --- what the plugin answers ------------------------------------------------------------------------------------- */

/* The choice behind an answer: the rows and columns of the table that it changed, and the channels that it set. */
static struct sw_choice answered(const struct standin_choice* answer) {
  struct sw_choice choice = SW_AUTO;
  int changed = 0;
  for (int a = 0; a < NCCL_NUM_ALGORITHMS; a++)
    for (int p = 0; p < NCCL_NUM_PROTOCOLS; p++) {
      if (answer->before[a][p] == answer->after[a][p]) continue;
      choice.algo = (int8_t)(!changed || choice.algo == a ? a : -1);
      choice.proto = (int8_t)(!changed || choice.proto == p ? p : -1);
      changed++;
    }
  choice.channels = (uint8_t)answer->tuner_channels;
  return choice;
}

/* What the plugin says in NCCL's log at INFO. Its warning that this machine is no GB10 is left out here. */
static char log_line[1024];

static void keep_info(nccl_log_level level, unsigned long flags, const char* file, int line, const char* format, ...) {
  (void)flags;
  (void)file;
  (void)line;
  if (level != NCCL_LOG_INFO) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(log_line, sizeof log_line, format, arguments);
  va_end(arguments);
}

static bool ask_all(struct standin_tuner* tuner, struct standin_choice answers[SIZES]) {
  struct standin_shape shape = {
      .version = NCCL_VERSION, .ranks = NODES, .nodes = NODES, .channels = CHANNELS, .logger = keep_info};
  struct standin_communicator* communicator = NULL;
  if (standin_communicator_create(&shape, tuner, &communicator) != NCCL_SUCCESS) return false;
  bool good = true;
  for (size_t i = 0; i < SIZES && good; i++) {
    struct standin_operation operation = {.collective = NCCL_ALLREDUCE, .bytes = sizes[i]};
    good = standin_ask(communicator, &operation, &answers[i]) == NCCL_SUCCESS;
  }
  standin_communicator_destroy(communicator);
  return good;
}

/* Loads the plugin with the profile named, asks, and unloads it. */
static bool ask_plugin(const struct command* self, struct standin_choice answers[SIZES]) {
  struct sw_text path = SW_TEXT_EMPTY;
  struct standin_tuner* tuner = NULL;
  struct standin_load_report report;
  bool good = false;
  if (!plugin_file_find(&path)) {
    fprintf(stderr, "sizewise %s: no plugin: looked for %s\n", self->name, sw_text_string(&path));
  } else {
    unsetenv("NCCL_SIZEWISE_EXPECT");
    setenv("NCCL_SIZEWISE_PROFILE", PROFILE, 1);
    enum standin_load_status status = standin_load(NCCL_VERSION, sw_text_string(&path), NULL, &tuner, &report);
    if (status == STANDIN_LOADED)
      good = ask_all(tuner, answers);
    else
      fprintf(stderr, "sizewise %s: %s: %s\n", self->name, sw_text_string(&path), report.words);
    standin_unload(tuner);
  }
  sw_text_free(&path);
  return good;
}

/* --- the page ---------------------------------------------------------------------------------------------------- */

static void add_answers(struct grid* grid, const struct sw_table* table, const struct standin_choice answers[SIZES]) {
  grid_add(grid, "Sizewise, by size");
  for (size_t i = 0; i < SIZES; i++) add_published(grid, table, sizes[i], answered(&answers[i]));
  grid_add(grid, "  what it answered");
  for (size_t i = 0; i < SIZES; i++) {
    struct sw_text cell = SW_TEXT_EMPTY;
    struct sw_choice choice = answered(&answers[i]);
    if (sw_choice_is_auto(choice))
      sw_text_add(&cell, "NCCL's own choice");
    else
      sw_add_choice(&cell, choice);
    grid_take(grid, &cell);
  }
}

static void add_estimates(struct sw_text* out, const struct standin_choice answers[SIZES]) {
  struct sw_text line = SW_TEXT_EMPTY;
  sw_text_add(&line,
              "The plugin was loaded and asked as NCCL 2.28.9 does it (tuner interface v5), by a stand-in. The "
              "stand-in's own estimate, which is neither NCCL's nor measured, would pick ");
  for (size_t i = 0; i < SIZES; i++) {
    sw_text_printf(&line, "%s%s + %s at ", i ? ", " : "", sw_value_word(&sw_algorithms, answers[i].algorithm),
                   sw_value_word(&sw_protocols, answers[i].protocol));
    sw_add_size_words(&line, sizes[i]);
  }
  sw_text_add(&line, ".");
  screen_paragraph(out, 0, "", sw_text_string(&line));
  sw_text_free(&line);
}

static void print_page(const struct opened* opened, const struct standin_choice answers[SIZES]) {
  struct sw_text out = SW_TEXT_EMPTY;
  const struct sw_table* table = sw_profile_table(opened->profile, NCCL_ALLREDUCE, NODES, NODES);
  struct grid grid = grid_start(SIZES + 1);
  sw_text_printf(&out, "All-reduce over eight GB10 nodes, time of one call as published (profile %s)\n\n", PROFILE);
  grid_add(&grid, "");
  for (size_t i = 0; i < SIZES; i++) {
    struct sw_text cell = SW_TEXT_EMPTY;
    sw_add_size_words(&cell, sizes[i]);
    grid_take(&grid, &cell);
  }
  add_settings(&grid, table);
  add_answers(&grid, table, answers);
  grid_finish(&grid, 2, &out);
  sw_text_add(&out, "\n");
  screen_paragraph(&out, 0, "", opened->profile->provenance[SW_PROVENANCE_SOURCE]);
  add_estimates(&out, answers);
  screen_paragraph(&out, 0, "", "In NCCL's log, with NCCL_DEBUG=INFO, it said:");
  screen_paragraph(&out, 2, "", log_line);
  sw_text_printf(&out, "\nMore: sizewise explain %s\n", PROFILE);
  fputs(sw_text_string(&out), stdout);
  sw_text_free(&out);
}

static int run(const struct command* self, int argc, char** argv) {
  struct words words = {.count = 0};
  struct standin_choice answers[SIZES];
  struct sw_text fault = SW_TEXT_EMPTY;
  struct opened opened;
  if (!options_read(self, argc, argv, &words)) return SW_EXIT_MISUSE;
  if (words.count) return misuse(self, "it takes no arguments");
  setenv("NCCL_SIZEWISE_PATH", "/nonexistent", 1); /* the shipped profile, not one of the same name in a folder */
  if (!opened_open(PROFILE, &opened, &fault) || !opened.profile) {
    fprintf(stderr, "sizewise %s: %s\n", self->name, sw_text_string(&fault));
    return SW_EXIT_FINDINGS;
  }
  bool good = ask_plugin(self, answers);
  if (good) print_page(&opened, answers);
  opened_close(&opened);
  return good ? SW_EXIT_GOOD : SW_EXIT_FINDINGS;
}

static const struct option options[] = {{0}};

const struct command demo_command = {
    .name = "demo",
    .arguments = "",
    .summary = "Show the plugin's answers on published figures, without a cluster",
    .help =
        "Loads the plugin as NCCL does and asks it for the all-reduce of eight GB10 nodes at 12 KiB, 6 MiB\n"
        "and 96 MiB. Prints what each forced setting was published to take there, and what the plugin\n"
        "answers, with the published time of that answer.\n",
    .options = options,
    .run = run,
};
