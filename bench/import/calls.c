#include "import/calls.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "ground/names.h"
#include "ground/number.h"
#include "nccl_tuner.h"

/* One process's calls of one collective and size. */
struct call_entry {
  const char* process; /* "host-a:3984 [0]" */
  int collective;
  uint64_t bytes;
  uint64_t count;
  struct call_entry* before;
};

static int compare_entries(const void* left, const void* right) {
  const struct call_entry* a = left;
  const struct call_entry* b = right;
  if (a->collective != b->collective) return a->collective < b->collective ? -1 : 1;
  if (a->bytes != b->bytes) return a->bytes < b->bytes ? -1 : 1;
  return strcmp(a->process, b->process);
}

/* --- one line ---------------------------------------------------------------------------------------------------- */

/* The word that ends before `end`; length 0 when there is none. */
static struct word word_before(const char* start, const char* end) {
  while (end > start && (end[-1] == ' ' || end[-1] == '\t')) end--;
  const char* from = end;
  while (from > start && from[-1] != ' ' && from[-1] != '\t') from--;
  return (struct word){from, (size_t)(end - from)};
}

/* "AllReduce:"; any collective where the line names none; -2: another operation, which no tuner is asked about. */
static int collective_of(struct word word) {
  if (!word.length || word.start[word.length - 1] != ':') return WORKLOAD_ANY_COLLECTIVE;
  int collective = sw_word_value(&sw_collectives, word.start, word.length - 1);
  return collective >= 0 ? collective : -2;
}

/* "host:pid [device]" of "host:pid:tid [device] NCCL INFO": threads of one process are one. "" where that is missing.
 */
static void process_of(const struct line* line, char out[128]) {
  const char* info = strstr(line->text, " NCCL INFO ");
  struct word device = info ? word_before(line->text, info) : (struct word){line->text, 0};
  struct word thread = word_before(line->text, device.start);
  const char* colon = thread.length ? memrchr(thread.start, ':', thread.length) : NULL;
  out[0] = '\0';
  if (!colon || device.length == 0) return;
  snprintf(out, 128, "%.*s %.*s", (int)(colon - thread.start), thread.start, (int)device.length, device.start);
}

static void count_call(struct calls* calls, const struct line* line, int collective, uint64_t bytes) {
  char process[128];
  process_of(line, process);
  struct call_entry key = {process, collective, bytes, 0, NULL};
  struct call_entry* const* found = tfind(&key, &calls->tree, compare_entries);
  if (found) {
    (*found)->count++;
    return;
  }
  if (calls->count == CALLS_MOST) {
    calls->full = true;
    return;
  }
  struct call_entry* entry = sw_arena_allocate(&calls->arena, 1, sizeof *entry);
  const char* name = sw_arena_copy(&calls->arena, process, strlen(process));
  calls->failed = calls->failed || !entry || !name;
  if (!entry || !name) return;
  *entry = (struct call_entry){name, collective, bytes, 1, calls->last};
  calls->last = entry;
  calls->count++;
  if (!tsearch(entry, &calls->tree, compare_entries)) calls->failed = true;
}

static bool is_part(int collective) {
  return collective == NCCL_ALLGATHER || collective == NCCL_REDUCESCATTER;
}

void calls_line(struct calls* calls, const struct line* line) {
  uint64_t bytes;
  const char* arrow = strstr(line->text, " Bytes -> Algo ");
  if (!arrow) return;
  struct word size = word_before(line->text, arrow);
  if (!word_whole(size, &bytes) || bytes == 0 || bytes > SW_LARGEST_BYTES) return;
  int collective = collective_of(word_before(line->text, size.start));
  if (collective < WORKLOAD_ANY_COLLECTIVE) return;
  calls->lines++;
  if (is_part(collective) && !calls->parts.line) {
    calls->parts = word_place(line, size);
    calls->parts_collective = collective;
  }
  count_call(calls, line, collective, bytes);
}

/* --- a file, all files ------------------------------------------------------------------------------------------- */

void calls_start_file(struct calls* calls) {
  calls->lines = 0;
  calls->parts = (struct sw_place){0};
  calls->full = false;
}

void calls_finish_file(struct calls* calls, uint32_t ranks, struct sw_diags* diags) {
  if (calls->parts.line && !ranks)
    sw_report(diags, SW_NOT_SAID, calls->parts,
              "NCCL logs one rank's part of %s here, and a tuner is asked with the whole buffer; add --ranks N",
              sw_value_word(&sw_collectives, calls->parts_collective));
  if (calls->full) sw_report(diags, SW_TOO_DEEP, (struct sw_place){0}, "more than %d different calls", CALLS_MOST);
}

static int compare_calls(const void* left, const void* right) {
  const struct workload_calls* a = left;
  const struct workload_calls* b = right;
  if (a->collective != b->collective) return a->collective < b->collective ? -1 : 1;
  if (a->bytes != b->bytes) return a->bytes < b->bytes ? -1 : 1;
  return (a->count < b->count) - (a->count > b->count);
}

static size_t count_processes(const struct calls* calls) {
  size_t processes = 0;
  for (const struct call_entry* entry = calls->last; entry; entry = entry->before) {
    const struct call_entry* other = entry->before;
    while (other && strcmp(other->process, entry->process) != 0) other = other->before;
    processes += !other;
  }
  return processes;
}

/* What the tuner is asked with; more than any call has where that is more than 1 EiB. */
static uint64_t whole_bytes(const struct call_entry* entry, uint32_t ranks) {
  if (!is_part(entry->collective)) return entry->bytes;
  return ranks && entry->bytes > SW_LARGEST_BYTES / ranks ? SW_LARGEST_BYTES + 1 : entry->bytes * ranks;
}

struct workload_calls* calls_list(const struct calls* calls, uint32_t ranks, size_t* count, size_t* processes) {
  struct workload_calls* list = calloc(calls->count + 1, sizeof *list);
  size_t all = 0;
  *count = 0;
  *processes = count_processes(calls);
  for (const struct call_entry* entry = calls->last; entry && list; entry = entry->before)
    list[all++] = (struct workload_calls){
        .collective = entry->collective, .bytes = whole_bytes(entry, ranks), .count = entry->count};
  if (list) qsort(list, all, sizeof *list, compare_calls);
  for (size_t i = 0; i < all; i++)
    if (!*count || list[*count - 1].collective != list[i].collective || list[*count - 1].bytes != list[i].bytes)
      list[(*count)++] = list[i];
  return list;
}

static void forget(void* entry) {
  (void)entry; /* the arena's */
}

void calls_free(struct calls* calls) {
  tdestroy(calls->tree, forget);
  sw_arena_free(&calls->arena);
  *calls = (struct calls){0};
}
