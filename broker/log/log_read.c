/* broker/log/log_read.c - reading batches: from the tail in memory, else from a segment's file.
 *
 * The tail answers at once with references. A cold read finds its place by the index, tries the
 * page cache, and goes to the background when that does not have it. What comes from a file is
 * checked, its CRCs and that offsets ascend, before anybody is served. A read that is given up
 * leaves its reading behind; that ends on its own. */
#include "broker/log/internal.h"
#include <stdlib.h>

enum { COLD_MIN = 64 << 10, COLD_MAX = 4 << 20 };

struct cold_read {
    struct env_op op;
    struct index_wait wait;
    struct list link; /* d->cold_reads */
    struct log *l;
    struct log_read *r; /* NULL: given up */
    struct segment *s;
    struct block *block;
    uint64_t pos; /* where block begins in the file */
    size_t want;  /* bytes that must be read, at least; 0: as usual */
};

/* ---- from the tail ---- */

static bool add_slice(struct log_read *r, const struct tail_batch *b)
{
    if (r->n && r->blocks[r->n - 1] == b->block && r->v[r->n - 1].p + r->v[r->n - 1].n == b->p) {
        r->v[r->n - 1].n += b->size;
        return true;
    }
    if (r->n == LOG_READ_SLICES)
        return false;
    r->v[r->n] = slice_of(b->p, b->size);
    r->blocks[r->n++] = block_ref(b->block);
    return true;
}

static int read_tail(struct log_read *r)
{
    const struct tail *t = &r->log->tail;

    for (uint32_t i = tail_find(t, r->offset); i < t->n; i++) {
        const struct tail_batch *b = tail_at(t, i);
        bool first = r->n == 0;
        if (b->base >= r->upper)
            break;
        if (r->bytes + b->size > r->max_bytes && !(first && r->at_least_one))
            break;
        if (!add_slice(r, b))
            break;
        r->bytes += b->size;
        r->next = b->last + 1;
    }
    return 0;
}

static bool in_tail(const struct log_read *r)
{
    const struct tail *t = &r->log->tail;
    return t->n && r->offset >= tail_at(t, 0)->base;
}

/* ---- from a file ---- */

static void cold_free(struct cold_read *c)
{
    list_remove(&c->link);
    list_remove(&c->wait.link);
    block_unref(c->block);
    free(c);
}

void cold_reads_free(struct logdir *d)
{
    for (struct list *it; (it = list_first(&d->cold_reads));)
        cold_free(list_entry(it, struct cold_read, link));
}

/* One walk over what was read: 1 more is needed (pos and want are set), 0 answered, negative. */
static int take(struct cold_read *c, size_t n)
{
    struct log_read *r = c->r;
    size_t at = 0, from = 0, end = 0;
    int64_t next = 0;

    while (at < n) {
        struct slice rest = slice_of(c->block->bytes + at, n - at);
        struct batch_info b;
        int ret = batch_header(rest, &b);
        bool first = end == 0;
        if (ret == -ERR_SHORT && !first)
            break;
        if (ret == -ERR_SHORT) {
            c->pos += at;
            c->want = rest.n >= BATCH_LENGTH_BASE ? b.size : COLD_MIN;
            if (rest.n >= BATCH_HEADER && batch_last_offset(&b) < r->offset) {
                c->pos += b.size;
                c->want = 0;
            } else if (rest.n >= BATCH_HEADER && b.size > r->max_bytes && !r->at_least_one) {
                return 0;
            }
            return 1;
        }
        if (ret < 0 || b.base_offset < next || b.base_offset < c->s->base)
            return -ERR_CORRUPT;
        next = batch_next_offset(&b);
        if (next <= r->offset) {
            at += b.size;
            continue;
        }
        if (b.base_offset >= r->upper ||
            (r->bytes + b.size > r->max_bytes && !(first && r->at_least_one)))
            break;
        if (!batch_crc_ok(slice_sub(rest, 0, b.size)))
            return -ERR_CORRUPT;
        from = first ? at : from;
        at += b.size;
        end = at;
        r->bytes += b.size;
        r->next = next;
    }
    if (end == 0 && at == n) { /* all lay before the offset */
        c->pos += at;
        c->want = 0;
        return 1;
    }
    if (end > from) {
        r->v[0] = slice_of(c->block->bytes + from, end - from);
        r->blocks[0] = block_ref(c->block);
        r->n = 1;
    }
    return 0;
}

static void on_read(struct env_op *op, int64_t res);
static void on_index(struct index_wait *w);

/* Only cleaning leaves offsets without a record. */
static bool may_have_gaps(const struct log *l)
{
    return l->config.compact;
}

/* The segment has no more: the one behind it, or the tail. 1: go on there; 0: answered. */
static int next_segment(struct cold_read *c)
{
    struct log *l = c->l;

    for (int i = 0; i + 1 < l->n_segs; i++)
        if (l->segs[i] == c->s) {
            if (l->segs[i + 1]->base > c->r->offset && !may_have_gaps(l))
                return -ERR_CORRUPT; /* the end of this one, or a whole one, was lost */
            if (l->segs[i + 1]->base >= c->r->upper)
                return 0;
            c->r->offset = l->segs[i + 1]->base; /* nothing lies between */
            c->s = NULL;
            return in_tail(c->r) ? read_tail(c->r) : 1;
        }
    return 0;
}

static int enter_segment(struct cold_read *c)
{
    struct log_read *r = c->r;
    int ret;

    c->s = log_segment(c->l, r->offset);
    if (!c->s && c->l->n_segs && !may_have_gaps(c->l))
        return -ERR_CORRUPT;
    if (!c->s)
        c->s = c->l->n_segs ? c->l->segs[0] : NULL;
    if (!c->s)
        return -ERR_NOT_FOUND;
    ret = segment_open(c->s, false);
    if (ret < 0)
        return ret == -ERR_NOT_FOUND ? -ERR_CORRUPT : ret;
    segments_trim(c->l->d);
    c->want = 0;
    c->wait.ready = on_index;
    ret = segment_index_load(c->s, &c->wait);
    if (ret == 0)
        c->pos = index_position(&c->s->index, r->offset);
    return ret;
}

/* 0 answered, -ERR_AGAIN something is in flight, else failed. */
static int cold_go(struct cold_read *c)
{
    for (int ret = 1;;) {
        uint64_t left;
        size_t n;
        int64_t got;
        if (!c->s) {
            ret = enter_segment(c);
            if (ret < 0)
                return ret;
        }
        if (c->pos >= c->s->written) {
            ret = next_segment(c);
            if (ret <= 0)
                return ret;
            continue;
        }
        left = c->s->written - c->pos;
        n = c->r->max_bytes + 8192 < COLD_MAX ? c->r->max_bytes + 8192 : COLD_MAX;
        n = n < COLD_MIN ? COLD_MIN : n;
        n = n < c->want ? c->want : n;
        if (c->want > left)
            return -ERR_CORRUPT; /* a batch that would reach beyond what was written */
        n = n > left ? (size_t)left : n;
        block_unref(c->block);
        c->block = block_new(n);
        if (!c->block)
            return -ERR_NOMEM;
        got = env_read_now(&c->s->file, c->pos, (struct span){c->block->bytes, n});
        if (got != (int64_t)n) {
            c->op.done = on_read;
            segment_use(c->s);
            env_read(&c->op, &c->s->file, c->pos, (struct span){c->block->bytes, n});
            return -ERR_AGAIN;
        }
        ret = take(c, n);
        if (ret <= 0)
            return ret;
    }
}

/* Of a read that waited: res is final. */
static void cold_end(struct cold_read *c, int res)
{
    struct log *l = c->l;
    struct log_read *r = c->r;

    cold_free(c);
    l->users--;
    env_task_add(l->d->env, &l->d->turn); /* a log that leaves may have waited for this */
    if (!r)
        return;
    r->segment = NULL;
    if (res < 0)
        log_read_release(r);
    r->done(r, res);
}

static void on_index(struct index_wait *w)
{
    struct cold_read *c = list_entry(w, struct cold_read, wait);
    int ret = 0;

    if (c->r) {
        c->pos = index_position(&c->s->index, c->r->offset);
        ret = cold_go(c);
    }
    if (ret != -ERR_AGAIN)
        cold_end(c, ret);
}

static void on_read(struct env_op *op, int64_t res)
{
    struct cold_read *c = (struct cold_read *)(void *)op;
    int ret = 0;

    segment_unuse(c->s);
    if (c->r) {
        ret = res < 0                       ? (int)res
              : (size_t)res < c->block->cap ? -ERR_CORRUPT
                                            : take(c, (size_t)res);
        if (ret == 1)
            ret = cold_go(c);
    }
    if (ret != -ERR_AGAIN)
        cold_end(c, ret);
}

static int read_cold(struct log_read *r)
{
    struct log *l = r->log;
    struct cold_read *c = calloc(1, sizeof *c);
    int ret;

    if (!c)
        return -ERR_NOMEM;
    c->l = l;
    c->r = r;
    list_push(&l->d->cold_reads, &c->link);
    ret = cold_go(c);
    if (ret == -ERR_AGAIN) {
        r->segment = c;
        l->users++;
        return ret;
    }
    cold_free(c);
    if (ret < 0)
        log_read_release(r);
    return ret;
}

int log_read(struct log_read *r)
{
    struct log *l = r->log;

    r->n = 0;
    r->bytes = 0;
    r->next = r->offset;
    r->segment = NULL;
    if (l->gone || r->offset < l->start || r->offset > l->end)
        return -ERR_NOT_FOUND;
    if (r->upper > l->durable)
        r->upper = l->durable;
    if (r->offset >= r->upper)
        return 0;
    return in_tail(r) ? read_tail(r) : read_cold(r);
}

void log_read_release(struct log_read *r)
{
    for (int i = 0; i < r->n; i++)
        block_unref(r->blocks[i]);
    r->n = 0;
    r->bytes = 0;
}

void log_read_cancel(struct log_read *r)
{
    struct cold_read *c = r->segment;

    if (c)
        c->r = NULL;
    r->segment = NULL;
}
