/* base/arena.h - memory of one request: many small allocations, one release.
 *
 * What arena_alloc gives is zeroed, aligned to 16 and valid until arena_reset or arena_deinit. The
 * limit bounds what a hostile message can make us allocate. A reset keeps one chunk: the newest,
 * which is the largest, or the first smaller one where that is over 64 KiB; so a steady load of
 * small requests allocates nothing. */
#ifndef ONCE_BASE_ARENA_H
#define ONCE_BASE_ARENA_H
#include "base/slice.h"

struct arena_chunk;
struct arena {
    struct arena_chunk *head; /* the chunk in use; older ones hang behind it */
    size_t used, total, max;  /* bytes used of head, of all chunks, and the limit */
};

void arena_init(struct arena *a, size_t max);
void arena_deinit(struct arena *a);
void arena_reset(struct arena *a);
/* NULL when over the limit or out of memory. */
void *arena_alloc(struct arena *a, size_t n);
/* A copy of s in the arena, with a NUL byte behind it; null stays null, failure is null too. */
struct slice arena_copy(struct arena *a, struct slice s);
#define arena_new(a, type, n) ((type *)arena_alloc((a), sizeof(type) * (size_t)(n)))
#endif
