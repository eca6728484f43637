/*
 * Lists of devices as NCCL_IB_HCA and NCCL_SOCKET_IFNAME name them: [^][=]name[:port][,name[:port]...]
 *     ^  all but these      =  whole names instead of beginnings
 */
#ifndef SW_FACTS_DEVICES_H
#define SW_FACTS_DEVICES_H

#include <stdbool.h>

struct sw_device_list {
  bool exclude;
  bool exact;
  const char* names; /* the rest of the setting; NULL when it names nothing: then every device is admitted */
};

enum { SW_ANY_PORT = -1 };

/* Reads a setting, which has to outlive the list. NULL and a list without names admit everything. */
struct sw_device_list sw_device_list_read(const char* setting);

/*
 * True when the list lets the device through. Ports are compared only where the list gives one and `port` is not
 * SW_ANY_PORT; an entry with a port that is no number matches nothing. Names are compared with regard to case.
 */
bool sw_device_list_admits(const struct sw_device_list* list, const char* name, int port);

#endif
