/* The server in the real world: frames, order, strangers. */
#include "support_node.h"
#include <stdlib.h>

static struct world w;

static int setup(void **state)
{
    world_open(&w);
    world_start(&w);
    return 0;
}

static int teardown(void **state)
{
    world_close(&w);
    return 0;
}

static struct slice batch_of(struct buf *b, const char *text, int n)
{
    buf_init(b, 64 << 20);
    batch_put(b, text, n);
    return buf_slice(b);
}

static void metadata_creates_and_shows_a_topic(void **state)
{
    struct metadata_request_metadata_request_topic t = {.name = slice_str("words")};
    struct metadata_request m;
    struct metadata_response r;
    struct peer p;
    peer_open(&p, &w);
    metadata_request_init(&m);
    m.topics.v = &t;
    m.topics.n = 1;
    peer_call(&p, 3, 9, &m, &r);
    assert_int_equal(r.brokers.n, 1);
    assert_true(slice_eq_str(r.brokers.v[0].host, "127.0.0.1"));
    assert_int_equal(r.topics.n, 1);
    assert_int_equal(r.topics.v[0].error_code, 0);
    assert_int_equal(r.topics.v[0].partitions.n, 1);
    m.allow_auto_topic_creation = false;
    t.name = slice_str("others");
    peer_call(&p, 3, 9, &m, &r);
    assert_int_equal(r.topics.v[0].error_code, KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    peer_close(&p);
}

static void what_is_produced_is_fetched(void **state)
{
    struct peer p;
    struct buf batch, b;
    struct slice frame;
    struct fetch_response r;
    struct record_iter it;
    struct record rec;
    int64_t base = -1;
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 2, NULL, NULL), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(peer_produce(&p, "t", 1, batch_of(&batch, "word", 5), &base), 0);
        assert_int_equal(base, 5 * i);
        buf_deinit(&batch);
    }
    buf_init(&b, 1 << 20);
    fetch_put(&b, 77, "t", 1, 7, 1000, 1, 0);
    assert_true(peer_send(&p, buf_slice(&b), 1000));
    assert_true(peer_frame(&p, &frame, 5000));
    response_read(&p, frame, 1, 11, 77, &r);
    struct fetch_response_partition_data *d = &r.responses.v[0].partitions.v[0];
    assert_int_equal(d->error_code, 0);
    assert_int_equal(d->high_watermark, 15);
    assert_int_equal(record_iter_init(&it, d->records, NULL), 0);
    assert_int_equal(it.batch.base_offset, 5); /* whole batches: the one that holds 7 comes first */
    assert_int_equal(record_iter_next(&it, &rec), 1);
    assert_true(slice_eq_str(rec.value, "word 0"));
    assert_int_equal(d->records.n, 2 * it.batch.size);
    buf_deinit(&b);
    peer_close(&p);
}

static void pipelined_replies_come_in_order(void **state)
{
    struct peer p;
    struct buf b, batch;
    struct slice frame, records = batch_of(&batch, "x", 1);
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    buf_init(&b, 1 << 20);
    for (int i = 0; i < 50; i++) {
        /* A fetch that is answered at once would overtake the produce that waits for the disk. */
        produce_put(&b, 1000 + 2 * i, "t", 0, records, -1, 5000);
        fetch_put(&b, 1001 + 2 * i, "t", 0, 0, 0, 0, 0);
    }
    assert_true(peer_send(&p, buf_slice(&b), 1000));
    for (int i = 0; i < 100; i++) {
        assert_true(peer_frame(&p, &frame, 5000));
        assert_int_equal(get_be32(frame.p), 1000 + i);
    }
    buf_deinit(&b);
    buf_deinit(&batch);
    peer_close(&p);
}

static void a_parked_fetch_wakes_on_data(void **state)
{
    struct peer p, q;
    struct buf b, batch;
    struct slice frame;
    struct fetch_response r;
    peer_open(&p, &w);
    peer_open(&q, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    buf_init(&b, 1 << 20);
    fetch_put(&b, 5, "t", 0, 0, 30000, 1, 1);
    assert_true(peer_send(&p, buf_slice(&b), 1000));
    assert_false(peer_frame(&p, &frame, 50));
    assert_int_equal(peer_produce(&q, "t", 0, batch_of(&batch, "x", 1), NULL), 0);
    assert_true(peer_frame(&p, &frame, 1000));
    response_read(&p, frame, 1, 11, 5, &r);
    assert_int_equal(r.responses.v[0].partitions.v[0].records.n, batch.n);
    assert_int_equal(r.responses.v[0].partitions.v[0].aborted_transactions.n, 0);
    buf_deinit(&batch);
    buf_deinit(&b);
    peer_close(&p);
    peer_close(&q);
}

static void a_parked_fetch_ends_at_max_wait_and_with_its_topic(void **state)
{
    struct delete_topics_request m;
    struct delete_topics_response dr;
    struct slice name = slice_str("t"), frame;
    struct peer p, q;
    struct buf b;
    struct fetch_response r;
    peer_open(&p, &w);
    peer_open(&q, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    buf_init(&b, 1 << 20);
    uint64_t from = world_now_ms(&w);
    fetch_put(&b, 1, "t", 0, 0, 100, 1, 0);
    fetch_put(&b, 2, "t", 0, 0, 30000, 1, 0);
    assert_true(peer_send(&p, buf_slice(&b), 1000));
    assert_true(peer_frame(&p, &frame, 3000));
    response_read(&p, frame, 1, 11, 1, &r);
    assert_in_range(world_now_ms(&w) - from, 95, 1000);
    assert_int_equal(r.responses.v[0].partitions.v[0].records.n, 0);
    delete_topics_request_init(&m);
    m.topic_names.v = &name;
    m.topic_names.n = 1;
    peer_call(&q, 20, 4, &m, &dr);
    assert_int_equal(dr.responses.v[0].error_code, 0);
    assert_true(peer_frame(&p, &frame, 3000));
    response_read(&p, frame, 1, 11, 2, &r);
    assert_int_equal(r.responses.v[0].partitions.v[0].error_code, KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    buf_deinit(&b);
    peer_close(&p);
    peer_close(&q);
}

static void too_high_api_versions_is_answered_in_version_0(void **state)
{
    struct peer p;
    struct buf b;
    struct slice frame;
    struct api_versions_response r;
    static const unsigned char request[] = {0, 0, 0, 15, 0,   18,  0,   99,  0, 0,
                                            0, 9, 0, 4,  't', 'e', 's', 't', 0};
    peer_open(&p, &w);
    buf_init(&b, 4096);
    buf_put(&b, request, sizeof request);
    assert_true(peer_send(&p, buf_slice(&b), 1000));
    assert_true(peer_frame(&p, &frame, 1000));
    response_read(&p, frame, 18, 0, 9, &r);
    assert_int_equal(r.error_code, KAFKA_UNSUPPORTED_VERSION);
    assert_int_equal(r.api_keys.n, 1);
    assert_int_equal(r.api_keys.v[0].max_version, 4);
    buf_deinit(&b);
    peer_close(&p);
}

/* ---- strangers ---- */

static void still_serves(void)
{
    struct api_versions_request m;
    struct api_versions_response r;
    struct peer p;
    peer_open(&p, &w);
    api_versions_request_init(&m);
    m.client_software_name = m.client_software_version = slice_str("x");
    peer_call(&p, 18, 3, &m, &r);
    assert_int_equal(r.error_code, 0);
    assert_true(r.api_keys.n >= 16);
    peer_close(&p);
}

static void closes_on(const void *bytes, size_t n)
{
    struct peer p;
    peer_open(&p, &w);
    assert_true(peer_send(&p, slice_of(bytes, n), 1000));
    assert_true(peer_gone(&p, 2000));
    peer_close(&p);
    still_serves();
}

static void bad_frames_close_the_connection(void **state)
{
    static const unsigned char huge[] = {0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 3};
    static const unsigned char negative[] = {0xff, 0xff, 0xff, 0xfe, 0, 0};
    static const unsigned char zero[] = {0, 0, 0, 0};
    static const unsigned char unknown_key[] = {0, 0, 0, 10, 1, 44, 0, 0, 0, 0, 0, 1, 0xff, 0xff};
    static const unsigned char old_version[] = {0, 0, 0, 10, 0, 1, 0, 3, 0, 0, 0, 1, 0xff, 0xff};
    static const unsigned char no_body[] = {0, 0, 0, 10, 0, 3, 0, 4, 0, 0, 0, 1, 0xff, 0xff};
    static const unsigned char many[] = {0, 0, 0, 14,   0,    3,    0,    4,    0,
                                         0, 0, 1, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff};
    closes_on(huge, sizeof huge);
    closes_on(negative, sizeof negative);
    closes_on(zero, sizeof zero);
    closes_on(unknown_key, sizeof unknown_key);
    closes_on(old_version, sizeof old_version);
    closes_on(no_body, sizeof no_body);
    closes_on(many, sizeof many);
}

static void random_bytes_close_the_connection(void **state)
{
    for (int i = 0; i < 50; i++) {
        unsigned char bytes[600];
        for (size_t j = 0; j < sizeof bytes; j++)
            bytes[j] = (unsigned char)env_random(w.outside, 256);
        /* A plausible length, so that the noise reaches the decoders. */
        put_be32(bytes, sizeof bytes - 4);
        if (i % 2) {
            put_be16(bytes + 4, (uint16_t)env_random(w.outside, 36));
            put_be16(bytes + 6, (uint16_t)env_random(w.outside, 8));
        }
        struct peer p;
        peer_open(&p, &w);
        assert_true(peer_send(&p, slice_of(bytes, sizeof bytes), 1000));
        if (!peer_gone(&p, i % 2 ? 20 : 1000))
            assert_int_equal(i % 2, 1); /* noise that is a request may be answered */
        peer_close(&p);
    }
    still_serves();
}

static void requests_before_a_bad_frame_are_answered(void **state)
{
    struct peer p;
    struct buf b, batch;
    struct slice frame;
    struct produce_response r;
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    buf_init(&b, 1 << 20);
    produce_put(&b, 8, "t", 0, batch_of(&batch, "x", 1), -1, 5000);
    wire_put_i32(&b, -5);
    buf_printf(&b, "and more noise");
    assert_true(peer_send(&p, buf_slice(&b), 1000));
    assert_true(peer_frame(&p, &frame, 3000));
    response_read(&p, frame, 0, 9, 8, &r);
    assert_int_equal(r.responses.v[0].partition_responses.v[0].error_code, 0);
    assert_true(peer_gone(&p, 2000));
    buf_deinit(&b);
    buf_deinit(&batch);
    peer_close(&p);
}

static void a_declared_length_costs_nothing(void **state)
{
    enum { N = 40 };
    static struct peer peers[N];
    unsigned char head[64] = {0};
    size_t before = world_rss();
    put_be32(head, 100 << 20); /* legal: socket.request.max.bytes */
    for (int i = 0; i < N; i++) {
        peer_open(&peers[i], &w);
        assert_true(peer_send(&peers[i], slice_of(head, sizeof head), 1000));
    }
    world_pass(&w, 50);
    for (int i = 0; i < N; i++)
        assert_false(peers[i].closed);
    assert_true(world_rss() - before < (size_t)64 << 20);
    for (int i = 0; i < N; i++)
        peer_close(&peers[i]);
    still_serves();
}

static void a_wrong_crc_is_refused(void **state)
{
    struct peer p;
    struct buf batch;
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    batch_of(&batch, "x", 1);
    batch.p[batch.n - 1] ^= 1;
    assert_int_equal(peer_produce(&p, "t", 0, buf_slice(&batch), NULL), KAFKA_CORRUPT_MESSAGE);
    assert_int_equal(peer_produce(&p, "nowhere", 0, buf_slice(&batch), NULL),
                     KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    assert_int_equal(peer_produce(&p, "t", 0, SLICE_NULL, NULL), KAFKA_INVALID_RECORD);
    buf_deinit(&batch);
    peer_close(&p);
}

static void acks_0_gets_no_answer_and_an_error_closes(void **state)
{
    struct peer p;
    struct buf b, batch;
    struct slice frame, records = batch_of(&batch, "x", 1);
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    buf_init(&b, 1 << 20);
    produce_put(&b, 1, "t", 0, records, 0, 5000);
    fetch_put(&b, 2, "t", 0, 0, 5000, 1, 0);
    assert_true(peer_send(&p, buf_slice(&b), 1000));
    assert_true(peer_frame(&p, &frame, 5000));
    assert_int_equal(get_be32(frame.p), 2);
    buf_reset(&b);
    produce_put(&b, 3, "nowhere", 0, records, 0, 5000);
    assert_true(peer_send(&p, buf_slice(&b), 1000));
    assert_true(peer_gone(&p, 2000));
    buf_deinit(&b);
    buf_deinit(&batch);
    peer_close(&p);
}

static void a_large_frame_arrives_whole(void **state)
{
    struct peer p;
    struct buf batch, b;
    struct batch_writer bw;
    struct batch_writer_options o = {.leader_epoch = -1};
    struct slice frame;
    struct fetch_response r;
    size_t n = 5 << 20;
    unsigned char *value = malloc(n);
    for (size_t i = 0; i < n; i++)
        value[i] = (unsigned char)(i * 31 + i / 1000);
    buf_init(&batch, 16 << 20);
    assert_int_equal(batch_writer_begin(&bw, &batch, &o), 0);
    assert_int_equal(batch_writer_add(&bw, 1, SLICE_NULL, slice_of(value, n), NULL, 0), 0);
    assert_int_equal(batch_writer_finish(&bw, -1, -1, -1), 0);
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "big", 1, "max.message.bytes", "10000000"), 0);
    assert_int_equal(peer_produce(&p, "big", 0, buf_slice(&batch), NULL), 0);
    buf_init(&b, 1 << 20);
    fetch_put(&b, 2, "big", 0, 0, 5000, 1, 0);
    assert_true(peer_send(&p, buf_slice(&b), 1000));
    assert_true(peer_frame(&p, &frame, 5000));
    response_read(&p, frame, 1, 11, 2, &r);
    struct slice got = r.responses.v[0].partitions.v[0].records;
    assert_int_equal(got.n, batch.n);
    assert_memory_equal(got.p + 21, batch.p + 21, batch.n - 21);
    free(value);
    buf_deinit(&batch);
    buf_deinit(&b);
    peer_close(&p);
}

/* Bytes per partition of a fetch of both partitions of "t". */
static void fetch_both(struct peer *p, int32_t max_bytes, int32_t part_bytes, size_t got[2])
{
    struct fetch_request_fetch_partition parts[2];
    struct fetch_request_fetch_topic t = {slice_str("t"), {parts, 2}};
    struct fetch_request m;
    struct fetch_response r;
    fetch_request_init(&m);
    for (int i = 0; i < 2; i++) {
        fetch_request_fetch_partition_init(&parts[i]);
        parts[i].partition = i;
        parts[i].partition_max_bytes = part_bytes;
    }
    m.topics.v = &t;
    m.topics.n = 1;
    m.max_bytes = max_bytes;
    m.min_bytes = 1 << 30; /* what limits keep out is not waited for */
    m.max_wait_ms = 60000;
    peer_call(p, 1, 11, &m, &r);
    for (int i = 0; i < 2; i++)
        got[i] = r.responses.v[0].partitions.v[i].records.n;
}

static void limits_hold_but_for_the_first_batch(void **state)
{
    struct peer p;
    struct buf batch;
    size_t got[2];
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 2, NULL, NULL), 0);
    batch_of(&batch, "a batch of about one hundred thousand bytes", 2000);
    for (int i = 0; i < 20; i++)
        assert_int_equal(peer_produce(&p, "t", i % 2, buf_slice(&batch), NULL), 0);
    fetch_both(&p, 10, 10, got);
    assert_int_equal(got[0], batch.n);
    assert_int_equal(got[1], 0);
    fetch_both(&p, 1 << 24, (int32_t)(2 * batch.n + 5), got);
    assert_int_equal(got[0], 2 * batch.n);
    assert_int_equal(got[1], 2 * batch.n);
    fetch_both(&p, (int32_t)(3 * batch.n), (int32_t)(2 * batch.n), got);
    assert_int_equal(got[0], 2 * batch.n);
    assert_int_equal(got[1], batch.n);
    fetch_both(&p, (int32_t)(2 * batch.n), (int32_t)(2 * batch.n), got);
    assert_int_equal(got[1], 0);
    buf_deinit(&batch);
    peer_close(&p);
}

static void any_number_of_batches_comes_in_one_answer(void **state)
{
    static const int records[] = {1, 100}; /* smaller, and larger than what is copied */
    for (int k = 0; k < 2; k++) {
        enum { N = 400 };
        struct peer p;
        struct buf b, batch;
        struct slice frame, rest, bytes = batch_of(&batch, "x", records[k]);
        struct fetch_response r;
        struct batch_info info;
        int64_t next = 0;
        peer_open(&p, &w);
        assert_int_equal(peer_create(&p, k ? "large" : "small", 1, NULL, NULL), 0);
        buf_init(&b, 16 << 20);
        for (int i = 0; i < N; i++)
            produce_put(&b, i, k ? "large" : "small", 0, bytes, i == N - 1 ? -1 : 0, 5000);
        fetch_put(&b, N, k ? "large" : "small", 0, 0, 0, 1, 0);
        assert_true(peer_send(&p, buf_slice(&b), 1000));
        assert_true(peer_frame(&p, &frame, 5000));
        assert_int_equal(get_be32(frame.p), N - 1);
        assert_true(peer_frame(&p, &frame, 5000));
        /* That one may have come too early; now all is durable. */
        buf_reset(&b);
        fetch_put(&b, N + 1, k ? "large" : "small", 0, 0, 0, 1, 0);
        assert_true(peer_send(&p, buf_slice(&b), 1000));
        assert_true(peer_frame(&p, &frame, 5000));
        response_read(&p, frame, 1, 11, N + 1, &r);
        rest = r.responses.v[0].partitions.v[0].records;
        assert_int_equal(rest.n, N * batch.n);
        for (; rest.n; rest = slice_sub(rest, info.size, rest.n)) {
            assert_int_equal(batch_header(rest, &info), 0);
            assert_int_equal(info.base_offset, next);
            assert_true(batch_crc_ok(slice_sub(rest, 0, info.size)));
            next = batch_next_offset(&info);
        }
        buf_deinit(&b);
        buf_deinit(&batch);
        peer_close(&p);
    }
}

static void what_a_slow_reader_leaves_is_bounded(void **state)
{
    enum { N = 6, FETCHES = 30 };
    static struct peer peers[N];
    struct peer p;
    struct buf batch, b;
    batch_of(&batch, "a text that makes a batch of some size, again and again", 12000);
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    for (int i = 0; i < 40; i++)
        assert_int_equal(peer_produce(&p, "t", 0, buf_slice(&batch), NULL), 0);
    size_t before = world_rss();
    for (int i = 0; i < N; i++) {
        peer_open(&peers[i], &w);
        peers[i].paused = true;
        buf_init(&b, 1 << 20);
        for (int j = 0; j < FETCHES; j++)
            fetch_put(&b, j, "t", 0, j % 30, 0, 1, 0);
        assert_true(peer_send(&peers[i], buf_slice(&b), 1000));
        buf_deinit(&b);
    }
    world_pass(&w, 500);
    /* 30 answers of 8 MiB each would be more than a GiB. */
    assert_true(world_rss() - before < (size_t)160 << 20);
    for (int i = 0; i < N; i++)
        peer_close(&peers[i]);
    buf_deinit(&batch);
    peer_close(&p);
    still_serves();
}

static size_t fetched(struct peer *p)
{
    struct fetch_response r;
    struct slice frame;
    struct buf b;
    buf_init(&b, 4096);
    fetch_put(&b, ++p->correlation, "t", 0, 0, 0, 1, 0);
    assert_true(peer_send(p, buf_slice(&b), 1000));
    buf_deinit(&b);
    assert_true(peer_frame(p, &frame, 20000));
    arena_reset(&p->arena);
    response_read(p, frame, 1, 11, p->correlation, &r);
    assert_int_equal(r.responses.v[0].partitions.v[0].error_code, 0);
    return r.responses.v[0].partitions.v[0].records.n;
}

static void many_slow_readers_share_what_replies_may_hold(void **state)
{
    enum { N = 60 };
    static struct peer peers[N];
    struct peer p;
    struct buf batch, b;
    size_t most;
    batch_of(&batch, "a text that makes a batch of some size, again and again", 12000);
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(peer_produce(&p, "t", 0, buf_slice(&batch), NULL), 0);
    most = fetched(&p);
    assert_true(most > 7 << 20);
    buf_init(&b, 4096);
    fetch_put(&b, 1, "t", 0, 0, 0, 1, 0);
    for (int i = 0; i < N; i++) {
        peer_open(&peers[i], &w);
        peers[i].paused = true;
        assert_true(peer_send(&peers[i], buf_slice(&b), 1000));
    }
    world_pass(&w, 200);
    assert_in_range(fetched(&p), batch.n, most / 2);
    for (int i = 0; i < N; i++)
        peer_close(&peers[i]);
    world_pass(&w, 200);
    assert_int_equal(fetched(&p), most);
    buf_deinit(&b);
    buf_deinit(&batch);
    peer_close(&p);
}

static void a_fetch_of_very_many_partitions_is_answered(void **state)
{
    enum { N = 30000 };
    static struct fetch_request_fetch_partition parts[N];
    struct fetch_request_fetch_topic t = {slice_str("t"), {parts, N}};
    struct fetch_request m;
    struct fetch_response r;
    struct peer p;
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    fetch_request_init(&m);
    for (int i = 0; i < N; i++) {
        fetch_request_fetch_partition_init(&parts[i]);
        parts[i].partition = i;
        parts[i].partition_max_bytes = 1000;
    }
    m.max_bytes = 1 << 20;
    m.topics.v = &t;
    m.topics.n = 1;
    peer_call(&p, 1, 4, &m, &r);
    assert_int_equal(r.responses.v[0].partitions.n, N);
    peer_close(&p);
}

static void a_request_cut_off_anywhere_is_harmless(void **state)
{
    struct buf b, batch;
    struct slice records = batch_of(&batch, "x", 1);
    buf_init(&b, 1 << 20);
    produce_put(&b, 1, "t", 0, records, -1, 5000);
    for (size_t n = 1; n < b.n; n += 7) {
        struct peer p;
        peer_open(&p, &w);
        assert_true(peer_send(&p, slice_sub(buf_slice(&b), 0, n), 1000));
        peer_close(&p);
    }
    still_serves();
    buf_deinit(&b);
    buf_deinit(&batch);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(metadata_creates_and_shows_a_topic),
        CASE(what_is_produced_is_fetched),
        CASE(pipelined_replies_come_in_order),
        CASE(a_parked_fetch_wakes_on_data),
        CASE(a_parked_fetch_ends_at_max_wait_and_with_its_topic),
        CASE(too_high_api_versions_is_answered_in_version_0),
        CASE(bad_frames_close_the_connection),
        CASE(random_bytes_close_the_connection),
        CASE(requests_before_a_bad_frame_are_answered),
        CASE(a_declared_length_costs_nothing),
        CASE(a_wrong_crc_is_refused),
        CASE(acks_0_gets_no_answer_and_an_error_closes),
        CASE(a_large_frame_arrives_whole),
        CASE(limits_hold_but_for_the_first_batch),
        CASE(any_number_of_batches_comes_in_one_answer),
        CASE(what_a_slow_reader_leaves_is_bounded),
        CASE(many_slow_readers_share_what_replies_may_hold),
        CASE(a_fetch_of_very_many_partitions_is_answered),
        CASE(a_request_cut_off_anywhere_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
