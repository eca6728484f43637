/*
 * Real NCCL through the bench's fabric: `fabric PLUGIN RANKS DEVICES` forks the ranks and has each of them probe, check
 * and time every usable choice of every collective. Exits 1 when a forced choice is not what runs, or data are wrong.
 * Run by fabric.sh in several shapes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/fabric.h"
#include "ground/names.h"
#include "ground/number.h"

static const uint64_t sizes[] = {12 << 10, 96 << 10, 1 << 20, 6 << 20, 24 << 20};
static const uint8_t channel_counts[] = {0, 1, 2, 4, 8, 16};

static struct fabric* fabric;
static uint32_t me;
static int faults;

static void need(bool good, const char* what) {
  if (good) return;
  fprintf(stderr, "rank %u: %s: %s\n", me, what, fabric_fault(fabric));
  exit(2);
}

static void complain(const struct fabric_call* call, struct sw_choice choice, const char* what) {
  struct sw_text text = SW_TEXT_EMPTY;
  sw_add_choice(&text, choice);
  fprintf(stderr, "rank %u: %s of %llu bytes, %s: %s\n", me, sw_value_word(&sw_collectives, call->collective),
          (unsigned long long)call->bytes, sw_text_string(&text), what);
  sw_text_free(&text);
  faults++;
}

/* Probes one choice; true when it is what runs. */
static bool probe(const struct fabric_call* call, struct sw_choice choice, struct fabric_probe* out) {
  need(fabric_probe(fabric, call, choice, out), "probe");
  if (!out->obeyed) return false;
  if (choice.algo >= 0 && (out->algo != choice.algo || out->proto != choice.proto))
    complain(call, choice, "not what runs");
  if (choice.channels && out->channels > choice.channels) complain(call, choice, "runs on more channels than asked");
  return true;
}

static void check(const struct fabric_call* call, struct sw_choice choice) {
  bool good = false;
  struct fabric_call typed = *call;
  for (int type = FABRIC_BF16; type <= FABRIC_INT32; type++) {
    typed.type = type;
    need(fabric_check(fabric, &typed, choice, &good), "check");
    if (!good) complain(&typed, choice, "wrong data");
  }
}

static void print_row(const struct fabric_call* call, struct sw_choice choice, const struct fabric_probe* p,
                      const float* us, size_t stride) {
  float best = us[0];
  for (size_t i = 1; i < 5; i++) best = us[i * stride] < best ? us[i * stride] : best;
  struct sw_text text = SW_TEXT_EMPTY;
  sw_add_choice(&text, choice);
  if (me == 0)
    printf("%-13s %9llu %-24s runs %-4s %-6s ch %2d threads %3d estimate %8.1f best of 5 %9.1f us\n",
           sw_value_word(&sw_collectives, call->collective), (unsigned long long)call->bytes, sw_text_string(&text),
           sw_value_word(&sw_algorithms, p->algo), sw_value_word(&sw_protocols, p->proto), p->channels, p->threads,
           (double)p->table[p->algo][p->proto], (double)best);
  sw_text_free(&text);
}

static void try_call(struct fabric_call call) {
  struct sw_choice choices[FABRIC_MOST_CHOICES];
  struct fabric_probe probes[FABRIC_MOST_CHOICES];
  float us[5 * FABRIC_MOST_CHOICES];
  size_t count = 0;
  struct fabric_probe own;
  need(fabric_probe(fabric, &call, SW_AUTO, &own), "probe of auto");
  if (!own.obeyed) complain(&call, SW_AUTO, "the plugin was not asked");
  for (int a = -1; a < NCCL_NUM_ALGORITHMS; a++)
    for (int p = -1; p < NCCL_NUM_PROTOCOLS; p++)
      for (size_t c = 0; c < sizeof channel_counts; c++) {
        struct sw_choice choice = {(int8_t)a, (int8_t)p, channel_counts[c]};
        bool half = (a < 0) != (p < 0);
        if (half || count == FABRIC_MOST_CHOICES || (a >= 0 && !(own.table[a][p] >= 0))) continue;
        if (!probe(&call, choice, &probes[count])) continue;
        choices[count++] = choice;
      }
  for (size_t i = 0; i < count; i++) check(&call, choices[i]);
  need(fabric_prepare(fabric, &call, choices, count), "prepare");
  need(fabric_rounds(fabric, 5, us), "rounds");
  for (size_t i = 0; i < count; i++) print_row(&call, choices[i], &probes[i], us + i, count);
}

static int run_rank(const char* plugin, uint32_t ranks, int device, int id_pipe[2]) {
  struct fabric_paths paths = {getenv("SW_NCCL"), getenv("SW_CUDART"), plugin};
  struct fabric_place place = {.ranks = ranks, .rank = me};
  char fault[256];
  fabric = fabric_open_nccl(&paths, device, fault);
  if (!fabric) {
    fprintf(stderr, "rank %u: %s\n", me, fault);
    return 2;
  }
  if (me == 0) {
    need(fabric_new_id(fabric, place.id), "id");
    for (uint32_t i = 1; i < ranks; i++)
      if (write(id_pipe[1], place.id, sizeof place.id) != sizeof place.id) return 2;
  } else if (read(id_pipe[0], place.id, sizeof place.id) != sizeof place.id) {
    return 2;
  }
  need(fabric_connect(fabric, &place), "connect");
  for (int collective = NCCL_NUM_COLLECTIVES - 1; collective >= 0; collective--)
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
      bool short_one = collective != NCCL_ALLREDUCE && i % 2 == 1;
      if (!short_one)
        try_call((struct fabric_call){collective, FABRIC_FLOAT, sizes[i] <= 1 << 20 ? FABRIC_GRAPH : FABRIC_STREAM,
                                      sizes[i]});
    }
  need(fabric_disconnect(fabric), "disconnect");
  fabric_close(fabric);
  return faults != 0;
}

int main(int argc, char** argv) {
  int id_pipe[2];
  if (argc != 4 || pipe(id_pipe) != 0) return 2;
  uint32_t ranks = (uint32_t)atoi(argv[2]);
  int devices = atoi(argv[3]);
  char node[32];
  for (me = 0; me < ranks; me++) {
    if (fork() != 0) continue;
    if (getenv("SW_NODES")) {
      snprintf(node, sizeof node, "node-%u", me);
      setenv("NCCL_HOSTID", node, 1);
    }
    int status = run_rank(argv[1], ranks, (int)me % devices, id_pipe);
    fflush(stdout);
    _exit(status);
  }
  int worst = 0;
  for (int status; wait(&status) > 0;)
    if (!WIFEXITED(status) || WEXITSTATUS(status) > worst) worst = WIFEXITED(status) ? WEXITSTATUS(status) : 3;
  printf(worst ? "FAULTS\n" : "every forced choice ran, all data right\n");
  return worst;
}
