#include "profile/fields.h"

#include <string.h>

#include "ground/nearest.h"

static const char* const form_names[] = {
    [SW_NODE_WORD] = "a single value", [SW_NODE_LIST] = "a list", [SW_NODE_MAP] = "a mapping (key: value)"};

bool sw_expect(struct sw_reader* reader, const struct sw_node* node, enum sw_node_form form, const char* what) {
  if (node->form == form) return true;
  bool empty = node->form == SW_NODE_WORD && node->length == 0;
  sw_report(reader->diags, SW_WRONG_SHAPE, node->place, "%s must be %s, not %s", what, form_names[form],
            empty ? "empty" : form_names[node->form]);
  return false;
}

static int find_field(const struct sw_fields* fields, const char* key, size_t length) {
  for (size_t i = 0; i < fields->count; i++)
    if (strlen(fields->items[i].key) == length && memcmp(fields->items[i].key, key, length) == 0) return (int)i;
  return -1;
}

/* Returns the bit of the field that was probably meant, so that it is not reported as missing, too. */
static uint32_t report_unknown_key(struct sw_reader* reader, const struct sw_node* key,
                                   const struct sw_fields* fields) {
  struct sw_nearest nearest = sw_nearest_start(key->word, key->length);
  for (size_t i = 0; i < fields->count; i++) sw_nearest_offer(&nearest, fields->items[i].key);
  if (nearest.best) {
    sw_report(reader->diags, SW_UNKNOWN_KEY, key->place, "unknown key '%.40s' in a %s; did you mean '%s'?", key->word,
              fields->what, nearest.best);
    int meant = find_field(fields, nearest.best, strlen(nearest.best));
    return meant < 0 ? 0 : 1u << meant;
  }
  struct sw_text known = SW_TEXT_EMPTY;
  for (size_t i = 0; i < fields->count; i++) sw_text_printf(&known, "%s%s", i ? ", " : "", fields->items[i].key);
  sw_report(reader->diags, SW_UNKNOWN_KEY, key->place, "unknown key '%.40s' in a %s, which takes: %s", key->word,
            fields->what, sw_text_string(&known));
  sw_text_free(&known);
  return 0;
}

static void report_missing(struct sw_reader* reader, const struct sw_node* node, const struct sw_fields* fields,
                           uint32_t seen) {
  for (size_t i = 0; i < fields->count; i++)
    if (fields->items[i].required && !(seen & (1u << i)))
      sw_report(reader->diags, SW_KEY_MISSING, node->place, "key '%s' is missing in this %s", fields->items[i].key,
                fields->what);
}

void sw_read_fields(struct sw_reader* reader, const struct sw_node* node, const struct sw_fields* fields, void* out) {
  if (!sw_expect(reader, node, SW_NODE_MAP, fields->what)) return;
  uint32_t seen = 0;
  uint32_t meant = 0;
  struct sw_walk walk = sw_walk_into(node);
  while (!sw_diags_full(reader->diags) && sw_walk_next(&walk)) {
    if (!sw_expect(reader, &walk.key, SW_NODE_WORD, "a key")) continue;
    int index = find_field(fields, walk.key.word, walk.key.length);
    if (index < 0) {
      meant |= report_unknown_key(reader, &walk.key, fields);
      continue;
    }
    uint32_t bit = 1u << index;
    if (seen & bit)
      sw_report(reader->diags, SW_KEY_TWICE, walk.key.place, "key '%s' is given twice", walk.key.word);
    else
      fields->items[index].read(reader, &walk.value, out);
    seen |= bit;
  }
  report_missing(reader, node, fields, seen | meant);
}

bool sw_keep_word(struct sw_reader* reader, const struct sw_node* node, const char** out) {
  const char* copy = sw_arena_copy(reader->arena, node->word, node->length);
  if (!copy) sw_report(reader->diags, SW_NO_MEMORY, node->place, "out of memory");
  if (copy) *out = copy;
  return copy != NULL;
}

bool sw_value_text(struct sw_reader* reader, const struct sw_node* node, const char* what, const char** out) {
  if (!sw_expect(reader, node, SW_NODE_WORD, what)) return false;
  if (node->length == 0 || strlen(node->word) != node->length) {
    sw_report(reader->diags, SW_WRONG_SHAPE, node->place, "%s must be a text that %s", what,
              node->length ? "holds no NUL character" : "is not empty");
    return false;
  }
  return sw_keep_word(reader, node, out);
}

bool sw_value_name(struct sw_reader* reader, const struct sw_node* node, const char* what, const char** out) {
  enum { LONGEST_NAME = 64 };
  const char* name;
  if (!sw_value_text(reader, node, what, &name)) return false;
  static const char known[] = "._-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  bool good = node->length <= LONGEST_NAME && !strchr("._-", name[0]) && strspn(name, known) == node->length;
  if (!good) {
    sw_report(reader->diags, SW_BAD_NAME, node->place,
              "%s '%.64s' may hold letters, digits, '.', '_' and '-', %d at most, and begins with a letter or digit",
              what, name, LONGEST_NAME);
    return false;
  }
  *out = name;
  return true;
}

bool sw_value_from(struct sw_reader* reader, const struct sw_node* node, const struct sw_vocabulary* words, int* out) {
  if (!sw_expect(reader, node, SW_NODE_WORD, words->what)) return false;
  int value = sw_word_value(words, node->word, node->length);
  if (value >= 0) {
    *out = value;
    return true;
  }
  const char* nearest = sw_nearest_word(words, node->word, node->length);
  if (nearest) {
    sw_report(reader->diags, SW_UNKNOWN_WORD, node->place, "unknown %s '%.40s'; did you mean '%s'?", words->what,
              node->word, nearest);
    return false;
  }
  struct sw_text known = SW_TEXT_EMPTY;
  for (size_t i = 0; i < words->count; i++) sw_text_printf(&known, "%s%s", i ? ", " : "", words->words[i].word);
  sw_report(reader->diags, SW_UNKNOWN_WORD, node->place, "unknown %s '%.40s'; it is one of: %s", words->what,
            node->word, sw_text_string(&known));
  sw_text_free(&known);
  return false;
}

static const struct {
  enum sw_code code;
  const char* text;
} faults[] = {
    [SW_NUMBER_MALFORMED] = {SW_BAD_NUMBER, "is not understood; write"},
    [SW_NUMBER_NO_UNIT] = {SW_BAD_NUMBER, "has no unit; write"},
    [SW_NUMBER_DECIMAL_UNIT] = {SW_DECIMAL_UNIT, "has a unit that means 1000 to some and 1024 to others; write"},
    [SW_NUMBER_NOT_WHOLE] = {SW_BAD_NUMBER, "is no whole number; write"},
    [SW_NUMBER_OUT_OF_RANGE] = {SW_OUT_OF_RANGE, "is out of range; write"},
};

static bool report_number(struct sw_reader* reader, const struct sw_node* node, const char* what, const char* word,
                          size_t length, enum sw_number_fault fault, const char* form) {
  if (!fault) return true;
  sw_report(reader->diags, faults[fault].code, node->place, "%s '%.*s' %s %s", what, (int)(length < 40 ? length : 40),
            word, faults[fault].text, form);
  return false;
}

/* Bounds with as many decimals as the value's fixed point has. */
static bool report_bounds(struct sw_reader* reader, const struct sw_node* node, const char* what, uint64_t least,
                          uint64_t most, unsigned decimals) {
  struct sw_text bounds = SW_TEXT_EMPTY;
  sw_add_fixed(&bounds, least, decimals);
  sw_text_add(&bounds, " to ");
  sw_add_fixed(&bounds, most, decimals);
  sw_report(reader->diags, SW_OUT_OF_RANGE, node->place, "%s '%.40s' is out of range: %s", what, node->word,
            sw_text_string(&bounds));
  sw_text_free(&bounds);
  return false;
}

bool sw_value_whole(struct sw_reader* reader, const struct sw_node* node, const char* what, uint64_t least,
                    uint64_t most, uint64_t* out) {
  if (!sw_expect(reader, node, SW_NODE_WORD, what)) return false;
  uint64_t value;
  enum sw_number_fault fault = sw_read_whole(node->word, node->length, UINT64_MAX, &value);
  if (fault && fault != SW_NUMBER_OUT_OF_RANGE)
    return report_number(reader, node, what, node->word, node->length, fault, "a whole number such as 8");
  if (fault || value < least || value > most) return report_bounds(reader, node, what, least, most, 0);
  *out = value;
  return true;
}

bool sw_value_size(struct sw_reader* reader, const struct sw_node* node, const char* what, const char* word,
                   size_t length, uint64_t* out) {
  enum sw_number_fault fault = sw_read_size(word, length, out);
  return report_number(reader, node, what, word, length, fault, "12288, 12K or 12KiB (1024s), 1 EiB at most");
}

bool sw_value_time(struct sw_reader* reader, const struct sw_node* node, const char* what, uint64_t* out) {
  if (!sw_expect(reader, node, SW_NODE_WORD, what)) return false;
  enum sw_number_fault fault = sw_read_time(node->word, node->length, out);
  return report_number(reader, node, what, node->word, node->length, fault,
                       "76us, 1.14ms or 2s, above 0, an hour at most");
}

bool sw_value_fraction(struct sw_reader* reader, const struct sw_node* node, const char* what, int64_t least,
                       int64_t most, int64_t* out) {
  if (!sw_expect(reader, node, SW_NODE_WORD, what)) return false;
  int64_t value;
  enum sw_number_fault fault = sw_read_fraction(node->word, node->length, &value);
  if (fault && fault != SW_NUMBER_OUT_OF_RANGE)
    return report_number(reader, node, what, node->word, node->length, fault, "3%, 0.03 or 1.5");
  if (fault || value < least || value > most)
    return report_bounds(reader, node, what, (uint64_t)least, (uint64_t)most, 8);
  *out = value;
  return true;
}

void* sw_read_array(struct sw_reader* reader, const struct sw_node* list, size_t size) {
  void* memory = sw_arena_allocate(reader->arena, list->values ? list->values : 1, size);
  if (!memory) sw_report(reader->diags, SW_NO_MEMORY, list->place, "out of memory");
  return memory;
}
