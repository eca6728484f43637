#include "calibrate/proof.h"

#include <stdio.h>
#include <string.h>

/* 2^(k/16) bytes are where change-overs lie, and these are near enough to see each of them: 64 steps an octave. */
enum { LARGEST_OCTAVE = 33, STEPS = 64 };

/* FNV-1a of 64 bits (Fowler, Noll, Vo), a number at a time, low byte first. */
static uint64_t add(uint64_t hash, uint64_t number) {
  for (int i = 0; i < 8; i++) hash = (hash ^ (number >> (8 * i) & 0xff)) * UINT64_C(0x100000001b3);
  return hash;
}

static uint64_t add_decision(uint64_t hash, const struct sw_plan* plan, int collective, uint64_t bytes) {
  struct sw_decision decision = sw_plan_decide(plan, collective, bytes);
  hash = add(add(hash, bytes), decision.count);
  for (uint32_t i = 0; i < decision.count; i++) {
    uint64_t ratio;
    struct sw_choice choice = decision.ranked[i].choice;
    memcpy(&ratio, &decision.ranked[i].ratio, sizeof ratio);
    hash = add(hash, (uint64_t)(choice.algo + 1) << 16 | (uint64_t)(choice.proto + 1) << 8 | choice.channels);
    hash = add(hash, ratio);
  }
  return hash;
}

uint64_t proof_hash(const struct sw_plan* plan) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (int collective = 0; collective < NCCL_NUM_COLLECTIVES; collective++) {
    for (int octave = 0; octave <= LARGEST_OCTAVE; octave++)
      for (uint64_t step = 0; step < STEPS; step++)
        hash = add_decision(hash, plan, collective, ((STEPS + step) << octave) / STEPS);
    const struct sw_pieces* pieces = &plan->pieces[collective];
    for (size_t i = 0; i < pieces->count; i++) {
      hash = add_decision(hash, plan, collective, pieces->items[i].from);
      if (pieces->items[i].from) hash = add_decision(hash, plan, collective, pieces->items[i].from - 1);
    }
  }
  return hash;
}

void proof_make(const char* profile, uint32_t nodes, uint32_t ranks, const char* own, struct rank_proof* out) {
  static struct sw_diags diags;
  struct sw_digest digest;
  memset(out, 0, sizeof *out);
  if (own) snprintf(out->own, sizeof out->own, "%s", own);
  sw_diags_start(&diags, "the profile");
  struct sw_profile* read = profile ? sw_profile_read(profile, strlen(profile), &diags) : NULL;
  struct sw_plan* plan = read ? sw_plan_compile(read, nodes, ranks) : NULL;
  if (plan && sw_digest_compute(read, &digest)) {
    memcpy(out->given, digest.hex, sizeof digest.hex);
    out->decisions = proof_hash(plan);
  }
  sw_plan_free(plan);
  sw_profile_free(read);
}

enum proof_fault proof_judge(const struct rank_proof* proof, const char* digest, uint64_t decisions) {
  if (!proof->given[0]) return PROOF_UNREADABLE;
  if (strcmp(proof->given, digest) != 0) return PROOF_OTHER_DIGEST;
  if (proof->decisions != decisions) return PROOF_OTHER_DECISIONS;
  if (!proof->own[0]) return PROOF_NO_FILE;
  return strcmp(proof->own, digest) == 0 ? PROOF_GOOD : PROOF_OTHER_FILE;
}
