/* tests/base/wire/test_kafka_files.c - the segments that Kafka wrote: every batch and record as
 * Kafka's own decoding says, the records of the internal topics by schema and back to their
 * bytes. */
#include "base/bytes.h"
#include "base/wire/batch.h"
#include "base/wire/messages.h"
#include "tests/base/wire/support_data.h"
#include "tests/base/wire/support_json.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct buf expected, file, scratch, bytes, json, again;
static struct arena arena;
static int n_batches, n_records, n_decoded;

static int setup(void **state)
{
    (void)state;
    struct buf *const all[] = {&expected, &file, &scratch, &bytes, &json, &again};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        buf_init(all[i], 1 << 22);
    arena_init(&arena, 1 << 20);
    data_read("tests/data/kafka-disk/expected.json", &expected);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    struct buf *const all[] = {&expected, &file, &scratch, &bytes, &json, &again};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        buf_deinit(all[i]);
    arena_deinit(&arena);
    return 0;
}

static void check_int(struct slice object, const char *name, int64_t have)
{
    struct slice v = json_get(object, name);
    if (!v.p || json_int(v) != have)
        fail_msg("%s: expected %.*s, have %lld", name, SLICE_FMT(v), (long long)have);
}

/* want: a string of hex digits or null. */
static void check_hex(struct slice want, struct slice have)
{
    assert_non_null(want.p);
    assert_int_equal(json_is_null(want), have.p == NULL);
    if (!have.p)
        return;
    buf_reset(&bytes);
    data_unhex(json_text(want), &bytes);
    assert_true(slice_eq(buf_slice(&bytes), have));
}

static void check_batch(struct slice want, const struct batch_info *b, size_t position)
{
    check_int(want, "baseOffset", b->base_offset);
    check_int(want, "batchLength", b->length);
    check_int(want, "partitionLeaderEpoch", b->leader_epoch);
    check_int(want, "magic", b->magic);
    check_int(want, "crc", b->crc);
    check_int(want, "attributes", b->attributes);
    check_int(want, "lastOffsetDelta", b->last_offset_delta);
    check_int(want, "baseTimestamp", b->base_timestamp);
    check_int(want, "maxTimestamp", b->max_timestamp);
    check_int(want, "producerId", b->producer_id);
    check_int(want, "producerEpoch", b->producer_epoch);
    check_int(want, "baseSequence", b->base_sequence);
    check_int(want, "recordsCount", b->count);
    check_int(want, "position", (int64_t)position);
    check_int(want, "size", (int64_t)b->size);
}

/* Decodes what is behind the int16 version, compares, encodes back. */
static void check_message(const struct wire_desc *d, struct slice s, struct slice want)
{
    struct wire_in in = {s.p, s.n, &arena};
    int16_t version = 0;
    arena_reset(&arena);
    void *m = arena_alloc(&arena, d->size);
    assert_int_equal(wire_get_i16(&in, &version), 0);
    assert_int_equal(wire_decode(d, m, &in, version), 0);
    assert_int_equal(in.n, 0);
    buf_reset(&json);
    assert_int_equal(wire_dump(d, m, &json, version), 0);
    if (!json_equal(want, buf_slice(&json)))
        fail_msg("%s: expected %.*s, have %.*s", d->name, SLICE_FMT(want),
                 SLICE_FMT(buf_slice(&json)));
    buf_reset(&again);
    (void)wire_put_i16(&again, version);
    assert_int_equal(wire_encode(d, m, &again, version), 0);
    assert_true(slice_eq(buf_slice(&again), s));
    n_decoded++;
}

static void check_decoded(struct slice want, const struct record *r)
{
    static const struct {
        const char *key;
        const struct wire_desc *key_desc, *value_desc;
    } kinds[] = {
        {"TransactionLogKey", &transaction_log_key_desc, &transaction_log_value_desc},
        {"OffsetCommitKey", &offset_commit_key_desc, &offset_commit_value_desc},
        {"GroupMetadataKey", &group_metadata_key_desc, &group_metadata_value_desc},
    };
    struct slice name = json_text(json_get(want, "schema"));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!slice_eq_str(name, kinds[i].key))
            continue;
        check_message(kinds[i].key_desc, r->key, json_get(want, "key"));
        if (r->value.p)
            check_message(kinds[i].value_desc, r->value, json_get(want, "value"));
    }
}

static void check_record(struct slice want, const struct batch_info *b, const struct record *r)
{
    struct slice headers = json_get(want, "headers");
    check_int(want, "attributes", r->attributes);
    check_int(want, "offsetDelta", r->offset_delta);
    check_int(want, "timestampDelta", r->timestamp - b->base_timestamp);
    check_hex(json_get(want, "key"), r->key);
    check_hex(json_get(want, "value"), r->value);
    struct slice at = json_begin(headers), h, k, v;
    struct header_iter it;
    header_iter_init(&it, r);
    while ((h = json_next(&at)).p) {
        assert_int_equal(header_iter_next(&it, &k, &v), 1);
        struct slice pair = json_begin(h), name = json_next(&pair);
        assert_true(slice_eq(json_text(name), k));
        check_hex(json_next(&pair), v);
    }
    assert_int_equal(header_iter_next(&it, &k, &v), 0);
    if (json_get(want, "decoded").p)
        check_decoded(json_get(want, "decoded"), r);
    n_records++;
}

static void check_log(struct slice batches)
{
    struct slice rest = buf_slice(&file), at = json_begin(batches), want;
    size_t position = 0;
    while ((want = json_next(&at)).p) {
        struct record_iter it;
        struct record r;
        struct slice records = json_begin(json_get(want, "records")), record;
        assert_int_equal(record_iter_init(&it, rest, &scratch), 0);
        assert_true(batch_crc_ok(rest));
        check_batch(want, &it.batch, position);
        while ((record = json_next(&records)).p) {
            assert_int_equal(record_iter_next(&it, &r), 1);
            check_record(record, &it.batch, &r);
        }
        assert_int_equal(record_iter_next(&it, &r), 0);
        rest = slice_sub(rest, it.batch.size, rest.n);
        position += it.batch.size;
        n_batches++;
    }
    assert_int_equal(rest.n, 0);
}

static void every_batch_and_record_of_kafkas_segments_reads_as_kafka_reads_it(void **state)
{
    (void)state;
    struct slice at = json_begin(buf_slice(&expected)), name, content;
    while ((content = json_next_member(&at, &name)).p) {
        char path[256];
        struct slice text = json_text(name);
        if (text.n < 4 || memcmp(text.p + text.n - 4, ".log", 4) != 0)
            continue;
        (void)snprintf(path, sizeof path, "tests/data/kafka-disk/%.*s", SLICE_FMT(text));
        buf_reset(&file);
        data_read(path, &file);
        check_log(content);
    }
    print_message("%d batches, %d records, %d keys and values by schema\n", n_batches, n_records,
                  n_decoded);
    assert_int_equal(n_batches, 85);
    assert_int_equal(n_records, 118);
    assert_true(n_decoded > 60);
}

static void kafkas_uncompressed_batches_are_written_alike(void **state)
{
    (void)state;
    struct batch_writer w;
    struct record_iter it;
    struct record r;
    buf_reset(&file);
    data_read("tests/data/kafka-disk/disk-0/00000000000000000000.log", &file);
    struct slice rest = buf_slice(&file);
    for (; rest.n; rest = slice_sub(rest, it.batch.size, rest.n)) {
        assert_int_equal(record_iter_init(&it, rest, NULL), 0);
        const struct batch_info *b = &it.batch;
        struct batch_writer_options o = {.attributes = b->attributes,
                                         .base_offset = b->base_offset,
                                         .leader_epoch = b->leader_epoch};
        buf_reset(&again);
        assert_int_equal(batch_writer_begin(&w, &again, &o), 0);
        while (record_iter_next(&it, &r) == 1) {
            struct record_header h[8];
            struct header_iter hi;
            int n = 0;
            header_iter_init(&hi, &r);
            while (n < 8 && header_iter_next(&hi, &h[n].key, &h[n].value))
                n++;
            assert_int_equal(batch_writer_add(&w, r.timestamp, r.key, r.value, h, n), 0);
        }
        assert_int_equal(
            batch_writer_finish(&w, b->producer_id, b->producer_epoch, b->base_sequence), 0);
        assert_true(slice_eq(buf_slice(&again), slice_sub(rest, 0, b->size)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_batch_and_record_of_kafkas_segments_reads_as_kafka_reads_it),
        cmocka_unit_test(kafkas_uncompressed_batches_are_written_alike),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
