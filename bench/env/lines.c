#include "env/lines.h"

#include <string.h>

static const struct sw_word words[] = {
    {"shell", ENV_SHELL}, {"docker", ENV_DOCKER}, {"k8s", ENV_K8S}, {"slurm", ENV_SLURM}, {"nccl.conf", ENV_NCCL_CONF}};
const struct sw_vocabulary env_formats = {"format", words, sizeof words / sizeof words[0]};

void env_add_shell_word(struct sw_text* out, const char* word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
  if (word[0] && strspn(word, plain) == strlen(word)) {
    sw_text_add(out, word);
    return;
  }
  sw_text_add(out, "'");
  for (; *word; word++)
    if (*word == '\'')
      sw_text_add(out, "'\\''");
    else
      sw_text_add_bytes(out, word, 1);
  sw_text_add(out, "'");
}

/* A double-quoted scalar of YAML; the value has no control characters. Kubernetes takes $(NAME) for a reference, and
   $$ for one $. */
static void add_yaml_word(struct sw_text* out, const char* word) {
  sw_text_add(out, "\"");
  for (; *word; word++) {
    if (*word == '"' || *word == '\\') sw_text_add(out, "\\");
    if (*word == '$') sw_text_add(out, "$");
    sw_text_add_bytes(out, word, 1);
  }
  sw_text_add(out, "\"");
}

void env_add_comment(struct sw_text* out, const char* text) {
  while (*text) {
    size_t length = strcspn(text, "\n");
    sw_text_printf(out, "#%s%.*s\n", length ? " " : "", (int)length, text);
    text += length + (text[length] == '\n');
  }
}

static void add_exports(struct sw_text* out, const struct env_line* lines, size_t count) {
  for (size_t i = 0; i < count; i++) {
    sw_text_printf(out, "export %s=", lines[i].name);
    env_add_shell_word(out, lines[i].value);
    sw_text_add(out, "\n");
  }
}

static void add_docker_word(struct sw_text* out, const char* option, struct sw_text* word, bool last) {
  sw_text_printf(out, "  %s ", option);
  env_add_shell_word(out, sw_text_string(word));
  sw_text_add(out, last ? "\n" : " \\\n");
  sw_text_free(word);
}

/* A field of --mount, which is a line of comma-separated values. */
static void add_field(struct sw_text* out, const char* key, const char* value) {
  bool quoted = strpbrk(value, ",\"") != NULL;
  sw_text_printf(out, "%s%s=", quoted ? "\"" : "", key);
  for (; *value; value++) sw_text_add(out, *value == '"' ? "\"\"" : (char[]){*value, '\0'});
  if (quoted) sw_text_add(out, "\"");
}

/* The same path inside: then the variables hold there as they do outside. */
static void add_mount(struct sw_text* out, const char* path) {
  struct sw_text word = SW_TEXT_EMPTY;
  sw_text_add(&word, "type=bind,readonly,");
  add_field(&word, "source", path);
  sw_text_add(&word, ",");
  add_field(&word, "target", path);
  add_docker_word(out, "--mount", &word, false);
}

static void add_docker(struct sw_text* out, const struct env_line* lines, size_t count, const struct env_files* files) {
  sw_text_add(out, "# Words of the docker run line, before the image:\n");
  if (files->plugin) add_mount(out, files->plugin);
  if (files->profile) add_mount(out, files->profile);
  for (size_t i = 0; i < count; i++) {
    struct sw_text word = SW_TEXT_EMPTY;
    sw_text_printf(&word, "%s=%s", lines[i].name, lines[i].value);
    add_docker_word(out, "-e", &word, i + 1 == count);
  }
}

static void add_k8s(struct sw_text* out, const struct env_line* lines, size_t count, const struct env_files* files) {
  sw_text_add(out, "# Of each container that runs ranks:\nenv:\n");
  for (size_t i = 0; i < count; i++) {
    sw_text_printf(out, "  - name: %s\n    value: ", lines[i].name);
    add_yaml_word(out, lines[i].value);
    sw_text_add(out, "\n");
  }
  if (files->plugin || files->profile)
    sw_text_add(out, "# These paths have to be there in the container: in its image, or mounted into it.\n");
  if (!files->profile) return;
  sw_text_add(out, "# A profile fits in a ConfigMap:\n#   kubectl create configmap sizewise --from-file=");
  env_add_shell_word(out, files->profile);
  sw_text_add(out, "\n");
}

/* NCCL reads a line of 1023 bytes at most and takes all that follows the first '='. */
static void add_conf(struct sw_text* out, const struct env_line* lines, size_t count) {
  for (size_t i = 0; i < count; i++) sw_text_printf(out, "%s=%s\n", lines[i].name, lines[i].value);
}

void env_add_lines(struct sw_text* out, enum env_format format, const struct env_line* lines, size_t count,
                   const struct env_files* files) {
  if (format == ENV_DOCKER) {
    add_docker(out, lines, count, files);
  } else if (format == ENV_K8S) {
    add_k8s(out, lines, count, files);
  } else if (format == ENV_NCCL_CONF) {
    sw_text_add(out, "# For /etc/nccl.conf on every node, or the file that NCCL_CONF_FILE names:\n");
    add_conf(out, lines, count);
  } else {
    if (format == ENV_SLURM)
      sw_text_add(out, "# In the batch script, before srun, which passes its environment on (--export=ALL):\n");
    add_exports(out, lines, count);
  }
}
