/*
 * Reading a tree into structs: a mapping is described by a table of fields, and one function does for all of them
 * what every mapping needs (unknown keys with the nearest known one, keys given twice, keys that are missing).
 */
#ifndef SW_FIELDS_H
#define SW_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ground/arena.h"
#include "ground/diag.h"
#include "ground/names.h"
#include "ground/number.h"
#include "ground/tree.h"

struct sw_reader {
  struct sw_arena* arena; /* the profile's; the tree is freed once it was read */
  struct sw_diags* diags;
};

/* Reads one value into the struct that its mapping fills; reports what is wrong with it. */
typedef void (*sw_field_read)(struct sw_reader* reader, const struct sw_node* value, void* out);

struct sw_field {
  const char* key;
  sw_field_read read;
  bool required;
};

struct sw_fields {
  const char* what; /* what the mapping is, for messages: "table" */
  const struct sw_field* items;
  size_t count; /* at most 32 */
};

/* Reads a mapping into `out`, field by field. */
void sw_read_fields(struct sw_reader* reader, const struct sw_node* node, const struct sw_fields* fields, void* out);

/* True for a node of this form; otherwise reports what `what` has to be. */
bool sw_expect(struct sw_reader* reader, const struct sw_node* node, enum sw_node_form form, const char* what);

/* Copies a word from the tree to the profile; false, with a report, when there is no memory. */
bool sw_keep_word(struct sw_reader* reader, const struct sw_node* node, const char** out);

/* Values. Each reports what is wrong and then leaves `out` as it was; `what` names the value in messages. */
bool sw_value_text(struct sw_reader* reader, const struct sw_node* node, const char* what, const char** out);
bool sw_value_name(struct sw_reader* reader, const struct sw_node* node, const char* what, const char** out);
bool sw_value_from(struct sw_reader* reader, const struct sw_node* node, const struct sw_vocabulary* words, int* out);
bool sw_value_whole(struct sw_reader* reader, const struct sw_node* node, const char* what, uint64_t least,
                    uint64_t most, uint64_t* out);
bool sw_value_size(struct sw_reader* reader, const struct sw_node* node, const char* what, const char* word,
                   size_t length, uint64_t* out);
bool sw_value_time(struct sw_reader* reader, const struct sw_node* node, const char* what, uint64_t* out);
bool sw_value_fraction(struct sw_reader* reader, const struct sw_node* node, const char* what, int64_t least,
                       int64_t most, int64_t* out);

/* Zeroed memory for a list's items; NULL, with a report, when there is none. */
void* sw_read_array(struct sw_reader* reader, const struct sw_node* list, size_t size);

#endif
