/* runtime/state/overlay.c - a hash map with undo, in bump-allocated memory. */
#include "runtime/state/overlay.h"
#include "base/check.h"
#include "base/hash.h"
#include <stdlib.h>

enum { CHUNK_BYTES = 64 * 1024, UNDO_BYTES_MAX = 1 << 30 };
#define ABSENT  UINT32_MAX
#define DELETED UINT32_MAX

struct overlay_chunk {
    struct overlay_chunk *older;
    size_t cap;
    unsigned char bytes[];
};

void overlay_init(struct overlay *o)
{
    *o = (struct overlay){0};
    buf_init(&o->undo_bytes, UNDO_BYTES_MAX);
}

void overlay_deinit(struct overlay *o)
{
    while (o->chunks) {
        struct overlay_chunk *older = o->chunks->older;
        free(o->chunks);
        o->chunks = older;
    }
    free(o->v);
    free(o->index);
    free(o->sorted);
    free(o->undo);
    buf_deinit(&o->undo_bytes);
    overlay_init(o);
}

void overlay_clear(struct overlay *o)
{
    while (o->chunks && o->chunks->older) {
        struct overlay_chunk *older = o->chunks->older;
        free(o->chunks);
        o->chunks = older;
    }
    if (o->index)
        memset(o->index, 0, o->index_cap * sizeof *o->index);
    o->n = o->n_sorted = o->n_undo = 0;
    o->chunk_used = o->bytes = 0;
    o->marking = false;
    buf_reset(&o->undo_bytes);
}

static uint32_t hash_key(struct slice key)
{
    return (uint32_t)(hash_bytes(key) >> 32);
}

static unsigned char *take(struct overlay *o, size_t n)
{
    struct overlay_chunk *c = o->chunks;
    unsigned char *p;

    if (!c || n > c->cap - o->chunk_used) {
        size_t cap = n > CHUNK_BYTES ? n : CHUNK_BYTES;
        c = malloc(sizeof *c + cap);
        if (!c)
            return NULL;
        c->older = o->chunks;
        c->cap = cap;
        o->chunks = c;
        o->chunk_used = 0;
    }
    p = c->bytes + o->chunk_used;
    o->chunk_used += n;
    return p;
}

static uint32_t find(const struct overlay *o, struct slice key, uint32_t hash)
{
    if (!o->index_cap)
        return ABSENT;
    for (uint32_t i = hash & (o->index_cap - 1);; i = (i + 1) & (o->index_cap - 1)) {
        uint32_t at = o->index[i];
        if (at == 0)
            return ABSENT;
        if (o->v[at - 1].hash == hash && slice_eq(o->v[at - 1].key, key))
            return at - 1;
    }
}

static void index_put(struct overlay *o, uint32_t entry)
{
    uint32_t i = o->v[entry].hash & (o->index_cap - 1);
    while (o->index[i])
        i = (i + 1) & (o->index_cap - 1);
    o->index[i] = entry + 1;
}

static int make_room(struct overlay *o)
{
    uint32_t cap = o->cap ? o->cap * 2 : 64;
    struct overlay_entry *v;
    uint32_t *index;

    if (o->n < o->cap)
        return 0;
    index = calloc((size_t)cap * 2, sizeof *index);
    v = index ? realloc(o->v, cap * sizeof *v) : NULL;
    if (!v) {
        free(index);
        return -ERR_NOMEM;
    }
    free(o->index);
    o->v = v;
    o->index = index;
    o->cap = cap;
    o->index_cap = cap * 2;
    for (uint32_t i = 0; i < o->n; i++)
        index_put(o, i);
    return 0;
}

enum overlay_found overlay_get(const struct overlay *o, struct slice key, struct slice *value)
{
    uint32_t i = o->n ? find(o, key, hash_key(key)) : ABSENT;

    if (i == ABSENT || o->v[i].gone)
        return OVERLAY_ABSENT;
    *value = o->v[i].value;
    return value->p ? OVERLAY_VALUE : OVERLAY_DELETED;
}

/* Notes what entry i holds now, to be put back by overlay_undo. */
static int note_undo(struct overlay *o, uint32_t i, bool absent)
{
    struct overlay_undo u = {.entry = i, .at = (uint32_t)o->undo_bytes.n};

    if (o->n_undo == o->undo_cap) {
        uint32_t cap = o->undo_cap ? o->undo_cap * 2 : 16;
        struct overlay_undo *p = realloc(o->undo, cap * sizeof *p);
        if (!p)
            return -ERR_NOMEM;
        o->undo = p;
        o->undo_cap = cap;
    }
    if (absent)
        u.at = ABSENT;
    else if (!o->v[i].value.p)
        u.n = DELETED;
    else {
        u.n = (uint32_t)o->v[i].value.n;
        if (buf_put_slice(&o->undo_bytes, o->v[i].value))
            return -ERR_NOMEM;
    }
    o->undo[o->n_undo++] = u;
    return 0;
}

static int set_value(struct overlay *o, struct overlay_entry *e, struct slice value)
{
    if (!value.p) {
        e->value = SLICE_NULL;
        return 0;
    }
    if (!e->mem || value.n > e->mem_cap) {
        size_t cap = value.n + value.n / 4 + 8;
        unsigned char *p = take(o, cap);
        if (!p)
            return -ERR_NOMEM;
        e->mem = p;
        e->mem_cap = (uint32_t)cap;
        o->bytes += cap;
    }
    if (value.n)
        memmove(e->mem, value.p, value.n);
    e->value = slice_of(e->mem, value.n);
    return 0;
}

int overlay_put(struct overlay *o, struct slice key, struct slice value)
{
    uint32_t hash = hash_key(key);
    uint32_t i = find(o, key, hash);
    struct overlay_entry *e;
    unsigned char *p;
    bool absent = i == ABSENT || o->v[i].gone;

    if (i == ABSENT) {
        if (make_room(o))
            return -ERR_NOMEM;
        p = take(o, key.n);
        if (!p)
            return -ERR_NOMEM;
        if (key.n)
            memcpy(p, key.p, key.n);
        i = o->n++;
        o->v[i] = (struct overlay_entry){.key = slice_of(p, key.n), .hash = hash, .gone = true};
        index_put(o, i);
        o->bytes += key.n + sizeof *e;
    }
    e = &o->v[i];
    if (o->marking && note_undo(o, i, absent))
        return -ERR_NOMEM;
    if (set_value(o, e, value))
        return -ERR_NOMEM;
    e->gone = false;
    return 0;
}

void overlay_mark(struct overlay *o)
{
    o->marking = true;
    o->n_undo = 0;
    buf_reset(&o->undo_bytes);
}

void overlay_keep(struct overlay *o)
{
    o->marking = false;
    o->n_undo = 0;
}

void overlay_undo(struct overlay *o)
{
    while (o->n_undo) {
        struct overlay_undo *u = &o->undo[--o->n_undo];
        struct overlay_entry *e = &o->v[u->entry];
        int res = 0;

        if (u->at == ABSENT)
            e->gone = true;
        else if (u->n == DELETED)
            res = set_value(o, e, SLICE_NULL);
        else
            res = set_value(o, e, slice_sub(buf_slice(&o->undo_bytes), u->at, u->n));
        CHECK(res == 0); /* an old value fits where it was */
    }
    o->marking = false;
}

static int compare_entries(const void *a, const void *b, void *u)
{
    const struct overlay *o = u;
    return slice_cmp(o->v[*(const uint32_t *)a].key, o->v[*(const uint32_t *)b].key);
}

const uint32_t *overlay_sorted(struct overlay *o, uint32_t *n)
{
    *n = o->n;
    if (o->n_sorted == o->n && o->sorted)
        return o->sorted;
    if (o->sorted_cap < o->n || !o->sorted) {
        uint32_t cap = o->cap ? o->cap : 1;
        uint32_t *p = realloc(o->sorted, cap * sizeof *p);
        if (!p)
            return NULL;
        o->sorted = p;
        o->sorted_cap = cap;
    }
    for (uint32_t i = 0; i < o->n; i++)
        o->sorted[i] = i;
    qsort_r(o->sorted, o->n, sizeof *o->sorted, compare_entries, o);
    o->n_sorted = o->n;
    return o->sorted;
}
