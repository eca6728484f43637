/* bench/launch/job: the environments of the launchers as they were captured, changed in one place each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "launch/job.h"
#include "launch/slurm.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* --- a stand-in environment: NAME=value pairs between bars; the last of a name counts */

static char environment[4096];

static const char* fake_getenv(const char* name) {
  size_t length = strlen(name);
  const char* value = NULL;
  for (char* pair = environment; *pair; pair += strlen(pair) + 1)
    if (strncmp(pair, name, length) == 0 && pair[length] == '=') value = pair + length + 1;
  return value;
}

static void set_environment(const char* base, const char* changes) {
  memset(environment, 0, sizeof environment);
  int length = snprintf(environment, sizeof environment - 1, "%s%s%s", base, *base && *changes ? "|" : "", changes);
  assert_in_range(length, 0, sizeof environment - 2);
  for (char* c = environment; *c; c++)
    if (*c == '|') *c = '\0';
}

#define OPEN_MPI_4                                                                                                 \
  "OMPI_COMM_WORLD_RANK=5|OMPI_COMM_WORLD_SIZE=8|OMPI_COMM_WORLD_LOCAL_RANK=1|OMPI_COMM_WORLD_LOCAL_SIZE=4|"       \
  "OMPI_COMM_WORLD_NODE_RANK=1|OMPI_UNIVERSE_SIZE=8|OMPI_MCA_ess_base_jobid=1611268097|PMIX_NAMESPACE=1611268097|" \
  "PMIX_RANK=5|OMPI_MCA_orte_hnp_uri=1611268096.0;tcp://192.0.2.2:60571;tcp6://[fd00::2]:59667"
#define OPEN_MPI_5                                                                                           \
  "OMPI_COMM_WORLD_RANK=5|OMPI_COMM_WORLD_SIZE=8|OMPI_COMM_WORLD_LOCAL_RANK=1|OMPI_COMM_WORLD_LOCAL_SIZE=4|" \
  "PMIX_NAMESPACE=prterun-gb01-2318@1|PMIX_RANK=5|PRTE_LAUNCHED=1"
#define SLURM_STEP                                                                                              \
  "SLURM_PROCID=5|SLURM_NTASKS=8|SLURM_STEP_NUM_TASKS=8|SLURM_LOCALID=1|SLURM_NODEID=1|SLURM_JOB_ID=4711|"      \
  "SLURM_STEP_ID=2|SLURM_STEP_TASKS_PER_NODE=4(x2)|SLURM_STEP_NODELIST=gb[03-04]|SLURM_JOB_NODELIST=gb[01-04]|" \
  "SLURM_LAUNCH_NODE_IPADDR=10.0.0.200|SLURM_SRUN_COMM_HOST=10.0.0.200"
#define TORCHRUN                                                                                                     \
  "RANK=5|WORLD_SIZE=8|LOCAL_RANK=1|LOCAL_WORLD_SIZE=4|GROUP_RANK=1|ROLE_RANK=5|MASTER_ADDR=gb03|MASTER_PORT=29500|" \
  "TORCHELASTIC_RUN_ID=none|TORCHELASTIC_RESTART_COUNT=0"
#define HYDRA "PMI_RANK=5|PMI_SIZE=8|PMI_FD=9|MPI_LOCALRANKID=1|MPI_LOCALNRANKS=4|HYDI_CONTROL_FD=14|MASTER_ADDR=gb03"
#define BY_HAND "RANK=5|WORLD_SIZE=8|LOCAL_RANK=1|LOCAL_WORLD_SIZE=4|MASTER_ADDR=gb03|MASTER_PORT=29500"
#define BATCH_SCRIPT "SLURM_PROCID=0|SLURM_LOCALID=0|SLURM_NTASKS=8|SLURM_JOB_ID=4711|SLURM_NODEID=0"
#define AT_GB03 "MASTER_ADDR=gb03"

/* "launcher rank/ranks local_rank/local_ranks master" */
static void assert_job(const char* base, const char* changes, const char* master, const char* expected) {
  struct job job;
  char fault[JOB_FAULT_BYTES] = "", got[512];
  memset(&job, 0x5a, sizeof job);
  set_environment(base, changes);
  if (!job_read(fake_getenv, master, &job, fault)) fail_msg("%s|%s: %s", base, changes, fault);
  snprintf(got, sizeof got, "%s %u/%u %u/%u %s", job.launcher, job.rank, job.ranks, job.local_rank, job.local_ranks,
           job.master);
  if (strcmp(got, expected) != 0) fail_msg("%s|%s: \"%s\", expected \"%s\"", base, changes, got, expected);
  assert_int_equal(job_is_local(&job), strcmp(job.launcher, "local") == 0);
  assert_int_equal(job.wait_ms, JOB_WAIT_MS);
}

static void each_launcher(void** state) {
  (void)state;
  static const struct {
    const char *base, *changes, *expected;
  } cases[] = {
      {"", "", "local 0/1 0/1 127.0.0.1"},
      {"HOME=/root|PATH=/bin", "MASTER_ADDR=elsewhere", "local 0/1 0/1 127.0.0.1"},
      {OPEN_MPI_4, AT_GB03, "mpirun 5/8 1/4 gb03"},
      {OPEN_MPI_5, AT_GB03, "mpirun 5/8 1/4 gb03"},
      {OPEN_MPI_4, "OMPI_COMM_WORLD_LOCAL_SIZE=8", "mpirun 5/8 1/8 127.0.0.1"},
      {OPEN_MPI_4, "OMPI_COMM_WORLD_LOCAL_SIZE=8|MASTER_ADDR=left-over", "mpirun 5/8 1/8 127.0.0.1"},
      {SLURM_STEP, "", "srun 5/8 1/4 gb03"},
      {SLURM_STEP, "MASTER_ADDR=10.1.1.3", "srun 5/8 1/4 10.1.1.3"},
      {SLURM_STEP, "MASTER_ADDR=", "srun 5/8 1/4 gb03"},
      {SLURM_STEP, "SLURM_STEP_NUM_TASKS=", "srun 5/8 1/4 gb03"},
      {SLURM_STEP, "SLURM_NTASKS=64", "srun 5/8 1/4 gb03"}, /* of the allocation */
      {SLURM_STEP, "SLURM_STEP_TASKS_PER_NODE=|SLURM_NTASKS_PER_NODE=4", "srun 5/8 1/4 gb03"},
      {SLURM_STEP, "SLURM_STEP_TASKS_PER_NODE=5,3", "srun 5/8 1/3 gb03"},
      {SLURM_STEP, "SLURM_STEP_TASKS_PER_NODE=8|SLURM_NODEID=0|SLURM_LOCALID=5", "srun 5/8 5/8 127.0.0.1"},
      {TORCHRUN, "", "torchrun 5/8 1/4 gb03"},
      {BY_HAND, "", "torchrun 5/8 1/4 gb03"},
      {HYDRA, "", "mpich 5/8 1/4 gb03"},
      /* a shell inside an allocation, a batch script, the shell of salloc, one that srun opened: no ranks */
      {"SLURM_JOB_ID=4711|SLURM_NTASKS=8|SLURM_JOB_NODELIST=gb[01-02]", "", "local 0/1 0/1 127.0.0.1"},
      {BATCH_SCRIPT, "", "local 0/1 0/1 127.0.0.1"},
      {BATCH_SCRIPT, "SLURM_STEP_ID=4294967290|SLURM_STEP_NUM_TASKS=2", "local 0/1 0/1 127.0.0.1"},
      {"SLURM_PROCID=0|SLURM_STEP_ID=0|SLURM_NTASKS=1|SLURM_LOCALID=0|SLURM_NODEID=0|SLURM_STEP_TASKS_PER_NODE=1", "",
       "local 0/1 0/1 127.0.0.1"},
      {"SLURM_STEP_ID=3|SLURM_NTASKS=8", "", "local 0/1 0/1 127.0.0.1"},
      {"RANK=1|WORLD_SIZE=2", "", "local 0/1 0/1 127.0.0.1"}, /* a PyTorchJob's pod: no process of torchrun */
      /* one inside the other */
      {SLURM_STEP, OPEN_MPI_4 "|OMPI_COMM_WORLD_RANK=6|MASTER_ADDR=gb04", "mpirun 6/8 1/4 gb04"},
      {SLURM_STEP, TORCHRUN "|RANK=9|WORLD_SIZE=16", "torchrun 9/16 1/4 gb03"},
      {OPEN_MPI_4, TORCHRUN "|RANK=9|WORLD_SIZE=16", "torchrun 9/16 1/4 gb03"},
      {SLURM_STEP, HYDRA "|PMI_RANK=6", "mpich 6/8 1/4 gb03"},
      {SLURM_STEP, "PMI_RANK=5|PMI_SIZE=8", "srun 5/8 1/4 gb03"}, /* srun --mpi=pmi2 */
      {OPEN_MPI_4, BY_HAND, "mpirun 5/8 1/4 gb03"},               /* a wrapper that translates */
  };
  for (size_t i = 0; i < COUNT(cases); i++) assert_job(cases[i].base, cases[i].changes, NULL, cases[i].expected);
}

static void masters(void** state) {
  (void)state;
  static const struct {
    const char *given, *host;
    int port; /* 0: from the key */
  } cases[] = {
      {"gb07", "gb07", 0},       {"gb07:4000", "gb07", 4000}, {"10.0.0.1:65535", "10.0.0.1", 65535},
      {"fd00::7", "fd00::7", 0}, {"[fd00::7]", "fd00::7", 0}, {"[fd00::7]:99", "fd00::7", 99},
  };
  struct job job;
  char fault[JOB_FAULT_BYTES];
  for (size_t i = 0; i < COUNT(cases); i++) {
    set_environment(TORCHRUN, "");
    if (!job_read(fake_getenv, cases[i].given, &job, fault)) fail_msg("%s: %s", cases[i].given, fault);
    assert_string_equal(job.master, cases[i].host);
    if (cases[i].port)
      assert_int_equal(job.port, cases[i].port);
    else
      assert_in_range(job.port, 20000, 32767);
  }
}

static uint64_t key_of(const char* base, const char* changes, uint16_t* port) {
  struct job job;
  char fault[JOB_FAULT_BYTES];
  set_environment(base, changes);
  if (!job_read(fake_getenv, NULL, &job, fault)) fail_msg("%s|%s: %s", base, changes, fault);
  *port = job.port;
  return job.key;
}

/* The same on all ranks of a job, another one for the next job. */
static void keys(void** state) {
  (void)state;
  static const struct {
    const char *base, *other_rank, *other_job;
  } cases[] = {
      {OPEN_MPI_4 "|" AT_GB03, "OMPI_COMM_WORLD_RANK=1|PMIX_RANK=1", "PMIX_NAMESPACE=1611268098"},
      {OPEN_MPI_4 "|" AT_GB03, "OMPI_COMM_WORLD_LOCAL_RANK=0",
       "OMPI_MCA_orte_hnp_uri=1611268096.0;tcp://192.0.2.3:60571"},
      {OPEN_MPI_5 "|" AT_GB03, "OMPI_COMM_WORLD_LOCAL_SIZE=3", "PMIX_NAMESPACE=prterun-gb01-2319@1"},
      {SLURM_STEP, "SLURM_PROCID=1|SLURM_NODEID=0", "SLURM_STEP_ID=3"},
      {SLURM_STEP, "SLURM_LOCALID=0", "SLURM_JOB_ID=4712"},
      {TORCHRUN, "RANK=6|LOCAL_RANK=2", "TORCHELASTIC_RUN_ID=other"},
      {TORCHRUN, "RANK=6|LOCAL_RANK=2", "MASTER_PORT=29501"},
      {TORCHRUN, "RANK=6|LOCAL_RANK=2", "TORCHELASTIC_RESTART_COUNT=1"},
      {BY_HAND, "RANK=6|LOCAL_RANK=2", "MASTER_PORT=29501"},
      {HYDRA, "PMI_RANK=6|PMI_FD=12|MPI_LOCALRANKID=2", "PMI_SIZE=16"},
      {HYDRA, "PMI_RANK=6|PMI_FD=12|MPI_LOCALRANKID=2", "SLURM_JOB_ID=7"},
  };
  uint16_t port, same_port, other_port;
  for (size_t i = 0; i < COUNT(cases); i++) {
    uint64_t key = key_of(cases[i].base, "", &port);
    assert_in_range(port, 20000, 32767);
    if (key_of(cases[i].base, cases[i].other_rank, &same_port) != key) fail_msg("%s", cases[i].other_rank);
    assert_int_equal(port, same_port);
    if (key_of(cases[i].base, cases[i].other_job, &other_port) == key) fail_msg("%s", cases[i].other_job);
    assert_int_not_equal(port, other_port);
  }
  assert_int_not_equal(key_of("", "", &port), key_of("", "", &same_port)); /* local: at random */
  assert_int_equal(port + same_port, 0);
}

static void contradictions(void** state) {
  (void)state;
  static const struct {
    const char *base, *changes, *given, *words;
  } cases[] = {
      {OPEN_MPI_4, "", NULL, "start with mpirun -x MASTER_ADDR=<host of rank 0>"},
      {HYDRA, "MASTER_ADDR=", NULL, "mpiexec -genv MASTER_ADDR"},
      {BY_HAND, "MASTER_ADDR=", NULL, "MASTER_ADDR=<host of rank 0>"},
      {OPEN_MPI_4, "OMPI_COMM_WORLD_SIZE=", NULL, "mpirun should have set OMPI_COMM_WORLD_SIZE as well"},
      {OPEN_MPI_4, "OMPI_COMM_WORLD_RANK=5x", NULL, "OMPI_COMM_WORLD_RANK=5x: not a whole number"},
      {OPEN_MPI_4, "OMPI_COMM_WORLD_RANK=-5", NULL, "OMPI_COMM_WORLD_RANK=-5: not a whole number"},
      {OPEN_MPI_4, "OMPI_COMM_WORLD_RANK= 5", NULL, "not a whole number"},
      {OPEN_MPI_4, "OMPI_COMM_WORLD_SIZE=4294967304", NULL, "not a whole number"},
      {OPEN_MPI_4, "OMPI_COMM_WORLD_SIZE=8.5", NULL, "not a whole number"},
      {OPEN_MPI_4, "OMPI_COMM_WORLD_RANK=8", NULL, "rank 8 of 8, local rank 1 of 4: the rank is not below"},
      {OPEN_MPI_4, "OMPI_COMM_WORLD_LOCAL_RANK=4", NULL, "the local rank is not below the number of local ranks"},
      {OPEN_MPI_4, "OMPI_COMM_WORLD_LOCAL_SIZE=9", NULL, "there are more local ranks than ranks"},
      {OPEN_MPI_4, "OMPI_COMM_WORLD_RANK=0", NULL, "the local rank is above the rank"},
      {OPEN_MPI_4, "OMPI_COMM_WORLD_SIZE=70000", NULL, "more than the 65536 ranks"},
      {OPEN_MPI_4, "RANK=4|WORLD_SIZE=8", NULL, "RANK=4 and WORLD_SIZE=8 contradict mpirun, which says rank 5 of 8"},
      {SLURM_STEP, "RANK=5|WORLD_SIZE=9", NULL, "RANK=5 and WORLD_SIZE=9 contradict srun, which says rank 5 of 8"},
      {SLURM_STEP, "RANK=five|WORLD_SIZE=8", NULL, "RANK=five: not a whole number"},
      {SLURM_STEP, "SLURM_STEP_NODELIST=", NULL, "SLURM_STEP_NODELIST='' names no first host"},
      {SLURM_STEP, "SLURM_STEP_NODELIST=gb[03", NULL, "SLURM_STEP_NODELIST='gb[03' names no first host"},
      {SLURM_STEP, "SLURM_STEP_TASKS_PER_NODE=4", NULL, "SLURM_STEP_TASKS_PER_NODE=4: no number of tasks for node 1"},
      {SLURM_STEP, "SLURM_STEP_TASKS_PER_NODE=", NULL, "srun should have set SLURM_NTASKS_PER_NODE as well"},
      {SLURM_STEP, "SLURM_NODEID=", NULL, "srun should have set SLURM_NODEID as well"},
      {TORCHRUN, "LOCAL_WORLD_SIZE=", NULL, "torchrun should have set LOCAL_WORLD_SIZE as well"},
      {BY_HAND, "WORLD_SIZE=", NULL, "torchrun should have set WORLD_SIZE as well"},
      {"PMI_RANK=1|PMI_SIZE=2", "", NULL, "the local rank is not known"},
      {"", "", "gb01", "--master is for ranks that mpirun, srun or torchrun started"},
      {TORCHRUN, "", "", "'' is no HOST[:PORT]"},
      {TORCHRUN, "", "gb01:", "'gb01:' is no HOST[:PORT]"},
      {TORCHRUN, "", "gb01:0", "is no HOST[:PORT]"},
      {TORCHRUN, "", "gb01:65536", "is no HOST[:PORT]"},
      {TORCHRUN, "", "gb01:80x", "is no HOST[:PORT]"},
      {TORCHRUN, "", ":80", "is no HOST[:PORT]"},
      {TORCHRUN, "", "[fd00::7", "is no HOST[:PORT]"},
      {TORCHRUN, "", "[fd00::7]80", "is no HOST[:PORT]"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct job job, before;
    char fault[JOB_FAULT_BYTES] = "";
    memset(&job, 0x5a, sizeof job);
    memcpy(&before, &job, sizeof job);
    set_environment(cases[i].base, cases[i].changes);
    if (job_read(fake_getenv, cases[i].given, &job, fault)) fail_msg("case %zu: accepted", i);
    if (!strstr(fault, cases[i].words)) fail_msg("case %zu: \"%s\", expected \"%s\"", i, fault, cases[i].words);
    assert_memory_equal(&job, &before, sizeof job);
  }
}

static void long_names(void** state) {
  (void)state;
  struct job job;
  char name[400], changes[500], fault[JOB_FAULT_BYTES];
  memset(name, 'h', sizeof name);
  name[sizeof name - 1] = '\0';
  snprintf(changes, sizeof changes, "MASTER_ADDR=%s", name);
  set_environment(OPEN_MPI_4, changes);
  assert_false(job_read(fake_getenv, NULL, &job, fault));
  assert_non_null(strstr(fault, "MASTER_ADDR is longer"));
  assert_false(job_read(fake_getenv, name, &job, fault));
  name[255] = '\0';
  assert_true(job_read(fake_getenv, name, &job, fault));
  assert_string_equal(job.master, name);
}

static void real_environment(void** state) {
  (void)state;
  struct job job;
  char fault[JOB_FAULT_BYTES];
  setenv("OMPI_COMM_WORLD_RANK", "x", 1);
  assert_false(job_read(NULL, NULL, &job, fault));
  assert_non_null(strstr(fault, "OMPI_COMM_WORLD_RANK=x"));
  unsetenv("OMPI_COMM_WORLD_RANK");
}

static void node_lists(void** state) {
  (void)state;
  static const struct {
    const char *list, *first; /* NULL: none */
  } cases[] = {
      {"gb01", "gb01"},
      {"gb01,gb02", "gb01"},
      {"gb[01-08,10]", "gb01"},
      {"gb[10,01-08]", "gb10"},
      {"gb[7]", "gb7"},
      {"gb[007-100]-ib", "gb007-ib"},
      {"r[2-3]n[07,09]", "r2n07"},
      {"a,gb[01-02]", "a"},
      {"gb-[1-2].x.y", "gb-1.x.y"},
      {"", NULL},
      {",gb01", NULL},
      {"gb[", NULL},
      {"gb[]", NULL},
      {"gb[01", NULL},
      {"gb]01", NULL},
      {"gb[-1]", NULL},
      {"gb[x-y]", NULL},
      {"gb[01-02x]", NULL},
      {"gb[[1]]", NULL},
      {"123456789", NULL},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    char host[9] = "before";
    bool found = slurm_first_host(cases[i].list, host, sizeof host);
    if (found != (cases[i].first != NULL)) fail_msg("%s", cases[i].list);
    assert_string_equal(host, found ? cases[i].first : "before");
  }
}

static void task_lists(void** state) {
  (void)state;
  static const struct {
    const char* list;
    uint32_t node;
    int tasks; /* -1: none */
  } cases[] = {
      {"8", 0, 8},    {"8", 1, -1},    {"8(x2),4", 1, 8}, {"8(x2),4", 2, 4}, {"8(x2),4", 3, -1}, {"1,2,3", 2, 3},
      {"", 0, -1},    {"8(x)", 0, -1}, {"8(2)", 0, -1},   {"8(x2", 0, -1},   {"(x2)", 0, -1},    {"8,", 1, -1},
      {"8x2", 0, -1}, {"-8", 0, -1},   {"8(x2)9", 0, -1}, {"8(x-1)", 0, -1},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    uint32_t tasks = 77;
    bool found = slurm_tasks_on(cases[i].list, cases[i].node, &tasks);
    if (found != (cases[i].tasks >= 0)) fail_msg("%s, node %u", cases[i].list, cases[i].node);
    assert_int_equal(tasks, found ? cases[i].tasks : 77);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_launcher),  cmocka_unit_test(masters),    cmocka_unit_test(keys),
      cmocka_unit_test(contradictions), cmocka_unit_test(long_names), cmocka_unit_test(real_environment),
      cmocka_unit_test(node_lists),     cmocka_unit_test(task_lists),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
