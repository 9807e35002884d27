/* broker/log/checkpoint.c - from time to time: what the segments have is made durable, that is
 * written down, and the journal's files before that place may be used again.
 *
 * checkpoint_begin makes a cut between two durable rounds and notes of every log that moved where
 * it stood (log_mark_cut). Writers bring those logs' files to at least that state. Then: sync the
 * root directory if names changed in it, write journal/checkpoint.tmp, sync, rename, sync the
 * directory. Until that is done the old checkpoint and the journal from its place on are what
 * counts. Its work follows the logs that moved; the file alone names all.
 *
 * Kafka's own text files follow, without a sync: nothing of ours reads them. */
#include "broker/log/internal.h"
#include <stdio.h>

void log_mark_cut(struct log *l)
{
    struct checkpoint_log *c = &l->ck;
    struct segment *s = l->durable_seg;

    c->id = l->id;
    c->partition = l->partition;
    c->start = l->start;
    c->end = l->durable;
    c->seg_base = s ? s->base : l->durable;
    c->pos = s ? s->durable_pos : 0;
    c->sealed_bytes = l->durable_sealed_bytes;
    c->first_ts = s ? s->first_ts : -1;
    c->max_ts = s ? s->index.max_ts : -1;
    c->max_off = s ? s->index.max_off : 0;
    c->created_ms = s ? s->created_ms : 0;
    c->txn_sum = l->txn_sum;
    c->since = s ? s->index.since : 0;
    c->idx_bytes = s ? s->index.idx_filed + s->index.idx.n : 0;
    c->tidx_bytes = s ? s->index.tidx_filed + s->index.tidx.n : 0;
    c->last_tidx_ts = s ? s->index.last_tidx_ts : -1;
    c->last_tidx_off = s ? s->index.last_tidx_off : 0;
}

int checkpoint_encode_all(struct logdir *d, const struct journal_mark *at, bool clean,
                          struct buf *out)
{
    struct checkpoint_head h = {
        .epoch = d->epoch, .seq = at->seq, .file = at->file, .pos = at->pos};
    uint32_t n = 0;

    h.flags = (clean ? CHECKPOINT_CLEAN : 0) | (d->o.async ? CHECKPOINT_ASYNC : 0);
    memcpy(h.salt, d->journal.salt, sizeof h.salt);
    memcpy(h.boot, d->boot, sizeof h.boot);
    buf_reset(out);
    checkpoint_start(out, &h);
    LIST_EACH (it, &d->logs) {
        /* A dead one too while its directory has its name: that tells the next start whose it
         * is. */
        struct log *l = list_entry(it, struct log, link);
        l->ck.topic = l->topic;
        l->ck.snapshot = l->snapshots[0];
        checkpoint_add(out, &l->ck);
        n++;
    }
    return checkpoint_finish(out, n);
}

/* ---- one file after the other: emptied if it is longer, written, closed ---- */

static int write_file(struct logdir *d, const char *name)
{
    struct checkpoint *c = &d->ck;
    char path[PATH_CAP];
    uint64_t size;
    int r;

    snprintf(path, sizeof path, "%s/%s", d->path, name);
    r = env_open(d->env, &c->file, path, ENV_CREATE, &size);
    if (r < 0)
        return r;
    c->file_open = true;
    c->v = buf_slice(&c->bytes);
    c->emptying = size > 0;
    if (c->emptying)
        d->env->vt->truncate(&c->op, &c->file, 0);
    else
        env_write(&c->op, &c->file, 0, &c->v, 1, c->sync);
    return 0;
}

static int rename_file(struct logdir *d, const char *from, const char *to)
{
    char a[PATH_CAP], b[PATH_CAP];

    snprintf(a, sizeof a, "%s/%s", d->path, from);
    snprintf(b, sizeof b, "%s/%s", d->path, to);
    return d->env->vt->rename(d->env, a, b);
}

static void sync_dir(struct logdir *d, const char *name)
{
    char path[PATH_CAP];

    snprintf(path, sizeof path, "%s%s%s", d->path, *name ? "/" : "", name);
    d->env->vt->sync_dir(&d->ck.op, d->env, path);
}

/* ---- steps ---- */

static void finish(struct logdir *d)
{
    struct checkpoint *c = &d->ck;

    c->step = CK_IDLE;
    c->last_duration = d->env->now - c->started;
    buf_deinit(&c->bytes);
    buf_init(&c->bytes, 1u << 31);
    checkpoint_consider(d);
    logdir_arm_tick(d);
    if (d->closing)
        logdir_close_step(d);
}

static int step_write(struct logdir *d)
{
    struct checkpoint *c = &d->ck;
    int r = checkpoint_encode_all(d, &c->cut, c->clean, &c->bytes);

    c->sync = ENV_SYNC;
    return r < 0 ? r : write_file(d, "journal/checkpoint.tmp");
}

/* The next of Kafka's text files; false when all are done. */
static bool step_text(struct logdir *d, int *r)
{
    struct checkpoint *c = &d->ck;
    char name[64];

    if (!c->texts || c->text == TEXT_N || (c->text == TEXT_CLEAN && !c->clean))
        return false;
    buf_reset(&c->bytes);
    *r = text_file_make(d, c->text, &c->bytes);
    snprintf(name, sizeof name, "%s.tmp", text_file_name(c->text));
    c->sync = c->clean ? ENV_SYNC : 0;
    if (*r == 0)
        *r = write_file(d, name);
    return true;
}

/* What the current step has to do; its op comes back to on_op. */
static void step(struct logdir *d)
{
    struct checkpoint *c = &d->ck;
    int r = 0;

    if (d->poisoned || d->env->dead || env_point(d->env, "log_checkpoint_step"))
        return;
    if (c->step == CK_ROOT) {
        if (d->root_dirty) {
            d->root_dirty = false;
            sync_dir(d, "");
            return;
        }
        c->step = CK_WRITE;
    }
    if (c->step == CK_WRITE && d->root_dirty) { /* a name changed meanwhile */
        c->step = CK_ROOT;
        step(d);
        return;
    }
    if (c->step == CK_WRITE) {
        r = step_write(d);
    } else if (c->step == CK_RENAME) {
        r = rename_file(d, "journal/checkpoint.tmp", "journal/checkpoint");
        if (r == 0)
            sync_dir(d, "journal");
    } else if (c->step == CK_TEXT && !step_text(d, &r)) {
        if (c->clean && c->texts) {
            c->texts = false;
            sync_dir(d, "");
            return;
        }
        finish(d);
        return;
    }
    if (r < 0)
        c->op.done(&c->op, r);
}

static void step_done(struct logdir *d)
{
    struct checkpoint *c = &d->ck;

    switch (c->step) {
    case CK_ROOT: c->step = CK_WRITE; break;
    case CK_WRITE: c->step = CK_RENAME; break;
    case CK_RENAME:
        c->step = CK_TEXT;
        c->text = TEXT_RECOVERY;
        c->texts = c->clean || d->env->now >= c->texts_at;
        if (c->texts)
            c->texts_at = d->env->now + ENV_S(60);
        journal_release(d, &c->cut);
        break;
    case CK_TEXT:
        if (c->texts) {
            char tmp[64];
            snprintf(tmp, sizeof tmp, "%s.tmp", text_file_name(c->text));
            if (rename_file(d, tmp, text_file_name(c->text)) < 0)
                env_warn(d->env, "%s/%s: cannot be renamed", d->path, tmp);
            c->text++;
        }
        break;
    default: CHECK(!"a step without an op");
    }
}

static void on_op(struct env_op *op, int64_t res)
{
    struct logdir *d = list_entry(op, struct logdir, ck.op);
    struct checkpoint *c = &d->ck;

    if (res >= 0 && c->emptying) {
        c->emptying = false;
        env_write(&c->op, &c->file, 0, &c->v, 1, c->sync);
        return;
    }
    if (c->file_open)
        env_close(&c->file);
    c->file_open = c->emptying = false;
    if (d->poisoned) {
        c->step = CK_IDLE;
        env_task_add(d->env, &d->turn);
        return;
    }
    if (res < 0) { /* the step is tried again by checkpoint_consider */
        c->waits = logdir_background_error(d, &c->starved, res, "journal/checkpoint");
        if (d->closing)
            logdir_close_step(d);
        return;
    }
    logdir_background_ok(d, &c->starved);
    step_done(d);
    step(d);
}

void checkpoint_log_done(struct log *l)
{
    struct logdir *d = l->d;

    CHECK(l->job_ck);
    l->job_ck = false;
    CHECK(d->ck.n_left > 0);
    if (--d->ck.n_left == 0 && d->ck.step == CK_LOGS) {
        d->ck.step = CK_ROOT;
        step(d);
    }
}

static void mark_dirty(struct log *l)
{
    if (l->dirty)
        return;
    l->dirty = true;
    l->d->n_dirty++;
    list_push(&l->d->dirty, &l->dirty_link);
}

/* As Kafka does at an orderly stop: the greatest timestamp gets its entry. */
static void seal_times(struct logdir *d)
{
    LIST_EACH (it, &d->logs) {
        struct log *l = list_entry(it, struct log, link);
        struct index *x = l->durable_seg ? &l->durable_seg->index : NULL;
        size_t n = x ? x->tidx.n : 0;
        if (x && index_seal(x) == 0 && x->tidx.n > n)
            mark_dirty(l);
    }
}

void checkpoint_begin(struct logdir *d, bool clean)
{
    struct checkpoint *c = &d->ck;

    if (c->step != CK_IDLE || d->poisoned || d->recovering || !d->journal.current)
        return;
    c->step = CK_LOGS;
    c->clean = clean;
    c->started = d->ck_at = d->env->now;
    c->cut = journal_here(d);
    c->op.done = on_op;
    c->n_left = 1; /* ours, until all are queued */
    if (clean)
        seal_times(d);
    for (struct list *it; (it = list_first(&d->dirty));) {
        struct log *l = list_entry(it, struct log, dirty_link);
        list_remove(it);
        l->dirty = false;
        d->n_dirty--;
        if (l->dead)
            continue;
        log_mark_cut(l);
        l->job_ck = true;
        c->n_left++;
        log_queue(l);
    }
    env_task_add(d->env, &d->turn); /* writers begin */
    if (--c->n_left == 0) {
        c->step = CK_ROOT;
        step(d);
    }
}

/* Is it time? Also takes up a step that waited for space. */
void checkpoint_consider(struct logdir *d)
{
    struct checkpoint *c = &d->ck;
    uint64_t pause = ENV_S(5);

    if (d->poisoned || d->env->dead)
        return;
    if (c->step != CK_IDLE) {
        if (c->waits && d->env->now >= d->retry_at) {
            c->waits = false;
            step(d);
        }
        return;
    }
    if (c->last_duration * 5 > pause)
        pause = c->last_duration * 5;
    if (d->n_dirty == 0 || d->closing)
        return;
    if (d->journal.used > d->o.journal_bytes_max / 2 || d->env->now >= d->ck_at + pause)
        checkpoint_begin(d, false);
}

void checkpoint_deinit(struct logdir *d)
{
    if (d->ck.file_open)
        env_close(&d->ck.file);
    d->ck.file_open = false;
    buf_deinit(&d->ck.bytes);
}
