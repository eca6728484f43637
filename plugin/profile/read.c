#include "profile/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/file.h"
#include "ground/letters.h"

const struct sw_policy sw_policy_default = {
    .min_gain = 3 * SW_ONE / 100, .reach = 2 * SW_ONE, .gap = 10 * SW_ONE, .max_extra_memory = UINT64_MAX};

static const struct sw_word provenance_words[] = {
    {"source", SW_PROVENANCE_SOURCE}, {"note", SW_PROVENANCE_NOTE}, {"date", SW_PROVENANCE_DATE},
    {"tool", SW_PROVENANCE_TOOL},     {"gpu", SW_PROVENANCE_GPU},   {"network", SW_PROVENANCE_NETWORK},
    {"nccl", SW_PROVENANCE_NCCL},     {"cuda", SW_PROVENANCE_CUDA}, {"driver", SW_PROVENANCE_DRIVER},
};
const struct sw_vocabulary sw_provenance_keys = {"provenance key", provenance_words, SW_PROVENANCE_COUNT};

static const struct sw_word match_words[] = {
    {"gpu", SW_MATCH_GPU},   {"compute", SW_MATCH_COMPUTE},   {"arch", SW_MATCH_ARCH},
    {"net", SW_MATCH_NET},   {"net_gbps", SW_MATCH_NET_GBPS}, {"nvlink_domains", SW_MATCH_NVLINK_DOMAINS},
    {"nccl", SW_MATCH_NCCL}, {"driver", SW_MATCH_DRIVER},
};
const struct sw_vocabulary sw_match_keys = {"match key", match_words, SW_MATCH_COUNT};

/* A text of a vocabulary-keyed array: the value's own key says which. */
static void read_keyed(struct sw_reader* reader, const struct sw_node* node, const struct sw_vocabulary* keys,
                       const char** texts) {
  int key = sw_word_value(keys, node->key->word, node->key->length);
  if (key >= 0) sw_value_text(reader, node, node->key->word, &texts[key]);
}

static void read_provenance_text(struct sw_reader* reader, const struct sw_node* node, void* out) {
  read_keyed(reader, node, &sw_provenance_keys, ((struct sw_profile*)out)->provenance);
}

static void read_kind(struct sw_reader* reader, const struct sw_node* node, void* out) {
  int kind;
  if (sw_value_from(reader, node, &sw_kinds, &kind)) ((struct sw_profile*)out)->kind = (enum sw_kind)kind;
}

static void read_profile_settings(struct sw_reader* reader, const struct sw_node* node, void* out) {
  sw_read_settings(reader, node, &((struct sw_profile*)out)->settings);
}

static const struct sw_field provenance_fields[] = {
    {"kind", read_kind, true},
    {"source", read_provenance_text, true},
    {"note", read_provenance_text, false},
    {"date", read_provenance_text, false},
    {"tool", read_provenance_text, false},
    {"gpu", read_provenance_text, false},
    {"network", read_provenance_text, false},
    {"nccl", read_provenance_text, false},
    {"cuda", read_provenance_text, false},
    {"driver", read_provenance_text, false},
    {"settings", read_profile_settings, false},
};

static void read_provenance(struct sw_reader* reader, const struct sw_node* node, void* out) {
  static const struct sw_fields mapping = {"provenance", provenance_fields,
                                           sizeof provenance_fields / sizeof provenance_fields[0]};
  sw_read_fields(reader, node, &mapping, out);
}

static void read_match_text(struct sw_reader* reader, const struct sw_node* node, void* out) {
  read_keyed(reader, node, &sw_match_keys, ((struct sw_profile*)out)->match);
}

static void read_match_net(struct sw_reader* reader, const struct sw_node* node, void* out) {
  int net;
  if (sw_value_from(reader, node, &sw_nets, &net))
    ((struct sw_profile*)out)->match[SW_MATCH_NET] = sw_value_word(&sw_nets, net);
}

static void read_match_whole(struct sw_reader* reader, const struct sw_node* node, void* out) {
  uint64_t value;
  if (sw_value_whole(reader, node, node->key->word, 1, 1000000, &value)) read_match_text(reader, node, out);
}

/* Digits and dots: "12.1", "2.28.9". */
static void read_match_dotted(struct sw_reader* reader, const struct sw_node* node, void* out) {
  const char* text;
  if (!sw_value_text(reader, node, node->key->word, &text)) return;
  bool good = text[0] != '.' && text[node->length - 1] != '.' && !strstr(text, "..");
  if (good && strspn(text, "0123456789.") == node->length)
    read_match_text(reader, node, out);
  else
    sw_report(reader->diags, SW_BAD_NUMBER, node->place, "%s '%.40s' is no version such as 2.28", node->key->word,
              text);
}

static const struct sw_field match_fields[] = {
    {"gpu", read_match_text, false},       {"compute", read_match_dotted, false},
    {"arch", read_match_text, false},      {"net", read_match_net, false},
    {"net_gbps", read_match_whole, false}, {"nvlink_domains", read_match_whole, false},
    {"nccl", read_match_dotted, false},    {"driver", read_match_dotted, false},
};

static void read_match(struct sw_reader* reader, const struct sw_node* node, void* out) {
  static const struct sw_fields mapping = {"match", match_fields, sizeof match_fields / sizeof match_fields[0]};
  sw_read_fields(reader, node, &mapping, out);
}

static void read_min_gain(struct sw_reader* reader, const struct sw_node* node, void* out) {
  sw_value_fraction(reader, node, "min_gain", 0, SW_ONE * 99 / 100, &((struct sw_policy*)out)->min_gain);
}

static void read_reach(struct sw_reader* reader, const struct sw_node* node, void* out) {
  sw_value_fraction(reader, node, "reach", SW_ONE, 1000 * SW_ONE, &((struct sw_policy*)out)->reach);
}

static void read_gap(struct sw_reader* reader, const struct sw_node* node, void* out) {
  sw_value_fraction(reader, node, "gap", SW_ONE, 1000 * SW_ONE, &((struct sw_policy*)out)->gap);
}

static void read_max_extra_memory(struct sw_reader* reader, const struct sw_node* node, void* out) {
  if (sw_expect(reader, node, SW_NODE_WORD, "max_extra_memory"))
    sw_value_size(reader, node, "max_extra_memory", node->word, node->length,
                  &((struct sw_policy*)out)->max_extra_memory);
}

static void read_policy(struct sw_reader* reader, const struct sw_node* node, void* out) {
  static const struct sw_field fields[] = {{"min_gain", read_min_gain, false},
                                           {"reach", read_reach, false},
                                           {"gap", read_gap, false},
                                           {"max_extra_memory", read_max_extra_memory, false}};
  static const struct sw_fields mapping = {"policy", fields, sizeof fields / sizeof fields[0]};
  sw_read_fields(reader, node, &mapping, &((struct sw_profile*)out)->policy);
}

static void read_version(struct sw_reader* reader, const struct sw_node* node, void* out) {
  (void)out;
  uint64_t version;
  if (!sw_expect(reader, node, SW_NODE_WORD, "sizewise")) return;
  if (!sw_read_whole(node->word, node->length, UINT64_MAX, &version) && version == SW_FORMAT_VERSION) return;
  sw_report(reader->diags, SW_WRONG_VERSION, node->place, "format '%.40s': this release reads format %d", node->word,
            SW_FORMAT_VERSION);
}

static void read_name(struct sw_reader* reader, const struct sw_node* node, void* out) {
  struct sw_profile* profile = out;
  if (sw_value_name(reader, node, "name", &profile->name) && sw_same_word(profile->name, "off"))
    sw_report(reader->diags, SW_BAD_NAME, node->place, "a profile cannot be named 'off': that switches Sizewise off");
}

static const struct sw_field profile_fields[] = {
    {"sizewise", read_version, true}, {"name", read_name, true},      {"provenance", read_provenance, true},
    {"match", read_match, false},     {"policy", read_policy, false}, {"tables", sw_read_tables, false},
    {"rules", sw_read_rules, false},
};

static void read_profile(struct sw_reader* reader, const struct sw_node* root, struct sw_profile* profile) {
  static const struct sw_fields mapping = {"profile", profile_fields, sizeof profile_fields / sizeof profile_fields[0]};
  profile->policy = sw_policy_default;
  sw_read_fields(reader, root, &mapping, profile);
  if (!reader->diags->errors && !profile->table_count && !profile->rule_count)
    sw_report(reader->diags, SW_NOTHING_INSIDE, root->place, "the profile has neither tables nor rules");
}

struct sw_profile* sw_profile_read(const char* text, size_t length, struct sw_diags* diags) {
  struct sw_profile* profile = calloc(1, sizeof *profile);
  if (!profile) {
    sw_report(diags, SW_NO_MEMORY, (struct sw_place){0}, "out of memory");
    return NULL;
  }
  struct sw_reader reader = {&profile->arena, diags};
  struct sw_arena tree = SW_ARENA_EMPTY;
  struct sw_node root;
  bool good = sw_tree_read(&tree, text, length, diags, &root);
  if (good) read_profile(&reader, &root, profile);
  sw_arena_free(&tree);
  if (good && !diags->errors) return profile;
  sw_profile_free(profile);
  return NULL;
}

struct sw_profile* sw_profile_read_file(const char* path, char** text, struct sw_diags* diags) {
  size_t length;
  *text = NULL;
  int fault = sw_file_read(path, SW_PROFILE_LARGEST_FILE, text, &length);
  if (fault == EFBIG)
    sw_report(diags, SW_TOO_LARGE, (struct sw_place){0}, "larger than 16 MiB");
  else if (fault == EINVAL)
    sw_report(diags, SW_CANNOT_READ, (struct sw_place){0}, "no regular file");
  else if (fault)
    sw_report(diags, SW_CANNOT_READ, (struct sw_place){0}, "%s", strerror(fault));
  return fault ? NULL : sw_profile_read(*text, length, diags);
}
