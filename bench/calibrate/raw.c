#include "calibrate/raw.h"

#include <string.h>

#include "ground/names.h"

static const char header[] =
    "phase\tcollective\tranks\tnodes\tbytes\tmode\talgo\tproto\tchannels\tround\tmicroseconds\n";

static const char* const phases[PHASE_COUNT] = {"passthrough", "calibrate", "verify", "exhaustive", "fresh"};

static void give_up(struct raw* raw) {
  perror(raw->path);
  fputs("sizewise calibrate: no more samples are written down\n", stderr);
  fclose(raw->file);
  raw->file = NULL;
}

bool raw_open(struct raw* raw, const char* path, bool go_on) {
  *raw = (struct raw){.path = path};
  if (!path) return true;
  raw->file = fopen(path, go_on ? "a" : "w");
  if (!raw->file) return false;
  if (fseek(raw->file, 0, SEEK_END) != 0 || ftell(raw->file) <= 0) fputs(header, raw->file);
  if (fflush(raw->file) == 0) return true;
  raw_close(raw);
  return false;
}

void raw_enter(struct raw* raw, enum phase phase) {
  raw->phase = phase;
  raw->round = 0;
}

static bool same_call(const struct raw* raw, const struct crew_samples* s) {
  return raw->ranks == s->ranks && raw->call.collective == s->call->collective && raw->call.mode == s->call->mode &&
         raw->call.type == s->call->type && raw->call.bytes == s->call->bytes;
}

static const char* word_of(const struct sw_vocabulary* words, int value) {
  return value == FABRIC_BY_PROFILE.algo ? "profile" : value < 0 ? "auto" : sw_value_word(words, value);
}

static void write_sample(struct raw* raw, const struct crew_samples* s, size_t round, size_t i) {
  struct sw_choice choice = s->choices[i];
  fprintf(raw->file, "%s\t%s\t%u\t%u\t%llu\t%s\t%s\t%s\t%u\t%zu\t%.3f\n", s->bare ? "no-tuner" : phases[raw->phase],
          sw_value_word(&sw_collectives, s->call->collective), s->ranks, s->nodes, (unsigned long long)s->call->bytes,
          s->call->mode == FABRIC_GRAPH ? "graph" : "stream", word_of(&sw_algorithms, choice.algo),
          word_of(&sw_protocols, choice.proto), choice.channels, raw->round + round + 1,
          (double)s->us[round * s->count + i]);
}

void raw_take(void* context, const struct crew_samples* s) {
  struct raw* raw = context;
  if (!same_call(raw, s)) raw->round = 0;
  raw->call = *s->call;
  raw->ranks = s->ranks;
  for (size_t round = 0; round < s->rounds; round++)
    for (size_t i = 0; i < s->count; i++) {
      raw->sum_us[raw->phase] += (double)s->us[round * s->count + i];
      if (raw->file) write_sample(raw, s, round, i);
    }
  raw->round += s->rounds;
  raw->samples += s->rounds * s->count;
  if (raw->file && (fflush(raw->file) != 0 || ferror(raw->file))) give_up(raw);
}

void raw_close(struct raw* raw) {
  if (raw->file) fclose(raw->file);
  raw->file = NULL;
}
