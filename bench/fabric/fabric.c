#include "fabric/fabric.h"

void fabric_close(struct fabric* fabric) {
  if (fabric) fabric->kind->close(fabric);
}

const char* fabric_fault(const struct fabric* fabric) {
  return fabric->fault;
}

void fabric_describe(struct fabric* fabric, struct fabric_report* out) {
  fabric->kind->describe(fabric, out);
  out->buffers = fabric->buffers;
}

void fabric_limit(struct fabric* fabric, double share) {
  struct fabric_report report;
  fabric_describe(fabric, &report);
  uint64_t bytes = report.free_device;
  if (report.unified && report.free_host && report.free_host < bytes) bytes = report.free_host;
  fabric->buffers = (uint64_t)((double)bytes * share);
  if (report.unified) fabric->buffers = fabric->buffers / 3 * 2; /* the data check copies a buffer to the host */
  if (!fabric->buffers) fabric->buffers = 1;
}

bool fabric_new_id(struct fabric* fabric, unsigned char id[FABRIC_ID_BYTES]) {
  return fabric->kind->new_id(fabric, id);
}

bool fabric_connect(struct fabric* fabric, const struct fabric_place* place) {
  return fabric->kind->connect(fabric, place);
}

bool fabric_disconnect(struct fabric* fabric) {
  return fabric->kind->disconnect(fabric);
}

bool fabric_probe(struct fabric* fabric, const struct fabric_call* call, struct sw_choice choice,
                  struct fabric_probe* out) {
  return fabric->kind->probe(fabric, call, choice, out);
}

bool fabric_prepare(struct fabric* fabric, const struct fabric_call* call, const struct sw_choice* choices,
                    size_t count) {
  return fabric->kind->prepare(fabric, call, choices, count);
}

bool fabric_rounds(struct fabric* fabric, size_t rounds, float* us) {
  return fabric->kind->rounds(fabric, rounds, us);
}

bool fabric_check(struct fabric* fabric, const struct fabric_call* call, struct sw_choice choice, bool* good) {
  return fabric->kind->check(fabric, call, choice, good);
}
