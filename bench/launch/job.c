#include "launch/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/launcher.h"
#include "launch/master.h"

bool job_is_local(const struct job* job) {
  return strcmp(job->launcher, "local") == 0;
}

static const char* process_environment(const char* name) {
  return getenv(name);
}

/* Values that no order of the ranks can have. */
static bool possible(const struct job* job, char* fault) {
  const char* wrong = NULL;
  if (job->rank >= job->ranks) wrong = "the rank is not below the number of ranks";
  if (job->local_rank >= job->local_ranks) wrong = "the local rank is not below the number of local ranks";
  if (job->local_ranks > job->ranks) wrong = "there are more local ranks than ranks";
  if (job->local_rank > job->rank) wrong = "the local rank is above the rank";
  if (job->ranks > JOB_MOST_RANKS) wrong = "that is more than the 65536 ranks this program can serve";
  if (wrong)
    snprintf(fault, JOB_FAULT_BYTES, "%s says rank %u of %u, local rank %u of %u: %s", job->launcher, job->rank,
             job->ranks, job->local_rank, job->local_ranks, wrong);
  return !wrong;
}

/* One process that a launcher started alone starts its ranks itself, as in a shell that srun opened on a node. */
static void become_local(struct job* job) {
  *job = (struct job){.ranks = 1, .local_ranks = 1, .launcher = "local", .master = "127.0.0.1"};
}

bool job_read(job_environment get, const char* master, struct job* out, char* fault) {
  struct job job;
  if (!get) get = process_environment;
  become_local(&job);
  if (!launcher_read(get, &job, fault) || !possible(&job, fault)) return false;
  if (job.ranks == 1) become_local(&job);
  job.wait_ms = JOB_WAIT_MS;
  job.key = job_is_local(&job) ? launcher_random_key() : launcher_key(get, &job);
  if (!master_find(get, master, &job, fault)) return false;
  *out = job;
  return true;
}
