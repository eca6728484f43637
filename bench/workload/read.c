#include <stdlib.h>
#include <string.h>

#include "ground/letters.h"
#include "nccl_tuner.h"
#include "profile/read.h"
#include "workload/workload.h"

enum { MOST_RANKS = 1000000, MOST_CALLS = 1000000000 };
enum { WORKLOAD_VERSION = 1 };
#define MOST_TOKENS UINT64_C(1000000000000)
#define PS_PER_SECOND 1e12

/* --- provenance -------------------------------------------------------------------------------------------------- */

static void read_kind(struct sw_reader* reader, const struct sw_node* node, void* out) {
  int kind;
  if (sw_value_from(reader, node, &sw_kinds, &kind)) ((struct workload*)out)->kind = sw_value_word(&sw_kinds, kind);
}

static void read_source(struct sw_reader* reader, const struct sw_node* node, void* out) {
  sw_value_text(reader, node, "source", &((struct workload*)out)->source);
}

static void read_note(struct sw_reader* reader, const struct sw_node* node, void* out) {
  sw_value_text(reader, node, "note", &((struct workload*)out)->note);
}

static const struct sw_field provenance_fields[] = {
    {"kind", read_kind, false}, {"source", read_source, false}, {"note", read_note, false}};

static void read_provenance(struct sw_reader* reader, const struct sw_node* node, void* out) {
  static const struct sw_fields mapping = {"provenance", provenance_fields, 3};
  sw_read_fields(reader, node, &mapping, out);
}

/* --- the step ---------------------------------------------------------------------------------------------------- */

struct step_draft {
  struct workload_step step;
  uint64_t time_ps;
  double rate; /* tokens a second */
};

static void read_what(struct sw_reader* reader, const struct sw_node* node, void* out) {
  sw_value_text(reader, node, "what", &((struct step_draft*)out)->step.what);
}

/* A number above 0, whole or not: a step of speculative decoding yields 2.7 tokens. */
static void read_number(struct sw_reader* reader, const struct sw_node* node, double* out) {
  const char* what = node->key->word;
  uint64_t whole = 0;
  int64_t fraction = 0;
  if (!sw_expect(reader, node, SW_NODE_WORD, what)) return;
  bool percent = memchr(node->word, '%', node->length) != NULL;
  enum sw_number_fault fault = sw_read_whole(node->word, node->length, MOST_TOKENS, &whole);
  if (fault == SW_NUMBER_NOT_WHOLE || fault == SW_NUMBER_OUT_OF_RANGE) {
    fault = sw_read_fraction(node->word, node->length, &fraction);
  }
  double number = (double)whole + (double)fraction / (double)SW_ONE;
  if (percent || fault == SW_NUMBER_MALFORMED)
    sw_report(reader->diags, SW_BAD_NUMBER, node->place, "%s '%.40s' is not understood; write 8192 or 27.3", what,
              node->word);
  else if (fault || number <= 0)
    sw_report(reader->diags, SW_OUT_OF_RANGE, node->place, "%s '%.40s' is out of range; write 8192 or 27.3, above 0",
              what, node->word);
  else
    *out = number;
}

static void read_tokens(struct sw_reader* reader, const struct sw_node* node, void* out) {
  read_number(reader, node, &((struct step_draft*)out)->step.tokens);
}

static void read_rate(struct sw_reader* reader, const struct sw_node* node, void* out) {
  read_number(reader, node, &((struct step_draft*)out)->rate);
}

static void read_time(struct sw_reader* reader, const struct sw_node* node, void* out) {
  sw_value_time(reader, node, "time", &((struct step_draft*)out)->time_ps);
}

static void read_under(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct workload_step* step = &((struct step_draft*)out)->step;
  struct sw_settings settings = {0};
  sw_read_settings(reader, node, &settings);
  struct workload_setting* under = sw_arena_allocate(reader->arena, settings.count + 1, sizeof *under);
  if (!under) {
    sw_report(reader->diags, SW_NO_MEMORY, node->place, "out of memory");
    return;
  }
  for (size_t i = 0; i < settings.count; i++)
    under[i] = (struct workload_setting){settings.items[i].name, settings.items[i].value};
  step->under = under;
  step->under_count = settings.count;
}

static const struct sw_field step_fields[] = {{"what", read_what, false},
                                              {"tokens", read_tokens, false},
                                              {"rate", read_rate, false},
                                              {"time", read_time, false},
                                              {"under", read_under, true}};
static const struct sw_fields step_mapping = {"step", step_fields, sizeof step_fields / sizeof step_fields[0]};

/* The step's time, which its keys give in one way or the other. */
static void check_step(struct sw_reader* reader, const struct sw_node* node, struct step_draft* draft) {
  double tokens = draft->step.tokens;
  if (draft->time_ps && draft->rate > 0) {
    sw_report(reader->diags, SW_CONFLICT, node->place,
              "'time' and 'rate' say the same thing twice; keep one (time is tokens / rate)");
  } else if (draft->rate > 0 && tokens <= 0) {
    sw_report(reader->diags, SW_KEY_MISSING, node->place,
              "key 'tokens' is missing in this step: 'rate' is tokens a second");
  } else if (!draft->time_ps && draft->rate <= 0) {
    sw_report(reader->diags, SW_KEY_MISSING, node->place,
              "key 'time' is missing in this step; or write 'tokens' and 'rate'");
  } else if (draft->rate > 0) {
    double ps = tokens / draft->rate * PS_PER_SECOND;
    draft->time_ps = ps <= (double)SW_LONGEST_PS ? (uint64_t)(ps + 0.5) : 0;
    if (!draft->time_ps)
      sw_report(reader->diags, SW_OUT_OF_RANGE, node->place,
                "tokens / rate is the time of a step: above 0, an hour at most");
  }
  draft->step.seconds = (double)draft->time_ps / PS_PER_SECOND;
}

static void read_step(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct step_draft draft = {.step = {.known = true}};
  unsigned errors = reader->diags->errors;
  sw_read_fields(reader, node, &step_mapping, &draft);
  if (reader->diags->errors == errors) check_step(reader, node, &draft);
  ((struct workload*)out)->step = draft.step;
}

/* --- collectives ------------------------------------------------------------------------------------------------- */

/* What NCCL offers and never asks a tuner about; compared without regard to case and signs. */
static bool is_unseen(const struct sw_node* node) {
  static const char* const unseen[] = {"send",     "recv",      "receive", "sendrecv", "sendreceive",
                                       "alltoall", "alltoallv", "gather",  "scatter",  "barrier"};
  char letters[16];
  size_t count = 0;
  for (size_t i = 0; i < node->length && count + 1 < sizeof letters; i++)
    if (!strchr("_-/ +", node->word[i])) letters[count++] = node->word[i];
  letters[count] = '\0';
  for (size_t i = 0; i < sizeof unseen / sizeof unseen[0]; i++)
    if (sw_same_word(letters, unseen[i])) return true;
  return false;
}

static void read_collective(struct sw_reader* reader, const struct sw_node* node, void* out) {
  if (node->form == SW_NODE_WORD && is_unseen(node))
    sw_report(reader->diags, SW_UNKNOWN_WORD, node->place,
              "NCCL never asks a tuner about '%.40s': there is nothing to choose for it; leave the entry out",
              node->word);
  else
    sw_value_from(reader, node, &sw_collectives, &((struct workload_calls*)out)->collective);
}

static void read_bytes(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct workload_calls* calls = out;
  if (!sw_expect(reader, node, SW_NODE_WORD, "bytes")) return;
  if (sw_value_size(reader, node, "bytes", node->word, node->length, &calls->bytes) && calls->bytes == 0)
    sw_report(reader->diags, SW_OUT_OF_RANGE, node->place, "bytes must be at least 1");
}

static void read_count(struct sw_reader* reader, const struct sw_node* node, void* out) {
  sw_value_whole(reader, node, "count", 1, MOST_CALLS, &((struct workload_calls*)out)->count);
}

static const struct sw_field calls_fields[] = {
    {"collective", read_collective, false}, {"bytes", read_bytes, true}, {"count", read_count, true}};
static const struct sw_fields calls_mapping = {"collective", calls_fields, 3};

static void read_collectives(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct workload* workload = out;
  if (!sw_expect(reader, node, SW_NODE_LIST, "collectives")) return;
  struct workload_calls* calls = sw_read_array(reader, node, sizeof *calls);
  if (!calls) return;
  size_t count = 0;
  struct sw_walk walk = sw_walk_into(node);
  while (!sw_diags_full(reader->diags) && sw_walk_next(&walk)) {
    calls[count] = (struct workload_calls){.collective = WORKLOAD_ANY_COLLECTIVE, .place = walk.value.place};
    sw_read_fields(reader, &walk.value, &calls_mapping, &calls[count++]);
  }
  if (!count)
    sw_report(reader->diags, SW_NOTHING_INSIDE, node->place, "the workload has no collectives: nothing to choose for");
  workload->calls = calls;
  workload->call_count = count;
}

/* --- the workload ------------------------------------------------------------------------------------------------ */

static void read_version(struct sw_reader* reader, const struct sw_node* node, void* out) {
  (void)out;
  uint64_t version = 0;
  bool read = node->form == SW_NODE_WORD && sw_read_whole(node->word, node->length, UINT64_MAX, &version) == 0;
  if (!read || version != WORKLOAD_VERSION)
    sw_report(reader->diags, SW_WRONG_VERSION, node->place, "this release reads workloads of 'workload: %d' alone",
              WORKLOAD_VERSION);
}

static void read_name(struct sw_reader* reader, const struct sw_node* node, void* out) {
  sw_value_name(reader, node, "name", &((struct workload*)out)->name);
}

static void read_profile_name(struct sw_reader* reader, const struct sw_node* node, void* out) {
  sw_value_text(reader, node, "profile", &((struct workload*)out)->profile);
}

static void read_nodes(struct sw_reader* reader, const struct sw_node* node, void* out) {
  uint64_t nodes;
  if (sw_value_whole(reader, node, "nodes", 1, MOST_RANKS, &nodes)) ((struct workload*)out)->nodes = (uint32_t)nodes;
}

static void read_ranks(struct sw_reader* reader, const struct sw_node* node, void* out) {
  uint64_t ranks;
  if (sw_value_whole(reader, node, "ranks", 1, MOST_RANKS, &ranks)) ((struct workload*)out)->ranks = (uint32_t)ranks;
}

static const struct sw_field workload_fields[] = {
    {"workload", read_version, true},
    {"name", read_name, true},
    {"provenance", read_provenance, false},
    {"profile", read_profile_name, false},
    {"nodes", read_nodes, false},
    {"ranks", read_ranks, false},
    {"step", read_step, false},
    {"collectives", read_collectives, true},
};

/* Which of the two formats a mapping is, by its keys. */
static void find_format(const struct sw_node* root, bool* workload, bool* profile) {
  *workload = *profile = false;
  if (root->form != SW_NODE_MAP) return;
  struct sw_walk walk = sw_walk_into(root);
  while (sw_walk_next(&walk)) {
    if (walk.key.form != SW_NODE_WORD) continue;
    *workload = *workload || strcmp(walk.key.word, "workload") == 0;
    *profile = *profile || strcmp(walk.key.word, "sizewise") == 0;
  }
}

static void read_root(struct sw_reader* reader, const struct sw_node* root, struct workload* out) {
  static const struct sw_fields mapping = {"workload", workload_fields,
                                           sizeof workload_fields / sizeof workload_fields[0]};
  bool workload;
  bool profile;
  find_format(root, &workload, &profile);
  if (profile && !workload) {
    sw_report(reader->diags, SW_UNKNOWN_KEY, root->place, "this is a profile (key 'sizewise'), no workload");
    return;
  }
  sw_read_fields(reader, root, &mapping, out);
  if (out->nodes && out->ranks && out->nodes > out->ranks)
    sw_report(reader->diags, SW_OUT_OF_RANGE, root->place, "%u nodes cannot hold %u ranks: each node has at least one",
              out->nodes, out->ranks);
}

bool workload_read(struct sw_arena* arena, const char* text, size_t length, struct sw_diags* diags,
                   struct workload* out) {
  struct sw_reader reader = {arena, diags};
  struct sw_arena tree = SW_ARENA_EMPTY;
  struct sw_node root;
  memset(out, 0, sizeof *out);
  if (sw_tree_read(&tree, text, length, diags, &root)) read_root(&reader, &root, out);
  sw_arena_free(&tree);
  return !diags->errors;
}

bool workload_recognise(const char* text, size_t length) {
  struct sw_arena tree = SW_ARENA_EMPTY;
  struct sw_diags* unsaid = calloc(1, sizeof *unsaid);
  struct sw_node root;
  bool workload = false;
  bool profile = false;
  if (unsaid) sw_diags_start(unsaid, "");
  if (unsaid && sw_tree_read(&tree, text, length, unsaid, &root)) find_format(&root, &workload, &profile);
  sw_arena_free(&tree);
  free(unsaid);
  return workload && !profile;
}
