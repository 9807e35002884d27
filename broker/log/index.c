/* broker/log/index.c - the rules of index.h over two arrays of big-endian entries. */
#include "broker/log/index.h"
#include "base/bytes.h"
#include "base/check.h"
#include <stdlib.h>

enum { INDEX_MAX = 64 << 20 };

void index_init(struct index *x, int64_t base)
{
    memset(x, 0, sizeof *x);
    x->base = base;
    x->max_ts = x->last_tidx_ts = -1;
    x->max_off = x->last_tidx_off = base;
    buf_init(&x->idx, INDEX_MAX);
    buf_init(&x->tidx, INDEX_MAX);
}

void index_deinit(struct index *x)
{
    buf_deinit(&x->idx);
    buf_deinit(&x->tidx);
    free(x->idx_file);
    free(x->tidx_file);
    x->idx_file = x->tidx_file = NULL;
}

/* The greatest timestamp so far, if it is news. */
static int put_time(struct index *x)
{
    unsigned char *p;

    if (x->max_ts <= x->last_tidx_ts)
        return 0;
    p = buf_more(&x->tidx, TIDX_ENTRY);
    if (!p)
        return -ERR_NOMEM;
    put_be64(p, (uint64_t)x->max_ts);
    put_be32(p + 8, (uint32_t)(x->max_off - x->base));
    x->last_tidx_ts = x->max_ts;
    x->last_tidx_off = x->max_off;
    return 0;
}

int index_append(struct index *x, uint64_t position, uint32_t size, int64_t last_offset,
                 int64_t max_ts, int32_t interval_bytes)
{
    if (max_ts > x->max_ts) {
        x->max_ts = max_ts;
        x->max_off = last_offset;
    }
    if (x->since > (uint64_t)interval_bytes) {
        unsigned char *p = buf_more(&x->idx, IDX_ENTRY);
        if (!p)
            return -ERR_NOMEM;
        put_be32(p, (uint32_t)(last_offset - x->base));
        put_be32(p + 4, (uint32_t)position);
        if (put_time(x) < 0)
            return -ERR_NOMEM;
        x->since = 0;
    }
    x->since += size;
    return 0;
}

int index_seal(struct index *x)
{
    return put_time(x);
}

uint64_t index_n_offsets(const struct index *x)
{
    return (x->idx_filed + x->idx.n) / IDX_ENTRY;
}

uint64_t index_n_times(const struct index *x)
{
    return (x->tidx_filed + x->tidx.n) / TIDX_ENTRY;
}

static const unsigned char *idx_at(const struct index *x, uint64_t i)
{
    uint64_t filed = x->idx_filed / IDX_ENTRY;
    if (i >= filed)
        return x->idx.p + (i - filed) * IDX_ENTRY;
    CHECK(x->idx_file);
    return x->idx_file + i * IDX_ENTRY;
}

static const unsigned char *tidx_at(const struct index *x, uint64_t i)
{
    uint64_t filed = x->tidx_filed / TIDX_ENTRY;
    if (i >= filed)
        return x->tidx.p + (i - filed) * TIDX_ENTRY;
    CHECK(x->tidx_file);
    return x->tidx_file + i * TIDX_ENTRY;
}

uint64_t index_position(const struct index *x, int64_t offset)
{
    uint64_t lo = x->broken ? x->idx_filed / IDX_ENTRY : 0, hi = index_n_offsets(x), none = lo;

    /* An entry's offset is the last one of its batch: the batch begins at or before `offset` only
     * if the entry's offset is. */
    while (lo < hi) {
        uint64_t mid = (lo + hi) / 2;
        if (x->base + (int32_t)get_be32(idx_at(x, mid)) <= offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > none ? get_be32(idx_at(x, lo - 1) + 4) : 0;
}

int64_t index_time_before(const struct index *x, int64_t ts)
{
    uint64_t lo = x->broken ? x->tidx_filed / TIDX_ENTRY : 0, hi = index_n_times(x), none = lo;

    while (lo < hi) {
        uint64_t mid = (lo + hi) / 2;
        if ((int64_t)get_be64(tidx_at(x, mid)) < ts)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > none ? x->base + (int32_t)get_be32(tidx_at(x, lo - 1) + 8) : x->base;
}

static int adopt_offsets(struct slice *v, int64_t base, uint64_t end_position, int64_t end_offset,
                         uint64_t *last_position)
{
    int64_t last = -1;
    size_t n = 0;

    *last_position = 0;
    for (; n + IDX_ENTRY <= v->n; n += IDX_ENTRY) {
        int64_t delta = (int32_t)get_be32(v->p + n);
        uint64_t position = get_be32(v->p + n + 4);
        if (delta == 0 &&
            position == 0) /* the zeros that Kafka reserves; a real entry has neither */
            break;
        if (base + delta >= end_offset || position >= end_position)
            break;
        if (delta < 0 || delta <= last || (n > 0 && position <= *last_position))
            return -ERR_CORRUPT;
        last = delta;
        *last_position = position;
    }
    v->n = n;
    return 0;
}

static int adopt_times(struct index *x, struct slice *v, int64_t end_offset)
{
    size_t n = 0;

    x->last_tidx_ts = -1;
    x->last_tidx_off = x->base;
    for (; n + TIDX_ENTRY <= v->n; n += TIDX_ENTRY) {
        int64_t ts = (int64_t)get_be64(v->p + n);
        int64_t off = x->base + (int32_t)get_be32(v->p + n + 8);
        if (ts == 0 && off == x->base && n > 0)
            break;
        if (off >= end_offset)
            break;
        if (off < x->base || off < x->last_tidx_off || ts <= x->last_tidx_ts)
            return -ERR_CORRUPT;
        x->last_tidx_ts = ts;
        x->last_tidx_off = off;
    }
    v->n = n;
    return 0;
}

static int keep_copy(unsigned char **to, struct slice v)
{
    free(*to);
    *to = NULL;
    if (!v.n)
        return 0;
    *to = malloc(v.n);
    if (!*to)
        return -ERR_NOMEM;
    memcpy(*to, v.p, v.n);
    return 0;
}

int index_adopt(struct index *x, struct slice idx, struct slice tidx, uint64_t end_position,
                int64_t end_offset, bool keep)
{
    uint64_t last_position;

    if (adopt_offsets(&idx, x->base, end_position, end_offset, &last_position) < 0 ||
        adopt_times(x, &tidx, end_offset) < 0)
        return -ERR_CORRUPT;
    buf_reset(&x->idx);
    buf_reset(&x->tidx);
    x->since = end_position - last_position;
    x->idx_filed = idx.n;
    x->tidx_filed = tidx.n;
    if (x->last_tidx_ts > x->max_ts) {
        x->max_ts = x->last_tidx_ts;
        x->max_off = x->last_tidx_off;
    }
    if (!keep)
        return 0;
    x->loaded = true;
    if (keep_copy(&x->idx_file, idx) < 0 || keep_copy(&x->tidx_file, tidx) < 0)
        return -ERR_NOMEM;
    return 0;
}
