/* tests/base/wire/test_wire.c - the rules of the codec, on random messages of every kind and
 * version and on single cases made by hand. */
#include "base/wire/kafka_error.h"
#include "base/wire/messages.h"
#include "base/wire/wire_table.h"
#include "tests/base/wire/support_data.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct arena arena;
static struct buf out, again, json, json2;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 24);
    buf_init(&out, 1 << 22);
    buf_init(&again, 1 << 22);
    buf_init(&json, 1 << 22);
    buf_init(&json2, 1 << 22);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_deinit(&arena);
    buf_deinit(&out);
    buf_deinit(&again);
    buf_deinit(&json);
    buf_deinit(&json2);
    return 0;
}

static void reset(void)
{
    arena_reset(&arena);
    buf_reset(&out);
    buf_reset(&again);
    buf_reset(&json);
    buf_reset(&json2);
}

/* --- Random messages --- */

static void fill(const struct wire_desc *d, void *m, int16_t version, uint64_t *rnd);

static struct slice random_text(const struct wire_field *f, bool nullable, uint64_t *rnd)
{
    uint64_t r = data_random(rnd);
    size_t n = r % 8 == 0 ? 200 : r % 8;
    if (nullable && r >> 8 & 1)
        return SLICE_NULL;
    unsigned char *p = arena_alloc(&arena, n + 1);
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(f->type == WIRE_STRING ? ' ' + data_random(rnd) % 95
                                                      : data_random(rnd));
    return slice_of(p, n);
}

static void fill_value(const struct wire_field *f, void *at, int16_t version, bool nullable,
                       uint64_t *rnd)
{
    uint64_t r = data_random(rnd);
    switch (f->type) {
    case WIRE_BOOL: *(bool *)at = r & 1; break;
    case WIRE_INT8: *(int8_t *)at = (int8_t)r; break;
    case WIRE_INT16: *(int16_t *)at = (int16_t)r; break;
    case WIRE_INT32: *(int32_t *)at = (int32_t)r; break;
    case WIRE_INT64: *(int64_t *)at = (int64_t)r; break;
    case WIRE_UUID: memcpy(at, &r, sizeof r); break;
    case WIRE_STRUCT: fill(f->sub, at, version, rnd); break;
    default: *(struct slice *)at = random_text(f, nullable, rnd); break;
    }
}

static void fill(const struct wire_desc *d, void *m, int16_t version, uint64_t *rnd)
{
    wire_init(d, m);
    for (int i = 0; i < d->n_fields; i++) {
        const struct wire_field *f = &d->fields[i];
        void *at = (char *)m + f->at;
        bool nullable = wire_may_be_null(f, version);
        if (!wire_has(f, version) || (f->tag >= 0 && data_random(rnd) & 1))
            continue;
        if (!(f->flags & WIRE_ARRAY)) {
            fill_value(f, at, version, nullable, rnd);
            continue;
        }
        struct wire_array *a = at;
        a->n = (int32_t)(data_random(rnd) % 4) - (nullable ? 1 : 0);
        a->v = a->n > 0 ? arena_alloc(&arena, (size_t)a->n * wire_c_size(f)) : NULL;
        for (int32_t k = 0; k < a->n; k++)
            fill_value(f, (char *)a->v + (size_t)k * wire_c_size(f), version, false, rnd);
    }
}

/* Encodes, decodes, encodes: same bytes, same meaning; and cut at each length it is an error. */
static void round_trip(const struct wire_desc *d, int16_t version, uint64_t *rnd)
{
    reset();
    void *m = arena_alloc(&arena, d->size), *back = arena_alloc(&arena, d->size);
    fill(d, m, version, rnd);
    assert_int_equal(wire_encode(d, m, &out, version), 0);
    assert_int_equal(wire_size(d, m, version), out.n);
    struct wire_in in = {out.p, out.n, &arena};
    int rc = wire_decode(d, back, &in, version);
    if (rc || in.n)
        fail_msg("%s %d: %s, %zu left", d->name, version, err_name(rc), in.n);
    assert_int_equal(wire_encode(d, back, &again, version), 0);
    assert_int_equal(again.n, out.n);
    assert_memory_equal(again.p, out.p, out.n);
    assert_int_equal(wire_dump(d, m, &json, version), 0);
    assert_int_equal(wire_dump(d, back, &json2, version), 0);
    assert_true(slice_eq(buf_slice(&json), buf_slice(&json2)));
    for (size_t n = 0; n < out.n; n++) {
        in = (struct wire_in){out.p, n, &arena};
        assert_true(wire_decode(d, back, &in, version) < 0);
    }
}

static void random_rounds(const struct wire_desc *d, uint64_t *rnd)
{
    for (int16_t version = d->min; version <= d->max; version++)
        for (int i = 0; i < 8; i++)
            round_trip(d, version, rnd);
}

static void random_messages_of_every_version_survive_the_wire(void **state)
{
    (void)state;
    uint64_t rnd = 1;
    int n;
    const struct wire_api *api = wire_apis(&n);
    for (int i = 0; i < n; i++) {
        random_rounds(api[i].request, &rnd);
        random_rounds(api[i].response, &rnd);
    }
}

static void random_disk_records_survive_the_wire(void **state)
{
    (void)state;
    uint64_t rnd = 2;
    const struct wire_desc *const d[] = {
        &transaction_log_key_desc,
        &transaction_log_value_desc,
        &offset_commit_key_desc,
        &offset_commit_value_desc,
        &group_metadata_key_desc,
        &group_metadata_value_desc,
        &control_record_type_key_desc,
        &end_txn_marker_desc,
        &consumer_protocol_subscription_desc,
        &consumer_protocol_assignment_desc,
    };
    for (size_t i = 0; i < sizeof d / sizeof *d; i++)
        random_rounds(d[i], &rnd);
    for (int16_t type = META_TOPIC; type <= META_BROKER; type++) {
        assert_non_null(wire_meta(type));
        random_rounds(wire_meta(type), &rnd);
    }
    assert_null(wire_meta(0));
    assert_null(wire_meta(META_BROKER + 1));
}

/* --- Single rules --- */

static void fields_that_the_version_lacks_get_their_defaults(void **state)
{
    (void)state;
    reset();
    struct list_offsets_response_list_offsets_partition_response part;
    struct produce_request q, back;
    memset(&part, 0x55, sizeof part);
    list_offsets_response_list_offsets_partition_response_init(&part);
    assert_int_equal(part.timestamp, -1);
    assert_int_equal(part.leader_epoch, -1);
    assert_int_equal(part.partition_index, 0);
    produce_request_init(&q);
    q.acks = -1;
    assert_int_equal(produce_request_encode(&q, &out, 2), 0);
    memset(&back, 0x55, sizeof back);
    struct wire_in in = {out.p, out.n, &arena};
    assert_int_equal(produce_request_decode(&back, &in, 2), 0);
    assert_null(back.transactional_id.p);
    assert_int_equal(back.acks, -1);
    assert_int_equal(back.topic_data.n, 0);
}

static void a_value_the_version_cannot_hold_is_refused_unless_ignorable(void **state)
{
    (void)state;
    reset();
    struct produce_request q;
    struct fetch_response r;
    produce_request_init(&q);
    q.transactional_id = slice_str("txn");
    assert_int_equal(produce_request_encode(&q, &out, 2), -ERR_UNSUPPORTED);
    assert_int_equal(produce_request_size(&q, 2), 0);
    assert_int_equal(out.n, 0);
    assert_int_equal(produce_request_encode(&q, &out, 3), 0);
    fetch_response_init(&r);
    r.error_code = 70; /* ignorable below 7 */
    buf_reset(&out);
    assert_int_equal(fetch_response_encode(&r, &out, 4), 0);
    assert_int_equal(out.n, 8);
    r.session_id = 5; /* not ignorable */
    assert_int_equal(fetch_response_encode(&r, &out, 4), -ERR_UNSUPPORTED);
}

static void null_is_refused_where_only_other_versions_allow_it(void **state)
{
    (void)state;
    reset();
    struct metadata_request q;
    metadata_request_init(&q);
    q.topics.n = -1;
    assert_int_equal(metadata_request_encode(&q, &out, 0), -ERR_UNSUPPORTED);
    assert_int_equal(metadata_request_encode(&q, &out, 1), 0);
    q.topics.n = -2;
    assert_int_equal(metadata_request_encode(&q, &out, 1), -ERR_INVALID);
}

static void a_zeroed_text_that_is_never_null_goes_out_empty(void **state)
{
    (void)state;
    reset();
    struct heartbeat_request q;
    memset(&q, 0, sizeof q);
    assert_int_equal(heartbeat_request_encode(&q, &out, 0), 0);
    assert_memory_equal(out.p, "\0\0\0\0\0\0\0\0", 8);
    assert_int_equal(out.n, 8);
}

static void unknown_versions_are_refused_both_ways(void **state)
{
    (void)state;
    reset();
    struct heartbeat_request q;
    struct wire_in in = {(const unsigned char *)"\0\0\0\0", 4, &arena};
    heartbeat_request_init(&q);
    assert_int_equal(heartbeat_request_encode(&q, &out, 5), -ERR_UNSUPPORTED);
    assert_int_equal(heartbeat_request_encode(&q, &out, -1), -ERR_UNSUPPORTED);
    assert_int_equal(heartbeat_request_decode(&q, &in, 5), -ERR_UNSUPPORTED);
    assert_int_equal(in.n, 4);
}

static int decode_bytes(const void *bytes, size_t n, struct transaction_log_value *v)
{
    struct wire_in in = {bytes, n, &arena};
    int rc = transaction_log_value_decode(v, &in, 1);
    return rc ? rc : in.n ? -ERR_TOO_BIG : 0;
}

/* pid 1, epoch 2, timeout 3, status 4, partitions null, two times; then the tags */
#define LOG_VALUE "\0\0\0\0\0\0\0\1\0\2\0\0\0\3\4\0\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\6"

static void tagged_fields_are_read_skipped_and_checked(void **state)
{
    (void)state;
    reset();
    struct transaction_log_value v;
    static const char none[] = LOG_VALUE "\0";
    static const char two[] = LOG_VALUE "\2\2\2\0\7\144\2\0\10"; /* tag 2 = 7, tag 100 = 8 */
    static const char unknown[] = LOG_VALUE "\2\77\3abc\144\2\0\10";
    static const char wide[] = LOG_VALUE "\1\144\3\0\10\0";
    static const char narrow[] = LOG_VALUE "\1\144\1\10";
    static const char beyond[] = LOG_VALUE "\1\77\100abc";
    assert_int_equal(decode_bytes(none, sizeof none - 1, &v), 0);
    assert_int_equal(v.last_epoch, -1);
    assert_int_equal(v.previous_producer_id, -1);
    assert_int_equal(v.transaction_partitions.n, -1);
    assert_int_equal(decode_bytes(two, sizeof two - 1, &v), 0);
    assert_int_equal(v.client_transaction_version, 7);
    assert_int_equal(v.last_epoch, 8);
    assert_int_equal(transaction_log_value_encode(&v, &out, 1), 0);
    assert_int_equal(out.n, sizeof two - 1);
    assert_memory_equal(out.p, two, out.n);
    assert_int_equal(decode_bytes(unknown, sizeof unknown - 1, &v), 0);
    assert_int_equal(v.last_epoch, 8);
    assert_int_equal(decode_bytes(wide, sizeof wide - 1, &v), -ERR_INVALID);
    assert_int_equal(decode_bytes(narrow, sizeof narrow - 1, &v), -ERR_INVALID);
    assert_int_equal(decode_bytes(beyond, sizeof beyond - 1, &v), -ERR_SHORT);
}

static void our_last_epoch_stays_out_of_the_old_value_version(void **state)
{
    (void)state;
    reset();
    struct transaction_log_value v;
    transaction_log_value_init(&v);
    v.last_epoch = 3;
    assert_int_equal(transaction_log_value_encode(&v, &out, 0), -ERR_UNSUPPORTED);
    v.last_epoch = -1;
    assert_int_equal(transaction_log_value_encode(&v, &out, 0), 0);
}

static void an_array_larger_than_the_input_allocates_nothing(void **state)
{
    (void)state;
    reset();
    /* Metadata 0: an array of int32 count, whose elements take at least 2 bytes */
    static const unsigned char huge[] = {0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0};
    static const unsigned char near_[] = {0, 0, 0, 3, 0, 0, 0, 0};
    static const unsigned char null[] = {0xff, 0xff, 0xff, 0xff};
    static const unsigned char below[] = {0xff, 0xff, 0xff, 0xfe};
    struct metadata_request q;
    struct arena fresh;
    arena_init(&fresh, 1 << 20);
    struct wire_in in = {huge, sizeof huge, &fresh};
    assert_int_equal(metadata_request_decode(&q, &in, 0), -ERR_SHORT);
    in = (struct wire_in){near_, sizeof near_, &fresh};
    assert_int_equal(metadata_request_decode(&q, &in, 0), -ERR_SHORT);
    assert_int_equal(fresh.total, 0);
    arena_deinit(&fresh);
    in = (struct wire_in){null, sizeof null, &arena};
    assert_int_equal(metadata_request_decode(&q, &in, 0), -ERR_INVALID);
    in = (struct wire_in){null, sizeof null, &arena};
    assert_int_equal(metadata_request_decode(&q, &in, 1), 0);
    assert_int_equal(q.topics.n, -1);
    in = (struct wire_in){below, sizeof below, &arena};
    assert_int_equal(metadata_request_decode(&q, &in, 1), -ERR_INVALID);
}

static void the_arena_limit_bounds_what_a_message_can_allocate(void **state)
{
    (void)state;
    reset();
    struct arena small;
    arena_init(&small, 4096);
    static unsigned char many[4 + 2 * 1000] = {0, 0, 3, 0xe8};
    struct metadata_request q;
    struct wire_in in = {many, sizeof many, &small};
    assert_int_equal(metadata_request_decode(&q, &in, 0), -ERR_TOO_BIG);
    arena_deinit(&small);
}

static void a_full_buffer_gets_nothing(void **state)
{
    (void)state;
    struct buf tiny;
    struct heartbeat_request q;
    buf_init(&tiny, 7);
    heartbeat_request_init(&q);
    assert_int_equal(heartbeat_request_encode(&q, &tiny, 0), -ERR_TOO_BIG);
    assert_int_equal(tiny.n, 0);
    buf_deinit(&tiny);
}

static void header_versions_follow_key_and_version(void **state)
{
    (void)state;
    assert_int_equal(wire_request_header_version(API_PRODUCE, 8), 1);
    assert_int_equal(wire_request_header_version(API_PRODUCE, 9), 2);
    assert_int_equal(wire_request_header_version(API_API_VERSIONS, 2), 1);
    assert_int_equal(wire_request_header_version(API_API_VERSIONS, 3), 2);
    assert_int_equal(wire_request_header_version(API_API_VERSIONS, -1), 2);
    assert_int_equal(wire_request_header_version(API_API_VERSIONS, 99), 2);
    assert_int_equal(wire_response_header_version(API_API_VERSIONS, 4), 0);
    assert_int_equal(wire_response_header_version(API_PRODUCE, 8), 0);
    assert_int_equal(wire_response_header_version(API_PRODUCE, 9), 1);
}

static void an_unknown_api_or_version_still_tells_whom_to_answer(void **state)
{
    (void)state;
    static const unsigned char key[] = {0x12, 0x34, 0, 1, 0, 0, 0, 9};
    static const unsigned char version[] = {0, 0, 0, 99, 0, 0, 0, 8, 0xff, 0xff, 0};
    static const unsigned char versions[] = {0, 18, 0, 99, 0, 0, 0, 7, 0xff, 0xff, 0, 1, 2};
    struct request_header h;
    struct wire_in in = {key, sizeof key, &arena};
    assert_int_equal(wire_request_header(&h, &in), -ERR_UNSUPPORTED);
    assert_int_equal(h.request_api_key, 0x1234);
    assert_int_equal(h.correlation_id, 9);
    in = (struct wire_in){version, sizeof version, &arena};
    assert_int_equal(wire_request_header(&h, &in), -ERR_UNSUPPORTED);
    assert_int_equal(h.correlation_id, 8);
    in = (struct wire_in){versions, sizeof versions, &arena};
    assert_int_equal(wire_request_header(&h, &in), 0);
    assert_int_equal(h.request_api_version, 99);
    assert_null(h.client_id.p);
    assert_int_equal(in.n, 2);
    in = (struct wire_in){versions, 7, &arena};
    assert_int_equal(wire_request_header(&h, &in), -ERR_SHORT);
}

static void dumps_stay_json_whatever_a_string_holds(void **state)
{
    (void)state;
    reset();
    struct transaction_log_key k = {slice_str("a\"\\\n\xff\xc3\xa9")};
    assert_int_equal(transaction_log_key_dump(&k, &out, 0), 0);
    assert_true(
        slice_eq_str(buf_slice(&out), "{\"TransactionalId\":\"a\\\"\\\\\\u000a\\ufffd\xc3\xa9\"}"));
}

static void error_codes_have_their_names(void **state)
{
    (void)state;
    assert_string_equal(kafka_error_name(KAFKA_NONE), "NONE");
    assert_string_equal(kafka_error_name(-1), "UNKNOWN_SERVER_ERROR");
    assert_string_equal(kafka_error_name(51), "CONCURRENT_TRANSACTIONS");
    assert_string_equal(kafka_error_name(133), "SHARE_SESSION_LIMIT_REACHED");
    assert_string_equal(kafka_error_name(4711), "UNKNOWN");
    assert_true(kafka_error_retriable(KAFKA_NOT_COORDINATOR));
    assert_false(kafka_error_retriable(KAFKA_PRODUCER_FENCED));
    assert_false(kafka_error_retriable(4711));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_messages_of_every_version_survive_the_wire),
        cmocka_unit_test(random_disk_records_survive_the_wire),
        cmocka_unit_test(fields_that_the_version_lacks_get_their_defaults),
        cmocka_unit_test(a_value_the_version_cannot_hold_is_refused_unless_ignorable),
        cmocka_unit_test(null_is_refused_where_only_other_versions_allow_it),
        cmocka_unit_test(a_zeroed_text_that_is_never_null_goes_out_empty),
        cmocka_unit_test(unknown_versions_are_refused_both_ways),
        cmocka_unit_test(tagged_fields_are_read_skipped_and_checked),
        cmocka_unit_test(our_last_epoch_stays_out_of_the_old_value_version),
        cmocka_unit_test(an_array_larger_than_the_input_allocates_nothing),
        cmocka_unit_test(the_arena_limit_bounds_what_a_message_can_allocate),
        cmocka_unit_test(a_full_buffer_gets_nothing),
        cmocka_unit_test(header_versions_follow_key_and_version),
        cmocka_unit_test(an_unknown_api_or_version_still_tells_whom_to_answer),
        cmocka_unit_test(dumps_stay_json_whatever_a_string_holds),
        cmocka_unit_test(error_codes_have_their_names),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
