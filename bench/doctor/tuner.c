#include "doctor/tuner.h"

#include <string.h>

#include "doctor/library_search.h"
#include "doctor/nccl_version.h"
#include "ground/letters.h"
#include "standin/version.h"

/* Where libraries are looked for, and whose settings say which. */
struct search {
  const struct env_set* set;
  const char* root;
  struct tuner_view* out;
};

static bool read_exports(const char* root, const char* path, struct elf_exports* out) {
  struct sw_text whole = SW_TEXT_EMPTY;
  sw_text_printf(&whole, "%s%s", root, path);
  bool good = elf_exports_read(sw_text_string(&whole), out);
  sw_text_free(&whole);
  return good;
}

/* --- what would be loaded ---------------------------------------------------------------------------------------- */

/* Looks for one library; true when there is a file. `who` names a setting, NULL: the place where it lies. */
static bool look_for(const struct search* search, const char* name, const struct env_variable* who) {
  struct library_place place;
  bool found = library_search(search->root, env_set_value(search->set, "LD_LIBRARY_PATH"), name, &place);
  if (found) {
    struct tuner_view* out = search->out;
    sw_text_free(&out->who);
    sw_text_free(&out->path);
    sw_text_add(&out->path, sw_text_string(&place.path));
    if (who) {
      sw_text_printf(&out->who, "%s, ", who->name);
      env_set_add_place(&out->who, who);
    } else {
      sw_text_printf(&out->who, "nobody asked; it lies in %s", place.where);
    }
    if (!read_exports(search->root, sw_text_string(&out->path), &out->exports)) out->exports = (struct elf_exports){0};
  }
  sw_text_free(&place.path);
  return found;
}

/* Of the form lib*.so. */
static bool is_library_name(const char* name) {
  size_t length = strlen(name);
  return length >= 6 && strncmp(name, "lib", 3) == 0 && strcmp(name + length - 3, ".so") == 0;
}

static bool look_for_named(const struct search* search, const struct env_variable* named) {
  search->out->asked = true;
  if (look_for(search, named->value, named)) return true;
  if (strchr(named->value, '/') || is_library_name(named->value)) return false;
  struct sw_text longer = SW_TEXT_EMPTY;
  sw_text_printf(&longer, "libnccl-tuner-%s.so", named->value);
  bool found = look_for(search, sw_text_string(&longer), named);
  sw_text_free(&longer);
  return found;
}

/* NCCL_NET_PLUGIN=NAME stands for libnccl-net-NAME.so; not set: libnccl-net.so. */
static bool look_for_net(const struct search* search) {
  const struct env_variable* named = env_set_find(search->set, "NCCL_NET_PLUGIN");
  struct sw_text longer = SW_TEXT_EMPTY;
  if (named && sw_same_word(named->value, "none")) return false;
  sw_text_printf(&longer, "libnccl-net%s%s.so", named ? "-" : "", named ? named->value : "");
  bool found = (named && look_for(search, named->value, named)) || look_for(search, sw_text_string(&longer), named);
  sw_text_free(&longer);
  search->out->in_net = found && search->out->exports.tuners;
  if (search->out->in_net) return true;
  tuner_free(search->out);
  return false;
}

/* Then NCCL goes on to the net plugin, as if nothing were named. */
static void add_not_found(const struct env_variable* named, bool in_net, struct findings* findings) {
  struct finding* finding = findings_add(findings, SECTION_TUNER, SW_NO_TUNER,
                                         "NCCL_TUNER_PLUGIN=%s: there is no such library", named->value);
  env_set_add_place(&finding->from, named);
  finding->weight = 10;
  sw_text_add(&finding->says, in_net ? "NCCL takes the one inside the net plugin. " : "NCCL decides alone. ");
  sw_text_add(&finding->says, "Looked at: ");
  sw_text_add(&finding->says,
              strchr(named->value, '/') ? "that path.\n" : "LD_LIBRARY_PATH, the loader's cache, standard folders.\n");
  sw_text_add(&finding->cure, "install it there, or give the full path of the tuner");
}

/* What stands in a node's own file holds for that node alone. */
static void note_own_file(const struct env_variable* named, struct findings* findings) {
  if (strcmp(named->file, "/etc/nccl.conf") != 0) return;
  struct finding* finding = findings_add(findings, SECTION_TUNER, FINDING_NOTE,
                                         "the tuner is named by this node's own file: every node needs the same line");
  env_set_add_place(&finding->from, named);
}

static void find_future(const struct search* search, struct findings* findings) {
  const struct env_variable* named = env_set_find(search->set, "NCCL_TUNER_PLUGIN");
  if (named && sw_same_word(named->value, "none")) {
    struct finding* finding = findings_add(findings, SECTION_TUNER, FINDING_NOTE, "tuners are switched off");
    env_set_add_place(&finding->from, named);
  } else if (named && strcmp(named->value, "STATIC_PLUGIN") == 0) {
    findings_add(findings, SECTION_TUNER, FINDING_NOTE, "the program itself is asked for a tuner (STATIC_PLUGIN)");
  } else if (named) {
    note_own_file(named, findings);
    if (look_for_named(search, named)) return;
    bool in_net = look_for_net(search);
    search->out->asked = !in_net;
    add_not_found(named, in_net, findings);
  } else if (!look_for(search, "libnccl-tuner.so", NULL)) {
    look_for_net(search);
  }
}

/* --- what is loaded ---------------------------------------------------------------------------------------------- */

/* A file that was replaced under a running process cannot be looked at any more. */
static void note_replaced(const char* path, struct findings* findings) {
  const char* mark = strstr(path, " (deleted)");
  if (mark && !mark[10] && strstr(path, "nccl"))
    findings_add(findings, SECTION_TUNER, FINDING_NOTE, "%.*s was replaced or removed since the process loaded it",
                 (int)(mark - path), path);
}

/* Whether a setting's last part is in a file's name: "mine" is in libnccl-tuner-mine.so, libmine.so in libmine.so.1. */
static bool names_file(const char* setting, const char* path) {
  const char* slash = strrchr(setting, '/');
  const char* file = strrchr(path, '/');
  return strstr(file ? file + 1 : path, slash ? slash + 1 : setting) != NULL;
}

/* The first library of the process that exports a tuner; every further one is said. */
static void find_present(const struct search* search, const struct process* process, struct findings* findings) {
  struct tuner_view* out = search->out;
  const struct env_variable* named = env_set_find(search->set, "NCCL_TUNER_PLUGIN");
  for (size_t i = 0; i < process->library_count; i++) {
    struct elf_exports exports;
    const char* path = process->libraries[i];
    note_replaced(path, findings);
    if (!read_exports(sw_text_string(&process->root), path, &exports) || !exports.tuners) continue;
    if (out->loaded) {
      findings_add(findings, SECTION_TUNER, FINDING_NOTE, "a further tuner is loaded: %s", path);
      continue;
    }
    out->loaded = true;
    out->exports = exports;
    out->in_net = exports.net;
    out->asked = named && names_file(named->value, path);
    sw_text_add(&out->path, path);
    if (out->asked) {
      sw_text_add(&out->who, "NCCL_TUNER_PLUGIN, ");
      env_set_add_place(&out->who, named);
    } else {
      sw_text_add(&out->who, exports.net ? "nobody asked; it is inside a net plugin" : "no setting asks for it");
      if (named) sw_text_printf(&out->who, "; NCCL_TUNER_PLUGIN is %s", named->value);
    }
  }
}

static bool has_nccl(const struct process* process) {
  for (size_t i = 0; i < process->library_count; i++)
    if (strstr(process->libraries[i], "/libnccl.so")) return true;
  return false;
}

/* --- what is wrong with it --------------------------------------------------------------------------------------- */

/* The newest interface that it exports and this NCCL knows. */
static void choose_interface(const struct subject* subject, struct tuner_view* out, struct findings* findings) {
  struct standin_rules rules;
  if (!out->path.length || !standin_rules_of(subject->machine->nccl, &rules)) return;
  for (int abi = rules.newest_abi; abi >= STANDIN_OLDEST_ABI && !out->interface; abi--)
    if (out->exports.tuners >> abi & 1U) out->interface = abi;
  if (out->interface || !out->exports.tuners) return;
  struct finding* finding =
      findings_add(findings, SECTION_TUNER, SW_NO_TUNER, "%s is no tuner for NCCL ", sw_text_string(&out->path));
  nccl_add_version(&finding->what, subject->machine->nccl);
  sw_text_add(&finding->says, "It exports ");
  tuner_add_interfaces(&finding->says, &out->exports);
  sw_text_printf(&finding->says, "; this NCCL asks for v%d down to v%d.\n", rules.newest_abi, STANDIN_OLDEST_ABI);
  sw_text_add(&finding->cure, "use a release of the tuner that knows this NCCL");
}

static void judge_library(struct tuner_view* out, struct findings* findings) {
  const char* path = sw_text_string(&out->path);
  if (!out->exports.tuners) {
    struct finding* finding = findings_add(findings, SECTION_TUNER, SW_NO_TUNER, "%s is no tuner library", path);
    sw_text_add(&finding->says, "It exports no ncclTunerPlugin_v2 to v7, or is no library for this machine.\n");
    sw_text_add(&finding->cure, "name libnccl-tuner-sizewise.so by its full path");
  } else if (!out->asked && !out->exports.sizewise) {
    struct finding* finding =
        findings_add(findings, SECTION_TUNER, SW_FOREIGN_TUNER, "a tuner that nobody asked for %s: %s",
                     out->loaded ? "is loaded and decides" : "would decide", path);
    finding->weight = 5;
    sw_text_printf(&finding->says, "Who put it there: %s%s.\n", sw_text_string(&out->who),
                   out->in_net && !out->loaded ? ", inside the net plugin" : "");
    sw_text_add(&finding->says, "Such a tuner changes choices silently.\n");
    sw_text_add(&finding->cure, "set NCCL_TUNER_PLUGIN to the tuner that is wanted, or to 'none'");
  }
}

/* NCCL_SIZEWISE_* are set, but nobody will read them. */
static void check_unused(const struct env_set* set, const struct tuner_view* tuner, struct findings* findings) {
  static const char* const names[] = {"NCCL_SIZEWISE_PROFILE", "NCCL_SIZEWISE_EXPECT", "NCCL_SIZEWISE_STRICT",
                                      "NCCL_SIZEWISE_DETERMINISTIC"};
  const struct env_variable* first = NULL;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && !first; i++) first = env_set_find(set, names[i]);
  const char* profile = env_set_value(set, "NCCL_SIZEWISE_PROFILE");
  if (!first || tuner->exports.sizewise || (profile && sw_same_word(profile, "off"))) return;
  struct finding* finding =
      findings_add(findings, SECTION_TUNER, SW_NOT_IN_USE, "%s is set, but NCCL %s %s", first->name,
                   tuner->loaded ? "has loaded" : "loads", tuner->path.length ? "another tuner" : "no tuner");
  finding->weight = 4;
  env_set_add_place(&finding->from, first);
  sw_text_add(&finding->cure, "set NCCL_TUNER_PLUGIN to libnccl-tuner-sizewise.so, by its full path, on every rank");
}

void tuner_examine(const struct subject* subject, const char* root, const struct process* process,
                   struct findings* findings, struct tuner_view* out) {
  *out = (struct tuner_view){.path = SW_TEXT_EMPTY};
  struct search search = {subject->set, root, out};
  if (process) find_present(&search, process, findings);
  if (process && !out->loaded && has_nccl(process))
    findings_add(findings, SECTION_TUNER, FINDING_NOTE,
                 "the process has NCCL, but no tuner yet: NCCL loads it with its first communicator");
  if (!out->loaded) find_future(&search, findings);
  if (out->path.length) judge_library(out, findings);
  choose_interface(subject, out, findings);
  check_unused(subject->set, out, findings);
}

void tuner_free(struct tuner_view* tuner) {
  sw_text_free(&tuner->path);
  sw_text_free(&tuner->who);
}

void tuner_add_interfaces(struct sw_text* text, const struct elf_exports* exports) {
  int first = 0;
  int last = 0;
  for (int v = 1; v <= ELF_LARGEST_TUNER; v++) {
    if (!(exports->tuners >> v & 1U)) continue;
    if (!first) first = v;
    last = v;
  }
  sw_text_printf(text, "v%d", first);
  if (last > first) sw_text_printf(text, " to v%d", last);
}
