/* tests/base/wire/test_batch_check.c - what a leader accepts from producers and with which error
 * it refuses. */
#include "base/bytes.h"
#include "base/wire/batch_check.h"
#include "base/wire/kafka_error.h"
#include "tests/base/wire/support_data.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define NOW 1700000000000

static struct buf set, scratch, records;
static struct compress ctx;
static struct batch_validate_options opt;
static struct batch_info info;
static struct err err;
static struct batch_bad bad[4];

static int setup(void **state)
{
    (void)state;
    buf_init(&set, 1 << 22);
    buf_init(&scratch, 1 << 22);
    buf_init(&records, 4096);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buf_deinit(&set);
    buf_deinit(&scratch);
    buf_deinit(&records);
    compress_deinit(&ctx);
    return 0;
}

/* Each case begins with a topic's defaults and a batch of three records. */
static int fresh(void **state)
{
    (void)state;
    opt = (struct batch_validate_options){.produce_version = 9,
                                          .now_ms = NOW,
                                          .before_max_ms = INT64_MAX,
                                          .after_max_ms = 3600000,
                                          .batch_bytes_max = 1048588,
                                          .segment_bytes = 1 << 30,
                                          .scratch = &records,
                                          .compress = &ctx,
                                          .bad = bad,
                                          .n_bad = 4};
    buf_reset(&set);
    err = (struct err){0};
    return 0;
}

static void put(int codec, int64_t t0, int64_t t1, bool keys)
{
    struct batch_writer w;
    struct batch_writer_options o = {.codec = codec, .leader_epoch = -1, .scratch = &scratch};
    assert_int_equal(batch_writer_begin(&w, &set, &o), 0);
    assert_int_equal(batch_writer_add(&w, t0, slice_str("k"), slice_str("v"), NULL, 0), 0);
    assert_int_equal(
        batch_writer_add(&w, t1, keys ? slice_str("k") : SLICE_NULL, slice_str("v"), NULL, 0), 0);
    assert_int_equal(batch_writer_add(&w, t0, slice_str("k"), SLICE_NULL, NULL, 0), 0);
    assert_int_equal(batch_writer_finish(&w, 7, 0, 5), 0);
}

static void renew_crc(void)
{
    put_be32(set.p + 17, crc32c(0, set.p + 21, get_be32(set.p + 8) + 12 - 21));
}

static int validate(void)
{
    int code = 4711, room = opt.n_bad;
    int rc = batch_validate_produce(buf_slice(&set), &opt, &info, &code, &err);
    assert_int_equal(rc, code ? -ERR_INVALID : 0);
    assert_int_equal(err.code, code ? ERR_INVALID : 0);
    assert_true(!code || err.text[0]);
    assert_true(opt.n_bad <= room);
    return code;
}

static void a_sound_batch_of_any_codec_is_accepted(void **state)
{
    for (int codec = 0; codec < CODEC_COUNT; codec++) {
        fresh(state);
        put(codec, NOW, NOW + 7, true);
        assert_int_equal(validate(), KAFKA_NONE);
        assert_int_equal(info.count, 3);
        assert_int_equal(info.size, set.n);
        assert_int_equal(info.max_timestamp, NOW + 7);
    }
}

static void a_set_without_a_whole_batch_is_invalid(void **state)
{
    (void)state;
    assert_int_equal(validate(), KAFKA_INVALID_RECORD);
    put(CODEC_NONE, NOW, NOW, true);
    for (size_t whole = set.n, n = 0; n < whole; n++) {
        set.n = n;
        assert_int_equal(validate(), KAFKA_INVALID_RECORD);
    }
}

static void two_batches_are_invalid_and_garbage_behind_one_is_corrupt(void **state)
{
    (void)state;
    put(CODEC_NONE, NOW, NOW, true);
    size_t one = set.n;
    put(CODEC_NONE, NOW, NOW, true);
    assert_int_equal(validate(), KAFKA_INVALID_RECORD);
    set.n = one + 12;
    assert_int_equal(validate(), KAFKA_CORRUPT_MESSAGE);
    set.n = one + 11;
    err = (struct err){0};
    assert_int_equal(validate(), KAFKA_NONE);
    assert_int_equal(info.size, one);
}

static void other_formats_are_told_apart(void **state)
{
    (void)state;
    put(CODEC_NONE, NOW, NOW, true);
    set.p[16] = 1;
    assert_int_equal(validate(), KAFKA_INVALID_RECORD);
    set.p[16] = 3;
    assert_int_equal(validate(), KAFKA_CORRUPT_MESSAGE);
}

static void a_base_offset_other_than_0_is_invalid(void **state)
{
    (void)state;
    put(CODEC_NONE, NOW, NOW, true);
    batch_set_offset(set.p, 1, -1);
    assert_int_equal(validate(), KAFKA_INVALID_RECORD);
    batch_set_offset(set.p, -1, -1);
    assert_int_equal(validate(), KAFKA_INVALID_RECORD);
}

static void a_wrong_crc_is_corrupt(void **state)
{
    (void)state;
    put(CODEC_NONE, NOW, NOW, true);
    set.p[set.n - 1] ^= 1;
    assert_int_equal(validate(), KAFKA_CORRUPT_MESSAGE);
    set.p[set.n - 1] ^= 1;
    put_be32(set.p + 8, 48);
    assert_int_equal(validate(), KAFKA_CORRUPT_MESSAGE);
}

static void sizes_have_their_own_errors(void **state)
{
    (void)state;
    put(CODEC_NONE, NOW, NOW, true);
    opt.batch_bytes_max = (int64_t)set.n;
    opt.segment_bytes = (int64_t)set.n;
    assert_int_equal(validate(), KAFKA_NONE);
    opt.segment_bytes--;
    assert_int_equal(validate(), KAFKA_RECORD_LIST_TOO_LARGE);
    opt.batch_bytes_max--;
    assert_int_equal(validate(), KAFKA_MESSAGE_TOO_LARGE);
}

static void producers_write_no_control_batches(void **state)
{
    (void)state;
    assert_int_equal(batch_control_marker(&set, 1, 0, 0, true, NOW), 0);
    assert_int_equal(validate(), KAFKA_INVALID_RECORD);
}

static void counts_and_deltas_must_agree(void **state)
{
    (void)state;
    static const uint32_t count[] = {3, 0, 4, 2, 3, 0x80000000, 3};
    static const uint32_t delta[] = {2, 0, 3, 1, 3, 2, 0x80000000};
    put(CODEC_NONE, NOW, NOW, true);
    for (size_t i = 0; i < sizeof count / sizeof *count; i++) {
        put_be32(set.p + 23, delta[i]);
        put_be32(set.p + 57, count[i]);
        renew_crc();
        assert_int_equal(validate(), i ? KAFKA_INVALID_RECORD : KAFKA_NONE);
    }
}

static void a_wrong_count_inside_a_compressed_batch_is_seen(void **state)
{
    (void)state;
    put(CODEC_ZSTD, NOW, NOW, true);
    put_be32(set.p + 23, 1);
    put_be32(set.p + 57, 2);
    renew_crc();
    assert_int_equal(validate(), KAFKA_INVALID_RECORD);
}

static void a_producer_id_needs_a_sequence(void **state)
{
    (void)state;
    put(CODEC_NONE, NOW, NOW, true);
    batch_set_producer(set.p, 7, 0, -1);
    assert_int_equal(validate(), KAFKA_INVALID_RECORD);
    batch_set_producer(set.p, -1, -1, -1);
    err = (struct err){0};
    assert_int_equal(validate(), KAFKA_NONE);
}

static void payloads_that_do_not_decompress_are_invalid(void **state)
{
    (void)state;
    for (int codec = CODEC_GZIP; codec < 8; codec++) {
        fresh(state);
        put(CODEC_NONE, NOW, NOW, true);
        put_be16(set.p + 21, (uint16_t)codec);
        renew_crc();
        assert_int_equal(validate(), KAFKA_INVALID_RECORD);
    }
}

static void zstd_needs_version_7(void **state)
{
    (void)state;
    put(CODEC_ZSTD, NOW, NOW, true);
    opt.produce_version = 6;
    assert_int_equal(validate(), KAFKA_UNSUPPORTED_COMPRESSION_TYPE);
}

static void a_decompression_bomb_is_too_large(void **state)
{
    (void)state;
    static char zeros[100000];
    for (int codec = CODEC_GZIP; codec < CODEC_COUNT; codec++) {
        struct batch_writer w;
        struct batch_writer_options o = {.codec = codec, .scratch = &scratch};
        fresh(state);
        assert_int_equal(batch_writer_begin(&w, &set, &o), 0);
        assert_int_equal(
            batch_writer_add(&w, NOW, SLICE_NULL, slice_of(zeros, sizeof zeros), NULL, 0), 0);
        assert_int_equal(batch_writer_finish(&w, -1, -1, -1), 0);
        assert_int_equal(validate(), KAFKA_MESSAGE_TOO_LARGE);
        assert_true(records.cap <= 2 * records.max);
    }
}

static void timestamps_out_of_range_are_listed(void **state)
{
    (void)state;
    put(CODEC_NONE, NOW, NOW + 3600001, true);
    assert_int_equal(validate(), KAFKA_INVALID_TIMESTAMP);
    assert_int_equal(opt.n_bad, 1);
    assert_int_equal(bad[0].index, 1);
    assert_non_null(bad[0].text);
    fresh(state);
    put(CODEC_GZIP, NOW, -5, true);
    assert_int_equal(validate(), KAFKA_NONE);
    opt.before_max_ms = 1000;
    assert_int_equal(validate(), KAFKA_INVALID_TIMESTAMP);
    opt.log_append_time = true; /* the topic's clock counts, not the producer's */
    opt.n_bad = 4;
    err = (struct err){0};
    assert_int_equal(validate(), KAFKA_NONE);
}

static void records_without_a_timestamp_pass_the_range(void **state)
{
    (void)state;
    put(CODEC_NONE, -1, -1, true);
    opt.before_max_ms = 1000;
    assert_int_equal(validate(), KAFKA_NONE);
    assert_int_equal(info.max_timestamp, -1);
}

static void compacted_topics_need_keys(void **state)
{
    (void)state;
    opt.compacted = true;
    put(CODEC_LZ4, NOW, NOW, false);
    assert_int_equal(validate(), KAFKA_INVALID_RECORD);
    assert_int_equal(opt.n_bad, 1);
    assert_int_equal(bad[0].index, 1);
    fresh(state);
    opt.compacted = true;
    put(CODEC_LZ4, NOW, NOW, true);
    assert_int_equal(validate(), KAFKA_NONE);
}

static void the_log_append_bit_is_the_leaders(void **state)
{
    (void)state;
    put(CODEC_NONE, NOW, NOW, true);
    batch_set_log_append_time(set.p, NOW + 1);
    assert_int_equal(validate(), KAFKA_NONE); /* and is cleared */
    batch_finish_produce(set.p, &info, 10, 2, false, NOW);
    assert_false(batch_is_log_append_time(&info));
    assert_true(batch_crc_ok(buf_slice(&set)));
    fresh(state);
    put(CODEC_NONE, NOW, NOW, true);
    batch_set_log_append_time(set.p, -1);
    assert_int_equal(validate(), KAFKA_INVALID_TIMESTAMP);
    fresh(state);
    put(CODEC_NONE, NOW, NOW, true);
    batch_set_log_append_time(set.p, NOW);
    opt.log_append_time = true;
    assert_int_equal(validate(), KAFKA_INVALID_TIMESTAMP);
}

static void finishing_sets_offset_epoch_and_the_right_max_timestamp(void **state)
{
    (void)state;
    put(CODEC_SNAPPY, NOW, NOW + 9, true);
    put_be64(set.p + 35, 1); /* the producer lied */
    renew_crc();
    assert_int_equal(validate(), KAFKA_NONE);
    batch_finish_produce(set.p, &info, 1000, 3, false, 0);
    assert_true(batch_crc_ok(buf_slice(&set)));
    assert_int_equal(batch_header(buf_slice(&set), &info), 0);
    assert_int_equal(info.base_offset, 1000);
    assert_int_equal(info.leader_epoch, 3);
    assert_int_equal(info.max_timestamp, NOW + 9);
    batch_finish_produce(set.p, &info, 2000, 3, true, NOW + 50);
    assert_true(batch_crc_ok(buf_slice(&set)));
    assert_true(batch_is_log_append_time(&info));
    assert_int_equal(info.max_timestamp, NOW + 50);
    assert_int_equal(batch_last_offset(&info), 2002);
}

static void malformed_records_are_invalid_whatever_the_crc_says(void **state)
{
    (void)state;
    put(CODEC_NONE, NOW, NOW, true);
    for (size_t at = BATCH_HEADER; at < set.n; at++) {
        unsigned char was = set.p[at];
        set.p[at] = 0xff;
        renew_crc();
        opt.n_bad = 4;
        err = (struct err){0};
        int code = validate();
        assert_true(code == KAFKA_NONE || code == KAFKA_INVALID_RECORD ||
                    code == KAFKA_INVALID_TIMESTAMP);
        set.p[at] = was;
    }
    set.p[BATCH_HEADER] = 100; /* the first record's length goes beyond it */
    renew_crc();
    assert_int_equal(validate(), KAFKA_INVALID_RECORD);
}

#define CASE(f) cmocka_unit_test_setup(f, fresh)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_sound_batch_of_any_codec_is_accepted),
        CASE(a_set_without_a_whole_batch_is_invalid),
        CASE(two_batches_are_invalid_and_garbage_behind_one_is_corrupt),
        CASE(other_formats_are_told_apart),
        CASE(a_base_offset_other_than_0_is_invalid),
        CASE(a_wrong_crc_is_corrupt),
        CASE(sizes_have_their_own_errors),
        CASE(producers_write_no_control_batches),
        CASE(counts_and_deltas_must_agree),
        CASE(a_wrong_count_inside_a_compressed_batch_is_seen),
        CASE(a_producer_id_needs_a_sequence),
        CASE(payloads_that_do_not_decompress_are_invalid),
        CASE(zstd_needs_version_7),
        CASE(a_decompression_bomb_is_too_large),
        CASE(timestamps_out_of_range_are_listed),
        CASE(records_without_a_timestamp_pass_the_range),
        CASE(compacted_topics_need_keys),
        CASE(the_log_append_bit_is_the_leaders),
        CASE(finishing_sets_offset_epoch_and_the_right_max_timestamp),
        CASE(malformed_records_are_invalid_whatever_the_crc_says),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
