/* What each launcher says of a rank, and which of them to believe: job.h tells the rules. */
#ifndef SW_LAUNCHER_H
#define SW_LAUNCHER_H

#include "launch/job.h"

/* Writes launcher, rank, ranks, local_rank and local_ranks; leaves the job as it is where no launcher speaks. */
bool launcher_read(job_environment get, struct job* job, char* fault);

/* From what the launcher calls this job: the same on all its ranks, another one for the next job. */
uint64_t launcher_key(job_environment get, const struct job* job);

uint64_t launcher_random_key(void);

#endif
