/* tests/fuzz/fuzz_producer_state.c - a snapshot from disk (its checksum put right), then batches,
 * markers and durable ends of any kind, as a replayed log may hold them.
 *
 * What was loaded must be saved as it was, and the stable offset lies between 0 and the end. */
#include "base/bytes.h"
#include "base/check.h"
#include "txn/producer_state.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void load(struct producer_state *ps, const uint8_t *data, size_t n)
{
    struct buf in, out;
    buf_init(&in, 1 << 20);
    buf_init(&out, 1 << 20);
    unsigned char *p = buf_more(&in, n + 10);
    if (p) {
        memset(p, 0, 10);
        put_be16(p, 1);
        /* 46 bytes an entry, 32 an older batch behind them */
        put_be32(p + 6, (uint32_t)(n % 46 ? data[0] % 4 : n / 46));
        memcpy(p + 10, data, n);
        put_be32(p + 2, crc32c(0, p + 6, n + 4));
        if (producer_state_load(ps, buf_slice(&in)) == 0) {
            CHECK(producer_state_save(ps, &out) == 0);
            CHECK(producer_state_save_window(ps, &out, 0) == 0);
            CHECK(out.n == in.n || n % 46 == 8); /* an empty list of older batches is left out */
        } else {
            CHECK(producer_state_count(ps) == 0);
        }
    }
    buf_deinit(&in);
    buf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct producer_state ps;
    int64_t end = 1000, durable = 1000;
    size_t at = n && n > 46 ? 46 * (data[0] % 4) : 0;
    if (n > 46 && data[0] & 4)
        at += 8 + 32 * (data[0] >> 3 & 7);
    producer_state_init(&ps, 0);
    at = at > n ? 0 : at;
    load(&ps, data, at);
    for (; at + 8 <= n; at += 8) {
        const uint8_t *d = data + at;
        struct producer_batch b = {.producer_id = d[0] % 4,
                                   .base_offset = end,
                                   .timestamp = d[1],
                                   .base_sequence = (int32_t)(get_be32(d + 2) & 0x7fffffff),
                                   .epoch = d[6] % 8,
                                   .coordinator_epoch = d[1] % 4,
                                   .transactional = d[7] & 1,
                                   .marker = (d[7] & 6) == 6,
                                   .commit = d[7] & 8};
        struct producer_answer a;
        b.last_delta = b.marker ? 0 : d[7] >> 4;
        enum producer_origin origin = b.marker ? PRODUCER_MARKER : PRODUCER_CLIENT;
        if (producer_state_check(&ps, &b, origin, end, false, &a) == PRODUCER_ADMIT) {
            CHECK(producer_state_staged(&ps, &b) == 0);
            end += b.last_delta + 1;
        }
        if (d[1] & 1) {
            durable = end - d[1] % 4 > durable ? end - d[1] % 4 : durable;
            producer_state_durable(&ps, durable, NULL, NULL);
        }
        CHECK(producer_state_stable(&ps, durable, 0) <= durable);
    }
    producer_state_deinit(&ps);
    return 0;
}
