/* tests/fuzz/fuzz_journal.c - a file of the journal, and a checkpoint, from anybody. The first
 * byte says whether checksums are put right first, so that what lies behind them is reached.
 * Whatever is accepted lies within its bytes and, encoded again, is the same. */
#include "base/check.h"
#include "broker/log/checkpoint_format.h"
#include "broker/log/journal_format.h"
#include <stdlib.h>

enum { AT_BYTES = 48, AT_CRC_REST = 72, AT_CRC = 76, ROUND_LIMIT = 1 << 20 };

static void fix(unsigned char *p, size_t n)
{
    uint64_t bytes = get_be64(p + AT_BYTES);

    if (bytes <= n && bytes >= JOURNAL_BLOCK)
        put_be32(p + AT_CRC_REST, crc32c(0, p + JOURNAL_BLOCK, (size_t)bytes - JOURNAL_BLOCK));
    put_be32(p + AT_CRC, 0);
    put_be32(p + AT_CRC, crc32c(0, p, JOURNAL_BLOCK));
}

/* What was accepted, written again. */
static void again(const struct round_head *h, struct slice round)
{
    struct round_entry *v = malloc((h->n_entries + 1) * sizeof *v);
    uint64_t data_at = 0, data = ROUND_HEAD + (uint64_t)h->n_entries * ROUND_ENTRY;
    struct round_head copy = *h;
    struct slice all;
    struct buf out;

    CHECK(v);
    for (uint32_t i = 0; i < h->n_entries; i++) {
        struct slice batch;
        round_entry_at(h, round, i, &data_at, &v[i], &batch);
        CHECK(batch.n == v[i].length);
        CHECK(batch.p >= round.p);
        CHECK(batch.p + batch.n <= round.p + round.n);
    }
    buf_init(&out, 1u << 30);
    all = slice_sub(round, (size_t)data, (size_t)h->data_bytes);
    CHECK(round_encode(&out, &copy, v, &all, 1) == 0);
    CHECK(copy.bytes == h->bytes);
    CHECK(out.n == data);
    buf_deinit(&out);
    free(v);
}

static void rounds(unsigned char *p, size_t n, bool right)
{
    size_t at = 0;

    while (n - at >= JOURNAL_BLOCK) {
        struct round_head h;
        int r;
        if (right)
            fix(p + at, n - at);
        r = round_head_parse(slice_of(p + at, JOURNAL_BLOCK), &h);
        CHECK(r <= 0);
        if (r < 0 || h.bytes > n - at || h.bytes > ROUND_LIMIT) {
            at += JOURNAL_BLOCK;
            continue;
        }
        if (round_check(&h, slice_of(p + at, (size_t)h.bytes)) == 0)
            again(&h, slice_of(p + at, (size_t)h.bytes));
        at += (size_t)h.bytes;
    }
}

static void checkpoint(unsigned char *p, size_t n, bool right)
{
    struct checkpoint_head h;
    struct checkpoint_log l;
    size_t at = CHECKPOINT_HEAD;

    if (right && n >= CHECKPOINT_HEAD) {
        put_be64(p + 80, n);
        put_be32(p + 76, 0);
        put_be32(p + 76, crc32c(0, p, n));
    }
    if (checkpoint_parse(slice_of(p, n), &h) < 0)
        return;
    for (uint32_t i = 0; i < h.n_logs; i++) {
        if (checkpoint_next(slice_of(p, n), &at, &l) < 0)
            return;
        CHECK(at <= n);
        CHECK(l.topic.p + l.topic.n <= p + n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    size_t whole;
    unsigned char *p;

    if (n < 2)
        return 0;
    whole = (n - 1 + JOURNAL_BLOCK - 1) / JOURNAL_BLOCK * JOURNAL_BLOCK;
    p = calloc(1, whole);
    CHECK(p);
    memcpy(p, data + 1, n - 1);
    rounds(p, whole, data[0] & 1);
    memcpy(p, data + 1, n - 1);
    checkpoint(p, n - 1, data[0] & 1);
    free(p);
    return 0;
}
