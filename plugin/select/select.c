#include "select/select.h"

#include <string.h>

#include "decide/plan.h"
#include "select/match.h"
#include "select/shipped.h"

/* "no table for 8 ranks on 1 node" */
static void add_no_table(struct sw_text* text, const struct sw_facts* facts) {
  sw_text_add(text, "no table for ");
  sw_add_shape(text, (uint32_t)facts->ranks, (uint32_t)facts->nodes);
}

static bool has_shape(const struct sw_profile* profile, const struct sw_facts* facts) {
  return sw_profile_has_shape(profile, (uint32_t)facts->nodes, (uint32_t)facts->ranks);
}

static void refuse(struct sw_selection* selection, enum sw_code code) {
  selection->outcome = SW_REFUSED;
  selection->entry = NULL;
  sw_text_printf(&selection->why, " [SW-%d]", (int)code);
}

/* --- named or pinned --------------------------------------------------------------------------------------------- */

/* The user's word counts; hardware that contradicts it is said, and with a pinned digest refused. */
static void check_hardware(const struct sw_library* library, const struct sw_facts* facts, const struct sw_entry* entry,
                           struct sw_selection* selection) {
  struct sw_match match = sw_match_profile(entry->profile, facts);
  if (match.fit == SW_CONTRADICTS && library->switches.expect.hex[0]) {
    sw_text_free(&selection->why);
    sw_text_printf(&selection->why, "profile %s is pinned, but it was measured on other hardware: here %s",
                   entry->profile->name, sw_text_string(&match.why));
    refuse(selection, SW_CONTRADICTED);
  } else if (match.fit == SW_CONTRADICTS && selection->outcome == SW_APPLIES) {
    sw_text_printf(&selection->warning,
                   "profile %s was named and is used, but it was measured on other hardware: here %s [SW-%d]",
                   entry->profile->name, sw_text_string(&match.why), (int)SW_WRONG_HARDWARE);
  }
  sw_text_free(&match.why);
}

static void use_chosen(const struct sw_library* library, const struct sw_facts* facts, const struct sw_entry* entry,
                       const char* how, struct sw_selection* selection) {
  if (has_shape(entry->profile, facts)) {
    selection->outcome = SW_APPLIES;
    selection->entry = entry;
    sw_text_add(&selection->why, how);
  } else {
    sw_text_printf(&selection->why, "profile %s has ", entry->profile->name);
    add_no_table(&selection->why, facts);
  }
  check_hardware(library, facts, entry, selection);
}

static void select_named(const struct sw_library* library, const struct sw_facts* facts,
                         struct sw_selection* selection) {
  const struct sw_entry* entry = &library->entries[0];
  const char* expect = library->switches.expect.hex;
  if (expect[0] && strcmp(expect, entry->digest.hex) != 0) {
    sw_text_printf(&selection->why, "profile %s (%s) has digest %s%s, but NCCL_SIZEWISE_EXPECT is %s",
                   entry->profile->name, entry->origin, entry->digest.hex,
                   library->mode == SW_MODE_DETERMINISTIC ? " in the deterministic mode" : "", expect);
    refuse(selection, SW_WRONG_DIGEST);
    return;
  }
  use_chosen(library, facts, entry, "named by NCCL_SIZEWISE_PROFILE", selection);
}

static void select_pinned(const struct sw_library* library, const struct sw_facts* facts,
                          struct sw_selection* selection) {
  const char* expect = library->switches.expect.hex;
  for (size_t i = 0; i < library->count; i++) {
    const struct sw_entry* entry = &library->entries[i];
    if (!entry->profile || strcmp(expect, entry->digest.hex) != 0) continue;
    use_chosen(library, facts, entry, "pinned by NCCL_SIZEWISE_EXPECT", selection);
    return;
  }
  sw_text_printf(&selection->why, "no profile in %s, and no shipped one, has the digest %s of NCCL_SIZEWISE_EXPECT",
                 library->switches.path, expect);
  refuse(selection, SW_WRONG_DIGEST);
}

/* --- found ------------------------------------------------------------------------------------------------------- */

bool sw_fits_by_itself(const struct sw_entry* entry, const struct sw_facts* facts, int* specificity,
                       struct sw_text* why) {
  if (!entry->profile) {
    sw_text_add(why, "invalid");
    return false;
  }
  if (entry->shipped || entry->profile->kind != SW_KIND_MEASURED) {
    sw_text_printf(why, "%s, applies only when named",
                   entry->shipped ? "shipped" : sw_value_word(&sw_kinds, entry->profile->kind));
    return false;
  }
  if (!has_shape(entry->profile, facts)) {
    add_no_table(why, facts);
    return false;
  }
  struct sw_match match = sw_match_profile(entry->profile, facts);
  *specificity = match.specificity;
  sw_text_add(why, sw_text_string(&match.why));
  sw_text_free(&match.why);
  return match.fit == SW_FITS;
}

struct found {
  const struct sw_entry* best;
  int specificity;
  int equals;             /* how many others fit as well and say something else */
  struct sw_text names;   /* of the best and its equals */
  struct sw_text reasons; /* why the others do not fit */
};

static void consider(const struct sw_entry* entry, const struct sw_facts* facts, struct found* found) {
  struct sw_text why = SW_TEXT_EMPTY;
  int specificity = 0;
  if (!sw_fits_by_itself(entry, facts, &specificity, &why)) {
    sw_text_printf(&found->reasons, "%s%s: %s", found->reasons.length ? "; " : "", entry->origin, sw_text_string(&why));
  } else if (found->best && strcmp(found->best->digest.hex, entry->digest.hex) == 0) {
    /* the same profile twice, in two folders */
  } else if (!found->best || specificity > found->specificity) {
    found->best = entry;
    found->specificity = specificity;
    found->equals = 0;
    sw_text_free(&found->names);
    sw_text_add(&found->names, entry->origin);
  } else if (specificity == found->specificity) {
    found->equals++;
    sw_text_printf(&found->names, ", %s", entry->origin);
  }
  sw_text_free(&why);
}

static void say_nothing_fits(const struct sw_library* library, const struct found* found, struct sw_text* why) {
  if (found->reasons.length) {
    sw_text_printf(why, "no profile fits: %s", sw_text_string(&found->reasons));
    return;
  }
  sw_text_printf(why,
                 "no profile in %s; shipped ones apply when NCCL_SIZEWISE_PROFILE names them:", library->switches.path);
  for (const struct sw_shipped* shipped = sw_shipped_profiles; shipped->name; shipped++)
    sw_text_printf(why, "%s %s", shipped == sw_shipped_profiles ? "" : ",", shipped->name);
}

static void judge_found(const struct sw_library* library, const struct sw_facts* facts, const struct found* found,
                        struct sw_selection* selection) {
  if (!found->best) {
    say_nothing_fits(library, found, &selection->why);
  } else if (found->equals) {
    sw_text_add(&selection->why, "several profiles fit equally well");
    sw_text_printf(&selection->warning,
                   "several profiles fit equally well: %s; set NCCL_SIZEWISE_PROFILE to one [SW-%d]",
                   sw_text_string(&found->names), (int)SW_SEVERAL_MATCH);
  } else if (facts->nodes > 1) {
    sw_text_printf(&selection->why,
                   "%s fits, but on several nodes a profile applies only when every rank is told so: set "
                   "NCCL_SIZEWISE_PROFILE=%s NCCL_SIZEWISE_EXPECT=%s on all of them",
                   found->best->origin, found->best->origin, found->best->digest.hex);
  } else {
    selection->outcome = SW_APPLIES;
    selection->entry = found->best;
    sw_text_add(&selection->why, "fits this machine");
  }
}

static void select_found(const struct sw_library* library, const struct sw_facts* facts,
                         struct sw_selection* selection) {
  struct found found = {.names = SW_TEXT_EMPTY, .reasons = SW_TEXT_EMPTY};
  for (size_t i = 0; i < library->count; i++)
    if (strcmp(library->entries[i].origin, "shipped") != 0) consider(&library->entries[i], facts, &found);
  judge_found(library, facts, &found, selection);
  sw_text_free(&found.names);
  sw_text_free(&found.reasons);
}

/* --- all --------------------------------------------------------------------------------------------------------- */

struct sw_selection sw_select(const struct sw_library* library, const struct sw_facts* facts) {
  struct sw_selection selection = {.outcome = SW_LEFT_TO_NCCL, .why = SW_TEXT_EMPTY, .warning = SW_TEXT_EMPTY};
  if (library->refusal.length) {
    selection.outcome = SW_REFUSED;
    sw_text_add(&selection.why, sw_text_string(&library->refusal));
  } else if (library->switches.off) {
    sw_text_add(&selection.why, "switched off by NCCL_SIZEWISE_PROFILE=off");
  } else if (library->named) {
    select_named(library, facts, &selection);
  } else if (library->switches.expect.hex[0]) {
    select_pinned(library, facts, &selection);
  } else {
    select_found(library, facts, &selection);
  }
  return selection;
}

void sw_selection_free(struct sw_selection* selection) {
  sw_text_free(&selection->why);
  sw_text_free(&selection->warning);
}
