#include "facts/facts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "facts/files.h"
#include "facts/gpu.h"
#include "facts/net.h"

static const char* environment(const char* name) {
  return getenv(name);
}

struct sw_facts_source sw_facts_this_machine(bool load_driver) {
  return (struct sw_facts_source){.root = "", .getenv = environment, .load_driver = load_driver};
}

static void find_arch(const char* root, struct sw_facts* out) {
  struct utsname machine;
  if (root[0])
    sw_facts_line(out->arch, sizeof out->arch, root, "/arch");
  else if (uname(&machine) == 0 && strlen(machine.machine) < sizeof out->arch)
    snprintf(out->arch, sizeof out->arch, "%.31s", machine.machine);
}

/* A word of digits and dots that starts and ends with a digit and has a dot: "580.159.04". */
static bool is_version(const char* word, size_t length) {
  bool dotted = false;
  for (size_t i = 0; i < length; i++) {
    bool digit = word[i] >= '0' && word[i] <= '9';
    if (!digit && (word[i] != '.' || i == 0 || i + 1 == length)) return false;
    dotted |= !digit;
  }
  return dotted;
}

/*
 * The first version in a line of either kernel module:
 *     NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue ...
 *     NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build ...
 */
static void find_driver(const char* root, struct sw_facts* out) {
  static const char start[] = "NVRM version:";
  char line[512];
  if (!sw_facts_line(line, sizeof line, root, "/proc/driver/nvidia/version")) return;
  if (strncmp(line, start, sizeof start - 1) != 0) return;
  for (const char* word = line; *word; word += strspn(word, " \t")) {
    size_t length = strcspn(word, " \t");
    if (is_version(word, length) && length < sizeof out->driver) {
      memcpy(out->driver, word, length);
      return;
    }
    word += length;
  }
}

void sw_facts_gather(const struct sw_facts_source* source, struct sw_facts* out) {
  struct sw_facts_source from = *source;
  if (!from.root) from.root = "";
  memset(out, 0, sizeof *out);
  find_arch(from.root, out);
  find_driver(from.root, out);
  sw_facts_find_gpu(&from, out);
  sw_facts_find_net(&from, out);
}

void sw_facts_set_shape(struct sw_facts* facts, size_t ranks, size_t nodes) {
  facts->ranks = ranks <= INT_MAX ? (int)ranks : 0;
  facts->nodes = nodes <= INT_MAX ? (int)nodes : 0;
  bool even = facts->ranks && facts->nodes && facts->ranks % facts->nodes == 0;
  facts->ranks_per_node = even ? facts->ranks / facts->nodes : 0;
}

void sw_facts_set_domains(struct sw_facts* facts, const nccl_nvl_domain_info* domains) {
  bool known = domains && domains->nDomains > 0 && domains->minRanksPerDomain > 0 &&
               domains->maxRanksPerDomain >= domains->minRanksPerDomain;
  facts->nvl_domains = known ? domains->nDomains : 0;
  facts->nvl_min_ranks = known ? domains->minRanksPerDomain : 0;
  facts->nvl_max_ranks = known ? domains->maxRanksPerDomain : 0;
}
