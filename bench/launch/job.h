/*
 * Which rank this process is, as its launcher tells by environment variables. Launchers nest (mpirun starts its daemons
 * by srun, torchrun is started by either), so the innermost one that speaks is believed:
 *
 *     torchrun     TORCHELASTIC_RUN_ID; RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE
 *     mpirun       OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE        (Open MPI)
 *     mpich        PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS         (MPICH, Intel MPI)
 *     srun         SLURM_PROCID, SLURM_STEP_ID, SLURM_STEP_NUM_TASKS or SLURM_NTASKS, SLURM_LOCALID and
 *                  SLURM_STEP_TASKS_PER_NODE with SLURM_NODEID, or SLURM_NTASKS_PER_NODE
 *     torchrun     the same without TORCHELASTIC_RUN_ID: set by hand
 *     local        none of them, or a launcher that started one process alone: it starts its ranks itself
 *
 * Where another one contradicts it that cannot be around it, this is an error.
 */
#ifndef SW_JOB_H
#define SW_JOB_H

#include <stdbool.h>
#include <stdint.h>

enum { JOB_FAULT_BYTES = 512, JOB_MOST_RANKS = 65536, JOB_WAIT_MS = 120000 };

struct job {
  uint32_t rank;
  uint32_t ranks; /* local: 1, to be set with local_ranks to what the caller wants to start */
  uint32_t local_rank;
  uint32_t local_ranks;
  const char* launcher; /* "local", "mpirun", "mpich", "srun", "torchrun" */
  char master[256];     /* host of rank 0, where the driver listens */
  uint16_t port;        /* 0: any free one; only where the driver starts all ranks itself */
  uint64_t key;         /* the same on all ranks of this job, and on no other's */
  uint32_t wait_ms;     /* how long ranks wait for each other: JOB_WAIT_MS */
};

typedef const char* (*job_environment)(const char* name);

/*
 * Reads the environment through `get` (NULL: getenv). `master` is what the user gave as HOST[:PORT], or NULL. Without
 * it the host of rank 0 is this one where all ranks are here; else what MASTER_ADDR says; else, under srun, the first
 * host of SLURM_STEP_NODELIST; else an error that says what to set. The port comes from the job's key.
 * false: one line in `fault` (of JOB_FAULT_BYTES); `out` is not touched then.
 */
bool job_read(job_environment get, const char* master, struct job* out, char* fault);

/* Whether this process starts all ranks itself. */
bool job_is_local(const struct job* job);

#endif
