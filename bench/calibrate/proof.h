/*
 * That all ranks decide the same: each of them fingerprints what it was given and what it would decide, with its own
 * code on its own processor, and the fingerprints are compared.
 */
#ifndef SW_PROOF_H
#define SW_PROOF_H

#include <stddef.h>
#include <stdint.h>

#include "decide/digest.h"
#include "decide/plan.h"

/* One rank's; it goes over the wire as it stands. */
struct rank_proof {
  char given[SW_DIGEST_LENGTH + 8]; /* digest of the profile that it was given; "": it does not read there */
  char own[SW_DIGEST_LENGTH + 8];   /* of the profile that its own command line names; "": it finds none */
  uint64_t decisions;               /* proof_hash of the plan for the communicator's shape */
};

/* A fingerprint of what a plan decides for all collectives at many sizes, around every change-over among them. */
uint64_t proof_hash(const struct sw_plan* plan);

/* Fills a rank's proof. `profile`: text, NULL for none; `own`: a digest, or NULL. */
void proof_make(const char* profile, uint32_t nodes, uint32_t ranks, const char* own, struct rank_proof* out);

/* How a rank differs from what all should have; the gravest first. */
enum proof_fault {
  PROOF_GOOD,
  PROOF_UNREADABLE,      /* the profile does not read there: another release */
  PROOF_OTHER_DIGEST,    /* it computes another digest from the same text */
  PROOF_OTHER_DECISIONS, /* the digest is right, and it decides something else */
  PROOF_OTHER_FILE,      /* its own file of that name has another digest */
  PROOF_NO_FILE          /* it has no file of that name: to be copied there before it is deployed */
};
enum proof_fault proof_judge(const struct rank_proof* proof, const char* digest, uint64_t decisions);

#endif
