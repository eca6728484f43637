#include <jansson.h>
#include <stdlib.h>

#include "import/report.h"
#include "json_text.h"

static json_t* finding(const struct sw_diags* diags, const struct sw_diag* diag) {
  const struct sw_code_entry* entry = sw_code_entry((int)diag->code);
  bool warning = entry && entry->severity == SW_SEVERITY_WARNING;
  json_t* object = json_object();
  json_object_set_new(object, "file", json_text(diags->file));
  json_object_set_new(object, "line", diag->place.line ? json_integer(diag->place.line) : json_null());
  json_object_set_new(object, "column", diag->place.line ? json_integer(diag->place.column) : json_null());
  json_object_set_new(object, "severity", json_string(warning ? "warning" : "error"));
  json_object_set_new(object, "code", json_sprintf("SW-%d", (int)diag->code));
  json_object_set_new(object, "text", json_text(diag->text));
  return object;
}

static void add_findings(const struct sw_diags* diags, json_t* list) {
  for (unsigned i = 0; i < diags->count; i++) json_array_append_new(list, finding(diags, &diags->items[i]));
}

bool import_report_as_json(const struct import_report* report, struct sw_text* out) {
  json_t* root = json_object();
  json_t* files = json_array();
  json_t* findings = json_array();
  for (size_t i = 0; i < report->gathered->file_count; i++) {
    json_array_append_new(files, json_text(report->gathered->files[i].name));
    add_findings(&report->gathered->files[i].diags, findings);
  }
  if (report->about) add_findings(report->about, findings);
  json_object_set_new(root, "kind", json_text(import_report_kind(report->gathered->kind)));
  json_object_set_new(root, "files", files);
  json_object_set_new(root, "findings", findings);
  json_object_set_new(root, "output", json_text(report->output));
  json_object_set_new(root, "text", json_text(report->output ? NULL : report->text));
  char* text = json_dumps(root, JSON_INDENT(2));
  if (text) sw_text_printf(out, "%s\n", text);
  free(text);
  json_decref(root);
  return text != NULL;
}
