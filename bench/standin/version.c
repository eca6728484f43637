#include "standin/version.h"

#include <dlfcn.h>

enum { KIB = 1024, PAST_KNOWN = 30000 };

/* Oldest first. 2.21's bytes per channel is taken to be 2.22's. v7 is first looked for by a 2.32 or later; 2.32.3 does
 * not, so 2.33 is where the stand-in begins. */
static const struct standin_rules all_rules[] = {
    {22100, 2, RTLD_LAZY | RTLD_LOCAL, 6, 512, false, false, false, false},
    {22200, 3, RTLD_LAZY | RTLD_LOCAL, 6, 512, false, false, false, false},
    {22300, 3, RTLD_LAZY | RTLD_LOCAL, 7, 16 * KIB, false, false, false, false},
    {22400, 4, RTLD_LAZY | RTLD_LOCAL, 7, 16 * KIB, false, false, false, false},
    {22500, 4, RTLD_NOW | RTLD_LOCAL, 7, 16 * KIB, false, false, false, false},
    {22800, 5, RTLD_NOW | RTLD_LOCAL, 7, 16 * KIB, false, false, false, false},
    {22900, 5, RTLD_NOW | RTLD_LOCAL, 7, 32 * KIB, true, false, false, false},
    {23000, 6, RTLD_NOW | RTLD_LOCAL, 7, 32 * KIB, true, false, false, false},
    {23100, 6, RTLD_NOW | RTLD_LOCAL, 7, 32 * KIB, true, true, true, true},
    {23300, 7, RTLD_NOW | RTLD_LOCAL, 7, 32 * KIB, true, true, true, true},
};

bool standin_rules_of(int version, struct standin_rules* rules) {
  if (version < all_rules[0].since || version >= PAST_KNOWN) return false;
  size_t row = sizeof all_rules / sizeof all_rules[0] - 1;
  while (all_rules[row].since > version) row--;
  *rules = all_rules[row];
  return true;
}

size_t standin_constants_bytes(int abi) {
  if (abi < 5) return 0;
  return abi < 7 ? sizeof(nccl_tuner_constants_v5) : sizeof(nccl_tuner_constants_v7);
}
