/*
 * What the tests of bench/doctor share: a diagnosis of a set that is given in a start script's words, and its findings
 * as one text, "code what / from / says / cure", to look for words in.
 */
#ifndef SW_TEST_DOCTOR_H
#define SW_TEST_DOCTOR_H

#include "decide.h"
#include "doctor/diagnosis.h"
#include "doctor/env_file.h"

/* A diagnosis and all that it refers to. */
struct examined {
  struct env_file file;
  struct diagnosis diagnosis;
  struct sw_text words;
};

static inline struct sw_text words_of(const struct findings* findings) {
  struct sw_text text = SW_TEXT_EMPTY;
  for (size_t i = 0; i < findings->count; i++) {
    const struct finding* finding = &findings->items[i];
    sw_text_printf(&text, "%d %s\n  from %s\n%s", finding->code, sw_text_string(&finding->what),
                   sw_text_string(&finding->from), sw_text_string(&finding->says));
    sw_text_printf(&text, "  cure %s\n", sw_text_string(&finding->cure));
  }
  return text;
}

/* "601 405 0 0": the codes in the order in which findings are shown. */
static inline struct sw_text codes_of(const struct findings* findings) {
  struct sw_text text = SW_TEXT_EMPTY;
  for (size_t i = 0; i < findings->count; i++) sw_text_printf(&text, "%s%d", i ? " " : "", findings->items[i].code);
  return text;
}

/* Examines set number `set` of a script; `question` has the rest of what is asked. */
static inline void examine_set(const char* script, size_t set, struct question question, struct examined* out) {
  memset(out, 0, sizeof *out);
  assert_true(env_file_parse(script, "start.sh", &out->file));
  static const struct env_set none = {0};
  assert_true(out->file.count > set || !*script);
  question.set = *script ? &out->file.sets[set] : &none;
  question.title = "test";
  assert_true(diagnosis_make(&question, &out->diagnosis));
  out->words = words_of(&out->diagnosis.findings);
}

static inline void forget(struct examined* examined) {
  sw_text_free(&examined->words);
  diagnosis_free(&examined->diagnosis);
  env_file_free(&examined->file);
}

static inline void assert_codes(const struct examined* examined, const char* codes) {
  struct sw_text have = codes_of(&examined->diagnosis.findings);
  if (strcmp(sw_text_string(&have), codes) != 0)
    fail_msg("have codes %s, want %s, in\n%s", sw_text_string(&have), codes, sw_text_string(&examined->words));
  sw_text_free(&have);
}

static inline void assert_says(const struct examined* examined, const char* words) {
  if (!strstr(sw_text_string(&examined->words), words))
    fail_msg("not said: %s\nin\n%s", words, sw_text_string(&examined->words));
}

static inline void assert_silent(const struct examined* examined, const char* words) {
  if (strstr(sw_text_string(&examined->words), words))
    fail_msg("said: %s\nin\n%s", words, sw_text_string(&examined->words));
}

/* A machine of test/fixtures/machines. */
static inline const char* machine_root(const char* name) {
  static char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/test/fixtures/machines/%s", source_root(), name);
  return path;
}

#endif
