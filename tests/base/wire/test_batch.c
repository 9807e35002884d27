/* tests/base/wire/test_batch.c - record batches: known bytes, round trips, damage. */
#include "base/bytes.h"
#include "base/wire/batch.h"
#include "tests/base/wire/support_data.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define T0 1700000000000

/* 3 records: k1/v1 with header h=x, null/v2 5 ms later, k3/null 3 ms earlier */
static const char three[] =
    "0000000000000000000000520000000002de718b010000000000020000018bcfe568000000018bcfe56805"
    "ffffffffffffffffffffffffffff000000031c000000046b31047631020268027810000a02010476320010"
    "000504046b330100";
/* COMMIT at offset 7, leader epoch 4, producer 1000 epoch 2, coordinator epoch 3 */
static const char commit[] =
    "0000000000000007000000420000000402ce16e9180030000000000000018bcfe568000000018bcfe56800"
    "00000000000003e80002ffffffff000000012000000008000000010c00000000000300";

static struct buf out, scratch, scratch2;
static struct compress ctx;

static int setup(void **state)
{
    (void)state;
    buf_init(&out, 1 << 22);
    buf_init(&scratch, 1 << 22);
    buf_init(&scratch2, 1 << 22);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buf_deinit(&out);
    buf_deinit(&scratch);
    buf_deinit(&scratch2);
    compress_deinit(&ctx);
    return 0;
}

static struct slice known(const char *hex)
{
    buf_reset(&scratch2);
    data_unhex(slice_str(hex), &scratch2);
    return buf_slice(&scratch2);
}

static void put_three(int codec, int16_t attributes)
{
    struct batch_writer w;
    struct batch_writer_options o = {
        .codec = codec, .attributes = attributes, .scratch = &scratch, .compress = &ctx};
    struct record_header h = {slice_str("h"), slice_str("x")};
    assert_int_equal(batch_writer_begin(&w, &out, &o), 0);
    assert_int_equal(batch_writer_add(&w, T0, slice_str("k1"), slice_str("v1"), &h, 1), 0);
    assert_int_equal(batch_writer_add(&w, T0 + 5, SLICE_NULL, slice_str("v2"), NULL, 0), 0);
    assert_int_equal(batch_writer_add(&w, T0 - 3, slice_str("k3"), SLICE_NULL, NULL, 0), 0);
    assert_int_equal(batch_writer_finish(&w, -1, -1, -1), 0);
}

static void check_three(struct slice batch)
{
    static const int64_t at[] = {T0, T0 + 5, T0 - 3};
    static const char *const key[] = {"k1", NULL, "k3"}, *const value[] = {"v1", "v2", NULL};
    struct record_iter it;
    struct record r;
    struct slice v;
    assert_int_equal(record_iter_init_with(&it, batch, &scratch, &ctx), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(record_iter_next(&it, &r), 1);
        assert_int_equal(r.offset, it.batch.base_offset + i);
        assert_int_equal(r.timestamp, at[i]);
        assert_true(slice_eq_str(r.key, key[i]));
        assert_true(slice_eq_str(r.value, value[i]));
        assert_int_equal(r.n_headers, i == 0);
        assert_int_equal(record_header(&r, "h", &v), i == 0);
    }
    assert_int_equal(record_iter_next(&it, &r), 0);
    assert_int_equal(record_iter_next(&it, &r), 0);
}

static void the_writer_makes_the_known_bytes(void **state)
{
    (void)state;
    buf_reset(&out);
    put_three(CODEC_NONE, 0);
    /* written as a producer does: leader epoch -1 */
    batch_set_offset(out.p, 0, 0);
    assert_true(slice_eq(buf_slice(&out), known(three)));
    assert_int_equal(out.n, 94);
}

static void the_known_batch_reads_back(void **state)
{
    (void)state;
    struct batch_info b;
    struct slice s = known(three);
    assert_int_equal(batch_header(s, &b), 0);
    assert_true(batch_crc_ok(s));
    assert_int_equal(b.size, 94);
    assert_int_equal(b.count, 3);
    assert_int_equal(b.last_offset_delta, 2);
    assert_int_equal(b.base_timestamp, T0);
    assert_int_equal(b.max_timestamp, T0 + 5);
    assert_int_equal(b.producer_id, -1);
    assert_int_equal(b.base_sequence, -1);
    assert_int_equal(batch_last_sequence(&b), -1);
    assert_int_equal(batch_next_offset(&b), 3);
    check_three(s);
}

static void the_end_marker_has_the_known_bytes(void **state)
{
    (void)state;
    int type;
    int32_t epoch;
    buf_reset(&out);
    assert_int_equal(batch_control_marker(&out, 1000, 2, 3, true, T0), 0);
    assert_int_equal(out.n, BATCH_MARKER_SIZE);
    assert_int_equal((int32_t)get_be32(out.p + 12), -1);
    batch_set_offset(out.p, 7, 4);
    assert_true(slice_eq(buf_slice(&out), known(commit)));
    assert_int_equal(batch_control_read(buf_slice(&out), &type, &epoch), 0);
    assert_int_equal(type, CONTROL_COMMIT);
    assert_int_equal(epoch, 3);
    buf_reset(&out);
    assert_int_equal(batch_control_marker(&out, 1000, 2, 3, false, T0), 0);
    assert_int_equal(batch_control_read(buf_slice(&out), &type, &epoch), 0);
    assert_int_equal(type, CONTROL_ABORT);
    assert_int_equal(batch_control_read(known(three), &type, &epoch), -ERR_CORRUPT);
}

static void every_codec_round_trips(void **state)
{
    (void)state;
    for (int codec = 0; codec < CODEC_COUNT; codec++) {
        struct batch_info b;
        buf_reset(&out);
        put_three(codec, BATCH_TRANSACTIONAL);
        assert_int_equal(batch_header(buf_slice(&out), &b), 0);
        assert_int_equal(b.size, out.n);
        assert_int_equal(batch_codec(&b), codec);
        assert_true(batch_is_transactional(&b));
        assert_false(batch_is_control(&b));
        assert_true(batch_crc_ok(buf_slice(&out)));
        check_three(buf_slice(&out));
    }
}

static void a_batch_behind_another_stands_on_its_own(void **state)
{
    (void)state;
    struct batch_info b;
    buf_reset(&out);
    put_three(CODEC_GZIP, 0);
    size_t first = out.n;
    put_three(CODEC_NONE, 0);
    assert_int_equal(batch_header(buf_slice(&out), &b), 0);
    assert_int_equal(b.size, first);
    check_three(slice_sub(buf_slice(&out), first, out.n));
}

static void a_cut_batch_is_short_at_every_length(void **state)
{
    (void)state;
    struct slice s = known(three);
    struct batch_info b;
    for (size_t n = 0; n < s.n; n++) {
        unsigned char *cut = malloc(n ? n : 1);
        memcpy(cut, s.p, n);
        assert_int_equal(batch_header(slice_of(cut, n), &b), -ERR_SHORT);
        assert_int_equal(b.size, n < 12 ? 0 : 94);
        assert_int_equal(b.count, n < 61 ? 0 : 3);
        free(cut);
    }
}

static void impossible_headers_are_told_apart(void **state)
{
    (void)state;
    struct batch_info b;
    unsigned char p[94];
    memcpy(p, known(three).p, sizeof p);
    p[16] = 1;
    assert_int_equal(batch_header(slice_of(p, sizeof p), &b), -ERR_UNSUPPORTED);
    p[16] = 2;
    put_be32(p + 8, 48);
    assert_int_equal(batch_header(slice_of(p, sizeof p), &b), -ERR_CORRUPT);
    put_be32(p + 8, 0x80000000);
    assert_int_equal(batch_header(slice_of(p, sizeof p), &b), -ERR_CORRUPT);
    put_be32(p + 8, 82);
    put_be64(p, UINT64_MAX);
    assert_int_equal(batch_header(slice_of(p, sizeof p), &b), -ERR_CORRUPT);
    put_be64(p, INT64_MAX);
    assert_int_equal(batch_header(slice_of(p, sizeof p), &b), -ERR_CORRUPT);
    put_be64(p, 0);
    put_be32(p + 57, UINT32_MAX);
    assert_int_equal(batch_header(slice_of(p, sizeof p), &b), -ERR_CORRUPT);
    put_be32(p + 57, 3);
    assert_int_equal(batch_header(slice_of(p, sizeof p), &b), 0);
}

static void any_flipped_bit_under_the_crc_is_seen(void **state)
{
    (void)state;
    unsigned char p[94];
    memcpy(p, known(three).p, sizeof p);
    for (size_t i = 17; i < sizeof p; i++) {
        p[i] ^= 0x10;
        assert_false(batch_crc_ok(slice_of(p, sizeof p)));
        p[i] ^= 0x10;
    }
    assert_true(batch_crc_ok(slice_of(p, sizeof p)));
}

static void damaged_records_never_read_beyond_the_batch(void **state)
{
    (void)state;
    struct slice s = known(three);
    unsigned char *p = malloc(s.n);
    int refused = 0;
    for (size_t at = BATCH_HEADER; at < s.n; at++)
        for (int v = 0; v < 256; v++) {
            struct record_iter it;
            struct record r;
            int rc, n = 0;
            memcpy(p, s.p, s.n);
            p[at] = (unsigned char)v;
            assert_int_equal(record_iter_init(&it, slice_of(p, s.n), NULL), 0);
            while ((rc = record_iter_next(&it, &r)) == 1)
                n++;
            assert_true(rc == 0 ? n == 3 : rc == -ERR_CORRUPT);
            refused += rc != 0;
        }
    assert_true(refused > 1000);
    free(p);
}

static void a_wrong_count_is_corrupt(void **state)
{
    (void)state;
    for (uint32_t count = 0; count < 6; count++) {
        unsigned char p[94];
        struct record_iter it;
        struct record r;
        int rc;
        memcpy(p, known(three).p, sizeof p);
        put_be32(p + 57, count);
        assert_int_equal(record_iter_init(&it, slice_of(p, sizeof p), NULL), 0);
        while ((rc = record_iter_next(&it, &r)) == 1)
            ;
        assert_int_equal(rc, count == 3 ? 0 : -ERR_CORRUPT);
    }
}

static void the_log_append_time_stands_for_every_record(void **state)
{
    (void)state;
    struct record_iter it;
    struct record r;
    buf_reset(&out);
    put_three(CODEC_NONE, 0);
    batch_set_log_append_time(out.p, T0 + 99);
    assert_true(batch_crc_ok(buf_slice(&out)));
    assert_int_equal(record_iter_init(&it, buf_slice(&out), NULL), 0);
    assert_true(batch_is_log_append_time(&it.batch));
    while (record_iter_next(&it, &r) == 1)
        assert_int_equal(r.timestamp, T0 + 99);
    batch_set_max_timestamp(out.p, T0 + 5);
    assert_true(batch_crc_ok(buf_slice(&out)));
    check_three(buf_slice(&out));
}

static void another_identity_renews_sequence_and_crc(void **state)
{
    (void)state;
    struct record_iter it;
    struct record r;
    buf_reset(&out);
    put_three(CODEC_NONE, 0);
    batch_set_producer(out.p, 42, 7, INT32_MAX - 1);
    assert_true(batch_crc_ok(buf_slice(&out)));
    assert_int_equal(record_iter_init(&it, buf_slice(&out), NULL), 0);
    assert_int_equal(it.batch.producer_id, 42);
    assert_int_equal(it.batch.producer_epoch, 7);
    assert_int_equal(batch_last_sequence(&it.batch), 0);
    assert_int_equal(record_iter_next(&it, &r), 1);
    assert_int_equal(r.sequence, INT32_MAX - 1);
    assert_int_equal(record_iter_next(&it, &r), 1);
    assert_int_equal(r.sequence, INT32_MAX);
    assert_int_equal(record_iter_next(&it, &r), 1);
    assert_int_equal(r.sequence, 0);
}

static void a_record_that_does_not_fit_leaves_the_batch_whole(void **state)
{
    (void)state;
    struct buf small;
    struct batch_writer w;
    struct batch_writer_options o = {.codec = CODEC_NONE};
    struct record_iter it;
    struct record r;
    buf_init(&small, 80);
    assert_int_equal(batch_writer_begin(&w, &small, &o), 0);
    assert_int_equal(batch_writer_add(&w, T0, slice_str("k"), slice_str("v"), NULL, 0), 0);
    size_t before = batch_writer_size(&w);
    assert_int_equal(batch_writer_add(&w, T0, slice_str("kkkkkkkk"), slice_str("v"), NULL, 0),
                     -ERR_TOO_BIG);
    assert_int_equal(batch_writer_size(&w), before);
    assert_int_equal(batch_writer_finish(&w, -1, -1, -1), 0);
    assert_int_equal(record_iter_init(&it, buf_slice(&small), NULL), 0);
    assert_int_equal(it.batch.count, 1);
    assert_int_equal(record_iter_next(&it, &r), 1);
    assert_int_equal(record_iter_next(&it, &r), 0);
    buf_deinit(&small);
}

static void the_bound_of_a_record_holds(void **state)
{
    (void)state;
    struct batch_writer w;
    struct batch_writer_options o = {.codec = CODEC_NONE};
    struct record_header h = {slice_str("name"), SLICE_NULL};
    uint64_t rnd = 3;
    buf_reset(&out);
    assert_int_equal(batch_writer_begin(&w, &out, &o), 0);
    for (int i = 0; i < 1000; i++) {
        static const char bytes[300];
        struct slice key = slice_of(bytes, data_random(&rnd) % sizeof bytes);
        struct slice value = i % 7 ? slice_of(bytes, data_random(&rnd) % sizeof bytes) : SLICE_NULL;
        size_t before = batch_writer_size(&w);
        assert_int_equal(batch_writer_add(&w, (int64_t)data_random(&rnd), key, value, &h, i % 2),
                         0);
        assert_true(batch_writer_size(&w) - before <= batch_record_bound(key, value, &h, i % 2));
    }
    assert_int_equal(batch_writer_finish(&w, 5, 0, 0), 0);
    struct record_iter it;
    struct record r;
    int n = 0;
    assert_int_equal(record_iter_init(&it, buf_slice(&out), NULL), 0);
    while (record_iter_next(&it, &r) == 1)
        n++;
    assert_int_equal(n, 1000);
}

static void a_compressed_batch_without_scratch_is_refused(void **state)
{
    (void)state;
    struct record_iter it;
    buf_reset(&out);
    put_three(CODEC_LZ4, 0);
    assert_int_equal(record_iter_init(&it, buf_slice(&out), NULL), -ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_writer_makes_the_known_bytes),
        cmocka_unit_test(the_known_batch_reads_back),
        cmocka_unit_test(the_end_marker_has_the_known_bytes),
        cmocka_unit_test(every_codec_round_trips),
        cmocka_unit_test(a_batch_behind_another_stands_on_its_own),
        cmocka_unit_test(a_cut_batch_is_short_at_every_length),
        cmocka_unit_test(impossible_headers_are_told_apart),
        cmocka_unit_test(any_flipped_bit_under_the_crc_is_seen),
        cmocka_unit_test(damaged_records_never_read_beyond_the_batch),
        cmocka_unit_test(a_wrong_count_is_corrupt),
        cmocka_unit_test(the_log_append_time_stands_for_every_record),
        cmocka_unit_test(another_identity_renews_sequence_and_crc),
        cmocka_unit_test(a_record_that_does_not_fit_leaves_the_batch_whole),
        cmocka_unit_test(the_bound_of_a_record_holds),
        cmocka_unit_test(a_compressed_batch_without_scratch_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
