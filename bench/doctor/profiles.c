#include "doctor/profiles.h"

#include <string.h>

#include "facts/files.h"
#include "ground/letters.h"
#include "ground/nearest.h"
#include "select/match.h"
#include "select/select.h"
#include "select/shipped.h"

/* --- texts of select/, which carry their code at the end ---------------------------------------------------------- */

/* The code's cure is a sentence; the doctor's cures are none. */
static void add_cure(struct sw_text* out, const char* sentence) {
  size_t length = strlen(sentence);
  char first = sw_lower(sentence[0]);
  sw_text_add_bytes(out, &first, 1);
  sw_text_add_bytes(out, sentence + 1, length - 1 - (sentence[length - 1] == '.'));
}

/* "... [SW-402]" becomes a finding with the first code in it, and loses that; without one a note. */
static void add_coded(struct findings* findings, const char* text, double weight) {
  const char* mark = strstr(text, " [SW-");
  const char* end = mark ? strchr(mark, ']') : NULL;
  int code = FINDING_NOTE;
  bool good = end && sw_facts_number(mark + 5, (size_t)(end - mark) - 5, 999, &code) && sw_code_entry(code);
  if (!good) mark = end = NULL;
  struct finding* finding = findings_add(findings, SECTION_PROFILE, good ? code : FINDING_NOTE, "%.*s%s",
                                         (int)(good ? (size_t)(mark - text) : strlen(text)), text, good ? end + 1 : "");
  finding->weight = weight;
  if (good) add_cure(&finding->cure, sw_code_entry(code)->cure);
}

/* --- which applies ----------------------------------------------------------------------------------------------- */

/* The machine as a communicator of the wanted shape, or of the first that the profile has. */
static struct sw_facts with_shape(const struct sw_facts* machine, const struct sw_profile* profile,
                                  struct shape_filter shape) {
  struct sw_facts facts = *machine;
  if (shape.ranks)
    sw_facts_set_shape(&facts, shape.ranks, shape.nodes);
  else if (profile && profile->table_count)
    sw_facts_set_shape(&facts, profile->tables[0].ranks, profile->tables[0].nodes);
  else if (profile && profile->rule_count)
    sw_facts_set_shape(&facts, profile->rules[0].ranks, profile->rules[0].nodes);
  return facts;
}

/* "cluster (/etc/sizewise/profiles/cluster.yaml)" */
static void add_name(struct sw_text* text, const struct sw_entry* entry) {
  if (entry->profile)
    sw_text_printf(text, "%s (%s)", entry->profile->name, entry->origin);
  else
    sw_text_add(text, entry->origin);
}

/* One that was only found: does it fit, and if not, why. */
static bool tell_found(const struct sw_library* library, const struct sw_entry* entry, struct shape_filter shape,
                       struct findings* findings) {
  struct sw_facts facts = with_shape(&library->machine, entry->profile, shape);
  struct sw_text why = SW_TEXT_EMPTY;
  int specificity = 0;
  bool fits = sw_fits_by_itself(entry, &facts, &specificity, &why);
  struct sw_text name = SW_TEXT_EMPTY;
  add_name(&name, entry);
  if (fits && !shape.ranks)
    findings_add(findings, SECTION_PROFILE, FINDING_NOTE, "%s fits this machine; it applies by itself on one node",
                 sw_text_string(&name));
  else if (!fits)
    findings_add(findings, SECTION_PROFILE, FINDING_NOTE, "%s does not apply: %s", sw_text_string(&name),
                 sw_text_string(&why));
  sw_text_free(&name);
  sw_text_free(&why);
  return fits;
}

/* Why the searched ones do not apply; the one that fits by itself, where no shape says which communicator is meant. */
static const struct sw_entry* tell_all_found(const struct sw_library* library, struct shape_filter shape,
                                             struct findings* findings) {
  const struct sw_entry* fitting = NULL;
  for (size_t i = 0; i < library->count; i++) {
    const struct sw_entry* entry = &library->entries[i];
    if (strcmp(entry->origin, "shipped") != 0 && tell_found(library, entry, shape, findings) && !fitting)
      fitting = entry;
  }
  return fitting;
}

static bool is_decided_without_shape(const struct sw_library* library) {
  return library->named || library->switches.off || library->refusal.length || library->switches.expect.hex[0] ||
         !library->count;
}

bool profiles_are_absent(const struct sw_library* library) {
  return !library->count && !library->named && !library->switches.off && !library->refusal.length &&
         !library->switches.expect.hex[0] && !library->warning_count;
}

static const struct sw_entry* pinned(const struct sw_library* library) {
  if (library->named && library->count) return &library->entries[0];
  for (size_t i = 0; i < library->count; i++)
    if (library->entries[i].profile && strcmp(library->entries[i].digest.hex, library->switches.expect.hex) == 0)
      return &library->entries[i];
  return NULL;
}

static const struct sw_entry* tell_selection(const struct sw_library* library, struct shape_filter shape,
                                             struct findings* findings) {
  const struct sw_entry* meant = pinned(library);
  struct sw_facts facts = with_shape(&library->machine, meant ? meant->profile : NULL, shape);
  struct sw_selection selection = sw_select(library, &facts);
  const struct sw_entry* entry = selection.entry;
  if (selection.outcome == SW_APPLIES)
    findings_add(findings, SECTION_PROFILE, FINDING_NOTE, "%s (%s) applies: %s", entry->profile->name, entry->origin,
                 sw_text_string(&selection.why));
  else if (selection.outcome == SW_REFUSED)
    add_coded(findings, sw_text_string(&selection.why), 50); /* no communicator starts */
  else
    findings_add(findings, SECTION_PROFILE, FINDING_NOTE, "none applies: %s", sw_text_string(&selection.why));
  if (selection.warning.length) add_coded(findings, sw_text_string(&selection.warning), 3);
  sw_selection_free(&selection);
  if (entry) return entry;
  return meant && meant->profile ? meant : NULL;
}

const struct sw_entry* profiles_select(const struct sw_library* library, struct shape_filter shape,
                                       struct findings* findings) {
  for (size_t i = 0; i < library->warning_count; i++) add_coded(findings, sw_text_string(&library->warnings[i]), 2);
  if (!shape.ranks && !is_decided_without_shape(library)) return tell_all_found(library, shape, findings);
  const struct sw_entry* entry = tell_selection(library, shape, findings);
  if (!library->named && !library->switches.expect.hex[0]) tell_all_found(library, shape, findings);
  return entry;
}

/* --- names ------------------------------------------------------------------------------------------------------- */

void profiles_check_names(const struct env_set* set, struct findings* findings) {
  static const char prefix[] = "NCCL_SIZEWISE_";
  static const char* const names[] = {"PROFILE", "PATH", "EXPECT", "STRICT", "DETERMINISTIC"};
  for (size_t i = 0; i < set->count; i++) {
    const struct env_variable* variable = &set->items[i];
    if (strncmp(variable->name, prefix, sizeof prefix - 1) != 0) continue;
    const char* name = variable->name + sizeof prefix - 1;
    struct sw_nearest nearest = sw_nearest_start(name, strlen(name));
    bool known = false;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
      known |= strcmp(name, names[k]) == 0;
      sw_nearest_offer(&nearest, names[k]);
    }
    if (known) continue;
    struct finding* finding =
        findings_add(findings, SECTION_PROFILE, SW_UNKNOWN_SETTING, "there is no %s", variable->name);
    if (nearest.best) sw_text_printf(&finding->what, "; did you mean %s%s?", prefix, nearest.best);
    env_set_add_place(&finding->from, variable);
    sw_text_printf(&finding->cure, "correct or remove %s", variable->name);
  }
}

/* --- shipped ------------------------------------------------------------------------------------------------------ */

static bool fits_machine(const struct sw_shipped* shipped, const struct sw_facts* machine) {
  struct sw_diags diags;
  sw_diags_start(&diags, shipped->name);
  struct sw_profile* profile = sw_profile_read(shipped->text, shipped->length, &diags);
  if (!profile) return false;
  struct sw_match match = sw_match_profile(profile, machine);
  bool fits = match.fit == SW_FITS;
  sw_text_free(&match.why);
  sw_profile_free(profile);
  return fits;
}

void profiles_offer_shipped(const struct sw_facts* machine, struct findings* findings) {
  struct sw_text names = SW_TEXT_EMPTY;
  for (const struct sw_shipped* shipped = sw_shipped_profiles; shipped->name; shipped++)
    if (fits_machine(shipped, machine)) sw_text_printf(&names, "%s%s", names.length ? ", " : "", shipped->name);
  if (names.length) {
    struct finding* finding = findings_add(findings, SECTION_PROFILE, FINDING_NOTE,
                                           "shipped profiles for this hardware: %s", sw_text_string(&names));
    sw_text_add(&finding->says, "They were measured elsewhere and apply only when NCCL_SIZEWISE_PROFILE names them.\n");
    sw_text_add(&finding->cure, "sizewise doctor --profile NAME prices the settings with one");
  }
  sw_text_free(&names);
}
