/* Whether a profile still holds: what it says of its NCCL, driver and settings against what is in force. */
#include <string.h>

#include "doctor/known.h"
#include "doctor/nccl_version.h"
#include "doctor/profiles.h"
#include "doctor/settings.h"
#include "ground/names.h"
#include "select/match.h"

static const char* measured_with(const struct sw_profile* profile, const char* name) {
  for (size_t i = 0; i < profile->settings.count; i++)
    if (strcmp(profile->settings.items[i].name, name) == 0) return profile->settings.items[i].value;
  return NULL;
}

/* A version is stated in words that may hold more than it: "2.29.7 (PyTorch's)". */
static bool states(const char* words, const char* version) {
  const char* at = strstr(words, version);
  char next = at ? at[strlen(version)] : '\0';
  return at && (next < '0' || next > '9') && (at == words || at[-1] < '0' || at[-1] > '9');
}

static void compare_version(struct sw_text* says, const char* what, const char* stated, const char* here) {
  if (stated && here[0] && !states(stated, here))
    sw_text_printf(says, "measured with %s %s; here it is %s\n", what, stated, here);
}

/* Forcing settings are findings of their own. */
static void compare_settings(struct sw_text* says, const struct sw_profile* profile, const struct env_set* set) {
  for (size_t i = 0; i < known_variable_count; i++) {
    const struct known_variable* known = &known_variables[i];
    const char* there = measured_with(profile, known->name);
    const char* here = env_set_value(set, known->name);
    if (!known->changes_times || (known->forces && !there)) continue;
    if (there ? here && strcmp(here, there) == 0 : !here) continue;
    sw_text_printf(says, "measured with%s %s%s%s; here it is %s\n", there ? "" : "out", known->name, there ? "=" : "",
                   there ? there : "", here ? here : "not set");
  }
}

static void tell_match(const struct subject* subject, const char* origin, const struct sw_match* match,
                       struct findings* findings) {
  const struct sw_profile* profile = subject->profile;
  const char* date = profile->provenance[SW_PROVENANCE_DATE];
  const char* nccl = profile->provenance[SW_PROVENANCE_NCCL];
  struct finding* finding =
      findings_add(findings, SECTION_PROFILE, FINDING_NOTE, "settings are priced with %s (%s, %s%s%s)", profile->name,
                   origin, sw_value_word(&sw_kinds, profile->kind), date ? " " : "", date ? date : "");
  if (match->fit == SW_FITS)
    sw_text_add(&finding->says, "Its hardware is this machine's.\n");
  else if (match->fit == SW_UNKNOWN)
    sw_text_printf(&finding->says, "Whether its hardware is this machine's is open: %s.\n",
                   sw_text_string(&match->why));
  else
    sw_text_printf(&finding->says, "Its hardware is not this machine's: %s.\n", sw_text_string(&match->why));
  if (!nccl) sw_text_add(&finding->says, "It does not say which NCCL it was measured with.\n");
}

void profiles_check_age(const struct subject* subject, const char* origin, struct findings* findings) {
  const struct sw_profile* profile = subject->profile;
  struct sw_match match = sw_match_profile(profile, subject->machine);
  struct sw_text nccl = SW_TEXT_EMPTY;
  struct sw_text says = SW_TEXT_EMPTY;
  if (subject->machine->nccl) nccl_add_version(&nccl, subject->machine->nccl);
  tell_match(subject, origin, &match, findings);
  compare_version(&says, "NCCL", profile->provenance[SW_PROVENANCE_NCCL], sw_text_string(&nccl));
  if (match.fit != SW_CONTRADICTS)
    compare_version(&says, "driver", profile->provenance[SW_PROVENANCE_DRIVER], subject->machine->driver);
  if (settings_invariance(subject) != INVARIANT_SETTINGS) compare_settings(&says, profile, subject->set);
  if (says.length) {
    struct finding* finding = findings_add(findings, SECTION_PROFILE, SW_STALE,
                                           "%s was measured under other conditions than are in force", profile->name);
    finding->weight = 0.3;
    sw_text_add(&finding->says, sw_text_string(&says));
    sw_text_printf(&finding->cure, "sizewise verify %s shows whether it holds", profile->name);
  }
  sw_text_free(&says);
  sw_text_free(&nccl);
  sw_text_free(&match.why);
}
