#include <stdlib.h>
#include <string.h>

#include "profile/read.h"

enum { MOST_RANKS = 1000000 };

/* --- times ------------------------------------------------------------------------------------------------------- */

struct time_draft {
  struct sw_choice_draft draft; /* first: see SW_CHOICE_FIELDS */
  struct sw_time time;
};

static void read_median(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct time_draft* draft = out;
  sw_value_time(reader, node, "median", &draft->time.median_ps);
}

static void read_samples(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct time_draft* draft = out;
  uint64_t samples;
  if (sw_value_whole(reader, node, "samples", 1, 1000000000, &samples)) draft->time.samples = (uint32_t)samples;
}

static void read_spread(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct time_draft* draft = out;
  sw_value_fraction(reader, node, "spread", 0, SW_ONE, &draft->time.spread);
}

static void read_time_settings(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct time_draft* draft = out;
  sw_read_settings(reader, node, &draft->time.settings);
}

static void read_excluded(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct time_draft* draft = out;
  sw_value_text(reader, node, "excluded", &draft->time.excluded);
}

static void read_memory(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct time_draft* draft = out;
  if (sw_expect(reader, node, SW_NODE_WORD, "memory"))
    sw_value_size(reader, node, "memory", node->word, node->length, &draft->time.memory);
}

struct ran_draft {
  struct sw_choice_draft draft; /* first: see SW_CHOICE_FIELDS */
  uint64_t estimate_ps;
};

static void read_estimate(struct sw_reader* reader, const struct sw_node* node, void* out) {
  sw_value_time(reader, node, "estimate", &((struct ran_draft*)out)->estimate_ps);
}

static void read_ran(struct sw_reader* reader, const struct sw_node* node, void* out) {
  static const struct sw_field ran_fields[] = {{"algo", sw_read_algo, true},
                                               {"proto", sw_read_proto, true},
                                               {"channels", sw_read_channels, true},
                                               {"estimate", read_estimate, false}};
  static const struct sw_fields mapping = {"ran", ran_fields, 4};
  struct ran_draft ran = {.draft = SW_CHOICE_DRAFT};
  sw_read_fields(reader, node, &mapping, &ran);
  ((struct time_draft*)out)->time.ran = (struct sw_ran){ran.draft.choice, ran.estimate_ps};
}

static const struct sw_field time_fields[] = {SW_CHOICE_FIELDS,
                                              {"median", read_median, false},
                                              {"samples", read_samples, false},
                                              {"spread", read_spread, false},
                                              {"settings", read_time_settings, false},
                                              {"ran", read_ran, false},
                                              {"memory", read_memory, false},
                                              {"excluded", read_excluded, false}};
static const struct sw_fields time_mapping = {"time", time_fields, sizeof time_fields / sizeof time_fields[0]};

/* Only a choice that is excluded can have no time, and auto, which is always there, cannot be excluded. */
static void check_time(struct sw_reader* reader, const struct sw_node* node, const struct sw_time* time) {
  if (!time->median_ps && !time->excluded)
    sw_report(reader->diags, SW_KEY_MISSING, node->place, "key 'median' is missing in this time");
  else if (time->excluded && sw_choice_is_auto(time->choice))
    sw_report(reader->diags, SW_NO_CHOICE, node->place, "auto cannot be excluded: it is what NCCL does by itself");
}

static struct sw_time read_time(struct sw_reader* reader, const struct sw_node* node) {
  struct time_draft draft = {.draft = SW_CHOICE_DRAFT, .time = {.spread = -1, .place = node->place}};
  unsigned errors = reader->diags->errors;
  sw_read_fields(reader, node, &time_mapping, &draft);
  if (reader->diags->errors == errors) sw_check_draft(reader, node, &draft.draft);
  draft.time.choice = draft.draft.choice;
  if (reader->diags->errors == errors) check_time(reader, node, &draft.time);
  return draft.time;
}

static int compare_times(const void* a, const void* b) {
  const struct sw_time* x = a;
  const struct sw_time* y = b;
  int order = sw_choice_compare(x->choice, y->choice);
  return order ? order : sw_settings_compare(&x->settings, &y->settings);
}

/* The later place of two, for "given twice". */
static struct sw_place later(struct sw_place a, struct sw_place b) {
  bool a_later = a.line > b.line || (a.line == b.line && a.column > b.column);
  return a_later ? a : b;
}

/* Auto once; any other choice once for the same settings. */
static void check_times(struct sw_reader* reader, const struct sw_time* times, size_t count) {
  for (size_t i = 1; i < count; i++) {
    bool twice = sw_choice_is_auto(times[i].choice) ? sw_choice_is_auto(times[i - 1].choice)
                                                    : compare_times(&times[i - 1], &times[i]) == 0;
    if (!twice) continue;
    struct sw_text text = SW_TEXT_EMPTY;
    sw_add_choice(&text, times[i].choice);
    sw_report(reader->diags, SW_TWICE, later(times[i - 1].place, times[i].place), "%s is given twice at this size",
              sw_text_string(&text));
    sw_text_free(&text);
  }
}

/* --- points ------------------------------------------------------------------------------------------------------ */

static void read_bytes(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct sw_point* point = out;
  if (!sw_expect(reader, node, SW_NODE_WORD, "bytes")) return;
  if (sw_value_size(reader, node, "bytes", node->word, node->length, &point->bytes) && point->bytes == 0)
    sw_report(reader->diags, SW_OUT_OF_RANGE, node->place, "bytes must be at least 1");
}

static void read_times(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct sw_point* point = out;
  if (!sw_expect(reader, node, SW_NODE_LIST, "times")) return;
  struct sw_time* times = sw_read_array(reader, node, sizeof *times);
  if (!times) return;
  size_t count = 0;
  unsigned errors = reader->diags->errors;
  struct sw_walk walk = sw_walk_into(node);
  while (!sw_diags_full(reader->diags) && sw_walk_next(&walk)) times[count++] = read_time(reader, &walk.value);
  if (reader->diags->errors == errors) {
    qsort(times, count, sizeof *times, compare_times);
    check_times(reader, times, count);
  }
  point->times = times;
  point->count = count;
}

static const struct sw_field point_fields[] = {{"bytes", read_bytes, true}, {"times", read_times, true}};
static const struct sw_fields point_mapping = {"point", point_fields, 2};

static int compare_points(const void* a, const void* b) {
  const struct sw_point* x = a;
  const struct sw_point* y = b;
  return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static void check_points(struct sw_reader* reader, const struct sw_table* table) {
  for (size_t i = 0; i < table->count; i++) {
    const struct sw_point* point = &table->points[i];
    if (i > 0 && point->bytes == point[-1].bytes)
      sw_report(reader->diags, SW_TWICE, later(point[-1].place, point->place), "this size is given twice in the table");
    if (point->count == 0 || !sw_choice_is_auto(point->times[0].choice))
      sw_report(reader->diags, SW_NO_AUTO, point->place,
                "no time of NCCL's own choice (choice: auto) at this size: NCCL decides there");
    for (size_t t = 0; t < point->count; t++)
      sw_check_possible(reader, point->times[t].place, table->collective, point->times[t].choice);
  }
}

/* --- tables ------------------------------------------------------------------------------------------------------ */

static void read_count(struct sw_reader* reader, const struct sw_node* node, const char* what, uint32_t* out) {
  uint64_t value;
  if (sw_value_whole(reader, node, what, 1, MOST_RANKS, &value)) *out = (uint32_t)value;
}

static void read_table_collective(struct sw_reader* reader, const struct sw_node* node, void* out) {
  sw_value_from(reader, node, &sw_collectives, &((struct sw_table*)out)->collective);
}

static void read_table_nodes(struct sw_reader* reader, const struct sw_node* node, void* out) {
  read_count(reader, node, "nodes", &((struct sw_table*)out)->nodes);
}

static void read_table_ranks(struct sw_reader* reader, const struct sw_node* node, void* out) {
  read_count(reader, node, "ranks", &((struct sw_table*)out)->ranks);
}

static void read_points(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct sw_table* table = out;
  if (!sw_expect(reader, node, SW_NODE_LIST, "points")) return;
  struct sw_point* points = sw_read_array(reader, node, sizeof *points);
  if (!points) return;
  size_t count = 0;
  struct sw_walk walk = sw_walk_into(node);
  while (!sw_diags_full(reader->diags) && sw_walk_next(&walk)) {
    points[count].place = walk.value.place;
    sw_read_fields(reader, &walk.value, &point_mapping, &points[count++]);
  }
  qsort(points, count, sizeof *points, compare_points);
  table->points = points;
  table->count = count;
}

static const struct sw_field table_fields[] = {{"collective", read_table_collective, true},
                                               {"nodes", read_table_nodes, true},
                                               {"ranks", read_table_ranks, true},
                                               {"points", read_points, true}};
static const struct sw_fields table_mapping = {"table", table_fields, 4};

/* More nodes than ranks is no communicator. */
static void check_shape(struct sw_reader* reader, struct sw_place place, uint32_t nodes, uint32_t ranks) {
  if (nodes && ranks && nodes > ranks)
    sw_report(reader->diags, SW_OUT_OF_RANGE, place, "%u nodes cannot hold %u ranks: each node has at least one", nodes,
              ranks);
}

static int compare_tables(const void* a, const void* b) {
  return sw_table_compare(a, b);
}

void sw_read_tables(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct sw_profile* profile = out;
  if (!sw_expect(reader, node, SW_NODE_LIST, "tables")) return;
  struct sw_table* tables = sw_read_array(reader, node, sizeof *tables);
  if (!tables) return;
  size_t count = 0;
  struct sw_walk walk = sw_walk_into(node);
  while (!sw_diags_full(reader->diags) && sw_walk_next(&walk)) {
    struct sw_table* table = &tables[count++];
    table->place = walk.value.place;
    unsigned errors = reader->diags->errors;
    sw_read_fields(reader, &walk.value, &table_mapping, table);
    check_shape(reader, table->place, table->nodes, table->ranks);
    if (reader->diags->errors == errors) check_points(reader, table);
  }
  if (reader->diags->errors) return;
  qsort(tables, count, sizeof *tables, compare_tables);
  for (size_t i = 1; i < count; i++)
    if (compare_tables(&tables[i - 1], &tables[i]) == 0)
      sw_report(reader->diags, SW_TWICE, later(tables[i - 1].place, tables[i].place),
                "a table for %s on %u nodes and %u ranks is given twice",
                sw_value_word(&sw_collectives, tables[i].collective), tables[i].nodes, tables[i].ranks);
  profile->tables = tables;
  profile->table_count = count;
}

/* --- rules ------------------------------------------------------------------------------------------------------- */

struct rule_draft {
  struct sw_choice_draft draft; /* first: see SW_CHOICE_FIELDS */
  struct sw_rule rule;
};

static void read_rule_collective(struct sw_reader* reader, const struct sw_node* node, void* out) {
  sw_value_from(reader, node, &sw_collectives, &((struct rule_draft*)out)->rule.collective);
}

static void read_rule_nodes(struct sw_reader* reader, const struct sw_node* node, void* out) {
  read_count(reader, node, "nodes", &((struct rule_draft*)out)->rule.nodes);
}

static void read_rule_ranks(struct sw_reader* reader, const struct sw_node* node, void* out) {
  read_count(reader, node, "ranks", &((struct rule_draft*)out)->rule.ranks);
}

/* "64KiB..1MiB", "..1MiB", "64KiB.." or one size. */
static void read_range(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct sw_rule* rule = &((struct rule_draft*)out)->rule;
  if (!sw_expect(reader, node, SW_NODE_WORD, "bytes")) return;
  const char* dots = strstr(node->word, "..");
  size_t from_length = dots ? (size_t)(dots - node->word) : node->length;
  const char* to = dots ? dots + 2 : node->word;
  size_t to_length = (size_t)(node->word + node->length - to);
  if (dots && !from_length && !to_length) {
    sw_report(reader->diags, SW_BAD_NUMBER, node->place, "bytes '..' names no size; leave the key out for all sizes");
    return;
  }
  if ((from_length || !dots) && !sw_value_size(reader, node, "bytes", node->word, from_length, &rule->from)) return;
  if (to_length && !sw_value_size(reader, node, "bytes", to, to_length, &rule->to)) return;
  if (rule->to < rule->from)
    sw_report(reader->diags, SW_EMPTY_RANGE, node->place, "bytes '%.60s' ends before it begins", node->word);
}

static const struct sw_field rule_fields[] = {{"collective", read_rule_collective, true},
                                              {"bytes", read_range, false},
                                              {"nodes", read_rule_nodes, false},
                                              {"ranks", read_rule_ranks, false},
                                              SW_CHOICE_FIELDS};
static const struct sw_fields rule_mapping = {"rule", rule_fields, sizeof rule_fields / sizeof rule_fields[0]};

static struct sw_rule read_rule(struct sw_reader* reader, const struct sw_node* node) {
  struct rule_draft draft = {.draft = SW_CHOICE_DRAFT, .rule = {.to = UINT64_MAX, .place = node->place}};
  unsigned errors = reader->diags->errors;
  sw_read_fields(reader, node, &rule_mapping, &draft);
  if (reader->diags->errors == errors) sw_check_draft(reader, node, &draft.draft);
  check_shape(reader, node->place, draft.rule.nodes, draft.rule.ranks);
  draft.rule.choice = draft.draft.choice;
  if (reader->diags->errors == errors) sw_check_possible(reader, node->place, draft.rule.collective, draft.rule.choice);
  return draft.rule;
}

void sw_read_rules(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct sw_profile* profile = out;
  if (!sw_expect(reader, node, SW_NODE_LIST, "rules")) return;
  struct sw_rule* rules = sw_read_array(reader, node, sizeof *rules);
  if (!rules) return;
  size_t count = 0;
  struct sw_walk walk = sw_walk_into(node);
  while (!sw_diags_full(reader->diags) && sw_walk_next(&walk)) rules[count++] = read_rule(reader, &walk.value);
  profile->rules = rules;
  profile->rule_count = count;
}
