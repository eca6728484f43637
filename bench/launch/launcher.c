#include "launch/launcher.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "ground/number.h"
#include "launch/slurm.h"

enum { LAUNCHERS = 5, NAMES_OF_JOB = 6 };

/* Variables; NULL: this launcher has none. The first of `sizes` that is set counts. */
struct launcher {
  const char* name;
  const char* present; /* speaks only if this is set, and `rank` or `local_rank` */
  const char* rank;
  const char* sizes[2];
  const char* local_rank;
  const char* local_size;
  const char* names[NAMES_OF_JOB]; /* of the job */
};

/* Innermost first. */
static const struct launcher launchers[LAUNCHERS] = {
    {"torchrun",
     "TORCHELASTIC_RUN_ID",
     "RANK",
     {"WORLD_SIZE"},
     "LOCAL_RANK",
     "LOCAL_WORLD_SIZE",
     {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT", "SLURM_JOB_ID",
      "SLURM_STEP_ID"}},
    {"mpirun",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_RANK",
     {"OMPI_COMM_WORLD_SIZE"},
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     {"PMIX_NAMESPACE", "OMPI_MCA_orte_hnp_uri", "OMPI_MCA_ess_base_jobid"}},
    {"mpich",
     "MPI_LOCALRANKID",
     "PMI_RANK",
     {"PMI_SIZE"},
     "MPI_LOCALRANKID",
     "MPI_LOCALNRANKS",
     {"PMI_JOBID", "PMI_KVS", "PBS_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID", "I_MPI_HYDRA_UUID"}},
    {"srun",
     "SLURM_STEP_ID",
     "SLURM_PROCID",
     {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
     "SLURM_LOCALID",
     NULL,
     {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_CLUSTER_NAME", "SLURM_RESTART_COUNT"}},
    {"torchrun",
     "LOCAL_RANK",
     "RANK",
     {"WORLD_SIZE"},
     "LOCAL_RANK",
     "LOCAL_WORLD_SIZE",
     {"MASTER_ADDR", "MASTER_PORT", "JOB_ID"}},
};
static const struct launcher* const by_hand = &launchers[LAUNCHERS - 1];

/* An empty variable is none: that is how scripts unset them. */
static const char* value_of(job_environment get, const char* name) {
  const char* value = name ? get(name) : NULL;
  return value && *value ? value : NULL;
}

/* Step numbers from here on are Slurm's own: batch scripts and the shells of salloc. */
#define SLURM_FIRST_SPECIAL_STEP UINT64_C(0xfffffff0)

static bool speaks(job_environment get, const struct launcher* launcher) {
  const char* present = value_of(get, launcher->present);
  if (!present || !value_of(get, launcher->rank)) return false;
  uint64_t step;
  return strcmp(launcher->name, "srun") != 0 || sw_read_whole(present, strlen(present), UINT64_MAX, &step) != 0 ||
         step < SLURM_FIRST_SPECIAL_STEP;
}

static bool is_missing(const struct launcher* launcher, const char* name, char* fault) {
  snprintf(fault, JOB_FAULT_BYTES, "%s is set, so %s should have set %s as well", launcher->rank, launcher->name, name);
  return false;
}

static bool read_number(job_environment get, const struct launcher* launcher, const char* name, uint32_t* out,
                        char* fault) {
  const char* value = value_of(get, name);
  if (!value) return is_missing(launcher, name, fault);
  uint64_t number;
  if (sw_read_whole(value, strlen(value), UINT32_MAX, &number) != SW_NUMBER_OK) {
    snprintf(fault, JOB_FAULT_BYTES, "%s=%.40s: not a whole number", name, value);
    return false;
  }
  *out = (uint32_t)number;
  return true;
}

static bool read_size(job_environment get, const struct launcher* launcher, uint32_t* out, char* fault) {
  bool first = value_of(get, launcher->sizes[0]) || !launcher->sizes[1];
  return read_number(get, launcher, launcher->sizes[first ? 0 : 1], out, fault);
}

/* Slurm tells the tasks of each node; the option's own variable is there only where it was given. */
static bool read_slurm_tasks(job_environment get, const struct launcher* launcher, uint32_t* out, char* fault) {
  const char* tasks = value_of(get, "SLURM_STEP_TASKS_PER_NODE");
  uint32_t node;
  if (!tasks) return read_number(get, launcher, "SLURM_NTASKS_PER_NODE", out, fault);
  if (!read_number(get, launcher, "SLURM_NODEID", &node, fault)) return false;
  if (slurm_tasks_on(tasks, node, out)) return true;
  snprintf(fault, JOB_FAULT_BYTES, "SLURM_STEP_TASKS_PER_NODE=%.80s: no number of tasks for node %u", tasks, node);
  return false;
}

static bool read_all(job_environment get, const struct launcher* launcher, struct job* job, char* fault) {
  job->launcher = launcher->name;
  if (!read_number(get, launcher, launcher->rank, &job->rank, fault)) return false;
  if (!read_size(get, launcher, &job->ranks, fault)) return false;
  if (!read_number(get, launcher, launcher->local_rank, &job->local_rank, fault)) return false;
  if (!launcher->local_size) return read_slurm_tasks(get, launcher, &job->local_ranks, fault);
  return read_number(get, launcher, launcher->local_size, &job->local_ranks, fault);
}

/* RANK and WORLD_SIZE set by hand beside a launcher have to say the same. */
static bool agrees(job_environment get, const struct launcher* launcher, const struct job* job, char* fault) {
  if (strcmp(launcher->name, "torchrun") == 0 || !value_of(get, by_hand->rank) || !value_of(get, by_hand->sizes[0]))
    return true;
  uint32_t rank, ranks;
  if (!read_number(get, by_hand, by_hand->rank, &rank, fault)) return false;
  if (!read_number(get, by_hand, by_hand->sizes[0], &ranks, fault)) return false;
  if (rank == job->rank && ranks == job->ranks) return true;
  snprintf(fault, JOB_FAULT_BYTES,
           "RANK=%u and WORLD_SIZE=%u contradict %s, which says rank %u of %u; unset RANK and WORLD_SIZE", rank, ranks,
           launcher->name, job->rank, job->ranks);
  return false;
}

bool launcher_read(job_environment get, struct job* job, char* fault) {
  for (const struct launcher* launcher = launchers; launcher < launchers + LAUNCHERS; launcher++)
    if (speaks(get, launcher)) return read_all(get, launcher, job, fault) && agrees(get, launcher, job, fault);
  if (!value_of(get, "PMI_RANK")) return true;
  snprintf(fault, JOB_FAULT_BYTES,
           "PMI_RANK is set, but neither MPI_LOCALRANKID nor SLURM_STEP_ID: the local rank is not known; set "
           "MPI_LOCALRANKID and MPI_LOCALNRANKS");
  return false;
}

/* --- keys */

/* FNV-1a, 64 bits, the NUL included so that "a", "bc" is not "ab", "c". */
static uint64_t mix(uint64_t hash, const char* text) {
  do {
    hash ^= (unsigned char)*text;
    hash *= UINT64_C(0x100000001b3);
  } while (*text++);
  return hash;
}

uint64_t launcher_key(job_environment get, const struct job* job) {
  uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), job->launcher);
  char ranks[16];
  snprintf(ranks, sizeof ranks, "%u", job->ranks);
  hash = mix(hash, ranks);
  const struct launcher* launcher = launchers;
  while (strcmp(launcher->name, job->launcher) != 0 || !speaks(get, launcher)) launcher++;
  for (size_t i = 0; i < NAMES_OF_JOB; i++) {
    const char* value = value_of(get, launcher->names[i]);
    hash = mix(hash, value ? value : "");
  }
  return hash;
}

uint64_t launcher_random_key(void) {
  uint64_t key = 0;
  if (getrandom(&key, sizeof key, 0) == (ssize_t)sizeof key) return key;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (uint64_t)now.tv_nsec * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)now.tv_sec << 20 ^ (uint64_t)getpid();
}
