/* What is wrong with settings whatever they cost: grammar, empty lists, LL128, names, values. */
#include <string.h>

#include "doctor/known.h"
#include "doctor/settings.h"
#include "facts/forced.h"
#include "ground/letters.h"
#include "ground/names.h"

static void set_from(struct finding* finding, const struct env_variable* variable) {
  env_set_add_place(&finding->from, variable);
}

/* --- grammar ----------------------------------------------------------------------------------------------------- */

static void check_grammar(struct env_variable* variable, struct findings* findings) {
  struct env_set alone = {.items = variable, .count = 1};
  struct sw_forced forced;
  env_set_use(&alone);
  sw_forced_read(env_set_getenv, &forced);
  env_set_use(NULL);
  if (!forced.error.variable) return;
  struct finding* finding = findings_add(findings, SECTION_SETTINGS, SW_FORCED_GRAMMAR, "%s=%s, column %zu: %s",
                                         variable->name, variable->value, forced.error.column, forced.error.text);
  set_from(finding, variable);
  sw_text_printf(&finding->says, "%s\n%*s^\n", variable->value, (int)forced.error.column - 1, "");
  sw_text_add(&finding->says, "The doctor counts it as not set below.\n");
  sw_text_printf(&finding->cure, "correct or unset %s", variable->name);
}

/* Releases before 2.24 know one list for all collectives. */
static void check_age(const struct subject* subject, const struct env_variable* variable, struct findings* findings) {
  int nccl = subject->machine->nccl;
  bool list = strcmp(variable->name, "NCCL_ALGO") == 0 || strcmp(variable->name, "NCCL_PROTO") == 0;
  if (!list || !nccl || nccl >= NCCL_READS_COLLECTIVES || !strpbrk(variable->value, ":;")) return;
  struct finding* finding =
      findings_add(findings, SECTION_SETTINGS, SW_FORCED_GRAMMAR, "%s=%s: NCCL reads 'collective:' from 2.24 on only",
                   variable->name, variable->value);
  set_from(finding, variable);
  sw_text_printf(&finding->cure, "unset %s, or update NCCL", variable->name);
}

/* --- what is left ------------------------------------------------------------------------------------------------ */

static bool has_choice(const struct sw_forced* forced, int collective) {
  for (int a = 0; a < NCCL_NUM_ALGORITHMS; a++)
    for (int p = 0; p < NCCL_NUM_PROTOCOLS; p++)
      if (sw_forced_allows(forced, collective, a, p) && sw_choice_possible(collective, a, p)) return true;
  return false;
}

/* "broadcast, reduce": those of a mask of collectives. */
static void add_collectives(struct sw_text* text, unsigned mask) {
  bool any = false;
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++) {
    if (!(mask >> c & 1U)) continue;
    sw_text_printf(text, "%s%s", any ? ", " : "", sw_value_word(&sw_collectives, c));
    any = true;
  }
}

static void check_nothing_left(const struct env_set* set, const struct sw_forced* forced, struct findings* findings) {
  unsigned empty = 0;
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++)
    if ((forced->algo_set[c] || forced->proto_set[c]) && !has_choice(forced, c)) empty |= 1U << c;
  const struct env_variable* algo = env_set_find(set, "NCCL_ALGO");
  const struct env_variable* proto = env_set_find(set, "NCCL_PROTO");
  const struct env_variable* blamed = algo ? algo : proto;
  if (!empty || !blamed) return;
  struct sw_text names = SW_TEXT_EMPTY;
  add_collectives(&names, empty);
  struct finding* finding =
      findings_add(findings, SECTION_SETTINGS, SW_NOTHING_LEFT, "%s=%s leaves no algorithm available for %s",
                   blamed->name, blamed->value, sw_text_string(&names));
  set_from(finding, blamed);
  sw_text_add(&finding->says,
              "NCCL has tree for all-reduce only, and for broadcast and reduce ring only; such a call "
              "fails.\n");
  sw_text_printf(&finding->cure, "unset %s", blamed->name);
  sw_text_free(&names);
}

/* NCCL_ALGO=allreduce:tree: up to 2.30 the others are open, from 2.31 on they are off. */
static void check_unnamed(const struct subject* subject, const struct sw_forced* forced, struct findings* findings) {
  unsigned unnamed = 0;
  const struct env_variable* algo = env_set_find(subject->set, "NCCL_ALGO");
  int nccl = subject->machine->nccl;
  for (int c = 0; c < NCCL_NUM_COLLECTIVES; c++)
    if (!forced->algo_set[c]) unnamed |= 1U << c;
  if (!algo || !unnamed || unnamed == (1U << NCCL_NUM_COLLECTIVES) - 1) return;
  struct sw_text names = SW_TEXT_EMPTY;
  add_collectives(&names, unnamed);
  bool now = nccl >= NCCL_SWITCHES_OFF_UNNAMED;
  struct finding* finding =
      findings_add(findings, SECTION_SETTINGS, now ? (int)SW_UNNAMED_OFF : FINDING_NOTE, "NCCL_ALGO=%s %s", algo->value,
                   now ? "switches every other collective off in this NCCL"
                       : "means more from NCCL 2.31 on: every other collective is off there");
  finding->weight = now ? 100 : 1; /* a collective that is off stops a job */
  set_from(finding, algo);
  sw_text_printf(&finding->says, "Not named, so without an algorithm %s: %s.\n", now ? "now" : "from 2.31 on",
                 sw_text_string(&names));
  sw_text_add(&finding->cure, now ? "name the others, too" : "before an update to 2.31: name the others, too");
  if (now && settings_invariance(subject) == NOT_INVARIANT) sw_text_add(&finding->cure, ", or unset NCCL_ALGO");
  sw_text_free(&names);
}

/* --- LL128 ------------------------------------------------------------------------------------------------------- */

/* Whether a list names LL128 and is no list of exceptions. */
static bool names_ll128(const char* value) {
  bool exclude = false;
  for (bool start = true; *value; start = *value == ';', value += *value != '\0') {
    size_t length = strcspn(value, ",:;");
    if (start) exclude = false;
    if (*value == '^') exclude = true;
    if (!exclude && length == 5 && sw_same_letters(value, "LL128", 5)) return true;
    value += length;
    if (!*value) break;
  }
  return false;
}

static const char* const unsafe_says =
    "Over PCIe stores can arrive out of order. Data is then corrupted silently, and a data check that\n"
    "passes rules nothing out. Where the hardware allows LL128 (NVLink, or one GPU a node), NCCL uses it\n"
    "unasked; a list adds it only elsewhere.\n";

static void check_ll128(const struct subject* subject, struct findings* findings) {
  const struct env_variable* proto = env_set_find(subject->set, "NCCL_PROTO");
  if (!proto || !names_ll128(proto->value)) return;
  const char* network = subject->profile ? subject->profile->provenance[SW_PROVENANCE_NETWORK] : NULL;
  bool pcie = network && strstr(network, "PCIe");
  struct finding* finding = findings_add(
      findings, SECTION_SETTINGS, SW_UNSAFE_LL128,
      pcie ? "NCCL_PROTO=%s forces LL128 on over PCIe: unsafe" : "NCCL_PROTO=%s forces LL128 on: unsafe over PCIe",
      proto->value);
  set_from(finding, proto);
  finding->weight = 1000; /* wrong results come before slow ones */
  if (pcie) sw_text_printf(&finding->says, "The profile's network: %s.\n", network);
  sw_text_add(&finding->says, unsafe_says);
  if (!pcie) sw_text_add(&finding->says, "Whether this machine has NVLink is not known here.\n");
  sw_text_add(&finding->cure, "unset NCCL_PROTO, or take LL128 out of it");
}

/* --- names and values -------------------------------------------------------------------------------------------- */

static void check_name(const struct env_variable* variable, struct findings* findings) {
  const char* meant = known_meant(variable->name);
  if (!meant) return;
  struct finding* finding = findings_add(findings, SECTION_SETTINGS, SW_MISSPELT,
                                         "NCCL knows no %s and ignores it; did you mean %s?", variable->name, meant);
  set_from(finding, variable);
  finding->weight = 0.4;
  sw_text_printf(&finding->cure, "remove %s (or correct it, if %s is really to be forced)", variable->name, meant);
}

static void check_value(const struct env_variable* variable, struct findings* findings) {
  const struct known_variable* known = known_find(variable->name);
  if (!known || !known->values || !variable->value[0]) return;
  for (const char* const* value = known->values; *value; value++)
    if (strcmp(variable->value, *value) == 0) return;
  struct finding* finding =
      findings_add(findings, SECTION_SETTINGS, SW_ODD_VALUE, "%s=%s: NCCL documents", variable->name, variable->value);
  for (const char* const* value = known->values; *value; value++)
    sw_text_printf(&finding->what, "%s %s", value == known->values ? "" : ",", *value);
  set_from(finding, variable);
  finding->weight = 0.4;
  sw_text_printf(&finding->cure, "unset %s", variable->name);
}

void settings_check(const struct subject* subject, struct findings* findings) {
  const struct env_set* set = subject->set;
  struct sw_forced forced;
  bool invariant = settings_invariance(subject) == INVARIANT_SETTINGS;
  for (size_t i = 0; i < set->count; i++) {
    check_grammar(&set->items[i], findings);
    check_age(subject, &set->items[i], findings);
    check_name(&set->items[i], findings);
    if (!invariant) check_value(&set->items[i], findings);
  }
  env_set_use(set);
  sw_forced_read(env_set_getenv, &forced);
  check_nothing_left(set, &forced, findings);
  check_unnamed(subject, &forced, findings);
  check_ll128(subject, findings);
}
