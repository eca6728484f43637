#include "facts/forced.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "facts/files.h"
#include "ground/names.h"

enum { LARGEST_CHANNELS = 1000000, QUOTED = 32 };

/* A value while it is read: `at` moves over `text`. */
struct reader {
  const char* variable;
  const struct sw_vocabulary* words; /* what names are: algorithms or protocols */
  const char* text;
  const char* at;
  struct sw_forced_error* error; /* where the first error goes */
};

/* What one value says of each collective. */
struct masks {
  bool set[NCCL_NUM_COLLECTIVES];
  unsigned allowed[NCCL_NUM_COLLECTIVES];
};

/* Reports an error at a place of the value; always false. Only the first error of all variables is kept. */
__attribute__((format(printf, 3, 4))) static bool fail(struct reader* reader, const char* place, const char* format,
                                                       ...) {
  struct sw_forced_error* error = reader->error;
  if (error->variable) return false;
  error->variable = reader->variable;
  error->column = (size_t)(place - reader->text) + 1;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  for (char* c = error->text; *c; c++)
    if (*c < ' ' || *c > '~') *c = '?';
  return false;
}

static bool fail_unknown(struct reader* reader, const struct sw_vocabulary* vocabulary, const char* word,
                         size_t length) {
  const char* near = sw_nearest_word(vocabulary, word, length);
  const char* cut = length > QUOTED ? "..." : "";
  int shown = length > QUOTED ? QUOTED : (int)length;
  if (near)
    return fail(reader, word, "unknown %s \"%.*s%s\"; did you mean \"%s\"?", vocabulary->what, shown, word, cut, near);
  return fail(reader, word, "unknown %s \"%.*s%s\"", vocabulary->what, shown, word, cut);
}

/* "allreduce:" at the start of a group; *out is -1 without one. */
static bool read_collective(struct reader* reader, int* out) {
  const char* start = reader->at;
  size_t length = strcspn(start, ":;");
  *out = -1;
  if (start[length] != ':') {
    if (start == reader->text) return true;
    return fail(reader, start, "only the first group may lack \"collective:\"");
  }
  if (length == 0) return fail(reader, start, "a collective is missing before \":\"");
  *out = sw_word_value(&sw_collectives, start, length);
  if (*out < 0) return fail_unknown(reader, &sw_collectives, start, length);
  reader->at = start + length + 1;
  return true;
}

static bool read_name(struct reader* reader, unsigned* mask) {
  const char* start = reader->at;
  size_t length = strcspn(start, ",;");
  if (length == 0) return fail(reader, start, "%s missing", reader->words->what);
  if (*start == '^') return fail(reader, start, "\"^\" belongs before the first name of a group");
  int value = sw_word_value(reader->words, start, length);
  if (value < 0) return fail_unknown(reader, reader->words, start, length);
  *mask |= 1U << value;
  reader->at = start + length;
  return true;
}

/* "[^]name[,name...]" up to the end of the group. */
static bool read_names(struct reader* reader, unsigned* out) {
  unsigned named = 0;
  bool exclude = *reader->at == '^';
  if (exclude) reader->at++;
  if (!read_name(reader, &named)) return false;
  while (*reader->at == ',') {
    reader->at++;
    if (!read_name(reader, &named)) return false;
  }
  unsigned all = (1U << reader->words->count) - 1;
  *out = exclude ? all & ~named : named;
  return true;
}

static bool read_group(struct reader* reader, struct masks* masks) {
  int collective = -1;
  unsigned allowed = 0;
  if (!read_collective(reader, &collective) || !read_names(reader, &allowed)) return false;
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) {
    if (collective >= 0 && collective != c) continue;
    masks->set[c] = true;
    masks->allowed[c] = allowed;
  }
  return true;
}

/* All groups of a value. The one without a collective comes first, so later ones override it. */
static bool read_groups(struct reader* reader, struct masks* masks) {
  if (!read_group(reader, masks)) return false;
  while (*reader->at == ';') {
    reader->at++;
    if (!read_group(reader, masks)) return false;
  }
  return true;
}

static const char* setting(const char* (*getenv)(const char*), const char* name) {
  const char* value = getenv(name);
  return value && value[0] ? value : NULL;
}

/* The masks of one variable; nothing is set in them when it is absent or wrong. */
static struct masks read_masks(const char* variable, const char* text, const struct sw_vocabulary* words,
                               struct sw_forced_error* error) {
  struct masks masks = {0};
  struct reader reader = {variable, words, text, text, error};
  if (text && !read_groups(&reader, &masks)) memset(&masks, 0, sizeof masks);
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++)
    if (!masks.set[c]) masks.allowed[c] = (1U << words->count) - 1;
  return masks;
}

/* One channel limit; 0 when it is not set, is 0, or is no number. */
static int read_channels(const char* (*getenv)(const char*), const char* name, struct sw_forced_error* error) {
  const char* text = setting(getenv, name);
  struct reader reader = {name, NULL, text, text, error};
  int channels = 0;
  if (text && !sw_facts_number(text, strlen(text), LARGEST_CHANNELS, &channels))
    fail(&reader, text + strspn(text, "0123456789"), "not a number of channels");
  return channels;
}

static void read_limits(const char* (*getenv)(const char*), struct sw_forced* out) {
  static const char* const lower[] = {"NCCL_MIN_NCHANNELS", "NCCL_MIN_CTAS"};
  static const char* const upper[] = {"NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS"};
  for (int i = 0; i < 2; i++) {
    int least = read_channels(getenv, lower[i], &out->error);
    int most = read_channels(getenv, upper[i], &out->error);
    if (least > out->min_channels) {
      out->min_channels = least;
      out->min_variable = lower[i];
    }
    if (most && (!out->max_channels || most < out->max_channels)) {
      out->max_channels = most;
      out->max_variable = upper[i];
    }
  }
}

void sw_forced_read(const char* (*getenv)(const char* name), struct sw_forced* out) {
  memset(out, 0, sizeof *out);
  out->algo_text = setting(getenv, "NCCL_ALGO");
  out->proto_text = setting(getenv, "NCCL_PROTO");
  struct masks algorithms = read_masks("NCCL_ALGO", out->algo_text, &sw_algorithms, &out->error);
  struct masks protocols = read_masks("NCCL_PROTO", out->proto_text, &sw_protocols, &out->error);
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) {
    out->algorithms[c] = (uint16_t)algorithms.allowed[c];
    out->protocols[c] = (uint8_t)protocols.allowed[c];
    out->algo_set[c] = algorithms.set[c];
    out->proto_set[c] = protocols.set[c];
  }
  read_limits(getenv, out);
}

static bool mask_allows(unsigned mask, bool set, int value, int count) {
  if (value < 0) return mask != 0;
  return value < count ? (mask >> value & 1U) != 0 : !set;
}

bool sw_forced_allows(const struct sw_forced* forced, int collective, int algo, int proto) {
  if (collective < 0 || collective >= NCCL_NUM_COLLECTIVES) return true;
  return mask_allows(forced->algorithms[collective], forced->algo_set[collective], algo, NCCL_NUM_ALGORITHMS) &&
         mask_allows(forced->protocols[collective], forced->proto_set[collective], proto, NCCL_NUM_PROTOCOLS);
}
