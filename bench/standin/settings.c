#include "standin/settings.h"

#include <string.h>

/* A piece of the value, and how far into the value it begins. */
struct piece {
  const char* text;
  size_t length;
  size_t offset;
};

/* The piece up to `separator`, which is cut off `rest` together with it. `more`: there was one, so another follows. */
static struct piece cut(struct piece* rest, char separator, bool* more) {
  const char* end = memchr(rest->text, separator, rest->length);
  struct piece head = *rest;
  *more = end != NULL;
  if (end) head.length = (size_t)(end - rest->text);
  size_t gone = head.length + (*more ? 1 : 0);
  *rest = (struct piece){rest->text + gone, rest->length - gone, rest->offset + gone};
  return head;
}

static bool fail(struct standin_problem* problem, const char* what, struct piece where) {
  problem->what = what;
  problem->offset = where.offset;
  return false;
}

static bool parse_names(struct piece list, const struct sw_vocabulary* names, bool listed[NCCL_NUM_ALGORITHMS],
                        struct standin_problem* problem) {
  bool more = true;
  while (more) {
    struct piece word = cut(&list, ',', &more);
    int value = sw_word_value(names, word.text, word.length);
    if (value < 0) return fail(problem, word.length ? "unknown name" : "a name is missing", word);
    listed[value] = true;
  }
  return true;
}

static void apply(struct standin_mask* mask, int collective, const bool listed[NCCL_NUM_ALGORITHMS], bool except) {
  for (int i = 0; i < NCCL_NUM_ALGORITHMS; i++) {
    mask->allowed[collective][i] = listed[i] != except;
    mask->named[collective][i] = listed[i] && !except;
  }
}

/* The collective in front of ':' and what follows it; -1 for all. */
static bool parse_prefix(struct piece* group, bool first, int* collective, struct standin_problem* problem) {
  *collective = -1;
  if (!memchr(group->text, ':', group->length))
    return first || fail(problem, "only the first group may lack a collective", *group);
  bool more;
  struct piece word = cut(group, ':', &more);
  *collective = sw_word_value(&sw_collectives, word.text, word.length);
  return *collective >= 0 || fail(problem, "unknown collective", word);
}

static bool parse_group(struct piece group, bool first, const struct sw_vocabulary* names, struct standin_mask* mask,
                        struct standin_problem* problem) {
  int collective;
  if (!parse_prefix(&group, first, &collective, problem)) return false;
  bool except = group.length && *group.text == '^';
  if (except) group = (struct piece){group.text + 1, group.length - 1, group.offset + 1};
  bool listed[NCCL_NUM_ALGORITHMS] = {false};
  if (!parse_names(group, names, listed, problem)) return false;
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++)
    if (collective < 0 || collective == c) apply(mask, c, listed, except);
  return true;
}

bool standin_mask_parse(const char* value, const struct sw_vocabulary* names, struct standin_mask* mask,
                        struct standin_problem* problem) {
  struct standin_mask parsed = {0};
  memset(parsed.allowed, true, sizeof parsed.allowed);
  bool more = value && *value;
  struct piece rest = {value, more ? strlen(value) : 0, 0};
  for (bool first = true; more; first = false) {
    struct piece group = cut(&rest, ';', &more);
    if (!parse_group(group, first, names, &parsed, problem)) return false;
  }
  *mask = parsed;
  return true;
}

bool standin_settings_parse(const struct standin_environment* environment, struct standin_settings* settings,
                            struct standin_problem* problem) {
  struct standin_settings parsed = {.min_channels = environment->min_channels,
                                    .max_channels = environment->max_channels};
  problem->variable = "NCCL_ALGO";
  if (!standin_mask_parse(environment->algo, &sw_algorithms, &parsed.algorithms, problem)) return false;
  problem->variable = "NCCL_PROTO";
  if (!standin_mask_parse(environment->proto, &sw_protocols, &parsed.protocols, problem)) return false;
  problem->variable = "NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS";
  if (parsed.min_channels < 0 || parsed.max_channels < 0)
    return fail(problem, "a channel count below 0", (struct piece){0});
  *settings = parsed;
  return true;
}

int standin_settings_bound(const struct standin_settings* settings, int channels) {
  int most = settings->max_channels ? settings->max_channels : NCCL_MAX_CHANNELS;
  if (most > NCCL_MAX_CHANNELS) most = NCCL_MAX_CHANNELS;
  if (channels < settings->min_channels) channels = settings->min_channels;
  return channels < most ? channels : most;
}
