#include "import/perf.h"

#include <string.h>

#include "import/figures.h"

void perf_start_file(struct perf* perf, struct sw_diags* diags, const struct import_setting* setting) {
  perf->diags = diags;
  perf->setting = setting;
  perf->devices = (struct perf_devices){0};
  perf->test[0] = '\0';
  perf->said = PERF_NOT_SAID;
  perf->in_table = false;
  perf->skipping = false;
  perf->tables = 0;
  perf->rows = 0;
}

/* --- the head of a table ----------------------------------------------------------------------------------------- */

/* The columns from "size" on; in-place times stand in the second group of the same names. */
static void find_columns(struct perf* perf, const struct line_words* words, size_t size) {
  struct perf_columns columns = {.count = words->count - size};
  for (size_t i = 0; i < columns.count; i++) {
    struct word word = words->items[size + i];
    bool time = word_is(word, "time");
    if (time && columns.time && !perf->wanted->in_place) break;
    if (time)
      columns = (struct perf_columns){.count = columns.count, .time = i};
    else if (word_is(word, "algbw"))
      columns.algbw = i;
    else if (word_is(word, "busbw"))
      columns.busbw = i;
    else if (word_is(word, "#wrong"))
      columns.wrong = i;
  }
  perf->columns = columns;
}

static uint32_t ranks_of(const struct perf* perf) {
  return perf->wanted->ranks ? perf->wanted->ranks : perf->devices.ranks;
}

static uint32_t nodes_of(const struct perf* perf) {
  return perf->wanted->nodes ? perf->wanted->nodes : perf->devices.nodes;
}

/* What is not known of a table is said once, at its head, and its rows are passed over. */
static bool check_table(struct perf* perf, struct sw_place place, bool cpu_time) {
  if (cpu_time)
    sw_report(perf->diags, SW_WRONG_TIMES, place,
              "CPU times (nccl-tests -C) are no times of a collective; run it without -C");
  else if (!perf->columns.time)
    sw_report(perf->diags, SW_WRONG_TIMES, place, "this table has no column 'time'");
  else if (perf->collective == PERF_NOT_TUNED)
    sw_report(perf->diags, SW_LEFT_OUT, place, "%s is left out: NCCL asks no tuner about it", perf->test);
  else if (perf->collective == PERF_NOT_SAID)
    sw_report(perf->diags, SW_NOT_SAID, place,
              "the log does not name the collective; add --collective allreduce, or which one it was");
  else if (perf->wanted->collective >= 0 && perf->said != PERF_NOT_SAID && perf->said != perf->wanted->collective)
    sw_report(perf->diags, SW_MISUSE, place, "the log says %s; leave --collective %s out", perf->test,
              sw_value_word(&sw_collectives, perf->wanted->collective));
  else if (!perf->wanted->nodes && perf->devices.doubt)
    sw_report(perf->diags, SW_NOT_SAID, place, "the log does not tell its nodes: %s; add --nodes N",
              perf->devices.doubt);
  else if (!ranks_of(perf) || !nodes_of(perf))
    sw_report(perf->diags, SW_NOT_SAID, place,
              "the log does not show its ranks (no 'Using devices' lines); add --ranks N --nodes N");
  else if (ranks_of(perf) == 1)
    sw_report(perf->diags, SW_NOT_SAID, place,
              "this ran with one rank, where NCCL asks no tuner; under mpirun nccl-tests has to be built with MPI=1");
  else if (nodes_of(perf) > ranks_of(perf))
    sw_report(perf->diags, SW_OUT_OF_RANGE, place, "%u nodes cannot hold %u ranks: each node has at least one",
              nodes_of(perf), ranks_of(perf));
  else
    return true;
  return false;
}

static bool table_line(struct perf* perf, const struct line* line) {
  struct line_words words;
  size_t size = 0;
  if (!strstr(line->text, "algbw")) return false;
  line_split(line, &words);
  while (size < words.count && !word_is(words.items[size], "size")) size++;
  if (size + 3 >= words.count || !word_is(words.items[size + 1], "count")) return false;
  bool cpu_time = strstr(line->text, "cputime") != NULL;
  find_columns(perf, &words, size);
  perf->collective = perf->wanted->collective >= 0 ? perf->wanted->collective : perf->said;
  perf->in_table = true;
  perf->tables++;
  perf->skipping = !check_table(perf, word_place(line, words.items[size]), cpu_time);
  return true;
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

static bool is_type(struct word word) {
  static const char* const types[] = {"int8",  "uint8",  "int32",    "uint32", "int64",  "uint64", "half",
                                      "float", "double", "bfloat16", "char",   "f8e4m3", "f8e5m2"};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (word_is(word, types[i])) return true;
  return false;
}

/* Where a row's size stands, behind whatever a launcher put in front; words->count where the line is no row. */
static size_t find_row(const struct line_words* words) {
  uint64_t ignored;
  for (size_t i = 0; i + 2 < words->count; i++)
    if (word_whole(words->items[i], &ignored) && word_whole(words->items[i + 1], &ignored) &&
        is_type(words->items[i + 2]))
      return i;
  return words->count;
}

struct row {
  struct word size;
  uint64_t bytes;
  struct figure time;
  struct word algbw_word;
  struct word busbw_word;
};

/* Where all rows would say the same, one does. */
static void report_units(struct perf* perf, const struct line* line, const struct row* row, unsigned element) {
  sw_report(perf->diags, SW_UNITS, word_place(line, row->size),
            "the size looks like a count of %u-byte elements, not bytes: %.*s GB/s in this time are %u times as many "
            "bytes; multiply the sizes by %u",
            element, (int)row->algbw_word.length, row->algbw_word.start, element, element);
  perf->skipping = true;
}

static bool check_algbw(struct perf* perf, const struct line* line, const struct row* row) {
  struct figure algbw;
  if (!figure_read(row->algbw_word, &algbw) || bandwidth_fits(row->bytes, row->time, 1, algbw)) return true;
  unsigned element = element_bytes(row->bytes, row->time, algbw);
  if (element)
    report_units(perf, line, row, element);
  else
    sw_report(perf->diags, SW_UNITS, word_place(line, row->algbw_word),
              "size, time and bandwidth disagree: %llu bytes in %g us are %.2f GB/s, not %.*s",
              (unsigned long long)row->bytes, row->time.value, bandwidth_of(row->bytes, row->time, 1),
              (int)row->algbw_word.length, row->algbw_word.start);
  return false;
}

static bool check_busbw(struct perf* perf, const struct line* line, const struct row* row) {
  struct figure busbw;
  double factor = busbw_factor(perf->collective, ranks_of(perf));
  if (!figure_read(row->busbw_word, &busbw) || bandwidth_fits(row->bytes, row->time, factor, busbw)) return true;
  sw_report(perf->diags, SW_UNITS, word_place(line, row->busbw_word),
            "bus bandwidth %.*s GB/s does not fit: %s on %u ranks has %.2f here; are collective and ranks right?",
            (int)row->busbw_word.length, row->busbw_word.start, sw_value_word(&sw_collectives, perf->collective),
            ranks_of(perf), bandwidth_of(row->bytes, row->time, factor));
  perf->skipping = true;
  return false;
}

static bool check_data(struct perf* perf, const struct line* line, struct word word) {
  struct figure wrong;
  if (!figure_read(word, &wrong) || wrong.value == 0) return true; /* "N/A": the run did not check */
  sw_report(perf->diags, SW_WRONG_DATA, word_place(line, word),
            "%.*s elements were wrong: a time with wrong data measures nothing", (int)word.length, word.start);
  return false;
}

static void use_row(struct perf* perf, const struct line* line, const struct word* words) {
  const struct perf_columns* columns = &perf->columns;
  struct row row = {.size = words[0]};
  if (columns->algbw) row.algbw_word = words[columns->algbw];
  if (columns->busbw) row.busbw_word = words[columns->busbw];
  word_whole(words[0], &row.bytes);
  if (!figure_read(words[columns->time], &row.time)) {
    sw_report(perf->diags, SW_WRONG_TIMES, word_place(line, words[columns->time]), "'%.*s' is no time in microseconds",
              (int)words[columns->time].length, words[columns->time].start);
  } else if (row.bytes == 0 || row.bytes > SW_LARGEST_BYTES || row.time.value <= 0) {
    sw_report(perf->diags, SW_LEFT_OUT, word_place(line, row.size), "a row of %s is left out",
              row.time.value <= 0 ? "time 0"
              : row.bytes         ? "an impossible size"
                                  : "size 0");
  } else if ((!columns->wrong || check_data(perf, line, words[columns->wrong])) && check_algbw(perf, line, &row) &&
             check_busbw(perf, line, &row)) {
    perf->rows++;
    samples_add(perf->samples, (struct sample){perf->collective, nodes_of(perf), ranks_of(perf), row.bytes,
                                               row.time.value, perf->setting});
  }
}

static void row_line(struct perf* perf, const struct line* line) {
  struct line_words words;
  line_split(line, &words);
  size_t at = find_row(&words);
  if (at == words.count) return;
  if (words.count - at >= perf->columns.count)
    use_row(perf, line, &words.items[at]);
  else
    sw_report(perf->diags, SW_CUT_OFF, word_place(line, words.items[at]), "this row is cut off; it is left out");
}

void perf_line(struct perf* perf, const struct line* line) {
  if (perf_head_line(perf, line) || table_line(perf, line)) return;
  if (perf->in_table && !perf->skipping && !sw_diags_full(perf->diags)) row_line(perf, line);
}

void perf_end_table(struct perf* perf, const struct line* line) {
  if (perf->in_table && !perf->skipping)
    sw_report(perf->diags, SW_CUT_OFF, line_place(line),
              "another run begins before nccl-tests says of the one before whether all data was right");
  perf->in_table = false;
}

void perf_finish_file(struct perf* perf, const struct line* last) {
  struct line_words words;
  line_split(last, &words);
  bool half_row = !last->ended && words.count && words.count < 3 && last->text[strspn(last->text, " ")] != '#';
  if (perf->in_table && !perf->skipping)
    sw_report(perf->diags, SW_CUT_OFF, line_place(last),
              half_row ? "the log ends in the middle of a row, which is left out; so is what came behind it"
                       : "the log ends before nccl-tests says whether all data was right ('Out of bounds values')");
  if (perf->tables && !perf->rows && !perf->diags->errors)
    sw_report(perf->diags, SW_NOTHING_USED, line_place(last), "no row of this log can be used");
}
