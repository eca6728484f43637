#include "share.h"

#include <pthread.h>
#include <stdlib.h>

/* One plan of a share; a process has as many as its communicators have shapes. */
struct compiled {
  struct compiled* next;
  const struct sw_profile* profile;
  struct sw_plan* plan;
};

struct sw_share {
  struct sw_share* next;
  unsigned users;
  struct sw_library* library;
  struct compiled* plans;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sw_share* shares;
static bool warned[SW_WARNING_COUNT];

enum { MOST_SHAPES = 32 };
static struct {
  uint32_t nodes;
  uint32_t ranks;
} shapes[MOST_SHAPES];
static size_t shape_count;

static struct sw_share* find_share(const struct sw_switches* switches) {
  for (struct sw_share* share = shares; share; share = share->next)
    if (sw_switches_same(&share->library->switches, switches)) return share;
  return NULL;
}

static struct sw_share* load_share(const struct sw_facts_source* source) {
  struct sw_share* share = calloc(1, sizeof *share);
  if (!share) return NULL;
  share->library = sw_library_load(source);
  if (!share->library) {
    free(share);
    return NULL;
  }
  share->next = shares;
  shares = share;
  return share;
}

struct sw_share* sw_share_acquire(const struct sw_facts_source* source, bool* first) {
  struct sw_diags* ignored = malloc(sizeof *ignored); /* the library reports them */
  struct sw_switches switches;
  if (!ignored) return NULL;
  sw_diags_start(ignored, "environment");
  bool good = sw_switches_read(source->getenv, ignored, &switches);
  pthread_mutex_lock(&lock);
  struct sw_share* share = good ? find_share(&switches) : NULL;
  *first = good && !share;
  if (*first) share = load_share(source);
  if (share) share->users++;
  pthread_mutex_unlock(&lock);
  sw_switches_free(&switches);
  free(ignored);
  return share;
}

static void free_share(struct sw_share* share) {
  while (share->plans) {
    struct compiled* next = share->plans->next;
    sw_plan_free(share->plans->plan);
    free(share->plans);
    share->plans = next;
  }
  sw_library_free(share->library);
  free(share);
}

void sw_share_release(struct sw_share* share) {
  pthread_mutex_lock(&lock);
  if (--share->users == 0) {
    struct sw_share** link = &shares;
    while (*link != share) link = &(*link)->next;
    *link = share->next;
    free_share(share);
  }
  pthread_mutex_unlock(&lock);
}

const struct sw_library* sw_share_library(const struct sw_share* share) {
  return share->library;
}

static const struct sw_plan* find_plan(const struct sw_share* share, const struct sw_profile* profile, uint32_t nodes,
                                       uint32_t ranks) {
  for (const struct compiled* item = share->plans; item; item = item->next)
    if (item->profile == profile && item->plan->nodes == nodes && item->plan->ranks == ranks) return item->plan;
  return NULL;
}

/* From the pieces that the profile's digest left, where it did. */
static struct sw_plan* make_plan(struct sw_share* share, const struct sw_profile* profile, uint32_t nodes,
                                 uint32_t ranks) {
  struct sw_shape shape;
  for (size_t i = 0; i < share->library->count; i++) {
    struct sw_entry* entry = &share->library->entries[i];
    if (entry->profile == profile && sw_kept_take(&entry->kept, nodes, ranks, &shape)) return sw_plan_make(&shape);
  }
  return sw_plan_compile_for(profile, share->library->mode, nodes, ranks);
}

static const struct sw_plan* add_plan(struct sw_share* share, const struct sw_profile* profile, uint32_t nodes,
                                      uint32_t ranks) {
  struct compiled* item = calloc(1, sizeof *item);
  if (!item) return NULL;
  item->profile = profile;
  item->plan = make_plan(share, profile, nodes, ranks);
  if (!item->plan) {
    free(item);
    return NULL;
  }
  item->next = share->plans;
  share->plans = item;
  return item->plan;
}

const struct sw_plan* sw_share_plan(struct sw_share* share, const struct sw_profile* profile, uint32_t nodes,
                                    uint32_t ranks) {
  pthread_mutex_lock(&lock);
  const struct sw_plan* plan = find_plan(share, profile, nodes, ranks);
  if (!plan) plan = add_plan(share, profile, nodes, ranks);
  pthread_mutex_unlock(&lock);
  return plan;
}

bool sw_share_is_first(enum sw_warning warning) {
  pthread_mutex_lock(&lock);
  bool first = !warned[warning];
  warned[warning] = true;
  pthread_mutex_unlock(&lock);
  return first;
}

bool sw_share_is_first_shape(uint32_t nodes, uint32_t ranks) {
  pthread_mutex_lock(&lock);
  bool first = shape_count < MOST_SHAPES;
  for (size_t i = 0; i < shape_count && first; i++) first = shapes[i].nodes != nodes || shapes[i].ranks != ranks;
  if (first) {
    shapes[shape_count].nodes = nodes;
    shapes[shape_count++].ranks = ranks;
  }
  pthread_mutex_unlock(&lock);
  return first;
}
