/*
 * What the tests of plugin/decide share: profiles from YAML, and decisions as one line of text to compare.
 *
 *     "auto, 3145728: 2 channels, 12582913: auto"     the first decision, and each size from which another one holds
 */
#ifndef SW_TEST_DECIDE_H
#define SW_TEST_DECIDE_H

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decide/pieces.h"
#include "nccl_tuner.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* A profile in YAML: HEAD, then POLICY, TABLES and RULES as needed. A table holds POINTs, a point AUTO and TIMEs. */
#define HEAD "sizewise: 1\nname: test\nprovenance: {kind: measured, source: a test}\n"
#define POLICY(words) "policy: {" words "}\n"
#define TABLES(tables) "tables: [" tables "]\n"
#define RULES(rules) "rules: [" rules "]\n"
#define TABLE_OF(collective, nodes, ranks, points) \
  "{collective: " collective ", nodes: " nodes ", ranks: " ranks ", points: [" points "]},"
#define TABLE(points) TABLE_OF("allreduce", "2", "2", points) /* the shape that most tests use */
#define POINT(bytes, times) "{bytes: " bytes ", times: [" times "]},"
#define AUTO(median) "{choice: auto, median: " median "},"
#define TIME(choice, median) "{" choice ", median: " median "},"

/* The choices of most tests, and sizes at which each of them halves auto's time. */
#define A "channels: 2"
#define B "channels: 8"
#define BOTH(bytes) POINT(bytes, AUTO("100us") TIME(A, "50us"))   /* A halves auto's time */
#define BOTH_B(bytes) POINT(bytes, AUTO("100us") TIME(B, "50us")) /* B does */

static inline struct sw_profile* read_profile(const char* yaml) {
  struct sw_diags diags;
  sw_diags_start(&diags, "test.yaml");
  struct sw_profile* profile = sw_profile_read(yaml, strlen(yaml), &diags);
  if (!profile) fail_msg("line %u: %s, in\n%s", diags.items[0].place.line, diags.items[0].text, yaml);
  return profile;
}

static inline const char* source_root(void) {
  const char* root = getenv("SW_TEST_SOURCE");
  if (!root) fail_msg("SW_TEST_SOURCE has to name the repository's root");
  return root;
}

static inline struct sw_profile* read_shipped(const char* name) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/profiles/%s.yaml", source_root(), name);
  struct sw_diags diags;
  sw_diags_start(&diags, path);
  char* text;
  struct sw_profile* profile = sw_profile_read_file(path, &text, &diags);
  if (!profile) fail_msg("%s: %s", path, diags.items[0].text);
  free(text);
  return profile;
}

static inline struct sw_pieces compile_pieces(struct sw_arena* arena, const struct sw_profile* profile, int collective,
                                              uint32_t nodes, uint32_t ranks) {
  struct sw_pieces pieces;
  if (!sw_pieces_compile(arena, profile, collective, nodes, ranks, &pieces)) fail_msg("out of memory");
  return pieces;
}

/* "2 channels": the first of the ranked choices. */
static inline void add_winner(struct sw_text* text, const struct sw_piece* piece) {
  sw_add_choice(text, piece->count ? piece->ranked[0].choice : SW_AUTO);
}

/* "tree > 4 channels > ll": all of them, best first. */
static inline void add_ranking(struct sw_text* text, const struct sw_piece* piece) {
  if (!piece->count) sw_text_add(text, "auto");
  for (uint32_t i = 0; i < piece->count; i++) {
    if (i) sw_text_add(text, " > ");
    sw_add_choice(text, piece->ranked[i].choice);
  }
}

/* The answers at all sizes, as in the example above. */
static inline struct sw_text decisions(const struct sw_pieces* pieces,
                                       void (*add)(struct sw_text* text, const struct sw_piece* piece)) {
  struct sw_text all = SW_TEXT_EMPTY;
  struct sw_text last = SW_TEXT_EMPTY;
  for (size_t i = 0; i < pieces->count; i++) {
    struct sw_text next = SW_TEXT_EMPTY;
    add(&next, &pieces->items[i]);
    bool same = i > 0 && strcmp(sw_text_string(&last), sw_text_string(&next)) == 0;
    if (i > 0 && !same) sw_text_printf(&all, ", %llu: ", (unsigned long long)pieces->items[i].from);
    if (!same) sw_text_add(&all, sw_text_string(&next));
    sw_text_free(&last);
    last = next;
  }
  sw_text_free(&last);
  return all;
}

/* Pieces follow one another from 0 to UINT64_MAX, and a look-up finds each at both of its ends. */
static inline void assert_whole(const struct sw_pieces* pieces, const char* what) {
  uint64_t from = 0;
  for (size_t i = 0; i < pieces->count; i++) {
    const struct sw_piece* piece = &pieces->items[i];
    if (piece->from != from || piece->to < from) fail_msg("%s: a hole at %llu", what, (unsigned long long)from);
    assert_ptr_equal(sw_pieces_find(pieces, piece->from), piece);
    assert_ptr_equal(sw_pieces_find(pieces, piece->to), piece);
    from = piece->to + 1;
  }
  if (from != 0) fail_msg("%s: ends before %llu", what, (unsigned long long)from);
}

static inline void assert_pieces(const struct sw_profile* profile, int collective, uint32_t nodes, uint32_t ranks,
                                 void (*add)(struct sw_text* text, const struct sw_piece* piece), const char* expected,
                                 const char* what) {
  struct sw_arena arena = SW_ARENA_EMPTY;
  struct sw_pieces pieces = compile_pieces(&arena, profile, collective, nodes, ranks);
  assert_whole(&pieces, what);
  struct sw_text text = decisions(&pieces, add);
  if (strcmp(sw_text_string(&text), expected) != 0)
    fail_msg("%s:\n  have %s\n  want %s", what, sw_text_string(&text), expected);
  sw_text_free(&text);
  sw_arena_free(&arena);
}

/* A table of cases: what is decided for all-reduce on 2 nodes and 2 ranks. */
struct decide_case {
  const char* what;
  const char* yaml;
  const char* expected;
};

static inline void assert_cases(const struct decide_case* cases, size_t count,
                                void (*add)(struct sw_text* text, const struct sw_piece* piece)) {
  for (size_t i = 0; i < count; i++) {
    struct sw_profile* profile = read_profile(cases[i].yaml);
    assert_pieces(profile, NCCL_ALLREDUCE, 2, 2, add, cases[i].expected, cases[i].what);
    sw_profile_free(profile);
  }
}

#endif
