#include "calibrate/candidates.h"

#include <stdio.h>
#include <string.h>

/* NCCL refuses what it prices this much above its cheapest: the plugin leaves such an entry alone, too. */
#define REFUSED_TIMES 256.0f

enum why why_excluded(const char* words) {
  static const struct {
    const char* beginning;
    enum why why;
  } known[] = {{"gains in CUDA graphs alone", WHY_NO_USE},
               {"did not hold", WHY_NO_USE},
               {"not compared afresh", WHY_NO_USE},
               {"wrong data", WHY_DATA}};
  if (!words[0]) return WHY_NOT;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (strncmp(words, known[i].beginning, strlen(known[i].beginning)) == 0) return known[i].why;
  return WHY_FAILED;
}

bool ban(struct ban_list* list, int collective, uint32_t ranks, struct sw_choice choice, const char* why) {
  if (list->count == MOST_BANS) return false;
  struct banned* item = &list->items[list->count++];
  *item = (struct banned){.collective = collective, .ranks = ranks, .choice = choice};
  snprintf(item->why, sizeof item->why, "%s", why);
  return true;
}

const char* ban_of(const struct ban_list* list, int collective, uint32_t ranks, struct sw_choice choice) {
  for (size_t i = 0; i < list->count; i++) {
    const struct banned* item = &list->items[i];
    bool same_pair = item->choice.algo == choice.algo && item->choice.proto == choice.proto;
    bool same_channels = !item->choice.channels || item->choice.channels == choice.channels;
    if (item->collective == collective && item->ranks == ranks && same_pair && same_channels) return item->why;
  }
  return NULL;
}

bool candidates_same(const struct fabric_probe* a, const struct fabric_probe* b) {
  return a->algo == b->algo && a->proto == b->proto && a->channels == b->channels && a->threads == b->threads;
}

static void add_twin(struct candidates* out, struct sw_choice choice, size_t of) {
  if (out->twin_count < MOST_TWINS) out->twins[out->twin_count++] = (struct twin){choice, of};
}

/* Adds a candidate, or a twin of the one that runs the same thing. */
static void add(struct candidates* out, struct sw_choice choice, const struct fabric_probe* probe) {
  for (size_t i = 0; i < out->count; i++) {
    if (out->items[i].excluded[0] || !candidates_same(&out->items[i].probe, probe)) continue;
    add_twin(out, choice, i);
    return;
  }
  if (out->count == FABRIC_MOST_CHOICES) return;
  out->items[out->count++] = (struct candidate){.choice = choice, .probe = *probe};
}

static void add_banned(struct candidates* out, struct sw_choice choice, const char* why) {
  if (out->count == FABRIC_MOST_CHOICES) return;
  struct candidate* item = &out->items[out->count++];
  *item = (struct candidate){.choice = choice};
  snprintf(item->excluded, sizeof item->excluded, "%s", why);
}

struct search {
  struct crew* crew;
  const struct fabric_call* call;
  const struct ban_list* bans;
  const struct candidates_watch* watch;
  struct candidates* out;
  struct sw_choice* culprit;
};

static const char* banned(const struct search* s, struct sw_choice choice) {
  return ban_of(s->bans, s->call->collective, crew_group(s->crew), choice);
}

/* Probes one choice and files it; `probe` keeps what came of it. */
static bool try_choice(struct search* s, struct sw_choice choice, struct fabric_probe* probe) {
  memset(probe, 0, sizeof *probe);
  const char* why = banned(s, choice);
  if (why) {
    add_banned(s->out, choice, why);
    return true;
  }
  *s->culprit = choice;
  s->watch->before(s->watch->context, choice);
  if (!crew_probe(s->crew, s->call, choice, probe)) return false;
  bool fits = choice.algo < 0 || (probe->algo == choice.algo && probe->proto == choice.proto);
  bool obeyed = probe->obeyed && fits;
  if (obeyed) add(s->out, choice, probe);
  return true;
}

/* A pair with NCCL's own channels, then with more and more, until a larger budget brings no more channels. A banned
   count shows nothing of that; a banned pair is banned with all of them. */
static bool try_pair(struct search* s, int algo, int proto) {
  struct fabric_probe probe;
  struct sw_choice choice = {(int8_t)algo, (int8_t)proto, 0};
  if (!try_choice(s, choice, &probe)) return false;
  for (int channels = 1; channels <= NCCL_MAX_CHANNELS && !banned(s, choice); channels *= 2) {
    struct sw_choice limited = {(int8_t)algo, (int8_t)proto, (uint8_t)channels};
    if (!try_choice(s, limited, &probe)) return false;
    if (!banned(s, limited) && probe.channels < channels) break;
  }
  return true;
}

/*
 * Fewer channels for whatever algorithm NCCL takes. At one size that is a pair's twin; but where NCCL takes another
 * algorithm from some size on, it goes with it, and so holds between sizes where a pair does not.
 */
static bool try_channels(struct search* s, int own) {
  struct fabric_probe probe;
  for (int channels = 1; channels < own; channels *= 2)
    if (!try_choice(s, (struct sw_choice){-1, -1, (uint8_t)channels}, &probe)) return false;
  return true;
}

bool candidates_offered(const struct fabric_probe* own, int algo, int proto) {
  float cheapest = own->table[own->algo][own->proto];
  float entry = own->table[algo][proto];
  return entry >= 0 && entry <= cheapest * REFUSED_TIMES;
}

bool candidates_find(struct crew* crew, const struct fabric_call* call, const struct ban_list* bans,
                     const struct candidates_watch* watch, struct candidates* out, struct sw_choice* culprit) {
  struct search s = {crew, call, bans, watch, out, culprit};
  struct fabric_probe own;
  memset(out, 0, sizeof *out);
  *culprit = SW_AUTO;
  if (!crew_probe(crew, call, SW_AUTO, &own)) return false;
  out->items[out->count++] = (struct candidate){.choice = SW_AUTO, .probe = own};
  if (!try_channels(&s, own.channels)) return false;
  for (int algo = 0; own.algo >= 0 && algo < NCCL_NUM_ALGORITHMS; algo++)
    for (int proto = 0; proto < NCCL_NUM_PROTOCOLS; proto++)
      if (candidates_offered(&own, algo, proto) && !try_pair(&s, algo, proto)) return false;
  return true;
}
