/* Where rank 0 is: job.h tells the order of the sources. */
#ifndef SW_MASTER_H
#define SW_MASTER_H

#include "launch/job.h"

/* Writes master and port; everything else of the job is known. */
bool master_find(job_environment get, const char* given, struct job* job, char* fault);

/* "HOST", "HOST:PORT", "[IPv6]:PORT", "IPv6"; the port stays as it is where none is given. */
bool master_read(const char* text, struct job* job, char* fault);

#endif
