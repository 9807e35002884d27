/* broker/log/tail.c - the recent batches of each log, in memory: staged ones, those whose round is
 * in flight, those the segment does not have yet, and for a while those it has, for fetches that
 * follow.
 *
 * Entries leave from the old end only, and only when the segment has their bytes. */
#include "broker/log/internal.h"

int tail_reserve(struct tail *t)
{
    struct tail_batch *v;
    uint32_t cap = t->cap ? t->cap * 2 : 8;

    if (t->n < t->cap)
        return 0;
    v = malloc((size_t)cap * sizeof *v);
    if (!v)
        return -ERR_NOMEM;
    for (uint32_t i = 0; i < t->n; i++)
        v[i] = *tail_at(t, i);
    free(t->v);
    t->v = v;
    t->cap = cap;
    t->head = 0;
    return 0;
}

struct tail_batch *tail_push(struct log *l)
{
    struct tail *t = &l->tail;

    CHECK(t->n < t->cap);
    if (!list_linked(&l->tails_link))
        list_push(&l->d->tails, &l->tails_link);
    return tail_at(t, t->n++);
}

uint32_t tail_find(const struct tail *t, int64_t offset)
{
    uint32_t lo = 0, hi = t->n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (tail_at(t, mid)->last < offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void drop_first(struct log *l)
{
    struct tail *t = &l->tail;
    struct tail_batch *b = tail_at(t, 0);

    CHECK(t->n_written > 0);
    l->d->tail_bytes -= b->size;
    block_unref(b->block);
    t->head = (t->head + 1) & (t->cap - 1);
    t->n--;
    t->n_written--;
    t->n_durable--;
    t->n_rounded--;
    if (t->n == 0) {
        list_remove(&l->tails_link);
        free(t->v);
        memset(t, 0, sizeof *t);
    }
}

/* Drops up to `most` written batches staged up to lsn; true if one went. */
static bool drop_some(struct log *l, uint64_t lsn, int most)
{
    bool any = false;

    while (most-- > 0 && l->tail.n_written > 0 && tail_at(&l->tail, 0)->lsn <= lsn) {
        drop_first(l);
        any = true;
    }
    return any;
}

void tails_evict(struct logdir *d, uint64_t lsn)
{
    uint32_t idle = 0, n = 0;

    LIST_EACH_SAFE (it, tmp, &d->tails) {
        n++;
        drop_some(list_entry(it, struct log, tails_link), lsn, INT32_MAX);
    }
    /* Over the limit: round by round from every log that has something to give. */
    while (d->tail_bytes > d->o.tail_bytes_max && idle <= n) {
        struct list *first = list_first(&d->tails);
        struct log *l;
        if (!first)
            return;
        l = list_entry(first, struct log, tails_link);
        idle = drop_some(l, UINT64_MAX, 16) ? 0 : idle + 1;
        if (list_linked(&l->tails_link)) {
            list_remove(&l->tails_link);
            list_push(&d->tails, &l->tails_link);
        }
    }
}

void tail_clear(struct log *l)
{
    struct tail *t = &l->tail;

    for (uint32_t i = 0; i < t->n; i++) {
        l->d->tail_bytes -= tail_at(t, i)->size;
        block_unref(tail_at(t, i)->block);
    }
    list_remove(&l->tails_link);
    free(t->v);
    memset(t, 0, sizeof *t);
}

unsigned char *tail_chunk(struct logdir *d, size_t n, struct block **block)
{
    unsigned char *p;

    if (n > TAIL_CHUNK / 4) {
        *block = block_new(n);
        return *block ? (*block)->bytes : NULL;
    }
    if (!d->chunk || TAIL_CHUNK - d->chunk_used < n) {
        struct block *b = block_new(TAIL_CHUNK);
        if (!b)
            return NULL;
        block_unref(d->chunk);
        d->chunk = b;
        d->chunk_used = 0;
    }
    p = d->chunk->bytes + d->chunk_used;
    d->chunk_used += (uint32_t)n;
    *block = block_ref(d->chunk);
    return p;
}
