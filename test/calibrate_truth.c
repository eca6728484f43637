/*
 * calibrate_truth PROFILE SEED NODES RANKS: reads lines "COLLECTIVE BYTES" from stdin and prints for each what the
 * simulator takes there without noise, as "CHOICE=MICROSECONDS" in one line: auto, then channels alone, then every
 * algorithm and protocol that the collective can have; with NCCL's own channels and with 1, 2, 4, ... of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/study.h"
#include "fabric/simulator.h"
#include "ground/names.h"
#include "ground/number.h"

static struct fabric_simulation simulation;
static struct fabric_place place = {.id = {1}};

static struct sw_profile* read_profile(const char* path) {
  struct sw_diags diags;
  struct sw_text findings = SW_TEXT_EMPTY;
  char* text;
  sw_diags_start(&diags, path);
  struct sw_profile* profile = sw_profile_read_file(path, &text, &diags);
  sw_add_diags(&findings, &diags);
  if (!profile) fputs(sw_text_string(&findings), stderr);
  sw_text_free(&findings);
  free(text);
  return profile;
}

static void print_choice(const struct fabric_call* call, struct sw_choice choice) {
  printf(" %s+%s/%d=%.9g", choice.algo < 0 ? "auto" : sw_value_word(&sw_algorithms, choice.algo),
         choice.proto < 0 ? "auto" : sw_value_word(&sw_protocols, choice.proto), choice.channels,
         fabric_simulation_truth(&simulation, call, &place, choice));
}

static void print_pair(const struct fabric_call* call, int algo, int proto) {
  print_choice(call, (struct sw_choice){(int8_t)algo, (int8_t)proto, 0});
  for (int channels = 1; channels <= NCCL_MAX_CHANNELS; channels *= 2)
    print_choice(call, (struct sw_choice){(int8_t)algo, (int8_t)proto, (uint8_t)channels});
}

/* Timed as calibrate times this size. */
static void print_truth(int collective, uint64_t bytes) {
  struct fabric_call call = {collective, FABRIC_BF16, study_mode(bytes), bytes};
  printf("%s %llu", sw_value_word(&sw_collectives, collective), (unsigned long long)bytes);
  print_pair(&call, -1, -1);
  for (int algo = 0; algo < NCCL_NUM_ALGORITHMS; algo++)
    for (int proto = 0; proto < NCCL_NUM_PROTOCOLS; proto++)
      if (sw_choice_possible(collective, algo, proto)) print_pair(&call, algo, proto);
  putchar('\n');
}

static bool answer(char* line) {
  uint64_t bytes;
  line[strcspn(line, "\n")] = 0;
  char* size = strchr(line, ' ');
  if (!size) return false;
  int collective = sw_word_value(&sw_collectives, line, (size_t)(size - line));
  if (collective < 0 || sw_read_whole(size + 1, strlen(size + 1), UINT64_MAX, &bytes) != SW_NUMBER_OK) return false;
  print_truth(collective, bytes);
  return true;
}

static bool read_number(const char* word, uint64_t most, uint64_t* number) {
  return sw_read_whole(word, strlen(word), most, number) == SW_NUMBER_OK;
}

int main(int argc, char** argv) {
  uint64_t seed;
  uint64_t nodes;
  uint64_t ranks;
  char line[128];
  if (argc != 5 || !read_number(argv[2], UINT64_MAX, &seed) || !read_number(argv[3], UINT32_MAX, &nodes) ||
      !read_number(argv[4], UINT32_MAX, &ranks)) {
    fputs("usage: calibrate_truth PROFILE SEED NODES RANKS < lines of COLLECTIVE BYTES\n", stderr);
    return 2;
  }
  struct sw_profile* profile = read_profile(argv[1]);
  if (!profile) return 1;
  simulation = fabric_simulation_default;
  simulation.profile = profile;
  simulation.seed = seed;
  place.nodes = (uint32_t)nodes;
  place.ranks = (uint32_t)ranks;
  bool good = true;
  while (good && fgets(line, sizeof line, stdin)) good = answer(line);
  sw_profile_free(profile);
  return good ? 0 : 1;
}
