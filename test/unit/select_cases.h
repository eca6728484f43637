/*
 * Cases of which profile applies, on machines from test/fixtures/machines. In their texts @ is a temporary folder, #
 * the digest of the case's first file, $ that of the shipped gb10-roce-8x1.
 */
#ifndef TEST_SELECT_CASES_H
#define TEST_SELECT_CASES_H

#include "plugin_host.h"
#include "select/select.h"

#define POINTS "points: [{bytes: 1MiB, times: [{choice: auto, median: 9us}, {channels: 2, median: 5us}]}]"
#define SHAPED(name, kind, match, nodes) \
  PROFILE(name, kind, match, "tables: [{collective: allreduce, nodes: " nodes ", ranks: 4, " POINTS "}]")
#define LOCAL(name, match) SHAPED(name, "measured", match, "1") /* 4 ranks on 1 node */
#define WIDE(name, match) SHAPED(name, "measured", match, "2")  /* 4 ranks on 2 nodes */
#define GB10 "gpu: '*GB10*'"
#define BROKEN "sizewise: 1\nname: b\nprovenanc: {}\n"

#define SHIPPED "gb10-roce-4x1-ring, gb10-roce-8x1-switched, gb10-roce-8x1, rtx-pro-6000-pcie-8"
#define WHERE "NCCL_SIZEWISE_PATH=@/p:@/q"

struct select_case {
  const char* what;
  struct {
    const char *name, *text;
  } files[3];
  const char *settings, *machine;
  size_t ranks, nodes;
  enum sw_outcome outcome;
  const char *origin, *why, *warning; /* warning: of the library or the selection; NULL none */
};

/* The members in their order; a macro, because a call takes fewer lines than braces. */
#define CASE(...) \
  { __VA_ARGS__ }

static struct sw_digest first_digest, shipped_digest;

static inline void expand(const char* text, char out[4096]) {
  char plain[4096];
  size_t used = 0;
  for (; *text; text++) {
    const char* digest = *text == '#' ? first_digest.hex : shipped_digest.hex;
    if (*text == '#' || *text == '$')
      used += (size_t)snprintf(plain + used, sizeof plain - used, "%s", digest);
    else
      plain[used++] = *text;
  }
  plain[used] = '\0';
  host_expand(plain, out, 4096);
}

static inline void assert_text(const char* what, const char* found, const char* wanted) {
  char expected[4096];
  expand(wanted ? wanted : "", expected);
  if (strcmp(found, expected) != 0) fail_msg("%s:\n  have %s\n  want %s", what, found, expected);
}

static const char* real_getenv(const char* name) {
  return getenv(name);
}

static inline void check(const struct select_case* example) {
  char root[PATH_MAX];
  char settings[4096];
  struct sw_facts facts;
  host_clean();
  host_write("p/.hidden.yaml", BROKEN); /* what no search may look at */
  host_write("p/notes.txt", BROKEN);
  host_write("q/p.yaml.orig", BROKEN);
  for (int i = 0; i < 3 && example->files[i].name; i++) host_write(example->files[i].name, example->files[i].text);
  if (strchr(example->settings, '#') || strchr(example->why, '#')) first_digest = host_digest(example->files[0].text);
  expand(example->settings, settings);
  host_set(settings);
  snprintf(root, sizeof root, "%s/test/fixtures/machines/%s", getenv("SW_TEST_SOURCE"),
           example->machine ? example->machine : "gb10-roce");
  struct sw_facts_source source = {.root = root, .getenv = real_getenv};
  struct sw_library* library = sw_library_load(&source);
  assert_non_null(library);
  facts = library->machine;
  sw_facts_set_shape(&facts, example->ranks ? example->ranks : 4, example->nodes ? example->nodes : 1);
  struct sw_selection selection = sw_select(library, &facts);
  if (selection.outcome != example->outcome)
    fail_msg("%s: outcome %d, %s", example->what, (int)selection.outcome, sw_text_string(&selection.why));
  assert_int_equal(selection.entry != NULL, selection.outcome == SW_APPLIES);
  if (selection.entry) assert_text(example->what, selection.entry->origin, example->origin);
  assert_text(example->what, sw_text_string(&selection.why), example->why);
  const struct sw_text* warning = library->warning_count ? &library->warnings[0] : &selection.warning;
  assert_text(example->what, sw_text_string(warning), example->warning);
  assert_true(library->warning_count <= 1);
  sw_selection_free(&selection);
  sw_library_free(library);
}

#define NAMED "NCCL_SIZEWISE_PROFILE="
#define BY_NAME "named by NCCL_SIZEWISE_PROFILE"
#define PINNED "pinned by NCCL_SIZEWISE_EXPECT"
#define ZEROS "00000000000000000000000000000000"
#define A_LOCAL                      \
  {                                  \
    { "p/a.yaml", LOCAL("a", GB10) } \
  }
#define A_WIDE                      \
  {                                 \
    { "p/a.yaml", WIDE("a", GB10) } \
  }
#define SHIPPED_OFF "no profile in @/none; shipped ones apply when NCCL_SIZEWISE_PROFILE names them: " SHIPPED

static inline void check_all(const struct select_case* cases, size_t count) {
  for (size_t i = 0; i < count; i++) check(&cases[i]);
}

/* The text of a shipped profile. */
static inline char* shipped_text(const char* name) {
  char path[PATH_MAX];
  static char text[65536];
  snprintf(path, sizeof path, "%s/profiles/%s.yaml", getenv("SW_TEST_SOURCE"), name);
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return text;
}

static inline int select_start(void** state) {
  (void)state;
  if (!getenv("SW_TEST_SOURCE")) return -1;
  shipped_digest = host_digest(shipped_text("gb10-roce-8x1"));
  return 0;
}

#endif
