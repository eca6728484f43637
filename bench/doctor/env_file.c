#include "doctor/env_file.h"

#include <stdlib.h>
#include <string.h>

/* What is read: `at` moves over the text. */
struct script {
  const char* at;
  unsigned line; /* of `at`, from 1 */
  const char* name;
  struct env_file* out;
  bool open;       /* a set has begun and no blank line has ended it */
  char* yaml_name; /* of "- name: X", until its "value:" comes */
  bool failed;
};

enum before { BEFORE_NOTHING, BEFORE_DOCKER_ENV, BEFORE_YAML_NAME, BEFORE_YAML_VALUE };

/* One logical line: the word before, which gives the next one its meaning, and where the line began. */
struct words {
  struct sw_text word;
  struct sw_text name; /* of "NAME:" or "ENV NAME", whose value is the next word */
  enum before before;
  unsigned line;
};

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

static bool is_name(const char* word, size_t length) {
  for (size_t i = 0; i < length; i++) {
    bool letter = (word[i] >= 'A' && word[i] <= 'Z') || word[i] == '_';
    if (!letter && (i == 0 || word[i] < '0' || word[i] > '9')) return false;
  }
  return length > 0;
}

static struct env_set* open_set(struct script* script, unsigned line) {
  struct env_file* out = script->out;
  if (script->open) return &out->sets[out->count - 1];
  struct env_set* sets = realloc(out->sets, (out->count + 1) * sizeof *sets);
  if (!sets) {
    script->failed = true;
    return NULL;
  }
  out->sets = sets;
  sets[out->count] = ENV_SET_EMPTY;
  sets[out->count].first_line = line;
  script->open = true;
  return &sets[out->count++];
}

static void put(struct script* script, const char* name, const char* value, unsigned line) {
  struct env_set* set = open_set(script, line);
  if (!set) return;
  env_set_put(set, name, value, script->name, line);
  set->last_line = line;
  script->failed |= set->failed;
}

/* --- words ------------------------------------------------------------------------------------------------------- */

/* A backslash before a line's end joins the next line. */
static bool joins(struct script* script) {
  if (script->at[0] != '\\') return false;
  size_t length = script->at[1] == '\r' ? 2 : 1;
  if (script->at[length] != '\n') return false;
  script->at += length + 1;
  script->line++;
  return true;
}

static void read_quoted(struct script* script, struct sw_text* word) {
  char quote = *script->at++;
  while (*script->at && *script->at != quote && *script->at != '\n') {
    if (quote == '"' && *script->at == '\\' && strchr("\"\\$`", script->at[1]) && script->at[1]) script->at++;
    sw_text_add_bytes(word, script->at++, 1);
  }
  if (*script->at == quote) script->at++;
}

/* A ';' ends a command where a blank or the line's end follows; elsewhere it belongs to the value, as in NCCL_ALGO. */
static bool ends_command(const char* at) {
  return *at == ';' && (is_blank(at[1]) || at[1] == '\n' || at[1] == '\0');
}

/* The next word of the line; false at its end. The word can be "" only where it was quoted. */
static bool read_word(struct script* script, struct sw_text* word) {
  sw_text_free(word);
  while (is_blank(*script->at) || ends_command(script->at) || joins(script))
    if (is_blank(*script->at) || *script->at == ';') script->at++;
  if (*script->at == '\0' || *script->at == '\n' || *script->at == '#') return false;
  while (*script->at && *script->at != '\n' && !is_blank(*script->at) && !ends_command(script->at)) {
    if (*script->at == '"' || *script->at == '\'')
      read_quoted(script, word);
    else if (joins(script))
      break;
    else if (*script->at == '\\' && script->at[1] && script->at[1] != '\n')
      sw_text_add_bytes(word, ++script->at, 1), script->at++;
    else
      sw_text_add_bytes(word, script->at++, 1);
  }
  script->failed |= word->failed;
  return true;
}

/* --- what a word means ------------------------------------------------------------------------------------------- */

/* "NAME=VALUE", also behind "--env=" and "-e"; false for anything else. */
static bool take_assignment(struct script* script, const char* word, unsigned line) {
  if (strncmp(word, "--env=", 6) == 0) word += 6;
  if (strncmp(word, "-e", 2) == 0) word += 2;
  const char* equals = strchr(word, '=');
  if (!equals || !is_name(word, (size_t)(equals - word))) return false;
  char* name = strndup(word, (size_t)(equals - word));
  if (name)
    put(script, name, equals + 1, line);
  else
    script->failed = true;
  free(name);
  return true;
}

/* "NAME:" of a YAML mapping. */
static bool is_key(const char* word) {
  size_t length = strlen(word);
  return length > 1 && word[length - 1] == ':' && is_name(word, length - 1);
}

static void take_value(struct script* script, struct words* words, const char* value) {
  const char* name = words->before == BEFORE_YAML_VALUE ? script->yaml_name : sw_text_string(&words->name);
  if (name && name[0]) put(script, name, value, words->line);
  if (words->before == BEFORE_YAML_VALUE) {
    free(script->yaml_name);
    script->yaml_name = NULL;
  }
  sw_text_free(&words->name);
  words->before = BEFORE_NOTHING;
}

static void take_word(struct script* script, struct words* words, bool first) {
  const char* word = sw_text_string(&words->word);
  if (words->name.length || words->before == BEFORE_YAML_VALUE) {
    take_value(script, words, word);
  } else if (words->before == BEFORE_YAML_NAME) {
    free(script->yaml_name);
    script->yaml_name = is_name(word, strlen(word)) ? strdup(word) : NULL;
    words->before = BEFORE_NOTHING;
  } else if (take_assignment(script, word, words->line)) {
    words->before = BEFORE_NOTHING;
  } else if (words->before == BEFORE_DOCKER_ENV && is_name(word, strlen(word))) {
    sw_text_add(&words->name, word);
  } else if (is_key(word)) {
    sw_text_add_bytes(&words->name, word, strlen(word) - 1);
  } else if (strcmp(word, "name:") == 0) {
    words->before = BEFORE_YAML_NAME;
  } else if (strcmp(word, "value:") == 0 && script->yaml_name) {
    words->before = BEFORE_YAML_VALUE;
  } else {
    words->before = first && strcmp(word, "ENV") == 0 ? BEFORE_DOCKER_ENV : BEFORE_NOTHING;
  }
}

static bool is_blank_line(const char* at) {
  while (is_blank(*at)) at++;
  return *at == '\n' || *at == '\0';
}

static void read_line(struct script* script) {
  struct words words = {.line = script->line};
  if (is_blank_line(script->at)) script->open = false;
  for (bool first = true; read_word(script, &words.word); first = false) {
    take_word(script, &words, first);
    words.line = script->line;
  }
  script->at += strcspn(script->at, "\n");
  if (*script->at == '\n') script->at++;
  script->line++;
  sw_text_free(&words.word);
  sw_text_free(&words.name);
}

bool env_file_parse(const char* text, const char* name, struct env_file* out) {
  struct script script = {.at = text, .line = 1, .name = name, .out = out};
  *out = (struct env_file){0};
  while (*script.at && !script.failed) read_line(&script);
  free(script.yaml_name);
  if (script.failed) env_file_free(out);
  return !script.failed;
}

void env_file_free(struct env_file* file) {
  for (size_t i = 0; i < file->count; i++) env_set_free(&file->sets[i]);
  free(file->sets);
  *file = (struct env_file){0};
}
