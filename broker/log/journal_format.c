/* broker/log/journal_format.c - writes and reads the bytes of a round. A head that is not one of
 * ours is told apart from one that is damaged; no number is believed before its CRC is. */
#include "broker/log/journal_format.h"
#include "base/check.h"

static const unsigned char magic[8] = {'o', 'n', 'c', 'e', 'J', 'R', 'N', '1'};
static const unsigned char zeros[JOURNAL_BLOCK];

enum { AT_CRC_REST = 72, AT_CRC = 76 };
enum { ROUND_MAX = 1 << 30 };

uint64_t round_size(uint32_t n_entries, uint64_t data_bytes)
{
    uint64_t n = ROUND_HEAD + (uint64_t)n_entries * ROUND_ENTRY + data_bytes;
    return (n + JOURNAL_BLOCK - 1) / JOURNAL_BLOCK * JOURNAL_BLOCK;
}

static void put_head(unsigned char *p, const struct round_head *h)
{
    memset(p, 0, ROUND_HEAD);
    memcpy(p, magic, sizeof magic);
    memcpy(p + 8, h->salt, JOURNAL_SALT);
    put_be64(p + 24, h->seq);
    put_be64(p + 32, h->lsn);
    put_be32(p + 40, h->flags);
    put_be32(p + 44, h->n_entries);
    put_be64(p + 48, h->bytes);
    put_be64(p + 56, h->data_bytes);
    put_be32(p + 68, h->next_file);
}

static void put_entry(unsigned char *p, const struct round_entry *e)
{
    memcpy(p, e->topic_id.b, 16);
    put_be32(p + 16, (uint32_t)e->partition);
    put_be32(p + 20, e->length);
    put_be64(p + 24, (uint64_t)e->segment_base);
    put_be64(p + 32, e->position);
    put_be64(p + 40, (uint64_t)e->base_offset);
    put_be64(p + 48, (uint64_t)e->last_offset);
    put_be64(p + 56, 0);
}

/* The CRCs of the first block and of what follows it, fed with the round's bytes in order. */
struct two_crcs {
    uint32_t first, rest;
    uint64_t at;
};

static void crc_feed(struct two_crcs *c, const unsigned char *p, size_t n)
{
    if (c->at < JOURNAL_BLOCK) {
        size_t k = JOURNAL_BLOCK - c->at < n ? JOURNAL_BLOCK - (size_t)c->at : n;
        c->first = crc32c(c->first, p, k);
        c->at += k;
        p += k;
        n -= k;
    }
    c->rest = n ? crc32c(c->rest, p, n) : c->rest;
    c->at += n;
}

int round_encode(struct buf *out, struct round_head *h, const struct round_entry *entries,
                 const struct slice *v, int n)
{
    struct two_crcs c = {0};
    unsigned char *p;

    buf_reset(out);
    p = buf_more(out, ROUND_HEAD + (size_t)h->n_entries * ROUND_ENTRY);
    if (!p)
        return -ERR_NOMEM;
    for (uint32_t i = 0; i < h->n_entries; i++)
        put_entry(p + ROUND_HEAD + (size_t)i * ROUND_ENTRY, &entries[i]);
    h->data_bytes = 0;
    for (int i = 0; i < n; i++)
        h->data_bytes += v[i].n;
    h->bytes = round_size(h->n_entries, h->data_bytes);
    put_head(p, h);

    /* The rest's CRC stands in the first block: when the entries reach beyond it, it must be known
     * before the first one is taken. */
    c.at = ROUND_HEAD;
    crc_feed(&c, p + ROUND_HEAD, (size_t)h->n_entries * ROUND_ENTRY);
    for (int i = 0; i < n; i++)
        crc_feed(&c, v[i].p, v[i].n);
    crc_feed(&c, zeros, (size_t)(h->bytes - c.at));
    h->crc_rest = c.rest;
    put_be32(p + AT_CRC_REST, c.rest);

    c = (struct two_crcs){0};
    crc_feed(&c, p, out->n);
    for (int i = 0; i < n && c.at < JOURNAL_BLOCK; i++)
        crc_feed(&c, v[i].p, v[i].n < JOURNAL_BLOCK ? v[i].n : JOURNAL_BLOCK);
    if (c.at < JOURNAL_BLOCK)
        crc_feed(&c, zeros, (size_t)(JOURNAL_BLOCK - c.at));
    put_be32(p + AT_CRC, c.first);
    return 0;
}

int round_head_parse(struct slice block, struct round_head *h)
{
    uint32_t crc;

    CHECK(block.n >= JOURNAL_BLOCK);
    if (memcmp(block.p, magic, sizeof magic) != 0)
        return -ERR_NOT_FOUND;
    crc = crc32c(0, block.p, AT_CRC);
    crc = crc32c(crc, zeros, 4);
    crc = crc32c(crc, block.p + AT_CRC + 4, JOURNAL_BLOCK - AT_CRC - 4);
    if (crc != get_be32(block.p + AT_CRC))
        return -ERR_CORRUPT;
    memcpy(h->salt, block.p + 8, JOURNAL_SALT);
    h->seq = get_be64(block.p + 24);
    h->lsn = get_be64(block.p + 32);
    h->flags = get_be32(block.p + 40);
    h->n_entries = get_be32(block.p + 44);
    h->bytes = get_be64(block.p + 48);
    h->data_bytes = get_be64(block.p + 56);
    h->next_file = get_be32(block.p + 68);
    h->crc_rest = get_be32(block.p + AT_CRC_REST);
    if (h->bytes > ROUND_MAX || h->data_bytes > ROUND_MAX ||
        h->n_entries > ROUND_MAX / ROUND_ENTRY ||
        h->bytes != round_size(h->n_entries, h->data_bytes) || h->seq == 0)
        return -ERR_CORRUPT;
    return 0;
}

int round_check(const struct round_head *h, struct slice round)
{
    uint64_t total = 0;

    if (round.n != h->bytes)
        return -ERR_CORRUPT;
    if (crc32c(0, round.p + JOURNAL_BLOCK, round.n - JOURNAL_BLOCK) != h->crc_rest)
        return -ERR_CORRUPT;
    for (uint32_t i = 0; i < h->n_entries; i++) {
        const unsigned char *p = round.p + ROUND_HEAD + (size_t)i * ROUND_ENTRY;
        int64_t base = (int64_t)get_be64(p + 24), first = (int64_t)get_be64(p + 40);
        total += get_be32(p + 20);
        if (base < 0 || first < base || (int64_t)get_be64(p + 48) < first)
            return -ERR_CORRUPT;
    }
    return total == h->data_bytes ? 0 : -ERR_CORRUPT;
}

void round_entry_at(const struct round_head *h, struct slice round, uint32_t i, uint64_t *data_at,
                    struct round_entry *e, struct slice *batch)
{
    const unsigned char *p = round.p + ROUND_HEAD + (size_t)i * ROUND_ENTRY;
    uint64_t data = ROUND_HEAD + (uint64_t)h->n_entries * ROUND_ENTRY;

    CHECK(i < h->n_entries);
    memcpy(e->topic_id.b, p, 16);
    e->partition = (int32_t)get_be32(p + 16);
    e->length = get_be32(p + 20);
    e->segment_base = (int64_t)get_be64(p + 24);
    e->position = get_be64(p + 32);
    e->base_offset = (int64_t)get_be64(p + 40);
    e->last_offset = (int64_t)get_be64(p + 48);
    *batch = slice_sub(round, (size_t)(data + *data_at), e->length);
    *data_at += e->length;
}
