/*
 * Every key of every mapping of a profile: misspelt, unknown, twice, missing, and with a value of each wrong form. The
 * mappings stand below as data; the expected reports are put together here, word for word, from nothing but them.
 */
#include "profile_text.h"

struct item {
  const char *key, *value;
  const char* what;    /* what messages call the value, where it is not the key */
  const char* missing; /* what is said, with its code, when the key is left out; NULL: nothing */
};

struct mapping {
  const char* name;
  const char *before, *after; /* the text around it */
  struct item items[12];
};

#define TOP "sizewise: 1\nname: n\nprovenance: {kind: published, source: s}\n"
#define RULES "rules: [{collective: allreduce, channels: 2}]\n"
#define MISSING(key, mapping) "key '" key "' is missing in this " mapping " [SW-203]"
#define NO_CHOICE "no choice is named: write 'choice: auto', or algo, proto or channels [SW-210]"

static const struct mapping mappings[] = {
    {"profile",
     "",
     "\n",
     {{"sizewise", "1", NULL, MISSING("sizewise", "profile")},
      {"name", "n", NULL, MISSING("name", "profile")},
      {"provenance", "{kind: published, source: s}", NULL, MISSING("provenance", "profile")},
      {"match", "{}", NULL, NULL},
      {"policy", "{}", NULL, NULL},
      {"tables", "[]", NULL, NULL},
      {"rules", "[{collective: allreduce, channels: 2}]", NULL, "the profile has neither tables nor rules [SW-214]"}}},
    {"provenance",
     "sizewise: 1\nname: n\n" RULES "provenance: ",
     "\n",
     {{"kind", "measured", "kind of provenance", MISSING("kind", "provenance")},
      {"source", "s", NULL, MISSING("source", "provenance")},
      {"note", "n", NULL, NULL},
      {"date", "\"2026\"", NULL, NULL},
      {"tool", "t", NULL, NULL},
      {"gpu", "g", NULL, NULL},
      {"network", "n", NULL, NULL},
      {"nccl", "2.28", NULL, NULL},
      {"cuda", "13", NULL, NULL},
      {"driver", "580", NULL, NULL},
      {"settings", "{NCCL_X: 1}", NULL, NULL}}},
    {"match",
     TOP RULES "match: ",
     "\n",
     {{"gpu", "\"*\"", NULL, NULL},
      {"compute", "12.1", NULL, NULL},
      {"arch", "x86_64", NULL, NULL},
      {"net", "roce", "network", NULL},
      {"net_gbps", "200", NULL, NULL},
      {"nvlink_domains", "1", NULL, NULL},
      {"nccl", "2.28", NULL, NULL},
      {"driver", "580", NULL, NULL}}},
    {"policy",
     TOP RULES "policy: ",
     "\n",
     {{"min_gain", "3%", NULL, NULL},
      {"reach", "2", NULL, NULL},
      {"gap", "10", NULL, NULL},
      {"max_extra_memory", "1GiB", NULL, NULL}}},
    {"table",
     TOP "tables:\n  - ",
     "\n",
     {{"collective", "allreduce", NULL, MISSING("collective", "table")},
      {"nodes", "1", NULL, MISSING("nodes", "table")},
      {"ranks", "8", NULL, MISSING("ranks", "table")},
      {"points", "[]", NULL, MISSING("points", "table")}}},
    {"point",
     TOP "tables:\n- collective: allreduce\n  nodes: 1\n  ranks: 8\n  points:\n  - ",
     "\n",
     {{"bytes", "1K", NULL, MISSING("bytes", "point")},
      {"times", "[{choice: auto, median: 1us}]", NULL, MISSING("times", "point")}}},
    {"time",
     TOP "tables:\n- collective: allreduce\n  nodes: 1\n  ranks: 8\n  points:\n  - bytes: 1K\n    times:\n    - ",
     "\n    - {choice: auto, median: 1us}\n",
     {{"algo", "tree", "algorithm", NULL},
      {"proto", "ll", "protocol", NULL},
      {"channels", "2", NULL, NULL},
      {"median", "1us", NULL, MISSING("median", "time")},
      {"samples", "20", NULL, NULL},
      {"spread", "2%", NULL, NULL},
      {"settings", "{NCCL_X: 1}", NULL, NULL}}},
    {"time",
     TOP "tables:\n- collective: allreduce\n  nodes: 1\n  ranks: 8\n  points:\n  - bytes: 1K\n    times:\n    - ",
     "\n",
     {{"choice", "auto", NULL, NO_CHOICE}, {"median", "1us", NULL, MISSING("median", "time")}}},
    {"rule",
     TOP "rules:\n  - ",
     "\n",
     {{"collective", "allreduce", NULL, MISSING("collective", "rule")},
      {"bytes", "64KiB..1MiB", NULL, NULL},
      {"nodes", "1", NULL, NULL},
      {"ranks", "8", NULL, NULL},
      {"algo", "tree", "algorithm", NULL},
      {"proto", "ll", "protocol", NULL},
      {"channels", "2", NULL, NULL}}},
    {"rule",
     TOP "rules:\n  - ",
     "\n",
     {{"choice", "auto", NULL, NO_CHOICE}, {"collective", "allreduce", NULL, MISSING("collective", "rule")}}},
};

static size_t count_items(const struct mapping* mapping) {
  size_t count = 0;
  while (count < COUNT(mapping->items) && mapping->items[count].key) count++;
  return count;
}

/* --- a mapping as text, in flow style with an item a line, one of them changed */

struct change {
  size_t item;
  const char *key, *value; /* instead of the item's own; a NULL key leaves the item out */
  bool twice;
};

static unsigned line_after(const char* text) {
  unsigned line = 1;
  for (; *text; text++) line += *text == '\n';
  return line;
}

/* Returns the line of the changed item: of the second one, if it stands there twice. */
static unsigned write_mapping(const struct mapping* mapping, struct change change, struct sw_text* out) {
  unsigned line = line_after(mapping->before);
  unsigned changed = line;
  sw_text_printf(out, "%s{\n", mapping->before);
  for (size_t i = 0; i < count_items(mapping); i++) {
    const struct item* item = &mapping->items[i];
    const char* key = i == change.item ? change.key : item->key;
    const char* value = i == change.item ? change.value : item->value;
    for (int copies = i == change.item && change.twice ? 2 : 1; key && copies; copies--) {
      sw_text_printf(out, "  %s: %s,\n", key, value);
      line++;
      if (i == change.item) changed = line;
    }
  }
  sw_text_printf(out, "}%s", mapping->after);
  return changed;
}

static void add_error(struct sw_text* report, unsigned line, size_t column, const char* words, const char* source,
                      size_t width) {
  sw_text_printf(report, "p.yaml:%u:%zu: error: %s\n    %s\n    ", line, column, words, source);
  for (size_t i = 1; i < column; i++) sw_text_add(report, " ");
  sw_text_add(report, "^");
  for (size_t i = 1; i < width; i++) sw_text_add(report, "~");
  sw_text_add(report, "\n");
}

/* One error at the key, or at the value, of the changed item; width 0 is the key's. */
static void assert_item_error(const struct mapping* mapping, struct change change, bool at_value, const char* words,
                              size_t width) {
  TEXT(text);
  TEXT(report);
  TEXT(source);
  unsigned line = write_mapping(mapping, change, &text);
  sw_text_printf(&source, "  %s: %s,", change.key, change.value);
  size_t column = at_value ? 3 + strlen(change.key) + 2 : 3;
  add_error(&report, line, column, words, sw_text_string(&source), width ? width : strlen(change.key));
  assert_report(sw_text_string(&text), sw_text_string(&report));
}

/* One error at the mapping's opening bracket. */
static void assert_mapping_error(const struct mapping* mapping, struct change change, const char* words) {
  TEXT(text);
  TEXT(report);
  TEXT(source);
  write_mapping(mapping, change, &text);
  const char* last = strrchr(mapping->before, '\n');
  sw_text_printf(&source, "%s{", last ? last + 1 : mapping->before);
  if (words) add_error(&report, line_after(mapping->before), source.length, words, sw_text_string(&source), 1);
  assert_report(sw_text_string(&text), sw_text_string(&report));
}

typedef void (*try_item)(const struct mapping* mapping, size_t index, const struct item* item);

static void each_item(try_item try) {
  for (size_t m = 0; m < COUNT(mappings); m++)
    for (size_t i = 0; i < count_items(&mappings[m]); i++) try(&mappings[m], i, &mappings[m].items[i]);
}

/* --- the tests */

static void unchanged(void** state) {
  (void)state;
  for (size_t m = 0; m < COUNT(mappings); m++)
    assert_mapping_error(&mappings[m], (struct change){.item = SIZE_MAX}, NULL);
}

static void try_misspelt(const struct mapping* mapping, size_t index, const struct item* item) {
  TEXT(key);
  TEXT(words);
  sw_text_printf(&key, "%s%c", item->key, item->key[strlen(item->key) - 1]);
  sw_text_printf(&words, "unknown key '%s' in a %s; did you mean '%s'? [SW-201]", sw_text_string(&key), mapping->name,
                 item->key);
  struct change change = {index, sw_text_string(&key), item->value, false};
  assert_item_error(mapping, change, false, sw_text_string(&words), 0);
}

static void misspelt(void** state) {
  (void)state;
  each_item(try_misspelt);
}

static void try_twice(const struct mapping* mapping, size_t index, const struct item* item) {
  TEXT(words);
  sw_text_printf(&words, "key '%s' is given twice [SW-202]", item->key);
  struct change change = {index, item->key, item->value, true};
  assert_item_error(mapping, change, false, sw_text_string(&words), 0);
}

static void twice(void** state) {
  (void)state;
  each_item(try_twice);
}

static void try_missing(const struct mapping* mapping, size_t index, const struct item* item) {
  assert_mapping_error(mapping, (struct change){.item = index}, item->missing);
}

static void missing(void** state) {
  (void)state;
  each_item(try_missing);
}

static char form_of(const char* value) {
  return value[0] == '[' || value[0] == '{' ? value[0] : 'w';
}

static const char* form_name(char form) {
  return form == '[' ? "a list" : form == '{' ? "a mapping (key: value)" : "a single value";
}

static void try_forms(const struct mapping* mapping, size_t index, const struct item* item) {
  static const char* const values[] = {"[x]", "{x: y}", "xyz"};
  for (size_t i = 0; i < COUNT(values); i++) {
    char found = form_of(values[i]);
    if (found == form_of(item->value)) continue;
    TEXT(words);
    sw_text_printf(&words, "%s must be %s, not %s [SW-204]", item->what ? item->what : item->key,
                   form_name(form_of(item->value)), form_name(found));
    struct change change = {index, item->key, values[i], false};
    assert_item_error(mapping, change, true, sw_text_string(&words), found == 'w' ? 3 : 1);
  }
}

static void wrong_forms(void** state) {
  (void)state;
  each_item(try_forms);
}

/* A list or a mapping that was forgotten below its key. */
static void try_empty(const struct mapping* mapping, size_t index, const struct item* item) {
  if (form_of(item->value) == 'w') return;
  TEXT(words);
  sw_text_printf(&words, "%s must be %s, not empty [SW-204]", item->key, form_name(form_of(item->value)));
  assert_item_error(mapping, (struct change){index, item->key, "", false}, true, sw_text_string(&words), 1);
}

static void empty_forms(void** state) {
  (void)state;
  each_item(try_empty);
}

/* A key that is near to none, one in another case, and keys that are no words: each in every mapping. */
static void unknown(void** state) {
  (void)state;
  static const struct {
    const char *name, *takes;
  } takes[] = {
      {"profile", "sizewise, name, provenance, match, policy, tables, rules"},
      {"provenance", "kind, source, note, date, tool, gpu, network, nccl, cuda, driver, settings"},
      {"match", "gpu, compute, arch, net, net_gbps, nvlink_domains, nccl, driver"},
      {"policy", "min_gain, reach, gap, max_extra_memory"},
      {"table", "collective, nodes, ranks, points"},
      {"point", "bytes, times"},
      {"time", "choice, algo, proto, channels, median, samples, spread, settings, ran, memory, excluded"},
      {"rule", "collective, bytes, nodes, ranks, choice, algo, proto, channels"},
  };
  for (size_t m = 0; m < COUNT(mappings); m++) {
    struct mapping more = mappings[m];
    size_t count = count_items(&more);
    if (count == COUNT(more.items)) fail_msg("no room for one more item");
    more.items[count] = (struct item){"wxyzwxyz", "1", NULL, NULL};
    size_t t = 0;
    while (strcmp(takes[t].name, more.name) != 0) t++;
    TEXT(words);
    sw_text_printf(&words, "unknown key 'wxyzwxyz' in a %s, which takes: %s [SW-201]", more.name, takes[t].takes);
    assert_item_error(&more, (struct change){count, "wxyzwxyz", "1", false}, false, sw_text_string(&words), 0);
    assert_item_error(&more, (struct change){count, "[a]", "1", false}, false,
                      "a key must be a single value, not a list [SW-204]", 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unchanged), cmocka_unit_test(misspelt),    cmocka_unit_test(twice),
      cmocka_unit_test(missing),   cmocka_unit_test(wrong_forms), cmocka_unit_test(empty_forms),
      cmocka_unit_test(unknown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
