/* Durability in the simulated world: what is answered, when, and what is left after the power
 * goes. */
#include "support_node.h"
#include "base/check.h"
#include <stdio.h>
#include <stdlib.h>

static struct world w;

static int setup(void **state)
{
    world_open_sim(&w, 7);
    world_start(&w);
    return 0;
}

static int teardown(void **state)
{
    world_close(&w);
    return 0;
}

static void slow_syncs(uint64_t ms)
{
    world_sim(&w)->timing.sync[0] = world_sim(&w)->timing.sync[1] = ENV_MS(ms);
}

static struct slice batch_of(struct buf *b, const char *text, int n)
{
    buf_init(b, 64 << 20);
    batch_put(b, text, n);
    return buf_slice(b);
}

/* High watermark, and records of what is visible from `offset`. */
static int64_t visible(struct peer *p, const char *topic, int64_t offset, size_t *bytes)
{
    struct fetch_response r;
    struct slice frame;
    struct buf b;
    buf_init(&b, 4096);
    fetch_put(&b, ++p->correlation, topic, 0, offset, 0, 0, 0);
    assert_true(peer_send(p, buf_slice(&b), 1000));
    buf_deinit(&b);
    assert_true(peer_frame(p, &frame, 5000));
    arena_reset(&p->arena);
    response_read(p, frame, 1, 11, p->correlation, &r);
    struct fetch_response_partition_data *d = &r.responses.v[0].partitions.v[0];
    assert_int_equal(d->error_code, 0);
    if (bytes)
        *bytes = d->records.n;
    return d->high_watermark;
}

static void produce_is_answered_after_the_sync_only(void **state)
{
    struct peer p, q;
    struct buf b, batch;
    struct slice frame;
    struct produce_response r;
    size_t bytes;
    peer_open(&p, &w);
    peer_open(&q, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    slow_syncs(500);
    buf_init(&b, 4096);
    produce_put(&b, 1, "t", 0, batch_of(&batch, "x", 3), -1, 5000);
    assert_true(peer_send(&p, buf_slice(&b), 1000));
    assert_false(peer_frame(&p, &frame, 400));
    assert_int_equal(visible(&q, "t", 0, &bytes), 0);
    assert_int_equal(bytes, 0);
    assert_true(peer_frame(&p, &frame, 400));
    response_read(&p, frame, 0, 9, 1, &r);
    assert_int_equal(r.responses.v[0].partition_responses.v[0].error_code, 0);
    assert_int_equal(visible(&q, "t", 0, &bytes), 3);
    buf_deinit(&b);
    buf_deinit(&batch);
    peer_close(&p);
    peer_close(&q);
}

static void acks_1_waits_like_acks_all(void **state)
{
    struct peer p;
    struct buf b, batch;
    struct slice frame;
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    slow_syncs(300);
    buf_init(&b, 4096);
    produce_put(&b, 1, "t", 0, batch_of(&batch, "x", 3), 1, 5000);
    assert_true(peer_send(&p, buf_slice(&b), 1000));
    assert_false(peer_frame(&p, &frame, 200));
    assert_true(peer_frame(&p, &frame, 400));
    buf_deinit(&b);
    buf_deinit(&batch);
    peer_close(&p);
}

static void a_produce_not_durable_in_time_is_timed_out_and_stays(void **state)
{
    struct peer p;
    struct buf b, batch;
    struct slice frame;
    struct produce_response r;
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    slow_syncs(500);
    buf_init(&b, 4096);
    produce_put(&b, 1, "t", 0, batch_of(&batch, "x", 3), -1, 100);
    uint64_t from = world_now_ms(&w);
    assert_true(peer_send(&p, buf_slice(&b), 1000));
    assert_true(peer_frame(&p, &frame, 1000));
    assert_in_range(world_now_ms(&w) - from, 95, 250);
    response_read(&p, frame, 0, 9, 1, &r);
    assert_int_equal(r.responses.v[0].partition_responses.v[0].error_code, KAFKA_REQUEST_TIMED_OUT);
    assert_int_equal(r.responses.v[0].partition_responses.v[0].base_offset, -1);
    world_pass(&w, 1000);
    assert_int_equal(visible(&p, "t", 0, NULL), 3);
    buf_deinit(&b);
    buf_deinit(&batch);
    peer_close(&p);
}

/* Only test builds count marks and know mutations. */
#ifdef ONCE_TEST_BUILD
enum { MARKS = 1 };
static void count_waits(void *user, const char *mark, uint64_t n)
{
    if (!strcmp(mark, "produce: waits for room in the log"))
        *(uint64_t *)user += n;
}
#else
enum { MARKS = 0 };
#endif

/* Produces until an answer comes, then the power goes at once: does the record survive? */
static bool acked_survives(uint64_t seed, uint64_t mutations)
{
    struct peer p, q;
    struct buf b, batch;
    struct slice frame;
    bool acked;
    int64_t end;
    world_open_sim(&w, seed);
    w.mutations = mutations;
    world_start(&w);
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    world_pass(&w, 50);
    slow_syncs(20);
    buf_init(&b, 4096);
    produce_put(&b, 1, "t", 0, batch_of(&batch, "x", 3), -1, 5000);
    assert_true(peer_send(&p, buf_slice(&b), 1000));
    acked = peer_frame(&p, &frame, 1000);
    assert_true(acked);
    world_power_cut(&w);
    slow_syncs(1);
    world_start(&w);
    peer_open(&q, &w);
    end = visible(&q, "t", 0, NULL);
    peer_close(&p);
    peer_close(&q);
    buf_deinit(&b);
    buf_deinit(&batch);
    world_close(&w);
    return end == 3;
}

static void what_was_acknowledged_survives_a_power_cut(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++)
        assert_true(acked_survives(seed, 0));
}

static void without_that_protection_it_does_not(void **state)
{
    int lost = 0;
    for (uint64_t seed = 1; seed <= 20; seed++)
        lost += !acked_survives(seed, 1u << MUT_ACK_BEFORE_SYNC);
    assert_true(!MARKS || lost > 0);
}

/* How many requests waited for room so far. */
static uint64_t waits(void)
{
    uint64_t n = 0;
#ifdef ONCE_TEST_BUILD
    reached_each(count_waits, &n);
#endif
    return n;
}

static void more_than_fits_waits_for_room(void **state)
{
    enum { PEERS = 4, BATCHES = 28 };
    static struct peer peers[PEERS];
    struct peer p;
    struct buf batch, all;
    struct slice frame, records = batch_of(&batch, "a long line of some text, 1 MB in all", 18000);
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    slow_syncs(1000);
    buf_init(&all, 256 << 20);
    for (int i = 0; i < BATCHES; i++)
        produce_put(&all, i, "t", 0, records, -1, 600000);
    for (int k = 0; k < PEERS; k++) {
        peer_open(&peers[k], &w);
        peers[k].out = buf_slice(&all);
        (void)peer_send(&peers[k], buf_slice(&all), 1);
    }
    for (int k = 0; k < PEERS; k++) {
        for (int i = 0; i < BATCHES; i++) {
            struct produce_response r;
            assert_true(peer_frame(&peers[k], &frame, 600000));
            arena_reset(&peers[k].arena);
            response_read(&peers[k], frame, 0, 9, i, &r);
            assert_int_equal(r.responses.v[0].partition_responses.v[0].error_code, 0);
        }
        peer_close(&peers[k]);
    }
    assert_int_equal(visible(&p, "t", 0, NULL), PEERS * BATCHES * 18000);
    assert_true(!MARKS || waits() > 0);
    buf_deinit(&all);
    buf_deinit(&batch);
    peer_close(&p);
}

static void requests_parked_for_room_go_with_their_connection(void **state)
{
    enum { PEERS = 4, BATCHES = 28 };
    static struct peer peers[PEERS];
    struct peer p;
    struct buf batch, all;
    struct slice records = batch_of(&batch, "a long line of some text, 1 MB in all", 18000);
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 1, NULL, NULL), 0);
    slow_syncs(1000);
    buf_init(&all, 256 << 20);
    for (int i = 0; i < BATCHES; i++)
        produce_put(&all, i, "t", 0, records, -1, 600000);
    for (int k = 0; k < PEERS; k++) {
        peer_open(&peers[k], &w);
        (void)peer_send(&peers[k], buf_slice(&all), 1);
    }
    uint64_t before = waits();
    world_pass(&w, 200);
    assert_true(!MARKS || waits() > before);
    for (int k = 0; k < PEERS; k++)
        peer_close(&peers[k]);
    slow_syncs(1);
    world_pass(&w, 10000);
    int64_t end = visible(&p, "t", 0, NULL);
    assert_int_equal(end % 18000, 0);
    buf_deinit(&all);
    buf_deinit(&batch);
    peer_close(&p);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(produce_is_answered_after_the_sync_only),
        CASE(acks_1_waits_like_acks_all),
        CASE(a_produce_not_durable_in_time_is_timed_out_and_stays),
        cmocka_unit_test(what_was_acknowledged_survives_a_power_cut),
        cmocka_unit_test(without_that_protection_it_does_not),
        CASE(more_than_fits_waits_for_room),
        CASE(requests_parked_for_room_go_with_their_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
