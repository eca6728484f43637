#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fabric/sim_faults.h"
#include "ground/names.h"
#include "ground/nearest.h"
#include "ground/number.h"
#include "ground/text.h"

enum { FAULT_LINE = sizeof((struct fabric*)0)->fault, LONGEST_RANK = 1 << 20, MOST_PERCENT = 1000, MOST_SLOW = 1000 };

/* A part of the text, not NUL-terminated. */
struct part {
  const char* text;
  size_t length;
};

/* For printf's %.*s; what is longer than any word of ours is cut, so that the rest of the line is seen. */
static int shown(struct part part) {
  return part.length < 60 ? (int)part.length : 60;
}

__attribute__((format(printf, 2, 3))) static bool refuse(char* fault, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(fault, FAULT_LINE, format, arguments);
  va_end(arguments);
  return false;
}

/* Parts the text at the first `mark`; without one, all of it is before and false is returned. */
static bool split(struct part whole, char mark, struct part* before, struct part* after) {
  const char* found = whole.length ? memchr(whole.text, mark, whole.length) : NULL;
  if (!found) {
    *before = whole;
    *after = (struct part){"", 0};
    return false;
  }
  before->text = whole.text;
  before->length = (size_t)(found - whole.text);
  *after = (struct part){found + 1, whole.length - before->length - 1};
  return true;
}

/* --- unknown words ----------------------------------------------------------------------------------------------- */

enum { LEFT_TO_NCCL, LEFT_TO_PROFILE };
static const struct sw_word own_words[] = {{"auto", LEFT_TO_NCCL}, {"profile", LEFT_TO_PROFILE}};
static const struct sw_vocabulary leaves_all = {"choice", own_words, 2};

/* Beside sizes. */
enum { ONLY_TIMED = 100 };
static const struct sw_word where_words[] = {{"graph", FABRIC_GRAPH}, {"stream", FABRIC_STREAM}, {"timed", ONLY_TIMED}};
static const struct sw_vocabulary wheres = {"place", where_words, 3};

/* "unknown fault 'hagn'; did you mean 'hang'?", or all words that there are. Vocabularies end with NULL. */
static bool refuse_word(struct part word, const char* what, const struct sw_vocabulary* const* vocabularies,
                        char* fault) {
  struct sw_nearest nearest = sw_nearest_start(word.text, word.length);
  struct sw_text all = SW_TEXT_EMPTY;
  for (; *vocabularies; vocabularies++)
    for (size_t i = 0; i < (*vocabularies)->count; i++) {
      sw_nearest_offer(&nearest, (*vocabularies)->words[i].word);
      sw_text_printf(&all, "%s%s", all.length ? ", " : "", (*vocabularies)->words[i].word);
    }
  if (nearest.best)
    refuse(fault, "unknown %s '%.*s'; did you mean '%s'?", what, shown(word), word.text, nearest.best);
  else
    refuse(fault, "unknown %s '%.*s'; there are %s", what, shown(word), word.text, sw_text_string(&all));
  sw_text_free(&all);
  return false;
}

/* --- CHOICE[@WHERE] ----------------------------------------------------------------------------------------------- */

static bool read_channels(struct part word, struct sw_choice* choice, char* fault) {
  uint64_t channels = 0;
  if (sw_read_whole(word.text, word.length, NCCL_MAX_CHANNELS, &channels) || channels == 0)
    return refuse(fault, "'%.*s' is no channel count from 1 to %d", shown(word), word.text, NCCL_MAX_CHANNELS);
  choice->channels = (uint8_t)channels;
  return true;
}

static bool read_pair(struct part algorithm, struct part protocol, struct sw_choice* choice, char* fault) {
  const struct sw_vocabulary* const algorithms[] = {&sw_algorithms, NULL};
  const struct sw_vocabulary* const protocols[] = {&sw_protocols, NULL};
  choice->algo = (int8_t)sw_word_value(&sw_algorithms, algorithm.text, algorithm.length);
  if (choice->algo < 0) return refuse_word(algorithm, "algorithm", algorithms, fault);
  choice->proto = (int8_t)sw_word_value(&sw_protocols, protocol.text, protocol.length);
  if (choice->proto < 0) return refuse_word(protocol, "protocol", protocols, fault);
  for (int collective = 0; collective < NCCL_NUM_COLLECTIVES; collective++)
    if (sw_choice_possible(collective, choice->algo, choice->proto)) return true;
  return refuse(fault, "NCCL has no %s with %s", sw_value_word(&sw_algorithms, choice->algo),
                sw_value_word(&sw_protocols, choice->proto));
}

static bool read_single(struct part word, struct sw_choice* choice, char* fault) {
  const struct sw_vocabulary* const all[] = {&sw_algorithms, &sw_protocols, &leaves_all, NULL};
  choice->algo = (int8_t)sw_word_value(&sw_algorithms, word.text, word.length);
  if (choice->algo >= 0) return true;
  choice->proto = (int8_t)sw_word_value(&sw_protocols, word.text, word.length);
  return choice->proto >= 0 || refuse_word(word, "algorithm or protocol", all, fault);
}

static bool read_names(struct part names, struct sw_choice* choice, char* fault) {
  struct part algorithm;
  struct part protocol;
  if (split(names, '+', &algorithm, &protocol)) return read_pair(algorithm, protocol, choice, fault);
  return read_single(names, choice, fault);
}

static bool read_choice(struct part word, struct sw_choice* choice, char* fault) {
  struct part names;
  struct part channels;
  bool limited = split(word, '/', &names, &channels);
  int own = sw_word_value(&leaves_all, names.text, names.length);
  *choice = own == LEFT_TO_PROFILE ? FABRIC_BY_PROFILE : SW_AUTO;
  if (own >= 0 && limited)
    return refuse(fault, "'%.*s': %.*s leaves the channels, too; write /%.*s", shown(word), word.text, shown(names),
                  names.text, shown(channels), channels.text);
  if (own >= 0) return true;
  if (names.length == 0 && !limited) return refuse(fault, "a choice is missing before '@'");
  if (names.length && !read_names(names, choice, fault)) return false;
  return !limited || read_channels(channels, choice, fault);
}

static bool read_size(struct part word, uint64_t* bytes, char* fault) {
  switch (sw_read_size(word.text, word.length, bytes)) {
    case SW_NUMBER_OK:
      return true;
    case SW_NUMBER_DECIMAL_UNIT:
      return refuse(fault, "size '%.*s': KB, MB and GB can mean 1000; write KiB, MiB, GiB or plain bytes", shown(word),
                    word.text);
    case SW_NUMBER_NOT_WHOLE:
      return refuse(fault, "size '%.*s' is no whole number of bytes", shown(word), word.text);
    case SW_NUMBER_OUT_OF_RANGE:
      return refuse(fault, "size '%.*s' is too large", shown(word), word.text);
    default:
      return refuse(fault, "'%.*s' is no size such as 12KiB, and none of graph, stream, timed", shown(word), word.text);
  }
}

/* One of graph, stream, timed, or a size. */
static bool read_where(struct part word, struct sim_fault* out, char* fault) {
  int where = sw_word_value(&wheres, word.text, word.length);
  if (where == ONLY_TIMED)
    out->timed = true;
  else if (where >= 0)
    out->mode = where;
  else if (out->bytes != SIM_ANY_SIZE)
    return refuse(fault, "'%.*s' is a second size: one at a time", shown(word), word.text);
  else
    return read_size(word, &out->bytes, fault);
  return true;
}

static bool read_target(struct part details, struct sim_fault* out, char* fault) {
  struct part choice;
  struct part where;
  bool more = split(details, '@', &choice, &where);
  if (!read_choice(choice, &out->choice, fault)) return false;
  while (more) {
    struct part rest = where;
    more = split(rest, '@', &where, &details);
    if (!read_where(where, out, fault)) return false;
    where = details;
  }
  return true;
}

/* --- the other details ------------------------------------------------------------------------------------------- */

/* A plain decimal, of SW_ONE. A percent sign belongs to what is written around it. */
static bool read_decimal(struct part word, int64_t* out) {
  return !memchr(word.text, '%', word.length) && sw_read_fraction(word.text, word.length, out) == SW_NUMBER_OK;
}

static bool read_drift(struct part word, struct sim_fault* out, char* fault) {
  int64_t percent;
  bool has_sign = word.text[word.length - 1] == '%';
  struct part number = {word.text, word.length - has_sign};
  if (!read_decimal(number, &percent) || percent > MOST_PERCENT * SW_ONE)
    return refuse(fault, "'%.*s' is no percentage from 0 to %d", shown(word), word.text, MOST_PERCENT);
  out->amount = (double)percent / (double)SW_ONE / 100;
  return true;
}

static bool read_rank(struct part word, struct sim_fault* out, char* fault) {
  uint64_t rank;
  if (sw_read_whole(word.text, word.length, LONGEST_RANK, &rank))
    return refuse(fault, "'%.*s' is no rank: ranks are counted from 0", shown(word), word.text);
  out->rank = (uint32_t)rank;
  return true;
}

static bool read_slow_rank(struct part details, struct sim_fault* out, char* fault) {
  struct part rank;
  struct part factor;
  int64_t amount;
  if (!split(details, ':', &rank, &factor)) return refuse(fault, "a slow rank needs a factor, as in slow-rank:3:1.5");
  if (!read_rank(rank, out, fault)) return false;
  if (!read_decimal(factor, &amount) || amount < SW_ONE || amount > MOST_SLOW * SW_ONE)
    return refuse(fault, "'%.*s' is no factor from 1 to %d", shown(factor), factor.text, MOST_SLOW);
  out->amount = (double)amount / (double)SW_ONE;
  return true;
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

static const struct sw_word kind_words[] = {
    {"hang", SIM_HANG},   {"crash", SIM_CRASH},           {"error", SIM_ERROR},        {"corrupt", SIM_CORRUPT},
    {"drift", SIM_DRIFT}, {"rank-table", SIM_RANK_TABLE}, {"slow-rank", SIM_SLOW_RANK}};
static const struct sw_vocabulary kinds = {"fault", kind_words, sizeof kind_words / sizeof kind_words[0]};

static const struct {
  const char* details;
  bool (*read)(struct part details, struct sim_fault* out, char* fault);
} forms[] = {
    [SIM_HANG] = {"CHOICE[@WHERE]", read_target},
    [SIM_CRASH] = {"CHOICE[@WHERE]", read_target},
    [SIM_ERROR] = {"CHOICE[@WHERE]", read_target},
    [SIM_CORRUPT] = {"CHOICE[@WHERE]", read_target},
    [SIM_DRIFT] = {"PERCENT", read_drift},
    [SIM_RANK_TABLE] = {"RANK", read_rank},
    [SIM_SLOW_RANK] = {"RANK:FACTOR", read_slow_rank},
};

bool sim_faults_add(struct sim_faults* faults, const char* spec, char* fault) {
  const struct sw_vocabulary* const vocabularies[] = {&kinds, NULL};
  struct part word;
  struct part details;
  struct sim_fault read = {.choice = SW_AUTO, .bytes = SIM_ANY_SIZE, .mode = SIM_ANY_MODE};
  split((struct part){spec, strlen(spec)}, ':', &word, &details);
  int kind = sw_word_value(&kinds, word.text, word.length);
  if (kind < 0) return refuse_word(word, kinds.what, vocabularies, fault);
  if (!details.length)
    return refuse(fault, "%.*s needs details: %s:%s", shown(word), word.text, sw_value_word(&kinds, kind),
                  forms[kind].details);
  read.kind = (enum sim_fault_kind)kind;
  if (!forms[kind].read(details, &read, fault)) return false;
  if (faults->count == SIM_MOST_FAULTS) return refuse(fault, "no more than %d faults at a time", SIM_MOST_FAULTS);
  faults->items[faults->count++] = read;
  return true;
}
