#include "doctor/diagnosis.h"

#include <stdio.h>
#include <string.h>

#include "doctor/conf.h"
#include "doctor/settings.h"

static void copy_set(const struct env_set* from, struct env_set* to) {
  *to = ENV_SET_EMPTY;
  for (size_t i = 0; i < from->count; i++) {
    const struct env_variable* variable = &from->items[i];
    env_set_put(to, variable->name, variable->value, variable->file, variable->line);
  }
  to->first_line = from->first_line;
  to->last_line = from->last_line;
}

/* A path of the settings, as it is to be opened from here. Only a process tells where one without '/' in front begins.
 */
static void add_path(struct sw_text* text, const struct question* question, const char* path, size_t length) {
  const struct process* process = question->process;
  if (path[0] == '/')
    sw_text_add(text, process ? sw_text_string(&process->root) : question->root);
  else if (process)
    sw_text_add(text, sw_text_string(&process->folder));
  sw_text_add_bytes(text, path, length);
}

static bool ends_with(const char* text, const char* end) {
  size_t length = strlen(text);
  return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/* Below another root the searched folders lie there, too, */
static void move_folders(struct env_set* set, const struct question* question) {
  const struct env_variable* named = env_set_find(set, "NCCL_SIZEWISE_PATH");
  const char* path = named ? named->value : SW_DEFAULT_PATH;
  struct sw_text moved = SW_TEXT_EMPTY;
  while (*path) {
    size_t length = strcspn(path, ":");
    if (length && moved.length) sw_text_add(&moved, ":");
    if (length) add_path(&moved, question, path, length);
    path += length + (path[length] == ':');
  }
  env_set_put(set, "NCCL_SIZEWISE_PATH", sw_text_string(&moved), named ? named->file : "default",
              named ? named->line : 0);
  sw_text_free(&moved);
}

/* and the profile, where it is named by its path. */
static void move_profile(struct env_set* set, const struct question* question) {
  const struct env_variable* named = env_set_find(set, "NCCL_SIZEWISE_PROFILE");
  if (!named || !(strchr(named->value, '/') || ends_with(named->value, ".yaml"))) return;
  struct sw_text moved = SW_TEXT_EMPTY;
  add_path(&moved, question, named->value, strlen(named->value));
  env_set_put(set, "NCCL_SIZEWISE_PROFILE", sw_text_string(&moved), named->file, named->line);
  sw_text_free(&moved);
}

/* Default folders may be absent, also below another root. */
static void forget_absent_folders(struct sw_library* library) {
  char mark[16];
  size_t kept = 0;
  snprintf(mark, sizeof mark, "[SW-%d]", (int)SW_NO_FOLDER);
  for (size_t i = 0; i < library->warning_count; i++) {
    if (ends_with(sw_text_string(&library->warnings[i]), mark))
      sw_text_free(&library->warnings[i]);
    else
      library->warnings[kept++] = library->warnings[i];
  }
  library->warning_count = kept;
}

static struct sw_library* load_library(const struct env_set* set, const struct question* question) {
  struct env_set moved;
  copy_set(set, &moved);
  if (question->root[0] || question->process) {
    move_folders(&moved, question);
    move_profile(&moved, question);
  }
  env_set_use(&moved);
  /* The driver is not asked: the doctor must not hang where a GPU does. */
  struct sw_facts_source source = {.root = question->root, .getenv = env_set_getenv, .load_driver = false};
  struct sw_library* library = moved.failed ? NULL : sw_library_load(&source);
  if (library && !env_set_find(set, "NCCL_SIZEWISE_PATH")) forget_absent_folders(library);
  env_set_use(NULL);
  env_set_free(&moved);
  return library;
}

static void find_nccl(const struct question* question, struct diagnosis* out) {
  const char* named = question->nccl;
  if (!named) {
    nccl_find(question->root, &out->set, question->process, &out->nccl);
    return;
  }
  out->nccl.version = nccl_version_code(named);
  if (out->nccl.version) return;
  out->nccl.version = nccl_version_of(named);
  sw_text_add(&out->nccl.path, named);
}

static void examine_profile(const struct question* question, struct diagnosis* out) {
  struct subject* subject = &out->subject;
  const char* origin = question->origin;
  profiles_check_names(&out->set, &out->findings);
  bool silent = question->profile && profiles_are_absent(out->library);
  const struct sw_entry* entry = silent ? NULL : profiles_select(out->library, question->shape, &out->findings);
  if (!subject->profile && entry) {
    subject->profile = entry->profile;
    origin = entry->origin;
  }
  if (subject->profile)
    profiles_check_age(subject, origin, &out->findings);
  else
    profiles_offer_shipped(subject->machine, &out->findings);
}

bool diagnosis_make(const struct question* question, struct diagnosis* out) {
  *out = (struct diagnosis){.title = question->title};
  const char* files = question->process ? sw_text_string(&question->process->root) : question->root;
  copy_set(question->set, &out->set);
  conf_add(&out->set, files, question->home);
  find_nccl(question, out);
  out->library = load_library(&out->set, question);
  if (!out->library || out->set.failed) return false;
  out->library->machine.nccl = out->nccl.version;
  out->subject = (struct subject){.set = &out->set,
                                  .profile = question->profile,
                                  .mode = out->library->mode,
                                  .shape = question->shape,
                                  .machine = &out->library->machine};
  examine_profile(question, out);
  settings_check(&out->subject, &out->findings);
  settings_price(&out->subject, &out->findings, &out->costs);
  tuner_examine(&out->subject, files, question->process, &out->findings, &out->tuner);
  env_set_use(NULL);
  findings_sort(&out->findings);
  return !out->findings.failed;
}

void diagnosis_free(struct diagnosis* diagnosis) {
  findings_free(&diagnosis->findings);
  costs_free(&diagnosis->costs);
  tuner_free(&diagnosis->tuner);
  sw_library_free(diagnosis->library);
  sw_text_free(&diagnosis->nccl.path);
  env_set_free(&diagnosis->set);
}

static void add_count(struct sw_text* text, unsigned count, const char* what) {
  if (count) sw_text_printf(text, "%s%u %s%s", text->length ? ", " : "", count, what, count == 1 ? "" : "s");
}

void diagnosis_add_verdict(struct sw_text* text, const struct diagnosis* diagnosis) {
  const struct findings* findings = &diagnosis->findings;
  struct sw_text counts = SW_TEXT_EMPTY;
  add_count(&counts, findings_errors(findings), "error");
  add_count(&counts, findings_warnings(findings), "warning");
  if (!counts.length)
    sw_text_add(text, "nothing found; nothing to do");
  else
    sw_text_printf(text, "%s; first [SW-%d]: %s", sw_text_string(&counts), findings->items[0].code,
                   sw_text_string(&findings->items[0].cure));
  sw_text_free(&counts);
}

void diagnosis_add_decider(struct sw_text* text, const struct diagnosis* diagnosis) {
  const struct tuner_view* tuner = &diagnosis->tuner;
  struct sw_text forcing = SW_TEXT_EMPTY;
  if (tuner->exports.sizewise)
    sw_text_add(text, "Sizewise where its profile speaks, else ");
  else if (tuner->exports.tuners)
    sw_text_printf(text, "%s, else ", sw_text_string(&tuner->path));
  sw_text_add(text, "NCCL's own model");
  if (settings_add_forcing(&forcing, &diagnosis->set, false))
    sw_text_printf(text, ", within what %s leave%s", sw_text_string(&forcing),
                   strchr(sw_text_string(&forcing), ' ') ? "" : "s");
  sw_text_free(&forcing);
}
