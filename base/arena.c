/* base/arena.c - bump allocation in chunks that double. */
#include "base/arena.h"
#include <stdlib.h>

enum { CHUNK_MIN = 4096, CHUNK_KEPT_MAX = 64 << 10, ALIGN = 16 };
struct arena_chunk {
    struct arena_chunk *older;
    size_t cap;
    _Alignas(ALIGN) unsigned char bytes[];
};

void arena_init(struct arena *a, size_t max)
{
    *a = (struct arena){.max = max};
}

static void free_chunks(struct arena_chunk *c)
{
    while (c) {
        struct arena_chunk *older = c->older;
        free(c);
        c = older;
    }
}

void arena_deinit(struct arena *a)
{
    free_chunks(a->head);
    *a = (struct arena){.max = a->max};
}

/* The newest chunk is the largest. */
void arena_reset(struct arena *a)
{
    struct arena_chunk *kept = a->head;

    if (!kept)
        return;
    while (kept->older && kept->cap > CHUNK_KEPT_MAX) {
        struct arena_chunk *older = kept->older;
        free(kept);
        kept = older;
    }
    free_chunks(kept->older);
    kept->older = NULL;
    a->head = kept;
    a->used = 0;
    a->total = kept->cap;
}

static int arena_grow(struct arena *a, size_t n)
{
    size_t cap = a->head ? a->head->cap * 2 : CHUNK_MIN;
    struct arena_chunk *c;

    while (cap < n)
        cap *= 2;
    if (cap > a->max - a->total) {
        cap = n;
        if (cap > a->max || a->total > a->max - cap)
            return -1;
    }
    c = malloc(sizeof *c + cap);
    if (!c)
        return -1;
    c->older = a->head;
    c->cap = cap;
    a->head = c;
    a->total += cap;
    a->used = 0;
    return 0;
}

void *arena_alloc(struct arena *a, size_t n)
{
    void *p;

    if (n > a->max)
        return NULL;
    n = (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (!a->head || n > a->head->cap - a->used)
        if (arena_grow(a, n))
            return NULL;
    p = a->head->bytes + a->used;
    a->used += n;
    return memset(p, 0, n);
}

struct slice arena_copy(struct arena *a, struct slice s)
{
    unsigned char *p;

    if (!s.p)
        return s;
    p = arena_alloc(a, s.n + 1);
    if (!p)
        return SLICE_NULL;
    memcpy(p, s.p, s.n);
    return slice_of(p, s.n);
}
