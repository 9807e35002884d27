/* broker/log/recovery_read.c - walks batches at recovery: those in a segment's file, then those the
 * journal has. Each one's CRC is checked and that offsets follow on each other. */
#include "broker/log/recovery.h"
#include <inttypes.h>
#include <stdlib.h>

enum { READ_CHUNK = 256 << 10 };

static int bad(struct segment *s, uint64_t pos, const char *what, struct err *e)
{
    char path[PATH_CAP];

    segment_path(s, ".log", path);
    return err_set(e, ERR_CORRUPT, "%s: position %" PRIu64 ": %s", path, pos, what);
}

/* n bytes of the file at pos, into b (reset); fewer at its end. */
static int fill(struct segment *s, uint64_t pos, uint64_t n, struct buf *b)
{
    unsigned char *p;
    int64_t got;

    buf_reset(b);
    p = buf_more(b, (size_t)n);
    if (!p)
        return -ERR_NOMEM;
    got = env_read_wait(&s->file, pos, (struct span){p, (size_t)n});
    if (got < 0)
        return (int)got;
    b->n = (size_t)got;
    return 0;
}

static const char *check_batch(struct slice rest, int r, const struct batch_info *info,
                               int64_t *next)
{
    if (r == -ERR_SHORT)
        return "the file ends inside a batch";
    if (r == -ERR_UNSUPPORTED)
        return "not a batch of format 2";
    if (r < 0)
        return "not a batch: its header cannot be";
    if (info->base_offset < *next)
        return "the offsets go back";
    if (!batch_crc_ok(slice_sub(rest, 0, info->size)))
        return "a batch does not match its checksum";
    *next = batch_next_offset(info);
    return NULL;
}

int recovery_file(struct recovery *r, struct segment *s, uint64_t pos, uint64_t end, bool cut,
                  uint64_t *stop,
                  int (*each)(void *user, struct segment *s, uint64_t pos, struct slice batch,
                              const struct batch_info *info, struct err *e),
                  void *user, struct err *e)
{
    struct buf b;
    size_t at = 0;
    int64_t next = s->base;
    int ret = 0;

    buf_init(&b, 1u << 31);
    *stop = pos;
    while (pos < end && ret == 0) {
        struct batch_info info;
        struct slice rest = slice_sub(buf_slice(&b), at, SIZE_MAX);
        const char *what;
        ret = rest.n >= BATCH_LENGTH_BASE ? batch_header(rest, &info) : -ERR_SHORT;
        if (ret == -ERR_SHORT) {
            uint64_t want = READ_CHUNK;
            if (rest.n >= BATCH_LENGTH_BASE && info.size > want)
                want = info.size;
            if (want > end - pos)
                want = end - pos;
            if (rest.n < want) { /* more of the file is needed */
                ret = fill(s, pos, want, &b);
                at = 0;
                if (ret < 0)
                    break;
                if (b.n > rest.n)
                    continue;
                ret = -ERR_SHORT;
            }
        }
        what = check_batch(rest, ret, &info, &next);
        if (what) {
            ret = cut ? 1 : bad(s, pos, what, e);
            break;
        }
        r->report->batches_checked++;
        ret = each ? each(user, s, pos, slice_sub(rest, 0, info.size), &info, e) : 0;
        pos += info.size;
        at += info.size;
        *stop = pos;
    }
    buf_deinit(&b);
    if (ret < 0 && e && !e->code) {
        bad(s, pos, err_text(ret), e);
        e->code = -ret;
    }
    return ret < 0 ? ret : 0;
}

struct walk {
    struct log *l;
    int64_t from;
    int (*each)(void *user, struct log *l, struct slice batch, struct err *e);
    void *user;
};

static int walk_batch(void *user, struct segment *s, uint64_t pos, struct slice batch,
                      const struct batch_info *info, struct err *e)
{
    struct walk *w = user;

    (void)s;
    (void)pos;
    if (batch_last_offset(info) < w->from)
        return 0;
    return w->each(w->user, w->l, batch, e);
}

/* Where in the segment to begin for `from`; 0 is always right. */
static uint64_t begin_at(struct recovery *r, struct segment *s, int64_t from)
{
    struct buf idx, tidx;
    struct index x;
    char path[PATH_CAP];
    uint64_t pos = 0;

    if (from <= s->base)
        return 0;
    buf_init(&idx, 1u << 28);
    buf_init(&tidx, 64);
    index_init(&x, s->base);
    segment_path(s, ".index", path);
    if (read_whole(r->d->env, path, &idx) == 0 &&
        index_adopt(&x, buf_slice(&idx), buf_slice(&tidx), s->written, INT64_MAX, true) == 0)
        pos = index_position(&x, from);
    index_deinit(&x);
    buf_deinit(&idx);
    buf_deinit(&tidx);
    return pos;
}

int recovery_each(struct recovery *r, struct log *l, int64_t from,
                  int (*each)(void *user, struct log *l, struct slice batch, struct err *e),
                  void *user, struct err *e)
{
    struct walk w = {l, from, each, user};

    for (int i = 0; i < l->n_segs; i++) {
        struct segment *s = l->segs[i];
        uint64_t stop;
        int ret;
        if (i + 1 < l->n_segs && l->segs[i + 1]->base <= from)
            continue;
        if (s->size_known &&
            (s->written == 0 || (!r->kafka && s->base == l->ck.seg_base && from >= l->ck.end)))
            continue;
        ret = segment_open(s, false);
        if (ret < 0)
            return bad(s, 0, err_text(ret), e);
        ret =
            recovery_file(r, s, begin_at(r, s, from), s->written, false, &stop, walk_batch, &w, e);
        segment_close(s);
        if (ret < 0)
            return ret;
    }
    for (uint32_t i = 0; l->redo && i < l->redo->n; i++) {
        struct redo_entry *x = &l->redo->v[i];
        int ret = x->at.last_offset >= from ? each(user, l, x->bytes, e) : 0;
        if (ret < 0)
            return ret;
    }
    return 0;
}
