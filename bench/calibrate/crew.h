/*
 * All ranks as one: each function asks every rank for the same step and puts the answers together. Knows nothing of
 * what is measured or why.
 *
 * A function that returns false has lost the workers: crew_failure says what happened, and crew_restart brings all of
 * them back, connected as before.
 */
#ifndef SW_CREW_H
#define SW_CREW_H

#include "calibrate/proof.h"
#include "calibrate/work.h"
#include "launch/team.h"

struct crew;

/* NULL with one line in `fault` (TEAM_TEXT). The workers are started by crew_start. */
struct crew* crew_open(const struct job* job, const struct work_context* context, const struct team_settings* settings,
                       char* fault);
void crew_close(struct crew* crew);

/* Samples as they were taken; what they point to lasts for the call. */
struct crew_samples {
  const struct fabric_call* call;
  uint32_t ranks; /* of the communicator */
  uint32_t nodes;
  const struct sw_choice* choices;
  size_t count; /* of choices */
  size_t rounds;
  const float* us; /* us[round * count + choice]: the maximum over all ranks */
  bool bare;       /* no tuner was loaded: crew_start_bare */
};

/* Is told of all samples, whoever asked for them. */
typedef void (*crew_listener)(void* context, const struct crew_samples* samples);
void crew_listen(struct crew* crew, crew_listener listener, void* context);

/* Starts all workers, or starts them anew. `profile`: text for the plugin to load, NULL for none. */
bool crew_start(struct crew* crew, const char* profile);

/* The same without the plugin, and without any other tuner: until the next crew_start the crew can time auto alone. */
bool crew_start_bare(struct crew* crew);

/* Joins the ranks in communicators of `ranks` each, all groups at once: 0 to ranks - 1, and so on. What is left over
   takes no part. */
bool crew_connect(struct crew* crew, uint32_t ranks);

/* After a failure: crew_start or crew_start_bare, and crew_connect as they were done last. */
bool crew_restart(struct crew* crew);

const struct team_failure* crew_failure(const struct crew* crew);

uint32_t crew_ranks(const struct crew* crew); /* of the job */
uint32_t crew_used(const struct crew* crew);  /* that take part: all but what is left over */
uint32_t crew_group(const struct crew* crew); /* of each communicator */
uint32_t crew_nodes(const struct crew* crew); /* of each communicator, as NCCL counts them; known once probed */
uint32_t crew_spans(const struct crew* crew, uint32_t group); /* nodes of such a communicator, by the ranks' hosts */
uint32_t crew_starts(const struct crew* crew);                /* how often the workers were started */
const struct fabric_report* crew_report(const struct crew* crew, uint32_t rank); /* as of the last start */

/* The time since the first start in microseconds: real time, starting and waiting included, or the simulator's. */
double crew_clock(struct crew* crew);

/*
 * One choice's probe, which has to be the same on all ranks: where it is not, ranks would run different things, and
 * this returns false with a failure of kind TEAM_ERROR that names the first rank that differs from most, and how.
 */
bool crew_probe(struct crew* crew, const struct fabric_call* call, struct sw_choice choice, struct fabric_probe* out);

bool crew_prepare(struct crew* crew, const struct fabric_call* call, const struct sw_choice* choices, size_t count);

/* Rounds of what is prepared: us[round * count + choice] is the maximum over all ranks. */
bool crew_rounds(struct crew* crew, size_t rounds, float* us);

/* Whether all ranks received right data; `bad_rank` is one that did not. */
bool crew_check(struct crew* crew, const struct fabric_call* call, struct sw_choice choice, bool* good,
                uint32_t* bad_rank);

/* What each rank that takes part makes of the profile that all were started with, for a communicator as they are
   joined; `out` has crew_used(crew) places. */
bool crew_prove(struct crew* crew, struct rank_proof* out);

#endif
