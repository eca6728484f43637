/* The parts of the reader, from the profile down: read.c, read_tables.c, read_choice.c. Used by them alone, but for
   sw_read_settings, which workloads have, too. */
#ifndef SW_READ_H
#define SW_READ_H

#include "profile/fields.h"
#include "profile/profile.h"

/* `out` of all of these: see the struct that their field belongs to. */
void sw_read_tables(struct sw_reader* reader, const struct sw_node* node, void* profile);
void sw_read_rules(struct sw_reader* reader, const struct sw_node* node, void* profile);
void sw_read_settings(struct sw_reader* reader, const struct sw_node* node, void* settings);

/* A choice while its mapping is read: which of its keys were there. */
struct sw_choice_draft {
  struct sw_choice choice;
  bool named_auto;
  bool named_other; /* algo, proto or channels; "auto" as their value counts, too */
};
#define SW_CHOICE_DRAFT ((struct sw_choice_draft){SW_AUTO, false, false})

/* The fields of a choice; the draft has to be the first member of the struct that the mapping fills. */
#define SW_CHOICE_FIELDS                                                                             \
  {"choice", sw_read_auto, false}, {"algo", sw_read_algo, false}, {"proto", sw_read_proto, false}, { \
    "channels", sw_read_channels, false                                                              \
  }
void sw_read_auto(struct sw_reader* reader, const struct sw_node* node, void* draft);
void sw_read_algo(struct sw_reader* reader, const struct sw_node* node, void* draft);
void sw_read_proto(struct sw_reader* reader, const struct sw_node* node, void* draft);
void sw_read_channels(struct sw_reader* reader, const struct sw_node* node, void* draft);

/* Reports a mapping, good so far, that named no choice, or auto and something else. */
void sw_check_draft(struct sw_reader* reader, const struct sw_node* node, const struct sw_choice_draft* draft);

/* Warns of a choice that NCCL never offers for the collective. */
void sw_check_possible(struct sw_reader* reader, struct sw_place place, int collective, struct sw_choice choice);

#endif
