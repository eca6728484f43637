#include "facts/net.h"

#include <stdio.h>
#include <string.h>

#include "facts/devices.h"
#include "facts/files.h"
#include "ground/letters.h"

enum { MBPS_OF_GBPS = 1000, LARGEST_GBPS = 1000000, LARGEST_MBPS = 1000000000, LARGEST_PORT = 255 };

/* ARPHRD_LOOPBACK of <net/if_arp.h>, as sysfs prints it. */
static const char* const loopback_type = "772";

static const char* setting(const struct sw_facts_source* source, const char* name) {
  const char* value = source->getenv ? source->getenv(name) : NULL;
  return value && value[0] ? value : NULL;
}

static bool starts_with(const char* text, const char* start) {
  return strncmp(text, start, strlen(start)) == 0;
}

/* NCCL reads this one as a number in any base; 0 and what is no number leave RDMA on. */
static bool ib_disabled(const struct sw_facts_source* source) {
  const char* value = setting(source, "NCCL_IB_DISABLE");
  int number = 0;
  return value && sw_facts_number(value, strlen(value), LARGEST_MBPS, &number) && number != 0;
}

/* "200 Gb/sec (2X NDR)" is 200000, "2.5 Gb/sec (1X SDR)" 2500; 0 for what is no rate. */
static int rate_mbps(const char* rate) {
  size_t whole = strspn(rate, "0123456789");
  int gbps = 0;
  if (!sw_facts_number(rate, whole, LARGEST_GBPS, &gbps)) return 0;
  const char* rest = rate + whole;
  int tenths = 0;
  if (rest[0] == '.' && sw_facts_number(rest + 1, 1, 9, &tenths)) rest += 2;
  if (strcmp(rest, " Gb/sec") != 0 && !starts_with(rest, " Gb/sec ")) return 0;
  return gbps * MBPS_OF_GBPS + tenths * (MBPS_OF_GBPS / 10);
}

static enum sw_net link_kind(const char* layer) {
  if (strcmp(layer, "InfiniBand") == 0) return SW_NET_IB;
  if (strcmp(layer, "Ethernet") == 0) return SW_NET_ROCE;
  return SW_NET_UNKNOWN;
}

static void take(struct sw_facts* out, enum sw_net net, const char* device, int mbps) {
  out->net = net;
  out->net_mbps = mbps;
  snprintf(out->net_device, sizeof out->net_device, "%s", device);
}

/* Takes one port if it can carry traffic. */
static bool take_port(const char* root, const char* device, const char* port, struct sw_facts* out) {
  static const char path[] = "/sys/class/infiniband/%s/ports/%s/%s";
  char line[SW_FACTS_NAME];
  if (!sw_facts_line(line, sizeof line, root, path, device, port, "state")) return false;
  if (strcmp(line, "4: ACTIVE") != 0) return false;
  sw_facts_line(line, sizeof line, root, path, device, port, "link_layer");
  enum sw_net kind = link_kind(line);
  if (kind == SW_NET_UNKNOWN) return false;
  sw_facts_line(line, sizeof line, root, path, device, port, "rate");
  take(out, kind, device, rate_mbps(line));
  return true;
}

static bool take_rdma_device(const char* root, const char* device, const struct sw_device_list* list,
                             struct sw_facts* out) {
  struct sw_facts_folder ports;
  sw_facts_list(&ports, sw_facts_natural_order, root, "/sys/class/infiniband/%s/ports", device);
  for (size_t i = 0; i < ports.count; i++) {
    const char* port = ports.names[i];
    int number = 0;
    if (!sw_facts_number(port, strlen(port), LARGEST_PORT, &number)) continue;
    if (sw_device_list_admits(list, device, number) && take_port(root, device, port, out)) return true;
  }
  return false;
}

static bool take_rdma(const struct sw_facts_source* source, struct sw_facts* out) {
  if (ib_disabled(source)) return false;
  struct sw_device_list list = sw_device_list_read(setting(source, "NCCL_IB_HCA"));
  struct sw_facts_folder devices;
  sw_facts_list(&devices, sw_facts_natural_order, source->root, "/sys/class/infiniband");
  for (size_t i = 0; i < devices.count; i++)
    if (take_rdma_device(source->root, devices.names[i], &list, out)) return true;
  return false;
}

/* "unknown" is what tunnels and some virtual cards say while they work. */
static bool interface_is_up(const char* root, const char* name) {
  char line[SW_FACTS_NAME];
  sw_facts_line(line, sizeof line, root, "/sys/class/net/%s/operstate", name);
  return strcmp(line, "up") == 0 || strcmp(line, "unknown") == 0;
}

static bool skipped_by_default(const char* root, const char* name) {
  char type[SW_FACTS_NAME];
  if (strcmp(name, "lo") == 0 || starts_with(name, "docker") || starts_with(name, "virbr")) return true;
  return sw_facts_line(type, sizeof type, root, "/sys/class/net/%s/type", name) && strcmp(type, loopback_type) == 0;
}

/* The file holds Mb/s, or -1, or cannot be read where the card does not know. */
static int interface_mbps(const char* root, const char* name) {
  char line[SW_FACTS_NAME];
  int mbps = 0;
  sw_facts_line(line, sizeof line, root, "/sys/class/net/%s/speed", name);
  sw_facts_number(line, strlen(line), LARGEST_MBPS, &mbps);
  return mbps;
}

/* The first interface that counts; `start` is "" or what its name has to begin with. */
static const char* find_interface(const char* root, const struct sw_facts_folder* folder,
                                  const struct sw_device_list* list, const char* start) {
  for (size_t i = 0; i < folder->count; i++) {
    const char* name = folder->names[i];
    bool counts = list->names ? sw_device_list_admits(list, name, SW_ANY_PORT) : !skipped_by_default(root, name);
    if (counts && starts_with(name, start) && interface_is_up(root, name)) return name;
  }
  return NULL;
}

static void take_socket(const struct sw_facts_source* source, struct sw_facts* out) {
  struct sw_device_list list = sw_device_list_read(setting(source, "NCCL_SOCKET_IFNAME"));
  struct sw_facts_folder folder;
  sw_facts_list(&folder, sw_facts_natural_order, source->root, "/sys/class/net");
  const char* name = list.names ? NULL : find_interface(source->root, &folder, &list, "ib");
  if (!name) name = find_interface(source->root, &folder, &list, "");
  take(out, SW_NET_SOCKET, name ? name : "", name ? interface_mbps(source->root, name) : 0);
}

void sw_facts_find_net(const struct sw_facts_source* source, struct sw_facts* out) {
  const char* wanted = setting(source, "NCCL_NET");
  bool ib = !wanted || sw_same_word(wanted, "IB");
  bool socket = !wanted || sw_same_word(wanted, "Socket");
  take(out, ib || socket ? SW_NET_UNKNOWN : SW_NET_OTHER, "", 0);
  if (ib && take_rdma(source, out)) return;
  if (socket) take_socket(source, out);
}
