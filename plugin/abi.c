/*
 * The plugin: six versions of one small interface over one tuner. A map of the folder, from here down:
 *
 *     abi        this file and exports.map: what NCCL sees, and what a calibration sees (control.h)
 *     tuner      one communicator: init, answer, log
 *     steering   the forced choice of a calibration
 *     share      what the communicators of a process have in common
 *     say        what the log is told about a communicator
 *     promise    where the deterministic mode does not hold
 *     cost       NCCL's cost table, read and written
 *     select     which profile applies here, and why; the NCCL_SIZEWISE_* settings; what forced settings cost
 *     facts      what this machine is: GPU, network, driver, NCCL, and NCCL's own settings
 *     decide     measurements -> segments -> ranked choices for a size. Pure.
 *     profile    YAML <-> measurements
 *     ground     text, numbers, names, findings with places
 *
 * Everything below tuner is one static archive that the command line links, too: what `sizewise explain` shows is
 * what the plugin does. No function here returns an error but init: NCCL would fail the collective for it.
 */
#include "control.h"
#include "steering.h"
#include "tuner.h"

#define EXPORTED __attribute__((visibility("default")))

static nccl_result init_v2(size_t ranks, size_t nodes, nccl_logger logger, void** context) {
  return sw_tuner_init(ranks, nodes, logger, NULL, context);
}

static nccl_result finalize(void* context) {
  sw_tuner_finalize(context);
  return NCCL_SUCCESS;
}

static nccl_result ask_v2(void* context, nccl_collective collective, size_t bytes, int collnet, int nvls,
                          int merged_operations, int* algorithm, int* protocol, int* channels) {
  int unclamped = collnet || (nvls && sw_tuner_has_several_nodes(context));
  sw_tuner_ask_without_table(context, collective, bytes, merged_operations, unclamped, algorithm, protocol, channels);
  return NCCL_SUCCESS;
}

static nccl_result ask_v3(void* context, nccl_collective collective, size_t bytes, int merged_operations, float** table,
                          int algorithms, int protocols, int* channels) {
  sw_tuner_ask(context, collective, bytes, merged_operations, (float*)table, algorithms, protocols, channels);
  return NCCL_SUCCESS;
}

/* Whether buffers are registered can differ from rank to rank, so nothing may hang on it. */
static nccl_result ask_v4(void* context, nccl_collective collective, size_t bytes, int merged_operations, float** table,
                          int algorithms, int protocols, int registered, int* channels) {
  (void)registered;
  sw_tuner_ask(context, collective, bytes, merged_operations, (float*)table, algorithms, protocols, channels);
  return NCCL_SUCCESS;
}

/* The constants of NCCL's own model stay as they are: its choice is the baseline that the profile was measured against.
 */
static nccl_result init_v5(void** context, uint64_t id, size_t ranks, size_t nodes, nccl_logger logger,
                           nccl_nvl_domain_info* domains, nccl_tuner_constants_v5* constants) {
  (void)id;
  (void)constants;
  return sw_tuner_init(ranks, nodes, logger, domains, context);
}

static nccl_result init_v7(void** context, uint64_t id, size_t ranks, size_t nodes, nccl_logger logger,
                           nccl_nvl_domain_info* domains, nccl_tuner_constants_v7* constants) {
  (void)id;
  (void)constants;
  return sw_tuner_init(ranks, nodes, logger, domains, context);
}

#define NAME "Sizewise"

EXPORTED const nccl_tuner_v2 ncclTunerPlugin_v2 = {NAME, init_v2, ask_v2, finalize};
EXPORTED const nccl_tuner_v3 ncclTunerPlugin_v3 = {NAME, init_v2, ask_v3, finalize};
EXPORTED const nccl_tuner_v4 ncclTunerPlugin_v4 = {NAME, init_v2, ask_v4, finalize};
EXPORTED const nccl_tuner_v5 ncclTunerPlugin_v5 = {NAME, init_v5, ask_v4, finalize};
EXPORTED const nccl_tuner_v6 ncclTunerPlugin_v6 = {NAME, init_v5, ask_v4, finalize, NULL};
EXPORTED const nccl_tuner_v7 ncclTunerPlugin_v7 = {NAME, init_v7, ask_v4, finalize, NULL};

/* --- for a calibration, which shares this library with NCCL ----------------------------------------------------- */

static void* newest(void) {
  return sw_tuner_steer_newest();
}

static void force(void* tuner, struct sw_choice choice) {
  struct sw_steering* steering = sw_tuner_steering(tuner);
  if (steering) steering->forced = choice;
}

static void release(void* tuner) {
  sw_tuner_release(tuner);
}

static void last(void* tuner, struct sw_control_answer* out) {
  const struct sw_steering* steering = sw_tuner_steering(tuner);
  if (steering) *out = steering->last;
}

EXPORTED
const struct sw_control sizewise_control = {SW_CONTROL_VERSION, newest, force, release, last};
