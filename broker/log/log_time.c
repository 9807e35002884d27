/* broker/log/log_time.c - offsets by timestamp: the first record at or after a time, or the first
 * with the greatest timestamp.
 *
 * Segments are asked in order for their greatest timestamp; in the one that has what is looked for,
 * the time index gives an offset to begin at, and batches are read from there. Records of a batch
 * are looked at only when the batch's own greatest timestamp says that one of them will do. */
#include "broker/log/internal.h"
#include <stdlib.h>

enum { SCAN_BYTES = 256 << 10, SCRATCH_MAX = 256 << 20 };

enum step {
    T_SEGMENTS, /* which segment? */
    T_INDEX,    /* where in it? */
    T_WALK,     /* batches, for a timestamp */
    T_WALK_MAX, /* batches up to upper, for their greatest timestamp */
    T_LAST      /* the batch whose greatest timestamp it is */
};

struct time_find {
    struct index_wait wait;
    struct list link; /* d->time_finds */
    struct log_time *t;
    struct log *l;
    enum step step;
    int seg;
    int64_t at;
    int64_t best_ts, best_off;
    struct buf scratch;
};

static void find_free(struct time_find *f)
{
    list_remove(&f->link);
    list_remove(&f->wait.link);
    buf_deinit(&f->scratch);
    free(f);
}

void time_finds_free(struct logdir *d)
{
    for (struct list *it; (it = list_first(&d->time_finds));)
        find_free(list_entry(it, struct time_find, link));
}

/* The first record of the batch in [start, upper) with a timestamp >= ts: 1 found, 0 none,
 * negative. */
static int in_batch(struct time_find *f, struct slice batch, int64_t ts)
{
    struct log_time *t = f->t;
    struct record_iter it;
    struct record rec;
    int r = record_iter_init(&it, batch, &f->scratch);

    while (r == 0 && (r = record_iter_next(&it, &rec)) == 1) {
        r = 0;
        if (rec.timestamp < ts || rec.offset < f->l->start)
            continue;
        if (rec.offset >= t->upper)
            return 0;
        t->offset = rec.offset;
        t->found_timestamp = rec.timestamp;
        return 1;
    }
    return r < 0 ? r : 0;
}

/* One batch that was read: 1 the answer is there, 0 go on, negative. */
static int look(struct time_find *f, struct slice batch, const struct batch_info *b)
{
    struct log_time *t = f->t;

    if (f->step == T_WALK)
        return b->max_timestamp >= t->timestamp ? in_batch(f, batch, t->timestamp) : 0;
    if (f->step == T_LAST) {
        int r = in_batch(f, batch, f->best_ts);
        return r < 0 ? r : 1;
    }
    if (b->max_timestamp > f->best_ts) {
        f->best_ts = b->max_timestamp;
        f->best_off = batch_last_offset(b);
    }
    return 0;
}

static int look_through(struct time_find *f)
{
    struct log_read *rd = &f->t->read;
    int r = 0;

    for (int i = 0; i < rd->n && r == 0; i++) {
        struct slice rest = rd->v[i];
        while (rest.n && r == 0) {
            struct batch_info b;
            r = batch_header(rest, &b);
            if (r == 0)
                r = look(f, slice_sub(rest, 0, b.size), &b);
            if (r == 0)
                rest = slice_sub(rest, b.size, SIZE_MAX);
        }
    }
    return r;
}

/* ---- steps ---- */

static bool wants_segment(struct time_find *f, const struct segment *s)
{
    const struct index *x = &s->index;
    const struct log_time *t = f->t;

    if (!t->max)
        return !s->index_known || x->max_ts >= t->timestamp;
    if (s->index_known && x->max_off < t->upper) {
        if (x->max_ts > f->best_ts) {
            f->best_ts = x->max_ts;
            f->best_off = x->max_off;
        }
        return false;
    }
    return true; /* must be walked: its greatest may lie beyond upper */
}

/* 0: decided, -ERR_AGAIN: an index is being read. */
static int choose_segment(struct time_find *f)
{
    struct log *l = f->l;

    for (; f->seg < l->n_segs && l->segs[f->seg]->base < f->t->upper; f->seg++) {
        struct segment *s = l->segs[f->seg];
        int r;
        if (!s->index_known && !s->index.broken) {
            r = segment_open(s, false);
            if (r < 0)
                return r;
            r = segment_index_load(s, &f->wait);
            if (r < 0)
                return r;
        }
        if (!wants_segment(f, s))
            continue;
        f->at = s->base;
        f->step = f->t->max ? T_WALK_MAX : T_INDEX;
        return 0;
    }
    f->step = T_LAST;
    f->at = f->best_off;
    return f->t->max && f->best_off >= 0 ? 0 : -ERR_NOT_FOUND;
}

static int choose_offset(struct time_find *f)
{
    struct segment *s = f->l->segs[f->seg];
    int r = segment_open(s, false);

    if (r == -ERR_NOT_FOUND && s->written == 0)
        r = 0; /* all of it is in memory still, its index too */
    else if (r == 0)
        r = segment_index_load(s, &f->wait);
    if (r < 0)
        return r;
    f->at = index_time_before(&s->index, f->t->timestamp);
    f->step = T_WALK;
    return 0;
}

/* Reads on from f->at; 1 answered, 0 the step changed or goes on, -ERR_AGAIN, negative. */
static int have_read(struct time_find *f)
{
    struct log_read *rd = &f->t->read;
    int r = look_through(f);
    bool end = rd->n == 0;

    f->at = rd->next;
    log_read_release(rd);
    if (r || !end)
        return r;
    if (f->step != T_WALK_MAX || f->best_off < 0)
        return 1; /* nothing found */
    f->step = T_LAST;
    f->at = f->best_off;
    return 0;
}

static void on_read(struct log_read *rd, int res);

static int read_on(struct time_find *f)
{
    struct log_time *t = f->t;
    int r;

    t->read.log = f->l;
    t->read.offset = f->at < f->l->start ? f->l->start : f->at;
    t->read.upper = t->upper;
    t->read.max_bytes = SCAN_BYTES;
    t->read.at_least_one = true;
    t->read.done = on_read;
    r = log_read(&t->read);
    return r < 0 ? r : have_read(f);
}

/* 1 answered (or nothing to be found), -ERR_AGAIN, negative. */
static int go_on(struct time_find *f)
{
    int r = 0;

    while (r == 0) {
        if (f->step == T_SEGMENTS)
            r = choose_segment(f);
        else if (f->step == T_INDEX)
            r = choose_offset(f);
        else
            r = read_on(f);
    }
    return r == -ERR_NOT_FOUND ? 1 : r;
}

static void end(struct time_find *f, int r)
{
    struct log_time *t = f->t;
    struct log *l = f->l;

    if (r == -ERR_AGAIN)
        return;
    find_free(f);
    l->users--;
    env_task_add(l->d->env, &l->d->turn);
    t->done(t, r < 0 ? r : 0);
}

static void on_index(struct index_wait *w)
{
    struct time_find *f = list_entry(w, struct time_find, wait);
    end(f, go_on(f));
}

static void on_read(struct log_read *rd, int res)
{
    struct log_time *t = list_entry(rd, struct log_time, read);
    struct time_find *f = t->internal;
    int r = res < 0 ? res : have_read(f);

    end(f, r == 0 ? go_on(f) : r);
}

int log_time_find(struct log_time *t)
{
    struct log *l = t->log;
    struct time_find *f = calloc(1, sizeof *f);
    int r;

    t->offset = t->found_timestamp = -1;
    if (!f)
        return -ERR_NOMEM;
    if (l->gone) {
        free(f);
        return -ERR_NOT_FOUND;
    }
    if (t->upper > l->durable)
        t->upper = l->durable;
    f->t = t;
    f->l = l;
    f->best_ts = f->best_off = -1;
    f->wait.ready = on_index;
    buf_init(&f->scratch, SCRATCH_MAX);
    list_push(&l->d->time_finds, &f->link);
    t->internal = f;
    l->users++;
    r = go_on(f);
    if (r == -ERR_AGAIN)
        return r;
    l->users--;
    find_free(f);
    return r < 0 ? r : 0;
}

void log_time_cancel(struct log_time *t)
{
    struct time_find *f = t->internal;
    struct log *l = f->l;

    log_read_cancel(&t->read);
    log_read_release(&t->read);
    find_free(f);
    l->users--;
    env_task_add(l->d->env, &l->d->turn);
}
