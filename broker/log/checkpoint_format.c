/* broker/log/checkpoint_format.c - see the header. The CRC covers everything, so whatever passes it
 * was written by us; lengths are checked all the same. */
#include "broker/log/checkpoint_format.h"

static const unsigned char magic[8] = {'o', 'n', 'c', 'e', 'C', 'K', 'P', '1'};

enum { AT_LOGS = 72, AT_CRC = 76, AT_SIZE = 80 };

void checkpoint_start(struct buf *out, const struct checkpoint_head *h)
{
    unsigned char *p = buf_more(out, CHECKPOINT_HEAD);

    if (!p)
        return;
    memset(p, 0, CHECKPOINT_HEAD);
    memcpy(p, magic, sizeof magic);
    put_be32(p + 8, h->flags);
    put_be32(p + 12, (uint32_t)h->epoch);
    memcpy(p + 16, h->salt, 16);
    memcpy(p + 32, h->boot, 16);
    put_be64(p + 48, h->seq);
    put_be32(p + 56, h->file);
    put_be64(p + 64, h->pos);
}

void checkpoint_add(struct buf *out, const struct checkpoint_log *l)
{
    unsigned char *p = buf_more(out, CHECKPOINT_LOG);

    if (!p)
        return;
    memset(p, 0, CHECKPOINT_LOG);
    memcpy(p, l->id.b, 16);
    put_be32(p + 16, (uint32_t)l->partition);
    put_be64(p + 24, (uint64_t)l->start);
    put_be64(p + 32, (uint64_t)l->end);
    put_be64(p + 40, (uint64_t)l->seg_base);
    put_be64(p + 48, l->pos);
    put_be64(p + 56, l->sealed_bytes);
    put_be64(p + 64, (uint64_t)l->first_ts);
    put_be64(p + 72, (uint64_t)l->max_ts);
    put_be64(p + 80, (uint64_t)l->max_off);
    put_be64(p + 88, (uint64_t)l->created_ms);
    put_be64(p + 96, (uint64_t)l->snapshot);
    put_be64(p + 104, (uint64_t)l->stateless);
    put_be32(p + 112, (uint32_t)l->topic.n);
    put_be32(p + 116, l->txn_sum);
    put_be64(p + 120, l->since);
    put_be64(p + 128, l->idx_bytes);
    put_be64(p + 136, l->tidx_bytes);
    put_be64(p + 144, (uint64_t)l->last_tidx_ts);
    put_be64(p + 152, (uint64_t)l->last_tidx_off);
    buf_put_slice(out, l->topic);
}

static uint32_t crc_of(struct slice file)
{
    static const unsigned char zero[4];
    uint32_t c = crc32c(0, file.p, AT_CRC);

    c = crc32c(c, zero, 4);
    return crc32c(c, file.p + AT_CRC + 4, file.n - AT_CRC - 4);
}

int checkpoint_finish(struct buf *out, uint32_t n_logs)
{
    if (out->failed)
        return out->failed;
    put_be32(out->p + AT_LOGS, n_logs);
    put_be64(out->p + AT_SIZE, out->n);
    put_be32(out->p + AT_CRC, crc_of(buf_slice(out)));
    return 0;
}

int checkpoint_parse(struct slice file, struct checkpoint_head *h)
{
    if (file.n < CHECKPOINT_HEAD || memcmp(file.p, magic, sizeof magic) != 0 ||
        get_be64(file.p + AT_SIZE) != file.n || get_be32(file.p + AT_CRC) != crc_of(file))
        return -ERR_CORRUPT;
    h->flags = get_be32(file.p + 8);
    h->epoch = (int32_t)get_be32(file.p + 12);
    memcpy(h->salt, file.p + 16, 16);
    memcpy(h->boot, file.p + 32, 16);
    h->seq = get_be64(file.p + 48);
    h->file = get_be32(file.p + 56);
    h->pos = get_be64(file.p + 64);
    h->n_logs = get_be32(file.p + AT_LOGS);
    return 0;
}

int checkpoint_next(struct slice file, size_t *at, struct checkpoint_log *l)
{
    const unsigned char *p = file.p + *at;
    size_t n;

    if (*at > file.n || file.n - *at < CHECKPOINT_LOG)
        return -ERR_CORRUPT;
    n = get_be32(p + 112);
    if (n > file.n - *at - CHECKPOINT_LOG)
        return -ERR_CORRUPT;
    memcpy(l->id.b, p, 16);
    l->partition = (int32_t)get_be32(p + 16);
    l->start = (int64_t)get_be64(p + 24);
    l->end = (int64_t)get_be64(p + 32);
    l->seg_base = (int64_t)get_be64(p + 40);
    l->pos = get_be64(p + 48);
    l->sealed_bytes = get_be64(p + 56);
    l->first_ts = (int64_t)get_be64(p + 64);
    l->max_ts = (int64_t)get_be64(p + 72);
    l->max_off = (int64_t)get_be64(p + 80);
    l->created_ms = (int64_t)get_be64(p + 88);
    l->snapshot = (int64_t)get_be64(p + 96);
    l->stateless = (int64_t)get_be64(p + 104);
    l->txn_sum = get_be32(p + 116);
    l->since = get_be64(p + 120);
    l->idx_bytes = get_be64(p + 128);
    l->tidx_bytes = get_be64(p + 136);
    l->last_tidx_ts = (int64_t)get_be64(p + 144);
    l->last_tidx_off = (int64_t)get_be64(p + 152);
    l->topic = slice_of(p + CHECKPOINT_LOG, n);
    *at += CHECKPOINT_LOG + n;
    return 0;
}
