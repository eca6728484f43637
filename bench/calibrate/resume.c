#include "calibrate/resume.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/in_force.h"
#include "select/match.h"

__attribute__((format(printf, 3, 4))) static bool refuse(struct sw_text* fault, const struct resumed* resumed,
                                                         const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sw_text_printf(fault, "--resume: %s ", resumed->path);
  sw_text_vprintf(fault, format, arguments);
  va_end(arguments);
  return false;
}

/* --- a profile of calibrate's ------------------------------------------------------------------------------------ */

static bool has_own_settings(const struct sw_table* table) {
  for (size_t p = 0; p < table->count; p++)
    for (size_t i = 0; i < table->points[p].count; i++)
      if (table->points[p].times[i].settings.count) return true;
  return false;
}

/* What a profile that is written anew would lose is not touched. */
static bool is_whole(const struct resumed* resumed, struct sw_text* fault) {
  const struct sw_profile* profile = resumed->profile;
  if (profile->rule_count)
    return refuse(fault, resumed, "has rules written by hand, which calibrate would lose; move them to another file");
  for (size_t i = 0; i < profile->table_count; i++)
    if (has_own_settings(&profile->tables[i]))
      return refuse(fault, resumed, "has times with settings of their own, which calibrate would lose; move them");
  return true;
}

static bool same_run(const struct resumed* resumed, const char* name, enum sw_kind kind, struct sw_text* fault) {
  static const char* const did[] = {"was measured", "was published", "was simulated"};
  static const char* const does[] = {"measures", "publishes", "simulates"};
  const struct sw_profile* profile = resumed->profile;
  if (profile->kind != kind)
    return refuse(fault, resumed, "%s, and this run %s: name another file with -o", did[profile->kind], does[kind]);
  if (strcmp(profile->name, name) != 0)
    return refuse(fault, resumed, "is named '%s', and this run '%s': call it so with --name, or name another file",
                  profile->name, name);
  return true;
}

bool resume_read(const char* path, const char* name, enum sw_kind kind, struct resumed* out, struct sw_text* fault) {
  static struct sw_diags diags;
  *out = (struct resumed){.path = path};
  if (access(path, F_OK) != 0 && errno == ENOENT) return true;
  sw_diags_start(&diags, path);
  out->profile = sw_profile_read_file(path, &out->text, &diags);
  if (out->profile) return same_run(out, name, kind, fault) && is_whole(out, fault);
  refuse(fault, out, "is no valid profile\n");
  sw_add_diags(fault, &diags);
  return false;
}

void resume_free(struct resumed* resumed) {
  sw_profile_free(resumed->profile);
  free(resumed->text);
  *resumed = (struct resumed){0};
}

/* --- of this very run -------------------------------------------------------------------------------------------- */

static bool same_machine(const struct resumed* resumed, const struct resume_here* here, struct sw_text* fault) {
  const char* gpu = resumed->profile->provenance[SW_PROVENANCE_GPU];
  if (gpu && strcmp(gpu, here->facts.gpu) != 0)
    return refuse(fault, resumed, "was measured on something else than this machine: gpu is '%s', not '%s'",
                  here->facts.gpu, gpu);
  struct sw_match match = sw_match_profile(resumed->profile, &here->facts);
  if (match.fit != SW_FITS)
    refuse(fault, resumed, "was measured on something else than this machine: %s", sw_text_string(&match.why));
  sw_text_free(&match.why);
  return match.fit == SW_FITS;
}

static bool same_settings(const struct resumed* resumed, const struct resume_here* here, struct sw_text* fault) {
  struct sw_text there = SW_TEXT_EMPTY;
  struct sw_text now = SW_TEXT_EMPTY;
  if (sw_settings_same(&resumed->profile->settings, here->settings)) return true;
  in_force_add(&there, &resumed->profile->settings);
  in_force_add(&now, here->settings);
  refuse(fault, resumed, "was measured under other NCCL settings: %s; now: %s", sw_text_string(&there),
         sw_text_string(&now));
  sw_text_free(&there);
  sw_text_free(&now);
  return false;
}

static const char* plural(uint32_t count) {
  return count == 1 ? "" : "s";
}

/* The largest communicators are all ranks of the job. */
static bool same_shape(const struct resumed* resumed, const struct resume_here* here, struct sw_text* fault) {
  const struct sw_profile* profile = resumed->profile;
  const struct sw_table* largest = profile->table_count ? &profile->tables[0] : NULL;
  for (size_t i = 1; i < profile->table_count; i++)
    if (profile->tables[i].ranks > largest->ranks) largest = &profile->tables[i];
  if (!largest || (largest->ranks == here->ranks && largest->nodes == here->nodes)) return true;
  return refuse(fault, resumed, "was measured with %u rank%s on %u node%s, and this run has %u on %u", largest->ranks,
                plural(largest->ranks), largest->nodes, plural(largest->nodes), here->ranks, here->nodes);
}

/* The study tells tables apart by collective and ranks. */
static bool is_distinct(const struct resumed* resumed, struct sw_text* fault) {
  const struct sw_profile* profile = resumed->profile;
  for (size_t i = 0; i < profile->table_count; i++)
    for (size_t k = 0; k < i; k++)
      if (profile->tables[i].collective == profile->tables[k].collective &&
          profile->tables[i].ranks == profile->tables[k].ranks)
        return refuse(fault, resumed, "has %s on %u ranks twice, on %u and on %u nodes: a run measures one of them",
                      sw_value_word(&sw_collectives, profile->tables[i].collective), profile->tables[i].ranks,
                      profile->tables[k].nodes, profile->tables[i].nodes);
  return true;
}

bool resume_fits(const struct resumed* resumed, const struct resume_here* here, struct sw_text* fault) {
  return !resumed->profile || (same_machine(resumed, here, fault) && same_shape(resumed, here, fault) &&
                               same_settings(resumed, here, fault) && is_distinct(resumed, fault));
}

/* --- its points -------------------------------------------------------------------------------------------------- */

/* A time, as measuring would have left it: profile_out writes the same line again. */
static struct measured_choice choice_of(const struct sw_time* time) {
  struct measured_choice out = {.candidate.choice = time->choice, .fate = RACE_IN};
  struct fabric_probe* probe = &out.candidate.probe;
  double median_us = (double)time->median_ps / 1e6;
  double spread = time->spread < 0 ? -1 : (double)time->spread / (double)SW_ONE;
  size_t samples = time->median_ps ? time->samples : 0;
  out.result = (struct race_result){samples, median_us, median_us * (1 - spread), median_us * (1 + spread), spread};
  probe->algo = time->ran.what.channels ? time->ran.what.algo : -1;
  probe->proto = time->ran.what.channels ? time->ran.what.proto : -1;
  probe->channels = time->ran.what.channels;
  probe->memory = time->memory;
  if (probe->algo >= 0 && probe->proto >= 0)
    probe->table[probe->algo][probe->proto] = time->ran.estimate_ps ? (float)((double)time->ran.estimate_ps / 1e6) : -1;
  if (time->excluded) snprintf(out.candidate.excluded, sizeof out.candidate.excluded, "%s", time->excluded);
  return out;
}

static bool is_usable(const struct sw_point* point) {
  return point->count && point->count <= FABRIC_MOST_CHOICES && sw_choice_is_auto(point->times[0].choice) &&
         point->times[0].median_ps;
}

static struct measured* point_of(const struct sw_table* table, const struct sw_point* point) {
  struct measured* out = is_usable(point) ? calloc(1, sizeof *out) : NULL;
  if (!out) return NULL;
  out->call = (struct fabric_call){table->collective, FABRIC_BF16, study_mode(point->bytes), point->bytes};
  out->ranks = table->ranks;
  out->nodes = table->nodes;
  out->count = point->count;
  out->kept = true;
  for (size_t i = 0; i < point->count; i++) out->choices[i] = choice_of(&point->times[i]);
  return out;
}

static void ban_failed(const struct sw_table* table, const struct sw_point* point, struct ban_list* bans) {
  for (size_t i = 0; i < point->count; i++) {
    const struct sw_time* time = &point->times[i];
    if (!time->excluded || why_excluded(time->excluded) != WHY_FAILED) continue;
    if (!ban_of(bans, table->collective, table->ranks, time->choice))
      ban(bans, table->collective, table->ranks, time->choice, time->excluded);
  }
}

static void exclude_at(struct measured* point, const struct banned* ban) {
  for (size_t i = 1; i < point->count; i++) {
    struct candidate* candidate = &point->choices[i].candidate;
    if (sw_choice_same(candidate->choice, ban->choice) && !candidate->excluded[0])
      snprintf(candidate->excluded, sizeof candidate->excluded, "%s", ban->why);
  }
}

/* An earlier run may have ended while it compared what the profile decides for: at a size that it has, or between two,
   which then both lead to it. */
static void exclude_ended(const struct study_table* table, const struct banned* ban) {
  bool mine = ban->bytes && ban->collective == table->collective && ban->ranks == table->ranks;
  for (size_t i = 0; i < table->count && mine; i++) {
    uint64_t here = table->points[i]->call.bytes;
    if (here == ban->bytes) exclude_at(table->points[i], ban);
    if (i == 0 || here <= ban->bytes || table->points[i - 1]->call.bytes >= ban->bytes) continue;
    exclude_at(table->points[i - 1], ban);
    exclude_at(table->points[i], ban);
  }
}

static size_t take_table(const struct sw_table* table, struct study* study) {
  if (study->count == STUDY_MOST_TABLES) return 0;
  struct study_table* out = &study->tables[study->count++];
  *out = (struct study_table){.collective = table->collective, .ranks = table->ranks, .nodes = table->nodes};
  for (size_t i = 0; i < table->count && out->count < STUDY_MOST_POINTS; i++) {
    struct measured* point = point_of(table, &table->points[i]);
    if (point) out->points[out->count++] = point;
    ban_failed(table, &table->points[i], &study->bans);
  }
  for (size_t i = 0; i < study->bans.count; i++) exclude_ended(out, &study->bans.items[i]);
  return out->count;
}

size_t resume_take(const struct resumed* resumed, struct study* study) {
  size_t points = 0;
  for (size_t i = 0; resumed->profile && i < resumed->profile->table_count; i++)
    points += take_table(&resumed->profile->tables[i], study);
  return points;
}
