#include "fabric/sim_faults.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "fabric/sim_words.h"

/* Drift is complete after this much virtual time. */
static const double drift_us = 60e6;

static bool hits(const struct sim_fault* fault, const struct fabric_call* call, struct sw_choice choice, bool timed) {
  return sw_choice_same(fault->choice, choice) && (fault->bytes == SIM_ANY_SIZE || fault->bytes == call->bytes) &&
         (fault->mode == SIM_ANY_MODE || fault->mode == call->mode) && (timed || !fault->timed);
}

static const struct sim_fault* find(const struct sim_faults* faults, enum sim_fault_kind kind,
                                    const struct fabric_call* call, struct sw_choice choice, bool timed) {
  for (size_t i = 0; i < faults->count; i++)
    if (faults->items[i].kind == kind && hits(&faults->items[i], call, choice, timed)) return &faults->items[i];
  return NULL;
}

_Noreturn static void hang(void) {
  for (;;) pause();
}

/* The default action, because a sanitizer or a test may catch the signal and end the process politely. */
static void crash(void) {
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

bool sim_faults_strike(const struct sim_faults* faults, const struct fabric_call* call, struct sw_choice choice,
                       bool timed, char* fault) {
  if (find(faults, SIM_HANG, call, choice, timed)) hang();
  if (find(faults, SIM_CRASH, call, choice, timed)) crash();
  if (!find(faults, SIM_ERROR, call, choice, timed)) return true;
  snprintf(fault, sizeof((struct fabric*)0)->fault, "%s: unhandled system error (run with NCCL_DEBUG=INFO for details)",
           sim_function_name(call->collective));
  return false;
}

bool sim_faults_corrupt(const struct sim_faults* faults, const struct fabric_call* call, struct sw_choice choice) {
  return find(faults, SIM_CORRUPT, call, choice, false) != NULL;
}

double sim_faults_drift(const struct sim_faults* faults, double clock_us) {
  double grown = clock_us < drift_us ? clock_us / drift_us : 1;
  double factor = 1;
  for (size_t i = 0; i < faults->count; i++)
    if (faults->items[i].kind == SIM_DRIFT) factor *= 1 + faults->items[i].amount * grown;
  return factor;
}

bool sim_faults_has_own_table(const struct sim_faults* faults, uint32_t rank) {
  for (size_t i = 0; i < faults->count; i++)
    if (faults->items[i].kind == SIM_RANK_TABLE && faults->items[i].rank == rank) return true;
  return false;
}

/* The cheapest entry becomes twice as dear as the next: no longer the winner, and not so dear that it means "no". */
void sim_faults_twist_table(float table[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS]) {
  float* cheapest = NULL;
  float* next = NULL;
  for (int i = 0; i < NCCL_NUM_ALGORITHMS * NCCL_NUM_PROTOCOLS; i++) {
    float* entry = &table[i / NCCL_NUM_PROTOCOLS][i % NCCL_NUM_PROTOCOLS];
    if (*entry < 0) continue;
    if (!cheapest || *entry < *cheapest) {
      next = cheapest;
      cheapest = entry;
    } else if (!next || *entry < *next) {
      next = entry;
    }
  }
  if (next) *cheapest = *next * 2;
}

double sim_faults_slowness(const struct sim_faults* faults, uint32_t rank) {
  double factor = 1;
  for (size_t i = 0; i < faults->count; i++)
    if (faults->items[i].kind == SIM_SLOW_RANK && faults->items[i].rank == rank) factor *= faults->items[i].amount;
  return factor;
}
