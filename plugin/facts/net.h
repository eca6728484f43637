/* The network that NCCL uses between nodes. */
#ifndef SW_FACTS_NET_H
#define SW_FACTS_NET_H

#include "facts/facts.h"

/*
 * net, net_mbps and net_device, from sysfs and from NCCL's settings:
 *   NCCL_NET         Socket or IB (any case) settles the kind; any other name is SW_NET_OTHER, of unknown device.
 *   NCCL_NET_PLUGIN  is not looked at: a plugin that it names may load or not and most drive the same RDMA devices,
 *                    so the kind stays what the devices say. A network of its own is named in NCCL_NET.
 *   NCCL_IB_DISABLE  any number but 0: no RDMA device counts.
 *   NCCL_IB_HCA      which RDMA devices and ports count.
 *   NCCL_SOCKET_IFNAME  which interfaces count. Without it loopback, docker* and virbr* do not, and ib* go first.
 * An RDMA port counts when it is active and its link is InfiniBand (ib) or Ethernet (roce). Of several the first in
 * natural name order speaks for all, also where they differ in kind. Without one: socket, unless NCCL_NET=IB asked
 * for RDMA (NCCL does not start then: unknown).
 */
void sw_facts_find_net(const struct sw_facts_source* source, struct sw_facts* out);

#endif
