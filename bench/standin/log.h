/*
 * The logger that a tuner gets when its communicator names none. Like NCCL's it carries no user data, so where it
 * prints is one setting of the process; lines of several threads never mix.
 */
#ifndef STANDIN_LOG_H
#define STANDIN_LOG_H

#include <stdio.h>

#include "nccl_tuner.h"

/* Prints one line "NCCL <LEVEL> <words>". Messages above the level set are dropped here, as NCCL drops them. */
__attribute__((format(printf, 5, 6))) void standin_log(nccl_log_level level, unsigned long flags, const char* file,
                                                       int line, const char* format, ...);

/* Where standin_log prints and the highest level that it prints. From the start: stderr, NCCL_LOG_WARN. */
void standin_log_to(FILE* file, nccl_log_level most);

#endif
