#include <stdio.h>
#include <string.h>

#include "doctor/known.h"
#include "doctor/report.h"
#include "doctor/settings.h"
#include "ground/names.h"
#include "screen.h"

enum { INDENT = 2, LABEL = 10, HANG = 11 };

static const char* const titles[SECTION_COUNT] = {"Settings", "Tuner", "Profile"};

/* --- the head ---------------------------------------------------------------------------------------------------- */

static void add_machine(const struct diagnosis* diagnosis, struct sw_text* out) {
  const struct sw_facts* machine = diagnosis->subject.machine;
  const struct nccl_found* nccl = &diagnosis->nccl;
  sw_text_printf(out, "%-*s%s, network %s, driver %s\n%-*s", LABEL, "machine",
                 machine->gpu[0] ? machine->gpu : "no GPU seen",
                 machine->net == SW_NET_UNKNOWN ? "not known" : sw_value_word(&sw_nets, machine->net),
                 machine->driver[0] ? machine->driver : "not known", LABEL, "NCCL");
  if (nccl->version)
    nccl_add_version(out, nccl->version);
  else
    sw_text_add(out, "version not known; --nccl 2.28.9 or --nccl PATH tells it");
  if (nccl->path.length) sw_text_printf(out, " (%s)", sw_text_string(&nccl->path));
  if (nccl->others) sw_text_printf(out, ", and %u more in this process", nccl->others);
  sw_text_add(out, "\n");
}

/* --- findings ---------------------------------------------------------------------------------------------------- */

static void add_lines(struct sw_text* out, const char* lines) {
  while (*lines) {
    size_t length = strcspn(lines, "\n");
    sw_text_printf(out, "%*s%.*s\n", HANG, "", (int)length, lines);
    lines += length + (lines[length] == '\n');
  }
}

static void add_finding(struct sw_text* out, const struct finding* finding) {
  struct sw_text head = SW_TEXT_EMPTY;
  char label[16];
  snprintf(label, sizeof label, "  %s:", finding_severity(finding));
  sw_text_add(&head, sw_text_string(&finding->what));
  if (finding->code) sw_text_printf(&head, " [SW-%d]", finding->code);
  screen_paragraph(out, HANG, label, sw_text_string(&head));
  if (finding->from.length) screen_paragraph(out, HANG, "    from", sw_text_string(&finding->from));
  add_lines(out, sw_text_string(&finding->says));
  if (finding->cure.length) screen_paragraph(out, HANG, "    cure", sw_text_string(&finding->cure));
  sw_text_free(&head);
}

static void add_findings(const struct diagnosis* diagnosis, enum finding_section section, struct sw_text* out) {
  for (size_t i = 0; i < diagnosis->findings.count; i++)
    if (diagnosis->findings.items[i].section == section) add_finding(out, &diagnosis->findings.items[i]);
}

/* --- sections ---------------------------------------------------------------------------------------------------- */

/* Every setting that the doctor knows, in the order they were set. */
static void add_settings(const struct diagnosis* diagnosis, struct sw_text* out) {
  struct grid grid = grid_start(3);
  bool any = false;
  for (size_t i = 0; i < diagnosis->set.count; i++) {
    struct env_variable* variable = &diagnosis->set.items[i];
    struct sw_text cell = SW_TEXT_EMPTY;
    if (!known_find(variable->name) || !variable->value[0]) continue;
    any = true;
    sw_text_printf(&cell, "%s=%s", variable->name, variable->value);
    grid_take(&grid, &cell);
    env_set_add_place(&cell, variable);
    grid_take(&grid, &cell);
    settings_add_meaning(&cell, variable);
    grid_take(&grid, &cell);
  }
  grid_finish(&grid, INDENT, out);
  if (!any) sw_text_printf(out, "%*snothing is forced\n", INDENT, "");
}

static void add_tuner(const struct diagnosis* diagnosis, struct sw_text* out) {
  const struct tuner_view* tuner = &diagnosis->tuner;
  sw_text_printf(out, "%*s", INDENT, "");
  if (!tuner->path.length) {
    sw_text_add(out,
                env_set_find(&diagnosis->set, "NCCL_TUNER_PLUGIN")
                    ? "none: NCCL decides alone\n"
                    : "none: NCCL_TUNER_PLUGIN is not set, and there is no libnccl-tuner.so and no net plugin with "
                      "a tuner\n");
    return;
  }
  sw_text_printf(out, "%s: %s%s (%s)\n", tuner->loaded ? "loaded" : "would be loaded", sw_text_string(&tuner->path),
                 tuner->exports.sizewise ? ", Sizewise" : "", sw_text_string(&tuner->who));
  if (!tuner->exports.tuners) return;
  sw_text_printf(out, "%*stuner interfaces ", INDENT, "");
  tuner_add_interfaces(out, &tuner->exports);
  if (tuner->interface) sw_text_printf(out, "; this NCCL uses v%d", tuner->interface);
  sw_text_add(out, "\n");
}

static void add_decider(const struct diagnosis* diagnosis, struct sw_text* out) {
  struct sw_text line = SW_TEXT_EMPTY;
  sw_text_add(out, "\nWho decides\n");
  diagnosis_add_decider(&line, diagnosis);
  sw_text_add(&line, "; no tuner is asked about send/receive, all-to-all, copy-engine collectives");
  screen_paragraph(out, INDENT, "", sw_text_string(&line));
  screen_paragraph(out, INDENT, "",
                   "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING makes NCCL log which choice each call ran with");
  sw_text_free(&line);
}

static void add_verdict(const struct diagnosis* diagnosis, struct sw_text* out) {
  struct sw_text line = SW_TEXT_EMPTY;
  diagnosis_add_verdict(&line, diagnosis);
  sw_text_add(out, "\n");
  screen_paragraph(out, LABEL, "verdict", sw_text_string(&line));
  sw_text_free(&line);
}

void report_as_text(const struct diagnosis* diagnosis, struct sw_text* out) {
  sw_text_printf(out, "%-*s%s\n", LABEL, "settings", diagnosis->title);
  add_machine(diagnosis, out);
  for (int section = 0; section < SECTION_COUNT; section++) {
    sw_text_printf(out, "\n%s\n", titles[section]);
    if (section == SECTION_SETTINGS) add_settings(diagnosis, out);
    if (section == SECTION_TUNER) add_tuner(diagnosis, out);
    add_findings(diagnosis, (enum finding_section)section, out);
  }
  add_decider(diagnosis, out);
  add_verdict(diagnosis, out);
}
