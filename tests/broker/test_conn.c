/* Connections in the simulated world: torn arrival, silence, slow disks, ends at bad moments. */
#include "support_node.h"
#include <stdio.h>
#include <stdlib.h>

static struct world w;

static int setup(void **state)
{
    world_open_sim(&w, 5);
    conf_set(&w.conf, slice_str("connections.max.idle.ms"), slice_str("2000"));
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

/* Many batches in one partition, then a restart, so that none of it is in memory. */
static void fill_and_forget(struct peer *p, int n)
{
    struct buf batch;
    batch_of(&batch, "some text that fills a batch, again and again and again", 500);
    assert_int_equal(peer_create(p, "t", 1, NULL, NULL), 0);
    for (int i = 0; i < n; i++)
        assert_int_equal(peer_produce(p, "t", 0, buf_slice(&batch), NULL), 0);
    world_pass(&w, 1000);
    peer_close(p);
    world_stop(&w);
    world_start(&w);
    peer_open(p, &w);
    buf_deinit(&batch);
}

static void frames_may_come_in_any_pieces(void **state)
{
    struct peer p;
    struct buf b, batch;
    struct slice frame, records = batch_of(&batch, "x", 3);
    world_sim(&w)->timing.split = 1000000;
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    buf_init(&b, 4 << 20);
    for (int round = 0; round < 20; round++) {
        int n = 1 + (int)sim_random(world_sim(&w), 60);
        buf_reset(&b);
        for (int i = 0; i < n; i++) {
            if (sim_random(world_sim(&w), 2))
                produce_put(&b, i, "t", 0, records, -1, 5000);
            else
                fetch_put(&b, i, "t", 0, 0, (int)sim_random(world_sim(&w), 3), 1 << 30, 0);
        }
        /* In parts of our own, too. */
        for (size_t at = 0; at < b.n;) {
            size_t part = 1 + sim_random(world_sim(&w), 3000);
            assert_true(peer_send(&p, slice_sub(buf_slice(&b), at, part), 1000));
            at += part;
        }
        for (int i = 0; i < n; i++) {
            assert_true(peer_frame(&p, &frame, 5000));
            assert_int_equal(get_be32(frame.p), i);
        }
    }
    buf_deinit(&b);
    buf_deinit(&batch);
    peer_close(&p);
}

static void who_is_silent_is_closed(void **state)
{
    struct peer p, q;
    peer_open(&p, &w);
    peer_open(&q, &w);
    assert_int_equal(peer_create(&q, "t", 1, NULL, NULL), 0);
    for (int i = 0; i < 5; i++) {
        world_pass(&w, 1000);
        assert_int_equal(peer_create(&q, "t", 1, NULL, NULL), KAFKA_TOPIC_ALREADY_EXISTS);
    }
    assert_true(p.closed);
    assert_false(q.closed);
    peer_close(&p);
    peer_close(&q);
}

static void a_half_open_peer_is_given_up(void **state)
{
    struct peer p, q;
    struct buf b;
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    buf_init(&b, 4096);
    fetch_put(&b, 1, "t", 0, 0, 1000000000, 1, 0);
    assert_true(peer_send(&p, buf_slice(&b), 1000));
    world_pass(&w, 100);
    assert_false(list_empty(&broker_partition(w.broker, slice_str("t"), 0)->waits));
    assert_true(sim_net_half_open(world_sim(&w), NULL, NULL));
    world_pass(&w, 5000);
    assert_true(list_empty(&broker_partition(w.broker, slice_str("t"), 0)->waits));
    peer_open(&q, &w);
    assert_int_equal(peer_create(&q, "u", 1, NULL, NULL), 0);
    buf_deinit(&b);
    peer_close(&p);
    peer_close(&q);
}

static size_t fetch_all(struct peer *p)
{
    int64_t offset = 0, end = 1;
    size_t bytes = 0;
    while (offset < end) {
        struct fetch_response r;
        struct batch_info info;
        struct slice frame, rest;
        struct buf b;
        buf_init(&b, 4096);
        fetch_put(&b, ++p->correlation, "t", 0, offset, 0, 1, 0);
        assert_true(peer_send(p, buf_slice(&b), 1000));
        buf_deinit(&b);
        assert_true(peer_frame(p, &frame, 60000));
        arena_reset(&p->arena);
        response_read(p, frame, 1, 11, p->correlation, &r);
        assert_int_equal(r.responses.v[0].partitions.v[0].error_code, 0);
        end = r.responses.v[0].partitions.v[0].high_watermark;
        rest = r.responses.v[0].partitions.v[0].records;
        assert_true(rest.n > 0);
        bytes += rest.n;
        for (; rest.n; rest = slice_sub(rest, info.size, rest.n)) {
            assert_int_equal(batch_header(rest, &info), 0);
            assert_true(batch_crc_ok(slice_sub(rest, 0, info.size)));
            assert_int_equal(info.base_offset, offset);
            offset = batch_next_offset(&info);
        }
    }
    return bytes;
}

static void a_fetch_waits_for_a_cold_disk(void **state)
{
    struct peer p;
    peer_open(&p, &w);
    fill_and_forget(&p, 40);
    world_sim(&w)->timing.again = 1000000;
    world_sim(&w)->timing.read[0] = world_sim(&w)->timing.read[1] = ENV_MS(20);
    assert_true(fetch_all(&p) > 40 * 500 * 30);
    peer_close(&p);
}

/* Everything that can be under way, then an end of some kind. */
static void start_everything(struct peer *peers, struct buf *b)
{
    struct buf batch;
    struct list_offsets_request_list_offsets_partition part = {0, -1, 1700000000400};
    struct list_offsets_request_list_offsets_topic t = {slice_str("t"), {&part, 1}};
    struct list_offsets_request m;
    batch_of(&batch, "x", 3);
    buf_init(b, 1 << 20);
    for (int i = 0; i < 4; i++)
        peer_open(&peers[i], &w);
    fetch_put(b, 1, "t", 0, 0, 1000, 1, 0); /* a read that the disk has */
    assert_true(peer_send(&peers[0], buf_slice(b), 1000));
    buf_reset(b);
    list_offsets_request_init(&m);
    m.replica_id = -1;
    m.topics.v = &t;
    m.topics.n = 1;
    request_put(b, 2, 7, 1, &m);
    assert_true(peer_send(&peers[1], buf_slice(b), 1000));
    buf_reset(b);
    fetch_put(b, 1, "t", 0, 20000, 100000, 1, 0); /* parked */
    assert_true(peer_send(&peers[2], buf_slice(b), 1000));
    buf_reset(b);
    produce_put(b, 1, "t", 0, buf_slice(&batch), -1, 5000);
    assert_true(peer_send(&peers[3], buf_slice(b), 1000));
    buf_deinit(&batch);
}

static void slow_disk(void)
{
    struct sim_timing *t = &world_sim(&w)->timing;
    t->again = 1000000;
    t->read[0] = t->read[1] = t->sync[0] = t->sync[1] = ENV_MS(500);
}

static void quick_disk(void)
{
    struct sim_timing *t = &world_sim(&w)->timing;
    t->again = 0;
    t->read[0] = t->read[1] = t->sync[0] = t->sync[1] = ENV_MS(1);
}

static void an_end_at_a_bad_moment_leaves_nothing(void **state)
{
    for (int how = 0; how < 4; how++) {
        static struct peer peers[4];
        struct peer p;
        struct buf b;
        if (how) {
            world_close(&w);
            setup(NULL);
        }
        peer_open(&p, &w);
        fill_and_forget(&p, 40);
        slow_disk();
        start_everything(peers, &b);
        world_pass(&w, 30 + 100 * how);
        switch (how) {
        case 0: /* the peers go */
            for (int i = 0; i < 4; i++)
                peer_close(&peers[i]);
            break;
        case 1:
            assert_int_equal(broker_topic_delete(w.broker, broker_topic(w.broker, slice_str("t"))),
                             0);
            break;
        case 2: world_kill(&w); break;
        default: world_power_cut(&w); break;
        }
        world_pass(&w, 1000);
        quick_disk();
        if (!w.broker)
            world_start(&w);
        if (how)
            for (int i = 0; i < 4; i++)
                peer_close(&peers[i]);
        peer_close(&p);
        peer_open(&p, &w);
        assert_int_equal(peer_create(&p, "after", 1, NULL, NULL), 0);
        buf_deinit(&b);
        peer_close(&p);
    }
}

static void an_orderly_stop_answers_what_was_staged(void **state)
{
    struct peer p, q;
    struct buf b, batch;
    struct slice frame;
    struct produce_response r;
    peer_open(&p, &w);
    peer_open(&q, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    world_pass(&w, 100);
    slow_disk();
    buf_init(&b, 4096);
    fetch_put(&b, 4, "t", 0, 0, 100000, 1 << 20, 0);
    assert_true(peer_send(&q, buf_slice(&b), 1000));
    buf_reset(&b);
    produce_put(&b, 9, "t", 0, batch_of(&batch, "x", 3), -1, 5000);
    assert_true(peer_send(&p, buf_slice(&b), 1000));
    world_pass(&w, 20);
    world_stop(&w);
    quick_disk();
    assert_true(peer_frame(&p, &frame, 1000));
    response_read(&p, frame, 0, 9, 9, &r);
    assert_int_equal(r.responses.v[0].partition_responses.v[0].error_code, 0);
    assert_false(peer_frame(&q, &frame, 100));
    assert_true(q.closed);
    buf_deinit(&b);
    buf_deinit(&batch);
    peer_close(&p);
    peer_close(&q);
    world_start(&w);
    peer_open(&p, &w);
    assert_true(fetch_all(&p) > 0);
    peer_close(&p);
}

static void a_full_disk_refuses_and_goes_on(void **state)
{
    struct peer p;
    struct buf batch;
    struct sim_disk *d;
    int64_t base, end = 0;
    int16_t error = 0;
    batch_of(&batch, "a line of text that fills the disk after some time", 4000);
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    d = sim_node_disk(list_entry(w.env, struct sim_node, env));
    d->quota = d->used + (20 << 20);
    for (int i = 0; i < 400 && !error; i++) {
        error = peer_produce(&p, "t", 0, buf_slice(&batch), &base);
        if (!error)
            end = base + 4000;
    }
    assert_int_equal(error, KAFKA_KAFKA_STORAGE_ERROR);
    assert_true(end > 0);
    d->quota = UINT64_MAX;
    world_pass(&w, 1500);
    for (int i = 0; i < 50 && error; i++) {
        error = peer_produce(&p, "t", 0, buf_slice(&batch), &base);
        world_pass(&w, 100);
    }
    assert_int_equal(error, 0);
    assert_int_equal(base, end);
    peer_close(&p);
    world_power_cut(&w);
    world_start(&w);
    assert_int_equal(log_end(broker_partition(w.broker, slice_str("t"), 0)->log), end + 4000);
    buf_deinit(&batch);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(frames_may_come_in_any_pieces),         CASE(who_is_silent_is_closed),
        CASE(a_half_open_peer_is_given_up),          CASE(a_fetch_waits_for_a_cold_disk),
        CASE(an_end_at_a_bad_moment_leaves_nothing), CASE(an_orderly_stop_answers_what_was_staged),
        CASE(a_full_disk_refuses_and_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
