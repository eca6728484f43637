#include "import/rules.h"

#include <stdlib.h>
#include <string.h>

#include "ground/nearest.h"
#include "nccl_tuner.h"

enum field {
  COLLECTIVE,
  MIN_BYTES,
  MAX_BYTES,
  ALGORITHM,
  PROTOCOL,
  CHANNELS,
  NODES,
  RANKS,
  PIPE_OPS,
  REG_BUFF,
  FIELDS
};
enum { REQUIRED = PIPE_OPS, MOST_RANKS = 1000000, LONGEST_NAME = 32 };

static const char* const names[FIELDS] = {"collective", "min_bytes", "max_bytes", "algorithm", "protocol",
                                          "channels",   "nodes",     "ranks",     "pipe_ops",  "reg_buff"};

/* One line while it is read. */
struct row {
  struct rules* rules;
  const struct line* line;
  struct word fields[FIELDS + 1];
  size_t count;
};

static void split(struct row* row) {
  const char* at = row->line->text;
  for (row->count = 0; row->count <= FIELDS; at++) {
    size_t length = strcspn(at, ",");
    const char* end = at + length;
    struct word* field = &row->fields[row->count++];
    *field = (struct word){at + strspn(at, " \t"), 0};
    if (field->start > end) field->start = end;
    field->length = (size_t)(end - field->start);
    while (field->length && strchr(" \t", field->start[field->length - 1])) field->length--;
    if (!*end) return;
    at = end;
  }
}

static struct sw_place place_of(const struct row* row, enum field field) {
  return word_place(row->line, row->fields[field]);
}

/* --- values ------------------------------------------------------------------------------------------------------ */

/* NCCL's example tuner writes collnet_direct, nvls_tree; the words here have no underscore. */
static struct word without_underscores(struct word word, char out[LONGEST_NAME]) {
  struct word plain = {out, 0};
  for (size_t i = 0; i < word.length && plain.length < LONGEST_NAME; i++)
    if (word.start[i] != '_') out[plain.length++] = word.start[i];
  return plain;
}

static bool read_name(const struct row* row, enum field field, const struct sw_vocabulary* words, int* out) {
  char plain[LONGEST_NAME];
  struct word given = row->fields[field];
  struct word word = without_underscores(given, plain);
  int value = sw_word_value(words, word.start, word.length);
  if (value >= 0) {
    *out = value;
    return true;
  }
  const char* nearest = sw_nearest_word(words, word.start, word.length);
  if (nearest)
    sw_report(row->rules->diags, SW_UNKNOWN_WORD, place_of(row, field), "unknown %s '%.*s'; did you mean '%s'?",
              words->what, (int)given.length, given.start, nearest);
  else
    sw_report(row->rules->diags, SW_UNKNOWN_WORD, place_of(row, field), "unknown %s '%.*s'", words->what,
              (int)given.length, given.start);
  return false;
}

static void report_number(const struct row* row, enum field field) {
  struct word word = row->fields[field];
  uint64_t size;
  if (sw_read_size(word.start, word.length, &size) == SW_NUMBER_OK)
    sw_report(row->rules->diags, SW_RULE_NUMBER, place_of(row, field),
              "%s takes bytes without a suffix: write %llu for '%.*s'", names[field], (unsigned long long)size,
              (int)word.length, word.start);
  else
    sw_report(row->rules->diags, SW_RULE_NUMBER, place_of(row, field), "%s '%.*s' is no whole number", names[field],
              (int)word.length, word.start);
}

static bool read_bytes(const struct row* row, enum field field, uint64_t* out) {
  if (!word_whole(row->fields[field], out)) {
    report_number(row, field);
    return false;
  }
  if (field == MAX_BYTES && *out == UINT32_MAX) *out = UINT64_MAX;
  if (*out <= SW_LARGEST_BYTES || *out == UINT64_MAX) return true;
  sw_report(row->rules->diags, SW_OUT_OF_RANGE, place_of(row, field),
            "%s is more than 1 EiB; write 4294967295 for no end", names[field]);
  return false;
}

/* -1, which is 0 here, or 1 to `most`. */
static bool read_count(const struct row* row, enum field field, uint64_t most, uint32_t* out) {
  uint64_t number = 0;
  struct word word = row->fields[field];
  if (!word_is(word, "-1") && !word_whole(word, &number)) {
    report_number(row, field);
    return false;
  }
  if (!word_is(word, "-1") && (number == 0 || number > most)) {
    sw_report(row->rules->diags, SW_OUT_OF_RANGE, place_of(row, field), "%s %.*s is neither 1 to %llu nor -1 (%s)",
              names[field], (int)word.length, word.start, (unsigned long long)most,
              field == CHANNELS ? "left to NCCL" : "any");
    return false;
  }
  *out = (uint32_t)number;
  return true;
}

/* --- one rule ---------------------------------------------------------------------------------------------------- */

static bool read_pipe_ops(const struct row* row) {
  if (row->count <= PIPE_OPS || word_is(row->fields[PIPE_OPS], "-1")) return true;
  sw_report(
      row->rules->diags, SW_PIPE_OPS, place_of(row, PIPE_OPS),
      "a rule for pipe_ops %.*s alone cannot be kept: merged operations are left to NCCL; write -1, or drop the rule",
      (int)row->fields[PIPE_OPS].length, row->fields[PIPE_OPS].start);
  return false;
}

static void warn_of_buffers(const struct row* row) {
  struct rules* rules = row->rules;
  if (row->count <= REG_BUFF || word_is(row->fields[REG_BUFF], "-1") || rules->said_buffers) return;
  rules->said_buffers = true;
  sw_report(rules->diags, SW_IGNORED, place_of(row, REG_BUFF),
            "reg_buff is ignored: it can differ between ranks, so nothing may depend on it; the rule holds for both");
}

/* Every field is read, so that each mistake is found; the algorithm's and the protocol's numbers fit in a byte. */
static bool read_rule(const struct row* row, struct sw_rule* rule) {
  int algo = -1;
  int proto = -1;
  uint32_t channels = 0;
  bool good = read_name(row, COLLECTIVE, &sw_collectives, &rule->collective);
  bool from = read_bytes(row, MIN_BYTES, &rule->from);
  bool to = read_bytes(row, MAX_BYTES, &rule->to);
  if (from && to && rule->to < rule->from)
    sw_report(row->rules->diags, SW_EMPTY_RANGE, place_of(row, MAX_BYTES), "max_bytes %llu is below min_bytes %llu",
              (unsigned long long)rule->to, (unsigned long long)rule->from);
  good = from && to && rule->from <= rule->to && good;
  good = read_name(row, ALGORITHM, &sw_algorithms, &algo) && good;
  good = read_name(row, PROTOCOL, &sw_protocols, &proto) && good;
  good = read_count(row, CHANNELS, NCCL_MAX_CHANNELS, &channels) && good;
  bool shape = read_count(row, NODES, MOST_RANKS, &rule->nodes);
  shape = read_count(row, RANKS, MOST_RANKS, &rule->ranks) && shape;
  if (shape && rule->ranks && rule->nodes > rule->ranks) {
    sw_report(row->rules->diags, SW_OUT_OF_RANGE, place_of(row, RANKS), "%u nodes cannot hold %u ranks", rule->nodes,
              rule->ranks);
    shape = false;
  }
  good = read_pipe_ops(row) && shape && good;
  if (good) rule->choice = (struct sw_choice){(int8_t)algo, (int8_t)proto, (uint8_t)channels};
  return good;
}

static bool covers(const struct sw_rule* a, const struct sw_rule* b) {
  return a->collective == b->collective && a->from <= b->from && b->to <= a->to &&
         (!a->nodes || a->nodes == b->nodes) && (!a->ranks || a->ranks == b->ranks);
}

static void warn_of_rule(const struct row* row, const struct sw_rule* rule) {
  const struct rule_list* list = &row->rules->list;
  if (!sw_choice_possible(rule->collective, rule->choice.algo, rule->choice.proto))
    sw_report(row->rules->diags, SW_NEVER_APPLIES, place_of(row, ALGORITHM),
              "NCCL never offers %s + %s for %s; the rule is never used",
              sw_value_word(&sw_algorithms, rule->choice.algo), sw_value_word(&sw_protocols, rule->choice.proto),
              sw_value_word(&sw_collectives, rule->collective));
  for (size_t i = 0; i < list->count; i++) {
    if (!covers(&list->items[i], rule)) continue;
    sw_report(
        row->rules->diags, SW_SHADOWED, place_of(row, COLLECTIVE),
        "the rule of line %u holds wherever this one does, and the first that fits counts; this one is never used",
        list->items[i].place.line);
    return;
  }
}

static void keep_rule(struct rules* rules, const struct sw_rule* rule) {
  struct rule_list* list = &rules->list;
  if (list->count == list->room) {
    size_t room = list->room ? 2 * list->room : 32;
    struct sw_rule* items = realloc(list->items, room * sizeof *items);
    list->failed = list->failed || !items;
    if (!items) return;
    list->items = items;
    list->room = room;
  }
  list->items[list->count++] = *rule;
}

/* --- lines ------------------------------------------------------------------------------------------------------- */

static void warn_of_spelling(const struct row* row) {
  struct rules* rules = row->rules;
  for (size_t i = 0; i < row->count && i < FIELDS; i++) {
    struct word word = row->fields[i];
    bool padded = word.length && (word.start != row->line->text) && word.start[-1] != ',';
    bool upper = false;
    for (size_t k = 0; k < word.length; k++) upper = upper || (word.start[k] >= 'A' && word.start[k] <= 'Z');
    if (padded && !rules->said_blanks)
      sw_report(rules->diags, SW_SPELLING, place_of(row, (enum field)i), "blanks around fields are passed over");
    if (upper && !rules->said_case)
      sw_report(rules->diags, SW_SPELLING, place_of(row, (enum field)i),
                "upper case is read as lower case; NCCL's example tuner takes such a word for its default");
    rules->said_blanks = rules->said_blanks || padded;
    rules->said_case = rules->said_case || upper;
  }
}

/* The parts of a row that are there, and no more; each mistake is reported. */
static bool check_fields(const struct row* row) {
  bool good = true;
  if (row->count < REQUIRED) {
    sw_report(row->rules->diags, SW_BAD_RULE, line_place(row->line),
              "%zu of the 8 fields that a rule has: %s is missing%s", row->count, names[row->count],
              row->count + 1 < REQUIRED ? ", and what follows it" : "");
    return false;
  }
  if (row->count > FIELDS) {
    sw_report(row->rules->diags, SW_BAD_RULE, place_of(row, FIELDS), "more than the %d fields that a rule can have",
              FIELDS);
    return false;
  }
  for (size_t i = 0; i < row->count; i++) {
    if (row->fields[i].length) continue;
    sw_report(row->rules->diags, SW_BAD_RULE, place_of(row, (enum field)i), "field %zu (%s) is empty%s", i + 1,
              names[i], i >= CHANNELS ? "; write -1 where it does not matter" : "");
    good = false;
  }
  return good;
}

static bool is_header(const struct word* first) {
  return word_is(*first, "collective") || word_is(*first, "coll") || word_is(*first, "coll_type");
}

void rules_start_file(struct rules* rules, struct sw_diags* diags) {
  rules->diags = diags;
  rules->said_blanks = rules->said_case = rules->said_buffers = false;
}

void rules_line(struct rules* rules, const struct line* line) {
  struct row row = {.rules = rules, .line = line};
  const char* first = line->text + strspn(line->text, " \t");
  if (!*first || *first == '#' || sw_diags_full(rules->diags)) return;
  split(&row);
  if (is_header(&row.fields[0])) {
    sw_report(rules->diags, SW_BAD_RULE, line_place(line),
              "a header row is no rule; remove it, or put '#' in front of it");
    return;
  }
  warn_of_spelling(&row);
  struct sw_rule rule = {.place = line_place(line)};
  if (!check_fields(&row) || !read_rule(&row, &rule)) return;
  warn_of_buffers(&row);
  warn_of_rule(&row, &rule);
  keep_rule(rules, &rule);
}

void rules_free(struct rules* rules) {
  free(rules->list.items);
  rules->list = (struct rule_list){0};
}

bool rules_recognise(const struct line* line) {
  struct row row = {.line = line};
  if (!strchr(line->text, ',')) return false;
  split(&row);
  struct word* first = &row.fields[0];
  if (first->length > LONGEST_NAME) return false;
  return is_header(first) || sw_word_value(&sw_collectives, first->start, first->length) >= 0 ||
         sw_nearest_word(&sw_collectives, first->start, first->length);
}
