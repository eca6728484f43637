/* From a rank to the driver: connections that have proved, both ways, to belong to this job. */
#ifndef SW_REACH_H
#define SW_REACH_H

#include <stdbool.h>
#include <stddef.h>

#include "launch/job.h"
#include "launch/protocol.h"

/*
 * A supervisor's connection. Tries until job->wait_ms have passed: ranks start at different times, names appear late,
 * and the driver of the run before may still hold the port. false: one line in `fault`; at once when the driver says
 * that it does not want this rank.
 */
bool reach_driver(const struct job* job, uint32_t rank, struct wire* out, char* fault, size_t fault_size);

/* A worker's connection, not greeted yet: its supervisor opens it, the worker says hello. */
bool reach_for_worker(const struct job* job, struct wire* out, char* fault, size_t fault_size);

/* Says hello. */
bool reach_greet(struct wire* wire, const struct job* job, uint32_t rank, enum role role, uint32_t attempt);

#endif
