/* broker/log/dump.c - prints what is in a file of the log directory, a line an entry, and says
 * where it is broken. Chosen by the name, for a journal's files by what they begin with; reads
 * only. */
#include "broker/log/dump.h"
#include "broker/log/internal.h"
#include <inttypes.h>
#include <stdio.h>

void dump_line(struct dump *d, const char *fmt, ...)
{
    char text[8192];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    d->line(d->user, text);
}

int dump_bad(struct dump *d, uint64_t pos, const char *what)
{
    return err_set(d->e, ERR_CORRUPT, "%s: position %" PRIu64 ": %s", d->path, pos, what);
}

int dump_read(struct dump *d, uint64_t pos, uint64_t n, struct buf *b)
{
    unsigned char *p;
    int64_t got;

    buf_reset(b);
    if (pos >= d->size)
        return 0;
    if (n > d->size - pos)
        n = d->size - pos;
    p = buf_more(b, (size_t)n);
    if (!p)
        return err_set(d->e, ERR_NOMEM, "%s: out of memory", d->path);
    got = env_read_wait(&d->file, pos, (struct span){p, (size_t)n});
    b->n = got > 0 ? (size_t)got : 0;
    return got < 0 ? err_set(d->e, (int)-got, "%s: %s", d->path, err_text((int)got)) : 0;
}

/* ---- files of equal entries ---- */

static bool zeros_to_end(struct slice v)
{
    for (size_t i = 0; i < v.n; i++)
        if (v.p[i])
            return false;
    return true;
}

static int dump_index(struct dump *d, struct slice v)
{
    int64_t last = -1;
    uint32_t last_pos = 0;

    for (size_t at = 0; at + IDX_ENTRY <= v.n; at += IDX_ENTRY) {
        int32_t delta = (int32_t)get_be32(v.p + at);
        uint32_t pos = get_be32(v.p + at + 4);
        if (zeros_to_end(slice_sub(v, at, SIZE_MAX))) {
            dump_line(d, "position: %zu reserved: %zu bytes", at, v.n - at);
            return 0;
        }
        if (delta < 0 || delta <= last || (last >= 0 && pos <= last_pos))
            return dump_bad(d, at, "the entries are not in order");
        dump_line(d, "position: %zu offset: %" PRId64 " at: %u", at, d->base + delta, pos);
        last = delta;
        last_pos = pos;
    }
    return v.n % IDX_ENTRY ? dump_bad(d, v.n - v.n % IDX_ENTRY, "ends inside an entry") : 0;
}

static int dump_timeindex(struct dump *d, struct slice v)
{
    int64_t last_ts = INT64_MIN, last = -1;

    for (size_t at = 0; at + TIDX_ENTRY <= v.n; at += TIDX_ENTRY) {
        int64_t ts = (int64_t)get_be64(v.p + at);
        int32_t delta = (int32_t)get_be32(v.p + at + 8);
        if (zeros_to_end(slice_sub(v, at, SIZE_MAX))) {
            dump_line(d, "position: %zu reserved: %zu bytes", at, v.n - at);
            return 0;
        }
        if (delta < 0 || delta < last || ts <= last_ts)
            return dump_bad(d, at, "the entries are not in order");
        dump_line(d, "position: %zu timestamp: %" PRId64 " offset: %" PRId64, at, ts,
                  d->base + delta);
        last = delta;
        last_ts = ts;
    }
    return v.n % TIDX_ENTRY ? dump_bad(d, v.n - v.n % TIDX_ENTRY, "ends inside an entry") : 0;
}

static int dump_txnindex(struct dump *d, struct slice v)
{
    int64_t last = -1;
    size_t at = 0;

    for (; at + 34 <= v.n; at += 34) {
        const unsigned char *p = v.p + at;
        int64_t end = (int64_t)get_be64(p + 18);
        if (get_be16(p) != 0)
            return dump_bad(d, at, "not an entry of version 0");
        if (end < d->base || end <= last)
            return dump_bad(d, at, "the entries are not in order");
        dump_line(d,
                  "position: %zu producerId: %" PRId64 " firstOffset: %" PRId64
                  " lastOffset: %" PRId64 " lastStableOffset: %" PRId64,
                  at, (int64_t)get_be64(p + 2), (int64_t)get_be64(p + 10), end,
                  (int64_t)get_be64(p + 26));
        last = end;
    }
    return at < v.n ? dump_bad(d, at, "ends inside an entry") : 0;
}

static int dump_snapshot(struct dump *d, struct slice v)
{
    size_t n, at, end;

    if (v.n < 10)
        return dump_bad(d, 0, "too short for a snapshot");
    if (get_be16(v.p) != 1)
        return dump_bad(d, 0, "not a snapshot of version 1");
    if (get_be32(v.p + 2) != crc32c(0, v.p + 6, v.n - 6))
        return dump_bad(d, 2, "does not match its checksum");
    n = get_be32(v.p + 6);
    end = 10 + n * 46;
    if (n > (v.n - 10) / 46 ||
        (end < v.n && (v.n - end < 8 || (v.n - end) != 8 + (size_t)get_be32(v.p + end + 4) * 32)))
        return dump_bad(d, 6, "not as many entries as it says");
    for (at = 10; at < end; at += 46) {
        const unsigned char *p = v.p + at;
        dump_line(d,
                  "position: %zu producerId: %" PRId64 " producerEpoch: %d lastSequence: %d "
                  "lastOffset: %" PRId64 " offsetDelta: %d timestamp: %" PRId64
                  " coordinatorEpoch: %d currentTxnFirstOffset: %" PRId64,
                  at, (int64_t)get_be64(p), (int16_t)get_be16(p + 8), (int32_t)get_be32(p + 10),
                  (int64_t)get_be64(p + 14), (int32_t)get_be32(p + 22), (int64_t)get_be64(p + 26),
                  (int32_t)get_be32(p + 34), (int64_t)get_be64(p + 38));
    }
    /* Ours, behind what Kafka reads: batches before the last one. */
    for (at = end + 8; at < v.n; at += 32) {
        const unsigned char *p = v.p + at;
        dump_line(d,
                  "position: %zu producerId: %" PRId64 " earlier batch, lastSequence: %d "
                  "lastOffset: %" PRId64 " offsetDelta: %d timestamp: %" PRId64,
                  at, (int64_t)get_be64(p), (int32_t)get_be32(p + 8), (int64_t)get_be64(p + 12),
                  (int32_t)get_be32(p + 20), (int64_t)get_be64(p + 24));
    }
    return 0;
}

/* ---- text ---- */

static int dump_text(struct dump *d, struct slice v)
{
    size_t at = 0;

    while (at < v.n) {
        const unsigned char *nl = memchr(v.p + at, '\n', v.n - at);
        size_t n = nl ? (size_t)(nl - (v.p + at)) : v.n - at;
        for (size_t i = 0; i < n; i++)
            if (v.p[at + i] < 0x20 && v.p[at + i] != '\t' && v.p[at + i] != '\r')
                return dump_bad(d, at + i, "not a file of a log directory that is known");
        dump_line(d, "%.*s", (int)n, v.p + at);
        at += n + 1;
    }
    return 0;
}

static int dump_small(struct dump *d, int (*each)(struct dump *d, struct slice v))
{
    struct buf b;
    int r;

    buf_init(&b, 1u << 31);
    r = dump_read(d, 0, d->size, &b);
    if (r == 0)
        r = each(d, buf_slice(&b));
    buf_deinit(&b);
    return r;
}

static bool begins(struct dump *d, const char *magic)
{
    unsigned char head[8] = {0};
    return env_read_wait(&d->file, 0, (struct span){head, sizeof head}) == 8 &&
           memcmp(head, magic, 8) == 0;
}

static int by_name(struct dump *d)
{
    static const struct {
        const char *suffix;
        int (*each)(struct dump *d, struct slice v);
    } small[] = {{".index", dump_index},
                 {".timeindex", dump_timeindex},
                 {".txnindex", dump_txnindex},
                 {".snapshot", dump_snapshot}};
    const char *name = strrchr(d->path, '/');
    size_t n;

    name = name ? name + 1 : d->path;
    n = strlen(name);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (file_name_parse(name, small[i].suffix, &d->base))
            return dump_small(d, small[i].each);
    if (file_name_parse(name, ".log", &d->base))
        return dump_log(d);
    if (begins(d, "onceCKP1"))
        return dump_checkpoint(d);
    if (begins(d, "onceJRN1") || (n == 8 && strspn(name, "0123456789") == 8))
        return dump_journal(d);
    if (n > 4 && strcmp(name + n - 4, ".log") == 0)
        return dump_log(d);
    return dump_small(d, dump_text);
}

int log_dump(struct env *env, const char *path, bool deep,
             void (*line)(void *user, const char *text), void *user, struct err *e)
{
    struct dump d = {
        .env = env, .path = path, .deep = deep, .line = line, .user = user, .e = e, .base = -1};
    int r = env_open(env, &d.file, path, ENV_READ_ONLY, &d.size);

    if (r < 0)
        return err_set(e, -r, "%s: %s", path, err_text(r));
    r = by_name(&d);
    env_close(&d.file);
    return r;
}
