/* What the settings do to NCCL's choices: all findings of the section "Settings". */
#ifndef SW_SETTINGS_FINDINGS_H
#define SW_SETTINGS_FINDINGS_H

#include "doctor/finding.h"
#include "doctor/subject.h"

/* Grammar, what is left of each collective, LL128, misspelt names, odd values. */
void settings_check(const struct subject* subject, struct findings* findings);

/* What the profile knows all of it to cost, and what of the profile it switches off. `costs` gets the figures. */
void settings_price(const struct subject* subject, struct findings* findings, struct costs* costs);

/*
 * A batch-invariant mode, which fixes one algorithm, one protocol and one channel so that sums stay the same. Which
 * algorithms can do that: decide/uniform.h; a ring of more than two ranks, or of a number that is not known, cannot.
 */
enum invariance {
  NOT_INVARIANT,
  INVARIANT_SETTINGS, /* NCCL_ALGO, NCCL_PROTO and the channel limits leave all-reduce one choice whose sums are firm */
  INVARIANT_INTENDED  /* vLLM's or SGLang's switch is on: they force such settings when they start */
};
enum invariance settings_invariance(const struct subject* subject);

/* The framework's switch that is on, or NULL. */
const struct env_variable* settings_intended(const struct env_set* set);

/* "NCCL_ALGO=Ring NCCL_PROTO=LL": those that force, in the set's order; returns how many. */
unsigned settings_add_forcing(struct sw_text* text, const struct env_set* set, bool with_values);

/* What a known variable does here: "allreduce: tree, at every size". */
void settings_add_meaning(struct sw_text* text, struct env_variable* variable);

#endif
