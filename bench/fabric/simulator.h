/*
 * The simulator: one rank of a cluster that is not there, in virtual time. Our plugin is loaded and asked as NCCL does
 * it, by the stand-in, and each choice is forced through the plugin; so what runs is what the plugin brought about.
 * What that takes comes from a profile.
 *
 *     choice --plugin, stand-in--> what runs --profile's curves--> time --noise, drift, faults--> sample
 *
 * Many processes can each be a rank. They never talk: everything that they have in common follows from the seed, the
 * attempt and what they were told to do, in order; so all have to be told the same in the same order.
 *
 * Times belong to what runs (algorithm, protocol, channels), not to what was asked for, so twins take the same time. At
 * a size, what auto and each choice with a curve run is looked up; auto's curve comes first, then the others in the
 * profile's order, and the first that runs the same thing is the one. What has no curve takes auto's time times a
 * factor between 1.1 and 3 that depends on the seed, the collective and what runs.
 *   - A curve is straight in log(bytes), log(time) between the sizes of its choice, and keeps its slope outside them. A
 *     choice with a single size runs parallel to auto's curve; auto with a single size, parallel to a plain one.
 *   - Times with settings are left out; those of excluded choices count. A table whose auto has no other is as good as
 * none.
 *   - Without a table of the communicator's shape the nearest shape's is used; without any for the collective, auto is
 *     a plain latency + bytes / bandwidth. fabric_simulation_notes says where that was so.
 *   - Streams take 2 us more than graphs, whatever the choice.
 */
#ifndef SW_SIMULATOR_H
#define SW_SIMULATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/fabric.h"
#include "fabric/sim_faults.h"
#include "profile/profile.h"

struct fabric_simulation {
  const struct sw_profile* profile; /* borrowed: outlives the fabric */
  uint64_t seed;
  uint32_t attempt;  /* how often the ranks were started again: new noise, the same cluster */
  double noise;      /* sigma of the logarithm of a sample, common to all ranks; 0 to 1 */
  double rank_noise; /* the same, of each rank's own part; 0 to 1 */
  int nccl_version;  /* NCCL's code, 2.21 or later */
  struct sim_faults faults;
};

/* No profile, seed 0, attempt 0, noise 0.05, rank_noise 0.005, NCCL 2.28.9, no faults. */
extern const struct fabric_simulation fabric_simulation_default;

/* Adds a fault, written as fabric/sim_faults.h says. False, with one line in `fault` (of 256 bytes), when it is none.
 */
bool fabric_simulation_fault(struct fabric_simulation* simulation, const char* spec, char* fault);

/*
 * What a call takes with a choice, in microseconds, without noise, drift and faults, on the premise that the plugin
 * makes NCCL run the choice where the choice fits. It loads no plugin. Negative when such a call cannot be made, and
 * for FABRIC_BY_PROFILE, which only the plugin knows.
 */
double fabric_simulation_truth(const struct fabric_simulation* simulation, const struct fabric_call* call,
                               const struct fabric_place* place, struct sw_choice choice);

/* Where the profile does not say what this communicator's calls take, and what stands in for it: a line for each
   collective that this is so for, each ending with a newline. Nothing is added when the profile says all. */
void fabric_simulation_notes(const struct fabric_simulation* simulation, const struct fabric_place* place,
                             struct sw_text* text);

#endif
