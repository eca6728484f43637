#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "decide/plan.h"
#include "decide/uniform.h"
#include "env/helps.h"
#include "env/json.h"
#include "env/lines.h"
#include "facts/forced.h"
#include "ground/nearest.h"
#include "ground/utf8.h"
#include "open.h"
#include "plugin_file.h"

static struct {
  const char* format;
  const char* plugin;
  bool deterministic;
  bool json;
} arguments;

/* --- what a deployment is made of -------------------------------------------------------------------------------- */

struct deployment {
  struct opened opened;
  char* profile; /* an absolute path, or a shipped name; malloc'ed */
  struct sw_text plugin;
  struct env_line lines[4];
  size_t count;
  struct env_files files;
  struct env_helps helps;
};

/* A path that every rank can take as it is. A name without a slash is the loader's business and stays. */
static char* absolute(const char* path) {
  return realpath(path, NULL);
}

/* A full path need not be there on this machine; what another path means only this machine can tell. */
static bool take_plugin(struct deployment* d, struct sw_text* fault) {
  bool stays = arguments.plugin[0] == '/' || (arguments.plugin[0] && !strchr(arguments.plugin, '/'));
  char* path = stays ? NULL : absolute(arguments.plugin);
  if (!stays && !path)
    sw_text_printf(fault, "--plugin: there is no '%s' here; write the path in full, as every rank has it",
                   arguments.plugin);
  else
    sw_text_add(&d->plugin, stays ? arguments.plugin : path);
  free(path);
  return !fault->length;
}

static bool find_plugin(struct deployment* d, struct sw_text* fault) {
  if (arguments.plugin) return take_plugin(d, fault);
  bool found = plugin_file_find(&d->plugin);
  char* path = found ? absolute(sw_text_string(&d->plugin)) : NULL;
  if (!path) {
    sw_text_printf(fault, "the plugin is at none of %s; name it with --plugin", sw_text_string(&d->plugin));
    return false;
  }
  sw_text_free(&d->plugin);
  sw_text_add(&d->plugin, path);
  free(path);
  return true;
}

/* Values go into lines, one each. */
static bool fits_a_line(const char* text, enum env_format format, struct sw_text* fault) {
  for (const char* c = text; *c; c++) {
    if ((unsigned char)*c >= ' ' && *c != 0x7f) continue;
    sw_text_add(fault, "a path holds a control character, which no environment line can carry; rename it");
    return false;
  }
  if ((arguments.json || format == ENV_K8S) && !sw_is_utf8(text)) {
    sw_text_add(fault, "a path is not UTF-8, which JSON and YAML have to be; rename it, or use --format shell");
    return false;
  }
  return true;
}

static void add_line(struct deployment* d, const char* name, const char* value) {
  d->lines[d->count++] = (struct env_line){name, value};
}

static bool prepare(struct deployment* d, const char* name, enum env_format format, struct sw_text* fault) {
  bool shipped = strcmp(sw_text_string(&d->opened.origin), "shipped") == 0;
  d->profile = shipped ? strdup(name) : absolute(sw_text_string(&d->opened.origin));
  if (!d->profile || !find_plugin(d, fault)) return false;
  const char* plugin = sw_text_string(&d->plugin);
  if (!fits_a_line(d->profile, format, fault) || !fits_a_line(plugin, format, fault)) return false;
  add_line(d, "NCCL_TUNER_PLUGIN", plugin);
  add_line(d, "NCCL_SIZEWISE_PROFILE", d->profile);
  add_line(d, "NCCL_SIZEWISE_EXPECT", d->opened.digest.hex);
  if (arguments.deterministic) add_line(d, "NCCL_SIZEWISE_DETERMINISTIC", "1");
  d->files = (struct env_files){strchr(plugin, '/') ? plugin : NULL, shipped ? NULL : d->profile};
  return true;
}

static void release(struct deployment* d) {
  free(d->profile);
  free(d->helps.items);
  sw_text_free(&d->plugin);
  opened_close(&d->opened);
}

/* --- what has to be said beside it ------------------------------------------------------------------------------- */

/* Whether anything is decided for a shape that has a table, or by a rule for any. */
static bool decides(const struct sw_profile* profile, uint32_t nodes, uint32_t ranks) {
  struct sw_plan* plan = sw_plan_compile(profile, nodes, ranks);
  bool any = false;
  for (int c = 0; plan && c < NCCL_NUM_COLLECTIVES; c++) any = any || plan->curves[c].index;
  sw_plan_free(plan);
  return any;
}

static bool decides_anything(const struct sw_profile* profile) {
  for (size_t i = 0; i < profile->table_count; i++)
    if (decides(profile, profile->tables[i].nodes, profile->tables[i].ranks)) return true;
  for (size_t i = 0; i < profile->rule_count; i++)
    if (decides(profile, profile->rules[i].nodes, profile->rules[i].ranks)) return true;
  return false;
}

/* Where the deterministic mode does not hold, table by table. */
static void add_promise(const struct sw_profile* profile, struct sw_text* out) {
  for (size_t i = 0; i < profile->table_count; i++) {
    const struct sw_table* table = &profile->tables[i];
    struct sw_uniform uniform = sw_uniform_find(profile, table->collective, table->nodes, table->ranks);
    if (uniform.firm || (uniform.source == SW_UNIFORM_NONE && !sw_uniform_sums(table->collective))) continue;
    sw_text_printf(out, "The deterministic mode does not hold for %s, ",
                   sw_value_word(&sw_collectives, table->collective));
    sw_add_shape(out, table->ranks, table->nodes);
    sw_text_add(out, ": ");
    if (uniform.source == SW_UNIFORM_NONE)
      sw_add_uniform_reason(out, &profile->policy, &uniform);
    else
      sw_add_uniform_doubt(out, &uniform);
    sw_text_add(out, "\n");
  }
}

static void add_remarks(const struct deployment* d, struct sw_text* out) {
  const struct sw_profile* profile = d->opened.profile;
  if (arguments.deterministic)
    add_promise(profile, out);
  else if (!decides_anything(profile))
    sw_text_add(out,
                "Nothing to gain here: the profile leaves every size to NCCL, and deploying it changes "
                "nothing.\n");
  if (profile->kind == SW_KIND_SIMULATED)
    sw_text_add(out, "Simulated: the times of this profile are made up. It is no measurement of any cluster.\n");
  if (profile->kind == SW_KIND_PUBLISHED)
    sw_text_add(out, "Published: measured on somebody else's cluster; 'sizewise explain' shows what is unproven.\n");
}

static const char* from_environment(const char* name) {
  return getenv(name);
}

/* What is set here is likely to be set where the lines go. */
static void warn_of_forced(void) {
  static const char* const names[] = {
      "NCCL_ALGO", "NCCL_PROTO", "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS", "NCCL_MIN_CTAS", "NCCL_MAX_CTAS", NULL};
  for (const char* const* name = names; *name; name++) {
    const char* value = from_environment(*name);
    if (value && value[0])
      fprintf(stderr,
              "sizewise env: warning: %s=%s is set here and holds at every size; unset it where the profile decides "
              "('sizewise doctor' shows what it costs)\n",
              *name, value);
  }
}

/* --- the command ------------------------------------------------------------------------------------------------- */

static bool print(struct deployment* d, enum env_format format) {
  struct sw_text remarks = SW_TEXT_EMPTY;
  struct sw_text helps = SW_TEXT_EMPTY;
  struct sw_text out = SW_TEXT_EMPTY;
  bool good = env_find_helps(d->opened.profile, &d->helps);
  add_remarks(d, &remarks);
  env_add_helps(&helps, &d->helps);
  if (arguments.json) {
    good = good && env_as_json(d->lines, d->count, sw_text_string(&remarks), &d->helps, &out);
  } else {
    env_add_comment(&out, sw_text_string(&remarks));
    env_add_lines(&out, format, d->lines, d->count, &d->files);
    if (helps.length) sw_text_add(&out, "#\n");
    env_add_comment(&out, sw_text_string(&helps));
  }
  good = good && !out.failed;
  if (good) fputs(sw_text_string(&out), stdout);
  sw_text_free(&out);
  sw_text_free(&helps);
  sw_text_free(&remarks);
  return good;
}

static int deploy(const struct command* self, const char* name, enum env_format format) {
  struct deployment d = {.count = 0};
  struct sw_text fault = SW_TEXT_EMPTY;
  int status = SW_EXIT_FINDINGS;
  enum sw_mode mode = arguments.deterministic ? SW_MODE_DETERMINISTIC : SW_MODE_BY_SIZE;
  if (!opened_open(name, &d.opened, &fault)) {
    status = misuse(self, "%s", sw_text_string(&fault));
  } else if (!d.opened.profile) {
    struct sw_text findings = SW_TEXT_EMPTY;
    sw_add_diags(&findings, &d.opened.diags);
    fputs(sw_text_string(&findings), stderr);
    sw_text_free(&findings);
  } else if (!sw_digest_compute_for(d.opened.profile, mode, &d.opened.digest, NULL) ||
             !prepare(&d, name, format, &fault)) {
    status = misuse(self, "%s", fault.length ? sw_text_string(&fault) : "out of memory");
  } else {
    warn_of_forced();
    status = print(&d, format) ? SW_EXIT_GOOD : misuse(self, "out of memory");
  }
  sw_text_free(&fault);
  release(&d);
  return status;
}

static int refuse_format(const struct command* self) {
  const char* nearest = sw_nearest_word(&env_formats, arguments.format, strlen(arguments.format));
  if (nearest) return misuse(self, "--format: unknown '%s'; did you mean '%s'?", arguments.format, nearest);
  return misuse(self, "--format: unknown '%s'; it is one of shell, docker, k8s, slurm, nccl.conf", arguments.format);
}

static int run(const struct command* self, int argc, char** argv) {
  struct words words = {.count = 0};
  if (!options_read(self, argc, argv, &words)) return SW_EXIT_MISUSE;
  if (words.count == 0) return misuse(self, "which PROFILE?");
  if (words.count > 1) return misuse(self, "one PROFILE at a time; '%s' is a second one", words.items[1]);
  const char* word = arguments.format ? arguments.format : "shell";
  int format = sw_word_value(&env_formats, word, strlen(word));
  if (format < 0) return refuse_format(self);
  return deploy(self, words.items[0], (enum env_format)format);
}

static const struct option options[] = {
    {"--format", "FORMAT", OPTION_TEXT, &arguments.format, "shell (the default), docker, k8s, slurm or nccl.conf"},
    {"--plugin", "SO", OPTION_TEXT, &arguments.plugin,
     "the plugin as every rank finds it; default: the one installed here"},
    {"--deterministic", NULL, OPTION_FLAG, &arguments.deterministic, "with the deterministic mode, and its digest"},
    {"--json", NULL, OPTION_FLAG, &arguments.json, "the same as JSON, for programs"},
    {0},
};

const struct command env_command = {
    .name = "env",
    .arguments = "PROFILE",
    .summary = "Print the environment lines that deploy a profile",
    .help =
        "Prints NCCL_TUNER_PLUGIN, NCCL_SIZEWISE_PROFILE and NCCL_SIZEWISE_EXPECT, the digest that every rank must\n"
        "have, quoted for the place where they go. PROFILE is a path, or the name of a profile in\n"
        "NCCL_SIZEWISE_PATH or of a shipped one; a file's path is printed in full, and it has to be the same on\n"
        "every node. Lines that begin with '#' are comments: what to bring along, and environment lines that the\n"
        "profile knows to help but that no tuner can set, with their figures at every measured size.\n"
        "\nThe JSON has \"environment\" (an object), \"remarks\" (lines) and \"needs_environment\": an array of "
        "settings,\n"
        "collective, nodes, ranks, bytes, time_us (null: not measured), decided_us and gains (by min_gain).\n"
        "\nExit status: 0 printed, 1 the profile is not valid, 2 misuse.\n"
        "\nExamples:\n"
        "  eval \"$(sizewise env cluster.yaml)\"\n"
        "  sizewise env cluster.yaml --format nccl.conf >> /etc/nccl.conf\n"
        "  sizewise env gb10-roce-8x1 --format k8s --plugin /opt/sizewise/libnccl-tuner-sizewise.so\n"
        "  sizewise env cluster.yaml --deterministic --format slurm\n",
    .options = options,
    .run = run,
};
