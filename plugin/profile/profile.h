/*
 * A profile: measurements of one cluster, exactly as they were taken, and what they hold for. Immutable once read.
 *
 *     profile -- provenance, match, policy
 *        |---- tables   one for each (collective, nodes, ranks), sorted
 *        |       `---- points   one for each size, ascending
 *        |               `---- times   one for each choice, in the order of sw_choice_compare, auto first
 *        `---- rules    written by hand, in the file's order
 *
 * Numbers are fixed-point integers (ground/number.h): bytes, picoseconds, fractions of SW_ONE.
 */
#ifndef SW_PROFILE_H
#define SW_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ground/arena.h"
#include "ground/diag.h"
#include "ground/names.h"
#include "ground/number.h"
#include "profile/choice.h"

enum { SW_FORMAT_VERSION = 1 };
enum { SW_PROFILE_LARGEST_FILE = 16 * 1024 * 1024 };

/* An environment variable that held while a time was measured. */
struct sw_setting {
  const char* name;
  const char* value;
};

/* Sorted by name. */
struct sw_settings {
  const struct sw_setting* items;
  size_t count;
};

/* What a choice really was when it ran: the algorithm, protocol and channel count that NCCL took, and NCCL's own
   estimate of it. */
struct sw_ran {
  struct sw_choice what; /* channels 0: not stated */
  uint64_t estimate_ps;  /* 0: not stated */
};

struct sw_time {
  struct sw_choice choice;
  uint64_t median_ps; /* 0 only where it is excluded: it was never timed */
  uint32_t samples;   /* 0: not stated */
  int64_t spread;     /* relative half-width of the median's 95% interval, of SW_ONE; -1: not stated */
  struct sw_settings settings;
  const char* excluded; /* why this choice must not be used, "wrong data"; NULL: it may */
  struct sw_ran ran;
  uint64_t memory; /* bytes of device memory that connecting it took; 0: none, or not stated */
  struct sw_place place;
};

struct sw_point {
  uint64_t bytes; /* as NCCL counts them: include/nccl_tuner.h */
  const struct sw_time* times;
  size_t count;
  struct sw_place place;
};

struct sw_table {
  int collective;
  uint32_t nodes;
  uint32_t ranks;
  const struct sw_point* points;
  size_t count;
  struct sw_place place;
};

struct sw_rule {
  int collective;
  uint64_t from;  /* bytes, both ends inclusive */
  uint64_t to;    /* UINT64_MAX: no end */
  uint32_t nodes; /* 0: any */
  uint32_t ranks; /* 0: any */
  struct sw_choice choice;
  struct sw_place place;
};

struct sw_policy {
  int64_t min_gain;          /* of SW_ONE: a smaller gain is none */
  int64_t reach;             /* of SW_ONE: how far one measured size speaks, as a factor, inclusive */
  int64_t gap;               /* of SW_ONE: how far apart neighbours may be to be interpolated, as a factor, inclusive */
  uint64_t max_extra_memory; /* bytes that a choice's connections may take beyond auto's; UINT64_MAX: no limit */
};

/* The defaults of a policy that a profile leaves out: 3%, 2, 10, no limit. */
extern const struct sw_policy sw_policy_default;

/* Where the figures come from; texts that were left out are NULL. */
enum sw_provenance_key {
  SW_PROVENANCE_SOURCE,
  SW_PROVENANCE_NOTE,
  SW_PROVENANCE_DATE,
  SW_PROVENANCE_TOOL,
  SW_PROVENANCE_GPU,
  SW_PROVENANCE_NETWORK,
  SW_PROVENANCE_NCCL,
  SW_PROVENANCE_CUDA,
  SW_PROVENANCE_DRIVER,
  SW_PROVENANCE_COUNT
};
extern const struct sw_vocabulary sw_provenance_keys;

/* What a machine has to be; keys that were left out are NULL and match anything. */
enum sw_match_key {
  SW_MATCH_GPU,      /* pattern with * and ?, without regard to case */
  SW_MATCH_COMPUTE,  /* compute capability, "12.1" */
  SW_MATCH_ARCH,     /* as uname -m: "aarch64" */
  SW_MATCH_NET,      /* a word of sw_nets */
  SW_MATCH_NET_GBPS, /* speed of the network port, Gb/s */
  SW_MATCH_NVLINK_DOMAINS,
  SW_MATCH_NCCL,   /* "2.28" holds for 2.28.x */
  SW_MATCH_DRIVER, /* "580" holds for 580.x */
  SW_MATCH_COUNT
};
extern const struct sw_vocabulary sw_match_keys;

struct sw_profile {
  struct sw_arena arena; /* holds everything below */
  const char* name;
  enum sw_kind kind;
  const char* provenance[SW_PROVENANCE_COUNT];
  struct sw_settings settings; /* NCCL settings that held for all of it */
  const char* match[SW_MATCH_COUNT];
  struct sw_policy policy;
  const struct sw_table* tables;
  size_t table_count;
  const struct sw_rule* rules;
  size_t rule_count;
};

/*
 * Reads a profile from YAML text. All findings go to `diags` (which sw_diags_start has prepared, and which may show
 * `text` afterwards); up to ten errors are found in one go. Returns NULL if there was any error; warnings alone do
 * not stop a profile. sw_profile_free frees it.
 */
struct sw_profile* sw_profile_read(const char* text, size_t length, struct sw_diags* diags);

/*
 * Reads a profile file. The text of the file is handed to the caller in `*text` (free() it once `diags` has been
 * shown; NULL when the file could not be read).
 */
struct sw_profile* sw_profile_read_file(const char* path, char** text, struct sw_diags* diags);

void sw_profile_free(struct sw_profile* profile);

/* The canonical spelling: reading it gives the same profile, and writing that gives the same text. */
void sw_profile_write(const struct sw_profile* profile, struct sw_text* text);

/* The order of a profile's tables: collective, nodes, ranks. */
int sw_table_compare(const struct sw_table* a, const struct sw_table* b);

/* The table of exactly this shape, or NULL. */
const struct sw_table* sw_profile_table(const struct sw_profile* profile, int collective, uint32_t nodes,
                                        uint32_t ranks);

/* The first time of a choice at a point, whatever its settings; NULL when it was not measured there. */
const struct sw_time* sw_point_time(const struct sw_point* point, struct sw_choice choice);

/*
 * Bytes of device memory that a choice takes beyond auto's at the same size: connections belong to an algorithm, so
 * those of the one that auto itself ran there are no more memory. Where what ran is not known, all of the choice's.
 */
uint64_t sw_extra_memory(const struct sw_time* time, const struct sw_time* own);

/* A total order of settings; negative, 0 or positive as a comes before, with or after b. */
int sw_settings_compare(const struct sw_settings* a, const struct sw_settings* b);
bool sw_settings_same(const struct sw_settings* a, const struct sw_settings* b);

#endif
