/* What happened to ranks, in words for people. All of them cut what does not fit and end it with a NUL. */
#ifndef SW_WORDS_H
#define SW_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The ranks that are marked: "2, 5-7"; what does not fit into `size` becomes "...". */
void words_ranks(char* out, size_t size, const bool* marked, uint32_t ranks);

/* "rank" or "ranks" */
const char* words_rank(uint32_t count);

/* How a process ended, from what waitpid tells: "ended with status 3", "was killed by signal 11 (Segmentation
   fault)". */
void words_end(char* out, size_t size, int status);

/* Takes out what would steer a terminal; keeps line ends. */
void words_clean(char* text);

/* The last line of a text that is not empty: into `out`, "" where there is none. */
void words_last_line(char* out, size_t size, const char* text);

#endif
