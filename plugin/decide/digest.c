#include "decide/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct size {
  uint32_t nodes;
  uint32_t ranks;
};

/* Numbers are hashed as little-endian bytes, whatever the machine's order. */
static void add_number(XXH3_state_t* state, uint64_t number) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(number >> (8 * i));
  XXH3_128bits_update(state, bytes, sizeof bytes);
}

static void add_ratio(XXH3_state_t* state, double ratio) {
  uint64_t bits;
  memcpy(&bits, &ratio, sizeof bits);
  add_number(state, bits);
}

static void add_piece(XXH3_state_t* state, const struct sw_piece* piece) {
  add_number(state, piece->from);
  add_number(state, piece->count);
  for (uint32_t i = 0; i < piece->count; i++) {
    struct sw_choice choice = piece->ranked[i].choice;
    add_number(state, (uint64_t)(choice.algo + 1) << 16 | (uint64_t)(choice.proto + 1) << 8 | choice.channels);
    add_ratio(state, piece->ranked[i].ratio);
  }
}

static void add_shape(XXH3_state_t* state, const struct sw_shape* shape) {
  add_number(state, shape->nodes);
  add_number(state, shape->ranks);
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) {
    add_number(state, shape->pieces[c].count);
    for (size_t i = 0; i < shape->pieces[c].count; i++) add_piece(state, &shape->pieces[c].items[i]);
  }
}

static int compare_sizes(const void* a, const void* b) {
  const struct size* x = a;
  const struct size* y = b;
  if (x->nodes != y->nodes) return x->nodes < y->nodes ? -1 : 1;
  return (x->ranks > y->ranks) - (x->ranks < y->ranks);
}

/* Every shape that a table has, once, and the shape that none has. */
static bool add_shapes(XXH3_state_t* state, const struct sw_profile* profile, enum sw_mode mode, struct sw_kept* kept) {
  struct size* sizes = calloc(profile->table_count + 1, sizeof *sizes);
  if (!sizes) return false;
  for (size_t i = 0; i < profile->table_count; i++)
    sizes[i + 1] = (struct size){profile->tables[i].nodes, profile->tables[i].ranks};
  qsort(sizes, profile->table_count + 1, sizeof *sizes, compare_sizes);
  bool good = true;
  for (size_t i = 0; i <= profile->table_count && good; i++) {
    struct sw_shape shape;
    if (i > 0 && compare_sizes(&sizes[i - 1], &sizes[i]) == 0) continue;
    good = sw_shape_compile(profile, mode, sizes[i].nodes, sizes[i].ranks, &shape);
    if (!good) continue;
    add_shape(state, &shape);
    if (kept && shape.ranks)
      sw_kept_add(kept, &shape);
    else
      sw_shape_free(&shape);
  }
  free(sizes);
  return good;
}

static void add_bytes(void* state, const char* bytes, size_t length) {
  XXH3_128bits_update(state, bytes, length);
}

/* Hashed while it is written: as a whole it would be larger than the file. */
static bool add_text(XXH3_state_t* state, const struct sw_profile* profile) {
  struct sw_text text = {.drain = add_bytes, .where = state};
  sw_profile_write(profile, &text);
  sw_text_drain(&text);
  bool good = !text.failed;
  sw_text_free(&text);
  return good;
}

bool sw_digest_compute(const struct sw_profile* profile, struct sw_digest* out) {
  return sw_digest_compute_for(profile, SW_MODE_BY_SIZE, out, NULL);
}

bool sw_digest_compute_for(const struct sw_profile* profile, enum sw_mode mode, struct sw_digest* out,
                           struct sw_kept* kept) {
  XXH3_state_t* state = XXH3_createState();
  if (!state) return false;
  XXH3_128bits_reset(state);
  add_number(state, SW_RULES_VERSION);
  if (mode != SW_MODE_BY_SIZE) add_number(state, (uint64_t)mode);
  bool good = add_text(state, profile) && add_shapes(state, profile, mode, kept);
  XXH128_hash_t hash = XXH3_128bits_digest(state);
  XXH3_freeState(state);
  if (!good) return false;
  snprintf(out->hex, sizeof out->hex, "%016llx%016llx", (unsigned long long)hash.high64,
           (unsigned long long)hash.low64);
  return true;
}
