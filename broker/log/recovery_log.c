/* broker/log/recovery_log.c - the reading phase for one log: where it ends, by the checkpoint and
 * the journal, and whether its segments agree.
 *
 * The segment may lack what the journal has, and, after a power cut, hold garbage there: it is
 * written again. Without a power cut in between, written bytes are either absent or right; others
 * mean that the disk changed them. Beyond the journal's end a segment holds nothing: it gets bytes
 * only after their round is durable. What lies there proves that a round was durable that cannot be
 * read any more. */
#include "broker/log/recovery.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int read_whole(struct env *env, const char *path, struct buf *out)
{
    struct env_file f;
    uint64_t size;
    int64_t n = 0;
    int r = env_open(env, &f, path, ENV_READ_ONLY, &size);

    buf_reset(out);
    if (r < 0)
        return r;
    if (size) {
        unsigned char *p = buf_more(out, (size_t)size);
        n = p ? env_read_wait(&f, 0, (struct span){p, (size_t)size}) : -ERR_NOMEM;
        out->n = n > 0 ? (size_t)n : 0;
    }
    env_close(&f);
    return n < 0 ? (int)n : 0;
}

/* ---- the directory's names ---- */

static void each_name(void *user, const char *name)
{
    static const struct {
        const char *text;
        char c;
    } suffixes[] = {{".log", 'l'},
                    {".index", 'i'},
                    {".timeindex", 't'},
                    {".txnindex", 'x'},
                    {".snapshot", 's'}};
    struct dir_list *l = user;
    struct dir_file f;

    if (strcmp(name, "partition.metadata") == 0)
        l->metadata = true;
    if (strcmp(name, "leader-epoch-checkpoint") == 0)
        l->epochs = true;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (!file_name_parse(name, suffixes[i].text, &f.offset))
            continue;
        f.suffix = suffixes[i].c;
        if (l->n == l->cap) {
            int cap = l->cap ? l->cap * 2 : 16;
            struct dir_file *v = realloc(l->v, (size_t)cap * sizeof *v);
            if (!v) {
                l->failed = true;
                return;
            }
            l->v = v;
            l->cap = cap;
        }
        l->v[l->n++] = f;
        return;
    }
}

int dir_list(struct logdir *d, const char *path, struct dir_list *out)
{
    int r;

    memset(out, 0, sizeof *out);
    r = d->env->vt->list(d->env, path, each_name, out);
    out->there = r == 0;
    if (r == -ERR_NOT_FOUND)
        return 0;
    return out->failed ? -ERR_NOMEM : r;
}

static int wrong(struct log *l, struct err *e, const char *what)
{
    return err_set(e, ERR_CORRUPT, "%s: %s", l->path, what);
}

static struct segment *add_segment(struct log *l, int64_t base)
{
    struct segment *s = segment_new(l, base);

    if (s && log_add_segment(l, s) < 0) {
        segment_free(s);
        s = NULL;
    }
    return s;
}

static void mark_files(struct log *l, const struct dir_list *files)
{
    for (int i = 0; i < files->n; i++) {
        const struct dir_file *f = &files->v[i];
        struct segment *s = log_segment(l, f->offset);
        if (!s || s->base != f->offset)
            continue;
        s->has_index[0] = s->has_index[0] || f->suffix == 'i';
        s->has_index[1] = s->has_index[1] || f->suffix == 't';
        s->has_index[2] = s->has_index[2] || f->suffix == 'x';
    }
}

/* ---- what the checkpoint says ---- */

/* Of the segments before the checkpoint's only the sizes are looked at. What is replayed must be
 * whole; elsewhere the rest is served, and a reader of what is missing gets an error. */
static int check_sealed(struct log *l, const struct checkpoint_log *c, struct err *e)
{
    uint64_t sum = 0, size;
    char path[PATH_CAP];
    struct env_file f;
    int n = 0, r;

    for (; n < l->n_segs && l->segs[n]->base < c->seg_base; n++) {
        segment_path(l->segs[n], ".log", path);
        r = env_open(l->d->env, &f, path, ENV_READ_ONLY, &size);
        if (r < 0)
            return err_set(e, -r, "%s: cannot be opened: %s", path, err_text(r));
        env_close(&f);
        sum += size;
    }
    if (sum == c->sealed_bytes)
        return 0;
    r = err_set(e, ERR_CORRUPT,
                "%s: the %d segments before %020" PRId64 ".log have %" PRIu64
                " bytes, the checkpoint counts %" PRIu64
                ": one is missing or was changed (`once log dump` finds it); put it back",
                l->path, n, c->seg_base, sum, c->sealed_bytes);
    if (l->flags & LOG_REPLAY_ALL)
        return r;
    env_error(l->d->env, "%s", e->text);
    memset(e, 0, sizeof *e);
    return 0;
}

static int from_checkpoint(struct log *l, const struct checkpoint_log *c,
                           const struct dir_list *files, struct err *e)
{
    struct segment *s = NULL;

    l->ck = *c;
    l->start = c->start;
    l->durable = l->end = c->end;
    l->durable_sealed_bytes = l->sealed_bytes = c->sealed_bytes;
    if (!files->there && c->pos == 0 && c->sealed_bytes == 0)
        return 0;
    if (!files->there)
        return wrong(l, e, "the directory is missing, the checkpoint names it");
    for (int i = 0; i < files->n; i++)
        if (files->v[i].suffix == 'l' && files->v[i].offset <= c->seg_base &&
            !(files->v[i].offset == c->seg_base && c->pos == 0)) {
            s = add_segment(l, files->v[i].offset);
            if (!s)
                return err_set(e, ERR_NOMEM, "%s: out of memory", l->path);
            s->index_sealed = true;
        }
    if (check_sealed(l, c, e) < 0)
        return -(int)e->code;
    if (c->pos == 0) {
        if (!s)
            return 0;
        l->durable_seg = add_segment(l, c->seg_base); /* rolled, nothing in it yet */
        if (!l->durable_seg)
            return err_set(e, ERR_NOMEM, "%s: out of memory", l->path);
        l->durable_seg->size_known = l->durable_seg->index_known = true;
        return 0;
    }
    if (!s || s->base != c->seg_base)
        return err_set(e, ERR_CORRUPT, "%s/%020" PRId64 ".log: missing, the checkpoint names it",
                       l->path, c->seg_base);
    s->size_known = s->index_known = true;
    s->staged_pos = s->durable_pos = s->written = s->synced = c->pos;
    s->first_ts = c->first_ts;
    s->created_ms = c->created_ms;
    s->index.max_ts = c->max_ts;
    s->index.max_off = c->max_off;
    s->index.since = c->since;
    s->index.last_tidx_ts = c->last_tidx_ts;
    s->index.last_tidx_off = c->last_tidx_off;
    s->index.idx_filed = c->idx_bytes;
    s->index.tidx_filed = c->tidx_bytes;
    s->index_sealed = false;
    l->durable_seg = s;
    return 0;
}

/* ---- what the journal says ---- */

static bool all_zero(struct slice v)
{
    for (size_t i = 0; i < v.n; i++)
        if (v.p[i])
            return false;
    return true;
}

/* Bytes that the file has where the entry goes, compared. */
static int compare(struct recovery *r, struct segment *s, const struct redo_entry *x, uint64_t size,
                   struct err *e)
{
    uint64_t at = x->at.position;
    size_t n, i = 0;
    unsigned char *p;
    char path[PATH_CAP];
    int64_t got;
    int ret = 0;

    if (at >= size)
        return 0;
    n = size - at < x->bytes.n ? (size_t)(size - at) : x->bytes.n;
    p = malloc(n);
    if (!p)
        return err_set(e, ERR_NOMEM, "%s: out of memory", s->log->path);
    segment_path(s, ".log", path);
    got = env_read_wait(&s->file, at, (struct span){p, n});
    if (got != (int64_t)n) {
        ret = err_set(e, got < 0 ? (int)-got : ERR_IO, "%s: cannot be read", path);
        goto out;
    }
    while (i < n && p[i] == x->bytes.p[i])
        i++;
    if (i == n || all_zero(slice_of(p + i, n - i)))
        goto out;
    if (r->sync && r->same_boot)
        ret = err_set(e, ERR_CORRUPT,
                      "%s: position %" PRIu64
                      ": not the bytes that were written there (offsets from "
                      "%" PRId64 " on; the journal has them)",
                      path, at + i, x->at.base_offset);
    else if (!r->report->mended++)
        env_warn(r->d->env, "%s: position %" PRIu64 ": damaged, mended from the journal", path,
                 at + i);
out:
    free(p);
    return ret;
}

static int take_entry(struct recovery *r, struct log *l, const struct redo_entry *x, struct err *e)
{
    const struct round_entry *at = &x->at;
    struct segment *s = l->n_segs ? l->segs[l->n_segs - 1] : NULL;
    struct batch_info info;

    if (at->base_offset != l->durable || batch_header(x->bytes, &info) < 0 ||
        info.size != x->bytes.n || info.base_offset != at->base_offset ||
        batch_last_offset(&info) != at->last_offset)
        return err_set(e, ERR_CORRUPT,
                       "%s: round %" PRIu64 " of the journal does not continue it: it holds offset "
                       "%" PRId64 ", %" PRId64 " is next",
                       l->path, x->seq, at->base_offset, l->durable);
    if (!s || s->base != at->segment_base) {
        if (at->position != 0 || at->segment_base != at->base_offset)
            return wrong(l, e, "a batch of the journal names a segment that is not there");
        if (s)
            l->sealed_bytes += s->durable_pos;
        s = add_segment(l, at->segment_base);
        if (!s)
            return err_set(e, ERR_NOMEM, "%s: out of memory", l->path);
        s->size_known = true;
        s->index.loaded = s->index_known = true;
        s->created_ms = env_wall_ms(r->d->env);
    }
    if (at->position != s->durable_pos)
        return wrong(l, e, "a batch of the journal does not go where its segment ends");
    if (log_advance(l, s, at->position, &info) < 0)
        return err_set(e, ERR_NOMEM, "%s: out of memory", l->path);
    s->staged_pos = s->durable_pos;
    l->end = l->durable;
    r->report->batches_checked++;
    r->report->bytes_redone += info.size;
    return 0;
}

/* Entries against the files, and the files against the end. */
static int check_files(struct recovery *r, struct log *l, const struct dir_list *files,
                       struct err *e)
{
    for (int i = 0; i < files->n; i++) {
        struct segment *s, far = {.log = l, .base = files->v[i].offset};
        char path[PATH_CAP];
        uint64_t size, end;
        struct env_file f;
        int ret = 0;
        if (files->v[i].suffix != 'l')
            continue;
        s = log_segment(l, far.base);
        if (!s || s->base != far.base)
            s = &far;
        else if (!s->size_known)
            continue; /* below the checkpoint */
        end = s->durable_pos;
        segment_path(s, ".log", path);
        ret = env_open(r->d->env, &f, path, 0, &size);
        if (ret < 0)
            return err_set(e, -ret, "%s: cannot be opened: %s", path, err_text(ret));
        s->file = f;
        if (size < s->synced)
            ret = err_set(e, ERR_CORRUPT,
                          "%s: position %" PRIu64
                          ": the file ends before the checkpoint's %" PRIu64,
                          path, size, s->synced);
        else if (size > end && r->sync && r->found)
            ret = err_set(
                e, ERR_CORRUPT,
                "%s: position %" PRIu64 ": round %" PRIu64
                " is damaged, though it was durable: %s has bytes of it at position %" PRIu64,
                r->end_path, r->end_pos, r->head.seq + r->report->rounds, path, end);
        for (uint32_t k = 0; ret == 0 && l->redo && k < l->redo->n; k++)
            if (l->redo->v[k].at.segment_base == s->base)
                ret = compare(r, s, &l->redo->v[k], size, e);
        env_close(&f);
        if (ret < 0)
            return ret;
    }
    return 0;
}

/* Whose directory is it? A namesake's that was deleted is not ours; nor is one with data that
 * does not say whose it is, for before the first byte of data goes into a directory it does: a
 * power cut left it. */
static void check_owner(struct log *l, struct dir_list *files)
{
    struct buf b;
    struct uuid id;
    char path[PATH_CAP];
    bool says;

    buf_init(&b, 1 << 16);
    snprintf(path, sizeof path, "%s/partition.metadata", l->path);
    says = files->metadata && read_whole(l->d->env, path, &b) == 0 &&
           partition_metadata_parse(buf_slice(&b), &id) == 0;
    buf_deinit(&b);
    if (says ? uuid_eq(&id, &l->id) : files->n == 0)
        return;
    files->n = 0;
    files->there = files->metadata = files->epochs = false;
    l->dir_of_other = true;
}

int recovery_epochs(struct log *l, const struct dir_list *files, int64_t end, struct err *e)
{
    struct buf b;
    char path[PATH_CAP];
    int r;

    if (!files->epochs)
        return 0;
    buf_init(&b, 1 << 26);
    snprintf(path, sizeof path, "%s/leader-epoch-checkpoint", l->path);
    r = read_whole(l->d->env, path, &b);
    if (r == 0)
        r = epochs_parse(l, buf_slice(&b), end);
    buf_deinit(&b);
    return r < 0 ? err_set(e, -r, "%s: position 0: %s", path, err_text(r)) : 0;
}

static void note_snapshots(struct log *l, const struct dir_list *files)
{
    for (int i = 0; i < files->n; i++)
        if (files->v[i].suffix == 's' && files->v[i].offset > l->snapshots[0]) {
            l->snapshots[1] = l->snapshots[0];
            l->snapshots[0] = files->v[i].offset;
        }
}

static int open_ours(struct recovery *r, struct log *l, struct dir_list *files,
                     const struct checkpoint_log *c, struct err *e)
{
    int ret = 0;

    l->ck.snapshot = l->ck.stateless = -1;
    if (c)
        ret = from_checkpoint(l, c, files, e);
    else
        l->ck.stateless = 0; /* what the log has, the journal has */
    if (ret == 0)
        ret = recovery_epochs(l, files, c ? c->end : 0, e);
    for (uint32_t i = 0; ret == 0 && l->redo && i < l->redo->n; i++)
        ret = take_entry(r, l, &l->redo->v[i], e);
    if (ret == 0)
        ret = check_files(r, l, files, e);
    return ret;
}

/* A power cut after a run with --durability async may have undone a deletion whose directory had
 * its later name already: it is taken back, and one that a namesake has in its place steps
 * aside. */
static int take_back(struct log *l, struct dir_list *files, struct err *e)
{
    struct env *env = l->d->env;
    char gone[PATH_CAP], aside[PATH_CAP], meta[PATH_CAP];
    struct dir_list there;
    struct uuid id = {{0}};
    struct buf b;
    int r;

    log_gone_path(l, &l->id, "delete", gone);
    r = dir_list(l->d, gone, &there);
    free(there.v);
    if (r < 0 || !there.there)
        return r < 0 ? err_set(e, -r, "%s: cannot be listed: %s", gone, err_text(r)) : 0;
    if (files->there) {
        buf_init(&b, 1 << 16);
        snprintf(meta, sizeof meta, "%s/partition.metadata", l->path);
        if (read_whole(env, meta, &b) == 0)
            (void)partition_metadata_parse(buf_slice(&b), &id);
        buf_deinit(&b);
        if (uuid_eq(&id, &l->id))
            return 0;
        log_gone_path(l, &id, "delete", aside);
        r = env->vt->rename(env, l->path, aside);
    }
    if (r == 0)
        r = env->vt->rename(env, gone, l->path);
    if (r < 0)
        return err_set(e, -r, "%s: cannot be renamed: %s", gone, err_text(r));
    l->d->root_dirty = true;
    free(files->v);
    return dir_list(l->d, l->path, files);
}

int recovery_log_open(struct log *l, struct err *e)
{
    struct recovery *r = l->d->recovery;
    struct checkpoint_log *c;
    struct dir_list files;
    unsigned char key[20];
    bool solid;
    int ret = dir_list(l->d, l->path, &files);

    if (ret < 0) {
        free(files.v);
        return err_set(e, -ret, "%s: cannot be listed: %s", l->path, err_text(ret));
    }
    if (r->found && !r->sync) {
        ret = take_back(l, &files, e);
        if (ret < 0) {
            free(files.v);
            return ret;
        }
    }
    log_key(&l->id, l->partition, key);
    c = map_get(&r->ck_logs, slice_of(key, sizeof key));
    l->redo = map_get(&r->redo, slice_of(key, sizeof key));
    /* One that never got a byte stands in checkpoints too, but nobody synced its directory. */
    solid = c && (c->pos > 0 || c->sealed_bytes > 0);
    if (!solid && files.there && !r->kafka)
        check_owner(l, &files);
    ret = r->kafka ? recovery_kafka_log(r, l, &files, e) : open_ours(r, l, &files, c, e);
    if (ret == 0) {
        mark_files(l, &files);
        note_snapshots(l, &files);
        /* A solid one is ours by the checkpoint, whatever became of its partition.metadata. */
        l->dir_made = files.there && (files.metadata || solid);
        l->owner_synced = files.metadata && l->dir_made && (solid || r->kafka);
        for (int i = 0; i < l->n_epochs; i++)
            if (l->epochs[i].epoch > r->max_epoch)
                r->max_epoch = l->epochs[i].epoch;
        r->report->logs++;
    }
    free(files.v);
    return ret;
}
