/*
 * Rules in the column order of NCCL's example tuner:
 *
 *     collective,min_bytes,max_bytes,algorithm,protocol,channels,nodes,ranks[,pipe_ops[,reg_buff]]
 *
 * Bytes are inclusive at both ends, and 4294967295 means no end; -1 as channels leaves them to NCCL, as nodes or ranks
 * it stands for any. The first rule that fits counts, there as here. What that tuner reads as something else in silence
 * (a misspelt name, a missing field) is an error here.
 */
#ifndef SW_IMPORT_RULES_H
#define SW_IMPORT_RULES_H

#include "ground/diag.h"
#include "import/lines.h"
#include "profile/profile.h"

struct rule_list {
  struct sw_rule* items; /* `place` is that in its file */
  size_t count;
  size_t room;
  bool failed; /* memory ran out */
};

struct rules {
  struct sw_diags* diags;
  struct rule_list list;
  bool said_blanks; /* once a file */
  bool said_case;
  bool said_buffers;
};

/* Begins a file; the rules of earlier ones stay. */
void rules_start_file(struct rules* rules, struct sw_diags* diags);
void rules_line(struct rules* rules, const struct line* line);
void rules_free(struct rules* rules);

/* Whether a line could be such a rule, or their header: a collective's name, nearly one, or "collective" before a
   comma. */
bool rules_recognise(const struct line* line);

#endif
