/* The two small grammars of Slurm's variables. */
#ifndef SW_SLURM_H
#define SW_SLURM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first host of a list: "gb[01-08,10],login" gives "gb01", "r[2-3]n[07,09]-ib" gives "r2n07-ib". */
bool slurm_first_host(const char* list, char* out, size_t size);

/* The tasks on a node, counted from 0, of a list such as "8(x2),4": 8, 8, 4. */
bool slurm_tasks_on(const char* list, uint32_t node, uint32_t* out);

#endif
