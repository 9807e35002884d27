/* tests/fuzz/fuzz_batch.c - record batches from strangers: read, validated as a leader does, and
 * once more with length and CRC put right, so that the records behind them are reached.
 *
 * What the leader accepts must read to its end, and keep doing so after it was stamped. */
#include "base/bytes.h"
#include "base/check.h"
#include "base/wire/batch_check.h"
#include <stdlib.h>

#define RECORDS_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int walk(struct slice s, struct buf *scratch)
{
    struct record_iter it;
    struct record r;
    int rc = record_iter_init(&it, s, scratch);
    if (rc)
        return rc;
    while ((rc = record_iter_next(&it, &r)) == 1) {
        struct header_iter h;
        struct slice k, v;
        int n_headers = 0;
        header_iter_init(&h, &r);
        while (header_iter_next(&h, &k, &v))
            n_headers++;
        CHECK(n_headers == r.n_headers);
    }
    return rc;
}

static void validate(unsigned char *p, size_t n, struct buf *scratch)
{
    struct batch_info b;
    struct batch_bad bad[4];
    int code;
    struct batch_validate_options o = {.produce_version = 9,
                                       .now_ms = 1700000000000,
                                       .before_max_ms = INT64_MAX,
                                       .after_max_ms = 3600000,
                                       .batch_bytes_max = 1 << 20,
                                       .segment_bytes = 1 << 30,
                                       .compacted = n & 1,
                                       .log_append_time = n & 2,
                                       .scratch = scratch,
                                       .bad = bad,
                                       .n_bad = 4};
    int rc = batch_validate_produce(slice_of(p, n), &o, &b, &code, NULL);
    CHECK((rc == 0) == (code == 0));
    if (rc)
        return;
    CHECK(b.size <= n);
    CHECK(walk(slice_of(p, b.size), scratch) == 0);
    batch_finish_produce(p, &b, 12345, 6, n & 2, o.now_ms);
    CHECK(batch_crc_ok(slice_of(p, b.size)));
    CHECK(walk(slice_of(p, b.size), scratch) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct buf scratch;
    int type;
    int32_t epoch;
    unsigned char *p = malloc(n ? n : 1);
    if (!p)
        return 0;
    buf_init(&scratch, RECORDS_MAX);
    memcpy(p, data, n);
    (void)walk(slice_of(p, n), &scratch);
    (void)!batch_control_read(slice_of(p, n), &type, &epoch);
    validate(p, n, &scratch);
    if (n >= BATCH_HEADER) {
        memcpy(p, data, n);
        put_be64(p, 0);
        put_be32(p + 8, (uint32_t)n - BATCH_LENGTH_BASE);
        p[16] = BATCH_MAGIC;
        put_be32(p + 17, crc32c(0, p + 21, n - 21));
        (void)walk(slice_of(p, n), &scratch);
        validate(p, n, &scratch);
    }
    buf_deinit(&scratch);
    free(p);
    return 0;
}
