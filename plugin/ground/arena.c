#include "ground/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct sw_arena_chunk {
  struct sw_arena_chunk* next;
  size_t used; /* from the front: objects */
  size_t end;  /* from here to the back: texts */
  alignas(max_align_t) char bytes[];
};

enum { CHUNK_BYTES = 64 * 1024 - 64 };

static struct sw_arena_chunk* chunk_with(struct sw_arena* arena, size_t bytes) {
  struct sw_arena_chunk* chunk = arena->chunks;
  if (chunk && chunk->end - chunk->used >= bytes) return chunk;
  size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
  chunk = calloc(1, sizeof *chunk + size);
  if (!chunk) return NULL;
  chunk->end = size;
  chunk->next = arena->chunks;
  arena->chunks = chunk;
  return chunk;
}

void* sw_arena_allocate(struct sw_arena* arena, size_t count, size_t size) {
  size_t grain = alignof(max_align_t);
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) return NULL;
  bytes = (bytes + grain - 1) / grain * grain;
  struct sw_arena_chunk* chunk = chunk_with(arena, bytes);
  if (!chunk) return NULL;
  void* memory = chunk->bytes + chunk->used;
  chunk->used += bytes;
  return memory;
}

char* sw_arena_copy(struct sw_arena* arena, const char* bytes, size_t length) {
  struct sw_arena_chunk* chunk = length < SIZE_MAX / 2 ? chunk_with(arena, length + 1) : NULL;
  if (!chunk) return NULL;
  chunk->end -= length + 1;
  char* copy = chunk->bytes + chunk->end;
  if (length) memcpy(copy, bytes, length);
  return copy;
}

void sw_arena_free(struct sw_arena* arena) {
  while (arena->chunks) {
    struct sw_arena_chunk* next = arena->chunks->next;
    free(arena->chunks);
    arena->chunks = next;
  }
}
