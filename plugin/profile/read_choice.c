#include <stdlib.h>
#include <string.h>

#include "ground/letters.h"
#include "nccl_tuner.h"
#include "profile/read.h"

void sw_read_auto(struct sw_reader* reader, const struct sw_node* node, void* out) {
  static const struct sw_word words[] = {{"auto", 0}};
  static const struct sw_vocabulary choices = {"choice", words, 1};
  struct sw_choice_draft* draft = out;
  int value;
  draft->named_auto = true;
  sw_value_from(reader, node, &choices, &value);
}

/* "auto" as an algorithm or a protocol says what leaving the key out says. */
static bool says_auto(const struct sw_node* node) {
  return node->form == SW_NODE_WORD && node->length == 4 && sw_same_letters(node->word, "auto", 4);
}

void sw_read_algo(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct sw_choice_draft* draft = out;
  int value;
  draft->named_other = true;
  if (!says_auto(node) && sw_value_from(reader, node, &sw_algorithms, &value)) draft->choice.algo = (int8_t)value;
}

void sw_read_proto(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct sw_choice_draft* draft = out;
  int value;
  draft->named_other = true;
  if (!says_auto(node) && sw_value_from(reader, node, &sw_protocols, &value)) draft->choice.proto = (int8_t)value;
}

void sw_read_channels(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct sw_choice_draft* draft = out;
  uint64_t value;
  draft->named_other = true;
  if (sw_value_whole(reader, node, "channels", 1, NCCL_MAX_CHANNELS, &value)) draft->choice.channels = (uint8_t)value;
}

void sw_check_draft(struct sw_reader* reader, const struct sw_node* node, const struct sw_choice_draft* draft) {
  if (node->form != SW_NODE_MAP) return;
  if (draft->named_auto && draft->named_other)
    sw_report(reader->diags, SW_NO_CHOICE, node->place,
              "'choice: auto' leaves everything to NCCL; algo, proto and channels cannot stand beside it");
  if (!draft->named_auto && !draft->named_other)
    sw_report(reader->diags, SW_NO_CHOICE, node->place,
              "no choice is named: write 'choice: auto', or algo, proto or channels");
}

void sw_check_possible(struct sw_reader* reader, struct sw_place place, int collective, struct sw_choice choice) {
  if (sw_choice_possible(collective, choice.algo, choice.proto)) return;
  struct sw_text text = SW_TEXT_EMPTY;
  sw_add_choice(&text, choice);
  sw_report(reader->diags, SW_NEVER_APPLIES, place, "NCCL never offers %s for %s; the entry is never used",
            sw_text_string(&text), sw_value_word(&sw_collectives, collective));
  sw_text_free(&text);
}

static bool is_variable_name(const struct sw_node* key) {
  if (key->form != SW_NODE_WORD || key->length == 0 || key->length > 64) return false;
  for (size_t i = 0; i < key->length; i++) {
    char c = key->word[i];
    bool digit = c >= '0' && c <= '9';
    if (!((c >= 'A' && c <= 'Z') || c == '_' || (digit && i > 0))) return false;
  }
  return true;
}

static int compare_names(const void* a, const void* b) {
  return strcmp(((const struct sw_setting*)a)->name, ((const struct sw_setting*)b)->name);
}

/* Bounds the search for names given twice; no program has as many NCCL settings. */
enum { MOST_SETTINGS = 64 };

void sw_read_settings(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct sw_settings* settings = out;
  if (!sw_expect(reader, node, SW_NODE_MAP, "settings")) return;
  if (node->values > MOST_SETTINGS) {
    sw_report(reader->diags, SW_TOO_DEEP, node->place, "more than %d settings", MOST_SETTINGS);
    return;
  }
  struct sw_setting* items = sw_read_array(reader, node, sizeof *items);
  if (!items) return;
  size_t count = 0;
  struct sw_walk walk = sw_walk_into(node);
  while (!sw_diags_full(reader->diags) && sw_walk_next(&walk)) {
    struct sw_setting item = {0};
    if (!is_variable_name(&walk.key)) {
      sw_report(reader->diags, SW_BAD_NAME, walk.key.place, "settings are environment variables such as NCCL_BUFFSIZE");
    } else if (sw_keep_word(reader, &walk.key, &item.name) &&
               sw_value_text(reader, &walk.value, item.name, &item.value)) {
      for (size_t i = 0; i < count; i++)
        if (strcmp(items[i].name, item.name) == 0)
          sw_report(reader->diags, SW_KEY_TWICE, walk.key.place, "key '%s' is given twice", item.name);
      items[count++] = item;
    }
  }
  qsort(items, count, sizeof *items, compare_names);
  *settings = (struct sw_settings){items, count};
}
