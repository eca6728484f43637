/* Addresses: where the driver listens and how ranks reach it. */
#ifndef SW_ADDRESS_H
#define SW_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Listens on `port` (0: any free one, written back): on 127.0.0.1 alone, or on every address of this machine. (Not on
 * the one that the master's name stands for: /etc/hosts often gives a machine's own name as 127.0.1.1, which no other
 * machine reaches.) The socket does not block. -1 with one line in `fault`.
 */
int address_listen(bool loopback, uint16_t* port, char* fault, size_t fault_size);

/* One attempt on each address that the name stands for. -1 with one line in `fault`: trying again may help. */
int address_connect(const char* host, uint16_t port, int64_t deadline, char* fault, size_t fault_size);

#endif
