#include "launch/master.h"

#include <stdio.h>
#include <string.h>

#include "ground/number.h"
#include "launch/slurm.h"

/* Below the ports that Linux hands out by itself, above those that services have. */
enum { FIRST_PORT = 20000, BEHIND_PORT = 32768 };

static bool set_host(struct job* job, const char* host, size_t length) {
  if (length == 0 || length >= sizeof job->master) return false;
  memcpy(job->master, host, length);
  job->master[length] = '\0';
  return true;
}

static bool set_port(struct job* job, const char* text) {
  uint64_t port;
  if (sw_read_whole(text, strlen(text), 65535, &port) != SW_NUMBER_OK || port == 0) return false;
  job->port = (uint16_t)port;
  return true;
}

static bool read_parts(const char* text, struct job* job) {
  if (*text == '[') {
    const char* close = strchr(text, ']');
    if (!close || !set_host(job, text + 1, (size_t)(close - text - 1))) return false;
    return close[1] == '\0' || (close[1] == ':' && set_port(job, close + 2));
  }
  const char* colon = strchr(text, ':');
  if (!colon || strchr(colon + 1, ':')) return set_host(job, text, strlen(text)); /* a name, or IPv6 without a port */
  return set_host(job, text, (size_t)(colon - text)) && set_port(job, colon + 1);
}

bool master_read(const char* text, struct job* job, char* fault) {
  if (read_parts(text, job)) return true;
  snprintf(fault, JOB_FAULT_BYTES, "'%.80s' is no HOST[:PORT]", text);
  return false;
}

static bool from_slurm(job_environment get, struct job* job, char* fault) {
  const char* list = get("SLURM_STEP_NODELIST");
  if (!list) list = "";
  /* SLURM_LAUNCH_NODE_IPADDR would not do: that is where srun runs, which may be a login machine. */
  if (slurm_first_host(list, job->master, sizeof job->master)) return true;
  snprintf(fault, JOB_FAULT_BYTES, "SLURM_STEP_NODELIST='%.80s' names no first host; set MASTER_ADDR to rank 0's host",
           list);
  return false;
}

static bool find_host(job_environment get, struct job* job, char* fault) {
  const char* address = get("MASTER_ADDR");
  /* where all ranks are here this is certain, and MASTER_ADDR may be left over from something else */
  if (job->local_ranks == job->ranks) return set_host(job, "127.0.0.1", strlen("127.0.0.1"));
  if (address && *address) {
    if (set_host(job, address, strlen(address))) return true;
    snprintf(fault, JOB_FAULT_BYTES, "MASTER_ADDR is longer than a host's name can be");
    return false;
  }
  if (strcmp(job->launcher, "srun") == 0) return from_slurm(get, job, fault);
  snprintf(fault, JOB_FAULT_BYTES,
           "the ranks are on several hosts and nothing says on which one rank 0 is: start with %s",
           strcmp(job->launcher, "mpirun") == 0  ? "mpirun -x MASTER_ADDR=<host of rank 0>"
           : strcmp(job->launcher, "mpich") == 0 ? "mpiexec -genv MASTER_ADDR <host of rank 0>"
                                                 : "MASTER_ADDR=<host of rank 0>");
  return false;
}

bool master_find(job_environment get, const char* given, struct job* job, char* fault) {
  if (given && job_is_local(job)) {
    snprintf(fault, JOB_FAULT_BYTES, "--master is for ranks that mpirun, srun or torchrun started; this one is alone");
    return false;
  }
  job->port = job_is_local(job) ? 0 : (uint16_t)(FIRST_PORT + job->key % (BEHIND_PORT - FIRST_PORT));
  return given ? master_read(given, job, fault) : find_host(get, job, fault);
}
