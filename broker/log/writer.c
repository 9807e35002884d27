/* broker/log/writer.c - in the background: durable bytes go from the tails to the segments, and
 * what a checkpoint needs of a log is synced.
 *
 * A few writers take logs off a queue; a log has one writer at a time, so its files' operations
 * keep their order. A plain job makes the directory if need be and writes the bytes, unsynced. For
 * a checkpoint the job goes on: the producers' state is taken, segments and indexes are synced,
 * then the snapshot written, so that no snapshot is ahead of the aborted transactions in the files.
 *
 * A full disk leaves the log in the queue until the next try; nothing is lost, for the journal
 * keeps the bytes. Any other failure ends the directory's life. */
#include "broker/log/internal.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    JOB_DIR,      /* the directory and its partition.metadata */
    JOB_WRITE,    /* bytes to segments; the rest is for a checkpoint alone */
    JOB_SAVE,     /* the producers' state, in memory */
    JOB_OWNER,    /* partition.metadata, synced */
    JOB_SYNC,     /* segments */
    JOB_INDEX,    /* .index .timeindex .txnindex of each segment */
    JOB_EPOCHS,   /* leader-epoch-checkpoint */
    JOB_ROLLED,   /* the snapshot at a segment's base */
    JOB_SNAPSHOT, /* the one of this checkpoint */
    JOB_SYNC_DIR,
    JOB_DONE
};

static void job_run(struct writer *w);

/* ---- small files ---- */

static void file_end(struct writer *w)
{
    if (w->file_open)
        env_close(&w->file);
    w->file_open = false;
}

/* Writes w->bytes into the file w->path at `at` and syncs it. False: failed at once. */
static bool file_write(struct writer *w, uint64_t at, int flags)
{
    struct logdir *d = w->d;
    uint64_t size;
    int r = env_open(d->env, &w->file, w->path, ENV_CREATE, &size);

    if (r < 0) {
        w->op.done(&w->op, r);
        return false;
    }
    w->file_open = true;
    w->v[0] = buf_slice(&w->bytes);
    w->flags = flags;
    w->emptying = at == 0 && size > 0; /* an older one's end must not stay behind it */
    if (w->emptying)
        d->env->vt->truncate(&w->op, &w->file, 0);
    else
        env_write(&w->op, &w->file, at, w->v, 1, flags);
    return true;
}

/* ---- the steps; each submits one op and returns true, or has nothing to do ---- */

static void count_name(void *user, const char *name)
{
    (void)name;
    ++*(int *)user;
}

/* The directory, empty. What is there under its name is not ours: it steps aside. */
static int make_dir(struct log *l)
{
    struct env *env = l->d->env;
    char aside[PATH_CAP];
    struct uuid id;
    int n = 0, r = env->vt->mkdir(env, l->path);

    if (r != -ERR_EXISTS)
        return r;
    r = env->vt->list(env, l->path, count_name, &n);
    if (r < 0 || n == 0)
        return r;
    env->vt->random(env, &id, sizeof id);
    log_gone_path(l, &id, "stray", aside);
    env_warn(env, "%s: was there already, of no topic that is known; kept as %s", l->path, aside);
    r = env->vt->rename(env, l->path, aside);
    return r < 0 ? r : env->vt->mkdir(env, l->path);
}

static void write_owner(struct writer *w, int flags)
{
    buf_reset(&w->bytes);
    partition_metadata_make(w->log, &w->bytes);
    snprintf(w->path, sizeof w->path, "%s/partition.metadata", w->log->path);
    file_write(w, 0, flags);
}

static bool step_dir(struct writer *w)
{
    struct log *l = w->log, *o;
    struct logdir *d = w->d;
    int r;

    if (l->dir_made)
        return false;
    o = log_in_place_of(l);
    if (o) {
        w->aside = true;
        if (log_step_aside(o))
            d->env->vt->sync_dir(&w->op, d->env, d->path);
        else
            w->op.done(&w->op, -ERR_IO);
        return true;
    }
    r = l->dir_dirty ? 0 : make_dir(l); /* dirty: made, but its metadata file failed */
    if (r < 0) {
        w->op.done(&w->op, r);
        return true;
    }
    l->dir_dirty = true;
    d->root_dirty = true;
    write_owner(w, 0);
    return true;
}

/* For a checkpoint its bytes must be there, whose directory it is. */
static bool step_owner(struct writer *w)
{
    if (w->log->owner_synced)
        return false;
    write_owner(w, ENV_SYNC);
    return true;
}

/* Batches of one segment, durable and not in it yet. */
static bool step_write(struct writer *w)
{
    struct tail *t = &w->log->tail;
    struct segment *s;
    int r;

    if (t->n_written == t->n_durable || w->log->dead)
        return false;
    if (w->ck && tail_at(t, t->n_written)->base >= w->log->ck.end)
        return false; /* what came after the cut can wait */
    s = tail_at(t, t->n_written)->seg;
    r = segment_open(s, true);
    if (r < 0) {
        w->op.done(&w->op, r);
        return true;
    }
    if (s->written == 0)
        w->log->dir_dirty = true;
    w->n = 0;
    w->n_batches = 0;
    w->n_bytes = 0;
    for (uint32_t i = t->n_written; i < t->n_durable && w->n < WRITER_SLICES; i++) {
        struct tail_batch *b = tail_at(t, i);
        if (b->seg != s || (w->n_bytes && w->n_bytes + b->size > WRITER_BYTES))
            break;
        if (w->n && w->v[w->n - 1].p + w->v[w->n - 1].n == b->p)
            w->v[w->n - 1].n += b->size;
        else
            w->v[w->n++] = slice_of(b->p, b->size);
        w->n_batches++;
        w->n_bytes += b->size;
    }
    CHECK(tail_at(t, t->n_written)->pos == s->written);
    w->seg = s;
    segment_use(s);
    env_write(&w->op, &s->file, s->written, w->v, w->n, 0);
    return true;
}

static void wrote(struct writer *w)
{
    w->seg->written += w->n_bytes;
    w->log->tail.n_written += w->n_batches;
    segment_unuse(w->seg);
    w->seg = NULL;
    if (w->d->tail_bytes > w->d->o.tail_bytes_max)
        tails_evict(w->d, 0);
}

static void step_save(struct writer *w)
{
    struct log *l = w->log;
    struct logdir *d = w->d;

    buf_reset(&w->snapshot);
    w->snapshot_offset = l->durable;
    if (l->gone || !d->hooks.snapshot_save || (l->flags & LOG_REPLAY_ALL))
        return;
    if (d->hooks.snapshot_save(d->hooks.user, l, l->durable, &w->snapshot) < 0)
        buf_reset(&w->snapshot);
    else if (!w->snapshot.n)
        l->ck.stateless = l->durable;
}

static bool step_sync(struct writer *w)
{
    struct log *l = w->log;

    for (; w->seg_i < l->n_segs; w->seg_i++) {
        struct segment *s = l->segs[w->seg_i];
        if (!s->size_known || s->synced == s->written)
            continue;
        if (segment_open(s, false) < 0) {
            w->op.done(&w->op, -ERR_IO);
            return true;
        }
        w->seg = s;
        w->target = s->written;
        segment_use(s);
        env_write(&w->op, &s->file, 0, NULL, 0, ENV_SYNC);
        return true;
    }
    return false;
}

/* Kafka's tools want the two indexes even when they are empty. */
static void make_empty(struct segment *s, int part, const char *suffix)
{
    struct env *env = s->log->d->env;
    struct env_file f;
    char path[PATH_CAP];
    uint64_t size;

    if (s->has_index[part] || part == 2 || s->written == 0)
        return;
    segment_path(s, suffix, path);
    if (env_open(env, &f, path, ENV_CREATE, &size) == 0) {
        env_close(&f);
        s->has_index[part] = true;
    }
}

/* part counts the index files: segment by segment, three each. */
static bool step_index(struct writer *w)
{
    static const char *const suffix[] = {".index", ".timeindex", ".txnindex"};
    struct log *l = w->log;

    for (; w->seg_i < l->n_segs; w->seg_i++, w->part = 0) {
        struct segment *s = l->segs[w->seg_i];
        for (; w->part < 3; w->part++) {
            const struct buf *b = w->part == 0   ? &s->index.idx
                                  : w->part == 1 ? &s->index.tidx
                                                 : &s->txn;
            uint64_t at = w->part == 0   ? s->index.idx_filed
                          : w->part == 1 ? s->index.tidx_filed
                                         : s->txn_filed;
            size_t skip = w->part == 2 ? (size_t)s->txn_filed : 0;
            if (b->n == skip) {
                make_empty(s, w->part, suffix[w->part]);
                continue;
            }
            s->has_index[w->part] = true;
            buf_reset(&w->bytes);
            if (buf_put(&w->bytes, b->p + skip, b->n - skip) < 0) {
                w->op.done(&w->op, -ERR_NOMEM);
                return true;
            }
            if (at == 0)
                l->dir_dirty = true;
            segment_path(s, suffix[w->part], w->path);
            file_write(w, at, ENV_SYNC);
            return true;
        }
    }
    return false;
}

/* n bytes at the front of `b` are in the file now, of which `loaded` is a copy if there is one. */
static void filed(struct buf *b, uint64_t *at, unsigned char **loaded, bool is_loaded, size_t n)
{
    if (is_loaded) {
        unsigned char *p = realloc(*loaded, (size_t)*at + n);
        CHECK(p);
        memcpy(p + *at, b->p, n);
        *loaded = p;
    }
    *at += n;
    memmove(b->p, b->p + n, b->n - n);
    b->n -= n;
}

static void indexed(struct writer *w)
{
    struct segment *s = w->log->segs[w->seg_i];
    struct index *x = &s->index;

    if (w->part == 0)
        filed(&x->idx, &x->idx_filed, &x->idx_file, x->loaded, w->bytes.n);
    else if (w->part == 1)
        filed(&x->tidx, &x->tidx_filed, &x->tidx_file, x->loaded, w->bytes.n);
    else
        s->txn_filed += w->bytes.n;
    w->part++;
}

static bool step_epochs(struct writer *w)
{
    struct log *l = w->log;

    if (!l->epochs_dirty)
        return false;
    buf_reset(&w->bytes);
    if (epochs_make(l, &w->bytes) < 0) {
        w->op.done(&w->op, -ERR_NOMEM);
        return true;
    }
    l->epochs_dirty = false;
    snprintf(w->path, sizeof w->path, "%s/leader-epoch-checkpoint.tmp", l->path);
    file_write(w, 0, ENV_SYNC);
    return true;
}

static void epochs_written(struct writer *w)
{
    char to[PATH_CAP];

    snprintf(to, sizeof to, "%s/leader-epoch-checkpoint", w->log->path);
    if (w->d->env->vt->rename(w->d->env, w->path, to) < 0)
        logdir_poison(w->d, "%s: cannot be renamed", w->path);
    w->log->dir_dirty = true;
}

static bool write_snapshot(struct writer *w, const struct buf *bytes, int64_t offset)
{
    buf_reset(&w->bytes);
    if (buf_put_slice(&w->bytes, buf_slice(bytes)) < 0) {
        w->op.done(&w->op, -ERR_NOMEM);
        return true;
    }
    snprintf(w->path, sizeof w->path, "%s/%020lld.snapshot", w->log->path, (long long)offset);
    w->log->dir_dirty = true;
    file_write(w, 0, ENV_SYNC);
    return true;
}

static bool step_snapshot(struct writer *w)
{
    struct log *l = w->log;
    bool rolled = w->step == JOB_ROLLED;
    const struct buf *b = rolled ? &l->roll_snapshot : &w->snapshot;
    int64_t offset = rolled ? l->roll_offset : w->snapshot_offset;

    if (!b->n || offset <= l->snapshots[0])
        return false;
    return write_snapshot(w, b, offset);
}

/* It is there; the third newest goes. */
static bool snapshot_written(struct writer *w)
{
    struct log *l = w->log;
    int64_t old = l->snapshots[1];

    l->snapshots[1] = l->snapshots[0];
    l->snapshots[0] = w->step == JOB_ROLLED ? l->roll_offset : w->snapshot_offset;
    if (w->step == JOB_ROLLED)
        buf_reset(&l->roll_snapshot);
    if (old < 0)
        return false;
    for (int i = 0; i < l->n_segs; i++)
        if (l->segs[i]->base == old)
            return false; /* Kafka keeps those at a segment's base */
    snprintf(w->path, sizeof w->path, "%s/%020lld.snapshot", l->path, (long long)old);
    w->part = 1;
    w->d->env->vt->remove(&w->op, w->d->env, w->path);
    return true;
}

static bool step_sync_dir(struct writer *w)
{
    if (!w->log->dir_dirty)
        return false;
    w->log->dir_dirty = false;
    w->d->env->vt->sync_dir(&w->op, w->d->env, w->log->path);
    return true;
}

/* ---- jobs ---- */

static void job_end(struct writer *w)
{
    struct log *l = w->log;
    struct logdir *d = w->d;
    bool ck = w->ck;

    logdir_background_ok(d, &l->starved);
    file_end(w);
    w->log = NULL;
    l->job = false;
    segments_trim(d);
    if (l->job_ck && !ck)
        log_queue(l);
    else if (ck)
        checkpoint_log_done(l);
    env_task_add(d->env, &d->turn);
}

static void job_failed(struct writer *w, int64_t res)
{
    struct log *l = w->log;
    struct logdir *d = w->d;

    if (w->seg)
        segment_unuse(w->seg);
    w->seg = NULL;
    if (w->step == JOB_EPOCHS)
        l->epochs_dirty = true;
    if (w->step == JOB_SYNC_DIR)
        l->dir_dirty = true;
    file_end(w);
    w->emptying = w->aside = false;
    w->log = NULL;
    l->job = false;
    if (logdir_background_error(d, &l->starved, res, l->path))
        log_queue(l);
    env_task_add(d->env, &d->turn);
}

/* The op of the current step is done. */
static void step_done(struct writer *w)
{
    switch (w->step) {
    case JOB_DIR:
        if (w->aside) { /* the namesake is out of the way: now make it */
            w->aside = false;
            return;
        }
        w->log->dir_made = true;
        break;
    case JOB_WRITE: wrote(w); return;
    case JOB_SYNC:
        w->seg->synced = w->target;
        segment_unuse(w->seg);
        w->seg = NULL;
        w->seg_i++;
        return;
    case JOB_INDEX: indexed(w); return;
    case JOB_EPOCHS: epochs_written(w); break;
    case JOB_ROLLED:
    case JOB_SNAPSHOT:
        if (w->part == 0 && snapshot_written(w))
            return;
        break;
    default: break;
    }
    w->step++;
    w->part = w->seg_i = 0;
}

static void on_op(struct env_op *op, int64_t res)
{
    struct writer *w = (struct writer *)(void *)op;
    int step = w->step, part = w->part;

    if (w->d->poisoned) {
        job_failed(w, res < 0 ? res : -ERR_IO);
        return;
    }
    if (res >= 0 && w->emptying) {
        w->emptying = false;
        env_write(&w->op, &w->file, 0, w->v, 1, w->flags);
        return;
    }
    if (res == -ERR_NOT_FOUND && (w->step == JOB_ROLLED || w->step == JOB_SNAPSHOT) && w->part == 1)
        res = 0; /* the snapshot to be removed is gone already */
    if (res < 0) {
        job_failed(w, res);
        return;
    }
    file_end(w);
    step_done(w);
    if ((step == JOB_ROLLED || step == JOB_SNAPSHOT) && step == w->step && part == 0)
        return; /* an older snapshot is being removed */
    if (!w->d->poisoned && !env_point(w->d->env, "log_writer_step"))
        job_run(w);
}

/* Does steps until one waits for its op. */
static void job_run(struct writer *w)
{
    for (;;) {
        bool waits = false;
        switch (w->step) {
        case JOB_DIR: waits = step_dir(w); break;
        case JOB_WRITE: waits = step_write(w); break;
        case JOB_SAVE: step_save(w); break;
        case JOB_OWNER: waits = step_owner(w); break;
        case JOB_SYNC: waits = step_sync(w); break;
        case JOB_INDEX: waits = step_index(w); break;
        case JOB_EPOCHS: waits = step_epochs(w); break;
        case JOB_ROLLED:
        case JOB_SNAPSHOT: waits = step_snapshot(w); break;
        case JOB_SYNC_DIR: waits = step_sync_dir(w); break;
        default: job_end(w); return;
        }
        if (waits)
            return;
        if (w->step == JOB_WRITE && !w->ck)
            w->step = JOB_DONE;
        else
            w->step++;
        w->part = w->seg_i = 0;
    }
}

void log_queue(struct log *l)
{
    if (l->job || l->queued)
        return;
    l->queued = true;
    list_push(&l->d->queue, &l->queue_link);
}

static void job_begin(struct writer *w, struct log *l)
{
    list_remove(&l->queue_link);
    l->queued = false;
    l->job = true;
    w->log = l;
    w->ck = l->job_ck;
    w->step = JOB_DIR;
    w->part = w->seg_i = 0;
    job_run(w);
}

static struct log *pick(struct logdir *d)
{
    if (d->poisoned || d->env->dead || (d->no_space && d->env->now < d->retry_at))
        return NULL;
    LIST_EACH (it, &d->queue) {
        struct log *l = list_entry(it, struct log, queue_link);
        struct log *o = l->dir_made ? NULL : log_in_place_of(l);
        if (!o || log_may_step_aside(o))
            return l;
    }
    return NULL;
}

void writers_kick(struct logdir *d)
{
    struct log *l;

    /* Syncs fill the pool's threads, which others need too: all of them only at the end. A job with
     * nothing to do ends within job_begin. */
    for (int i = 0; i < (d->closing ? WRITERS : WRITERS / 2); i++)
        while (!d->writers[i].log && (l = pick(d)))
            job_begin(&d->writers[i], l);
}

bool writers_idle(const struct logdir *d)
{
    for (int i = 0; i < WRITERS; i++)
        if (d->writers[i].log)
            return false;
    return list_empty(&d->queue);
}

void writers_init(struct logdir *d)
{
    for (int i = 0; i < WRITERS; i++) {
        struct writer *w = &d->writers[i];
        w->d = d;
        w->op.done = on_op;
        buf_init(&w->bytes, 1u << 31);
        buf_init(&w->snapshot, 1u << 31);
    }
}

void writers_deinit(struct logdir *d)
{
    for (int i = 0; i < WRITERS; i++) {
        file_end(&d->writers[i]);
        buf_deinit(&d->writers[i].bytes);
        buf_deinit(&d->writers[i].snapshot);
    }
}
