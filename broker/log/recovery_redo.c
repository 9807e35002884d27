/* broker/log/recovery_redo.c - for one log: the producers' state is replayed (reading), then what
 * the journal has is written to the segments and all that is kept is made durable (writing).
 *
 * Written again even where the file has it: bytes that a dead process left in the page cache may be
 * lost yet, and after a failed sync the kernel calls them clean. Nobody is served from them
 * before. */
#include "broker/log/recovery.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- producers' state ---- */

/* The entries of markers below `limit`: into memory, and the sum of their CRCs. */
static uint32_t load_txnindex(struct recovery *r, struct segment *s, int64_t limit)
{
    char path[PATH_CAP];
    struct buf b;
    int64_t last = -1;
    uint32_t sum = 0;

    buf_reset(&s->txn);
    s->txn_filed = 0;
    segment_path(s, ".txnindex", path);
    buf_init(&b, 1u << 30);
    if (!s->has_index[2] || read_whole(r->d->env, path, &b) < 0)
        b.n = 0;
    for (size_t at = 0; at + 34 <= b.n; at += 34) {
        int64_t first = (int64_t)get_be64(b.p + at + 10);
        int64_t off = (int64_t)get_be64(b.p + at + 18);
        /* An end that a power cut left, zeros above all, is none: there a transaction begins before
         * its marker. */
        if (get_be16(b.p + at) != 0 || first < 0 || first >= off || off <= last || off < s->base ||
            off >= limit)
            break;
        last = off;
        if (buf_put(&s->txn, b.p + at, 34) == 0)
            sum += crc32c(0, b.p + at, 34);
    }
    s->txn_filed = s->txn.n;
    buf_deinit(&b);
    return sum;
}

static uint32_t load_txnindexes(struct recovery *r, struct log *l, int64_t limit)
{
    uint32_t sum = 0;

    for (int i = 0; i < l->n_segs; i++)
        sum += load_txnindex(r, l->segs[i], limit);
    return sum;
}

/* Are the files of aborted transactions what they were at the checkpoint? A reader without them
 * would take aborted records for committed ones. */
static bool txnindexes_whole(struct recovery *r, struct log *l)
{
    if (load_txnindexes(r, l, l->ck.end) == l->ck.txn_sum)
        return true;
    env_warn(r->d->env, "%s: a .txnindex file is missing or damaged, made again from the segments",
             l->path);
    for (int i = 0; i < l->n_segs; i++) {
        buf_reset(&l->segs[i]->txn);
        l->segs[i]->txn_filed = 0;
    }
    l->txn_sum = 0;
    l->txn_rebuilt = true;
    return false;
}

/* Loads the snapshot at `offset`: 0 taken; else it goes. */
static int load_snapshot(struct recovery *r, struct log *l, int64_t offset)
{
    struct logdir *d = r->d;
    char path[PATH_CAP];
    struct buf b;
    int ret;

    snprintf(path, sizeof path, "%s/%020" PRId64 ".snapshot", l->path, offset);
    buf_init(&b, 1u << 31);
    ret = read_whole(d->env, path, &b);
    if (ret == 0)
        ret = d->hooks.snapshot_load(d->hooks.user, l, offset, buf_slice(&b));
    buf_deinit(&b);
    if (ret < 0)
        env_warn(d->env, "%s: not used: %s", path, err_text(ret));
    return ret;
}

static int replay_batch(void *user, struct log *l, struct slice batch, struct err *e)
{
    struct logdir *d = user;
    int r = d->hooks.replay(d->hooks.user, l, batch, e);

    return r < 0 && e && !e->code ? err_set(e, -r, "%s: replay: %s", l->path, err_text(r)) : r;
}

int recovery_replay(struct recovery *r, struct log *l, struct err *e)
{
    struct logdir *d = r->d;
    int64_t from = l->start;
    bool whole = r->kafka || txnindexes_whole(r, l);

    if (whole && !(l->flags & LOG_REPLAY_ALL)) {
        int64_t stateless = l->ck.stateless <= l->durable ? l->ck.stateless : -1;
        if (stateless > from)
            from = stateless;
        for (int i = 0; i < 2; i++) {
            int64_t at = l->snapshots[i];
            if (at < 0 || at > l->durable || at <= stateless || !d->hooks.snapshot_load)
                continue;
            if (load_snapshot(r, l, at) == 0) {
                from = at;
                break;
            }
        }
    }
    if (whole)
        l->txn_sum = load_txnindexes(r, l, from > l->ck.end ? from : l->ck.end);
    if (!d->hooks.replay || from >= l->durable)
        return 0;
    return recovery_each(r, l, from, replay_batch, d, e);
}

/* ---- writing ---- */

struct redoing {
    struct recovery *r;
    struct log *l;
    int sync; /* ENV_SYNC, or 0 under the mutation that forgets it */
};

static int io_error(struct err *e, const char *path, int64_t res)
{
    return err_set(e, (int)-res, "%s: %s", path, err_text((int)res));
}

/* Where a directory goes that stands in the log's place: to be removed if we know that it was
 * ours. */
static void foreign_path(struct redoing *x, char to[PATH_CAP])
{
    struct log *l = x->l;
    struct uuid id, said;
    struct buf b;
    char from[PATH_CAP];
    unsigned char key[20];
    bool known = false;

    l->d->env->vt->random(l->d->env, &id, sizeof id); /* unless it says */
    buf_init(&b, 1 << 16);
    snprintf(from, sizeof from, "%s/partition.metadata", l->path);
    if (read_whole(l->d->env, from, &b) == 0 &&
        partition_metadata_parse(buf_slice(&b), &said) == 0) {
        id = said;
        log_key(&id, l->partition, key);
        known = map_get(&x->r->ck_logs, slice_of(key, sizeof key)) ||
                map_get(&x->r->redo, slice_of(key, sizeof key));
    }
    buf_deinit(&b);
    log_gone_path(l, &id, known ? "delete" : "stray", to);
    if (!known)
        env_warn(l->d->env, "%s: of no topic that is known; kept as %s", l->path, to);
}

static int make_dir(struct redoing *x, struct err *e)
{
    struct log *l = x->l;
    struct env *env = l->d->env;
    char path[PATH_CAP];
    struct env_file f;
    struct buf b;
    struct slice v;
    uint64_t size;
    int64_t r;

    if (l->dir_of_other) {
        foreign_path(x, path);
        r = env->vt->rename(env, l->path, path);
        if (r < 0)
            return io_error(e, l->path, r);
        l->d->root_dirty = true;
        l->dir_of_other = false;
        (void)buf_put(&x->r->names, strrchr(path, '/') + 1, strlen(strrchr(path, '/')));
    }
    if ((l->dir_made && l->owner_synced) || !l->redo)
        return 0;
    r = env->vt->mkdir(env, l->path);
    if (r < 0 && r != -ERR_EXISTS)
        return io_error(e, l->path, r);
    buf_init(&b, 1 << 10);
    partition_metadata_make(l, &b);
    snprintf(path, sizeof path, "%s/partition.metadata", l->path);
    r = env_open(env, &f, path, ENV_CREATE, &size);
    if (r == 0) {
        v = buf_slice(&b);
        r = env->vt->truncate_wait(&f, 0);
        if (r >= 0)
            r = env_write_wait(&f, 0, &v, 1, x->sync);
        env_close(&f);
    }
    buf_deinit(&b);
    if (r < 0)
        return io_error(e, path, r);
    l->dir_made = l->dir_dirty = l->d->root_dirty = true;
    l->owner_synced = x->sync != 0;
    return 0;
}

/* Entries k.. of the redo that belong to s, in one write; k moves on. */
static int write_some(struct redoing *x, struct segment *s, uint32_t *k, struct err *e)
{
    struct redo *redo = x->l->redo;
    struct slice v[256];
    uint64_t at = redo->v[*k].at.position, end = at;
    char path[PATH_CAP];
    int64_t r;
    int n = 0;

    for (; *k < redo->n && n < 256 && redo->v[*k].at.segment_base == s->base; ++*k) {
        v[n++] = redo->v[*k].bytes;
        end += redo->v[*k].bytes.n;
    }
    r = env_write_wait(&s->file, at, v, n, 0);
    if (r < 0) {
        segment_path(s, ".log", path);
        return io_error(e, path, r);
    }
    s->written = end;
    return 0;
}

/* A small file's whole rest: what is in memory at `filed`, and nothing behind it. */
static int write_rest(struct redoing *x, struct segment *s, const char *suffix, struct buf *b,
                      size_t skip, uint64_t *filed, struct err *e)
{
    struct env *env = x->l->d->env;
    struct slice v = slice_sub(buf_slice(b), skip, SIZE_MAX);
    char path[PATH_CAP];
    struct env_file f;
    uint64_t size;
    int64_t r;

    segment_path(s, suffix, path);
    r = env_open(env, &f, path, ENV_CREATE, &size);
    if (r < 0)
        return io_error(e, path, r);
    if (size < *filed)
        r = -ERR_CORRUPT; /* rebuilt by the caller */
    if (r >= 0 && size > *filed)
        r = env->vt->truncate_wait(&f, *filed);
    if (r >= 0 && (v.n || size != *filed))
        r = env_write_wait(&f, *filed, &v, v.n ? 1 : 0, x->sync);
    env_close(&f);
    if (r < 0)
        return r == -ERR_CORRUPT ? -ERR_CORRUPT : io_error(e, path, r);
    *filed += v.n;
    x->l->dir_dirty = true;
    return 0;
}

static int rebuild_batch(void *user, struct segment *s, uint64_t pos, struct slice batch,
                         const struct batch_info *info, struct err *e)
{
    struct index *x = user;

    (void)batch;
    (void)e;
    return index_append(x, pos, (uint32_t)info->size, batch_last_offset(info), info->max_timestamp,
                        s->log->config.index_interval_bytes);
}

/* The index files are missing or too short: made again from the segment. */
static int rebuild(struct redoing *x, struct segment *s, struct err *e)
{
    struct index *i = &s->index;
    uint64_t stop;
    int r;

    index_deinit(i);
    index_init(i, s->base);
    i->loaded = true;
    x->r->report->indexes_rebuilt++;
    x->r->report->segments_scanned++;
    r = recovery_file(x->r, s, 0, s->written, false, &stop, rebuild_batch, i, e);
    return r < 0 ? r : s->index_sealed ? index_seal(i) : 0;
}

static int write_index(struct redoing *x, struct segment *s, struct err *e)
{
    struct index *i = &s->index;
    int r = 0;

    for (int again = 0; again < 2; again++) {
        r = write_rest(x, s, ".index", &i->idx, 0, &i->idx_filed, e);
        if (r == 0)
            r = write_rest(x, s, ".timeindex", &i->tidx, 0, &i->tidx_filed, e);
        if (r != -ERR_CORRUPT || again)
            break;
        r = rebuild(x, s, e);
        if (r < 0)
            return r;
    }
    if (r < 0)
        return r;
    /* Memory begins with what is not in the files. */
    buf_reset(&i->idx);
    buf_reset(&i->tidx);
    i->loaded = false;
    free(i->idx_file);
    free(i->tidx_file);
    i->idx_file = i->tidx_file = NULL;
    s->has_index[0] = s->has_index[1] = true;
    if (s->txn.n > s->txn_filed || s->has_index[2]) {
        r = write_rest(x, s, ".txnindex", &s->txn, (size_t)s->txn_filed, &s->txn_filed, e);
        s->has_index[2] = true;
    }
    return r;
}

static int redo_segment(struct redoing *x, struct segment *s, uint32_t *k, struct err *e)
{
    struct redo *redo = x->l->redo;
    struct env *env = x->l->d->env;
    char path[PATH_CAP];
    int64_t r;
    int ret = segment_open(s, true);

    segment_path(s, ".log", path);
    if (ret < 0)
        return io_error(e, path, ret);
    x->l->dir_dirty = true;
    while (ret == 0 && redo && *k < redo->n && redo->v[*k].at.segment_base == s->base)
        ret = write_some(x, s, k, e);
    if (ret < 0)
        return ret;
    r = env->vt->size(&s->file);
    if (r > (int64_t)s->durable_pos) {
        x->r->report->bytes_cut += (uint64_t)r - s->durable_pos;
        env_warn(env, "%s: cut from %" PRId64 " to %" PRIu64 " bytes", path, r, s->durable_pos);
        r = env->vt->truncate_wait(&s->file, s->durable_pos);
    }
    if (r >= 0 && x->sync)
        r = env_write_wait(&s->file, 0, NULL, 0, ENV_SYNC);
    if (r < 0)
        return io_error(e, path, r);
    s->synced = s->written;
    ret = write_index(x, s, e);
    segment_close(s);
    return ret;
}

/* Segments and snapshots beyond the end, which a run with --durability async may leave. */
static int drop_beyond(struct redoing *x, struct err *e)
{
    static const struct {
        char c;
        const char *text;
    } names[] = {{'l', ".log"},
                 {'i', ".index"},
                 {'t', ".timeindex"},
                 {'x', ".txnindex"},
                 {'s', ".snapshot"}};
    struct log *l = x->l;
    struct env *env = l->d->env;
    struct dir_list files;
    int r = dir_list(l->d, l->path, &files);

    for (int i = 0; r == 0 && i < files.n; i++) {
        const struct dir_file *f = &files.v[i];
        struct segment *s = log_segment(l, f->offset);
        char path[PATH_CAP];
        bool keep = f->suffix == 's' ? f->offset <= l->durable : s && s->base == f->offset;
        for (size_t k = 0; !keep && k < sizeof names / sizeof *names; k++) {
            if (names[k].c != f->suffix)
                continue;
            snprintf(path, sizeof path, "%s/%020" PRId64 "%s", l->path, f->offset, names[k].text);
            r = env->vt->remove_wait(env, path);
            if (r < 0)
                io_error(e, path, r);
            l->dir_dirty = true;
        }
    }
    free(files.v);
    for (int i = 0; i < 2; i++)
        while (l->snapshots[i] > l->durable) {
            l->snapshots[i] = i ? -1 : l->snapshots[1];
            l->snapshots[1] = -1;
        }
    return r;
}

static int write_epochs(struct redoing *x, struct err *e)
{
    struct log *l = x->l;
    struct env *env = l->d->env;
    char tmp[PATH_CAP], path[PATH_CAP];
    struct env_file f;
    struct buf b;
    struct slice v;
    uint64_t size;
    int64_t r;

    if (!l->epochs_dirty || !l->dir_made)
        return 0;
    buf_init(&b, 1 << 26);
    r = epochs_make(l, &b);
    snprintf(path, sizeof path, "%s/leader-epoch-checkpoint", l->path);
    snprintf(tmp, sizeof tmp, "%s/leader-epoch-checkpoint.tmp", l->path);
    if (r == 0)
        r = env_open(env, &f, tmp, ENV_CREATE, &size);
    if (r == 0) {
        v = buf_slice(&b);
        r = env->vt->truncate_wait(&f, 0);
        if (r >= 0)
            r = env_write_wait(&f, 0, &v, 1, x->sync);
        env_close(&f);
        if (r >= 0)
            r = env->vt->rename(env, tmp, path);
    }
    buf_deinit(&b);
    if (r < 0)
        return io_error(e, path, r);
    l->epochs_dirty = false;
    l->dir_dirty = true;
    return 0;
}

/* Are the index files there, as long as the checkpoint says? A segment that nobody touched is not
 * opened for this when its names are there. */
static bool index_missing(const struct segment *s)
{
    return s->durable_pos > 0 && (s->index.idx_filed || s->index.tidx_filed) &&
           !(s->has_index[0] && s->has_index[1]);
}

int recovery_redo(struct recovery *r, struct log *l, struct err *e)
{
    bool sync = !MUTATED(r->d->env->mutations, RECOVERY_NO_SYNC);
    struct redoing x = {r, l, sync ? ENV_SYNC : 0};
    uint32_t k = 0;
    int ret = make_dir(&x, e);
    bool untouched = !l->redo && r->found && r->sync && !r->kafka;

    for (int i = 0; i < l->n_segs && ret == 0; i++) {
        struct segment *s = l->segs[i];
        bool redone = l->redo && k < l->redo->n && l->redo->v[k].at.segment_base == s->base;
        if (s->size_known && (redone || !untouched || index_missing(s) || s->txn.n > s->txn_filed))
            ret = redo_segment(&x, s, &k, e);
    }
    if (ret == 0 && l->dir_made && !untouched)
        ret = drop_beyond(&x, e);
    if (ret == 0)
        ret = write_epochs(&x, e);
    if (ret == 0 && l->dir_dirty && sync) {
        ret = r->d->env->vt->sync_dir_wait(r->d->env, l->path);
        if (ret < 0)
            io_error(e, l->path, ret);
        l->dir_dirty = false;
    }
    return ret;
}
