/*
 * decide_at PROFILE COLLECTIVE NODES RANKS [deterministic]: reads sizes from stdin, one a line, and prints for each the
 * choices that are ranked there, best first, "auto" for none. test/oracle/compare.py holds them against an evaluation
 * of its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/plan.h"

static struct sw_profile* read_profile(const char* path) {
  struct sw_diags diags;
  sw_diags_start(&diags, path);
  char* text;
  struct sw_profile* profile = sw_profile_read_file(path, &text, &diags);
  struct sw_text findings = SW_TEXT_EMPTY;
  sw_add_diags(&findings, &diags);
  if (!profile) fputs(sw_text_string(&findings), stderr);
  sw_text_free(&findings);
  free(text);
  return profile;
}

static void print_decision(struct sw_decision decision) {
  struct sw_text text = SW_TEXT_EMPTY;
  for (uint32_t i = 0; i < decision.count; i++) {
    if (i) sw_text_add(&text, " > ");
    sw_add_choice(&text, decision.ranked[i].choice);
  }
  puts(decision.count ? sw_text_string(&text) : "auto");
  sw_text_free(&text);
}

static bool decide_sizes(const struct sw_plan* plan, int collective) {
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    char* end;
    errno = 0;
    unsigned long long bytes = strtoull(line, &end, 10);
    if (errno || end == line || *end != '\n') return false;
    print_decision(sw_plan_decide(plan, collective, bytes));
  }
  return true;
}

static bool read_number(const char* word, uint64_t* number) {
  return sw_read_whole(word, strlen(word), UINT32_MAX, number) == SW_NUMBER_OK;
}

int main(int argc, char** argv) {
  uint64_t nodes;
  uint64_t ranks;
  bool deterministic = argc == 6 && strcmp(argv[5], "deterministic") == 0;
  int collective = argc == 5 || deterministic ? sw_word_value(&sw_collectives, argv[2], strlen(argv[2])) : -1;
  if (collective < 0 || !read_number(argv[3], &nodes) || !read_number(argv[4], &ranks)) {
    fputs("usage: decide_at PROFILE COLLECTIVE NODES RANKS [deterministic] < sizes\n", stderr);
    return 2;
  }
  struct sw_profile* profile = read_profile(argv[1]);
  enum sw_mode mode = deterministic ? SW_MODE_DETERMINISTIC : SW_MODE_BY_SIZE;
  struct sw_plan* plan = profile ? sw_plan_compile_for(profile, mode, (uint32_t)nodes, (uint32_t)ranks) : NULL;
  bool good = plan && decide_sizes(plan, collective);
  sw_plan_free(plan);
  sw_profile_free(profile);
  return good ? 0 : 1;
}
