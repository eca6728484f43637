/*
 * Memory that is freed all at once: a profile, and what is derived from it, lives in one arena.
 *
 *     chunk -> chunk -> chunk        the first chunk is the newest and the only one with free room
 *       `-- objects, aligned -->   free room   <-- texts, without alignment: many are a few bytes long
 */
#ifndef SW_ARENA_H
#define SW_ARENA_H

#include <stddef.h>

struct sw_arena {
  struct sw_arena_chunk* chunks;
};

#define SW_ARENA_EMPTY ((struct sw_arena){0})

/* Zeroed memory for `count` objects of `size` bytes, aligned for any type; NULL when there is none. */
void* sw_arena_allocate(struct sw_arena* arena, size_t count, size_t size);

/* A NUL-terminated copy of `length` bytes; NULL when there is no memory. */
char* sw_arena_copy(struct sw_arena* arena, const char* bytes, size_t length);

/* Frees everything; the arena is then empty and can be used again. */
void sw_arena_free(struct sw_arena* arena);

#endif
