/* tests/runtime/client/test_fetcher.c - the fetcher against the fake broker. */
#include "support_fake.h"
#include "runtime/client/fetcher.h"
#include "runtime/client/producer.h"
#include <stdio.h>
#include <stdlib.h>

static struct fake *f;
static struct fetcher *fetcher;
static struct producer *producer;
static bool news;
static const struct client_options quick = {.request_timeout_ms = 3000};

static void ready(void *user)
{
    news = true;
}

static void stepped(void *user, int res, const struct err *e)
{
    assert_int_equal(res, 0);
    *(bool *)user = true;
}

static void fill(int partition, int from, int to)
{
    bool done = false;

    sim_enter(f->node);
    for (int i = from; i < to; i++) {
        char value[16];
        snprintf(value, sizeof value, "%d", i);
        struct producer_record r = {.topic = slice_str("t"),
                                    .value = slice_str(value),
                                    .partition = partition,
                                    .timestamp = i};
        assert_int_equal(producer_send(producer, &r), 0);
    }
    producer_flush(producer, stepped, &done);
    assert_true(fake_run(f, &done, 100));
}

static void open_world(uint64_t seed)
{
    struct producer_options po = {.batch_bytes = 400};
    struct fetcher_options fo = {.read_committed = true, .ready = ready, .max_wait_ms = 100};
    bool done = false;

    f = malloc(sizeof *f);
    assert_non_null(f);
    fake_open(f, seed, true, &quick);
    assert_int_equal(producer_open(&producer, f->client, &po), 0);
    producer_init_id(producer, stepped, &done);
    assert_true(fake_run(f, &done, 100));
    assert_int_equal(fetcher_open(&fetcher, f->client, &fo), 0);
}

static void close_world(void)
{
    producer_free(producer);
    fetcher_free(fetcher);
    fake_close(f);
    free(f);
}

static struct slice t(void)
{
    return slice_str("t");
}

/* The next record within some seconds; its number. -1: none came; else the (negative) error. */
static int next(struct fetched *r)
{
    struct err e;

    for (int i = 0; i < 50; i++) {
        int rc;
        sim_enter(f->node);
        rc = fetcher_next(fetcher, r, &e);
        if (rc > 0) {
            char text[16];
            snprintf(text, sizeof text, "%.*s", SLICE_FMT(r->value));
            return atoi(text);
        }
        if (rc < 0)
            return rc;
        news = false;
        fake_run(f, &news, 1);
    }
    return -1;
}

static void add(int partition, int64_t offset)
{
    sim_enter(f->node);
    assert_int_equal(fetcher_add(fetcher, t(), partition, offset, NULL), 0);
}

static void records_come_in_order_and_the_end_is_seen(void **state)
{
    struct fetched r;

    open_world(1);
    fill(0, 0, 100);
    add(0, 0);
    assert_int_equal(fetcher_add(fetcher, t(), 0, 5, NULL), -ERR_EXISTS);
    assert_false(fetcher_at_end(fetcher, t(), 0));
    for (int i = 0; i < 100; i++) {
        assert_int_equal(next(&r), i);
        assert_int_equal(r.offset, i);
        assert_int_equal(r.timestamp, i);
        assert_int_equal(fetcher_position(fetcher, t(), 0), i + 1);
    }
    assert_int_equal(next(&r), -1);
    assert_true(fetcher_at_end(fetcher, t(), 0));
    assert_int_equal(fetcher_high_watermark(fetcher, t(), 0), 100);
    fill(0, 100, 110);
    for (int i = 100; i < 110; i++)
        assert_int_equal(next(&r), i);
    close_world();
}

static void an_empty_partition_is_at_its_end_after_one_answer(void **state)
{
    open_world(2);
    add(1, 0);
    news = false;
    assert_true(fake_run(f, &news, 10));
    assert_true(fetcher_at_end(fetcher, t(), 1));
    close_world();
}

static void a_read_may_begin_inside_a_batch(void **state)
{
    struct fetched r;

    open_world(3);
    fill(0, 0, 50);
    assert_true(f->parts[0].v[0].count > 5);
    add(0, 3);
    for (int i = 3; i < 50; i++)
        assert_int_equal(next(&r), i);
    close_world();
}

static void partitions_take_turns_by_batch(void **state)
{
    struct fetched r;
    int switches = 0, last = -1, seen[2] = {0};

    open_world(4);
    fill(0, 0, 100);
    fill(1, 0, 100);
    assert_true(f->parts[0].n > 2);
    add(0, 0);
    add(1, 0);
    for (int i = 0; i < 200; i++) {
        int n = next(&r);
        assert_int_equal(n, seen[r.partition]++);
        switches += r.partition != last;
        last = r.partition;
    }
    assert_int_equal(switches, f->parts[0].n + f->parts[1].n);
    close_world();
}

/* EO-43: what was asked for before a seek, or lies in the buffer, is not handed out after it. */
static void nothing_older_than_a_seek_is_handed_out(void **state)
{
    struct fetched r;

    open_world(5);
    fill(0, 0, 200);
    add(0, 0);
    for (int round = 0; round < 200; round++) {
        int to = (int)sim_random(&f->sim, 190), n = (int)sim_random(&f->sim, 10);
        sim_run(&f->sim, f->sim.now + sim_random(&f->sim, ENV_MS(5)), NULL, NULL);
        sim_enter(f->node);
        fetcher_seek(fetcher, t(), 0, to);
        assert_int_equal(fetcher_position(fetcher, t(), 0), to);
        assert_false(fetcher_at_end(fetcher, t(), 0));
        for (int i = 0; i < n; i++)
            assert_int_equal(next(&r), to + i);
    }
    close_world();
}

static void a_removed_partition_gives_nothing_and_can_come_back(void **state)
{
    struct fetched r;

    open_world(6);
    fill(0, 0, 50);
    fill(1, 0, 50);
    for (int round = 0; round < 50; round++) {
        sim_enter(f->node);
        add(0, 10);
        add(1, 0);
        sim_run(&f->sim, f->sim.now + sim_random(&f->sim, ENV_MS(4)), NULL, NULL);
        sim_enter(f->node);
        fetcher_remove(fetcher, t(), 0);
        for (int i = 0; i < 20; i++) {
            assert_int_equal(next(&r), i);
            assert_int_equal(r.partition, 1);
        }
        fetcher_remove(fetcher, t(), 1);
    }
    assert_int_equal(fetcher_position(fetcher, t(), 0), -1);
    close_world();
}

static void a_pause_inside_a_batch_loses_and_repeats_nothing(void **state)
{
    struct fetched r;
    int seen[2] = {0};

    open_world(7);
    fill(0, 0, 100);
    fill(1, 0, 100);
    add(0, 0);
    add(1, 0);
    for (int i = 0; i < 200; i++) {
        int p = (int)sim_random(&f->sim, 2);
        if (seen[1 - p] < 100)
            fetcher_pause(fetcher, t(), p, true);
        for (int k = 0; k < 5 && seen[1 - p] < 100; k++) {
            int n = next(&r);
            assert_int_equal(r.partition, 1 - p);
            assert_int_equal(n, seen[1 - p]++);
        }
        sim_enter(f->node);
        fetcher_pause(fetcher, t(), p, false);
    }
    assert_int_equal(seen[0] + seen[1], 200);
    close_world();
}

static void an_offset_out_of_range_is_told_once_and_a_seek_heals(void **state)
{
    struct fetched r;

    open_world(8);
    fill(0, 0, 10);
    add(0, 500);
    assert_int_equal(next(&r), -ERR_NOT_FOUND);
    assert_int_equal(next(&r), -1);
    sim_enter(f->node);
    fetcher_seek(fetcher, t(), 0, 0);
    assert_int_equal(next(&r), 0);
    close_world();
}

static void a_bad_checksum_is_corruption_and_no_record(void **state)
{
    struct fetched r;

    open_world(9);
    fill(0, 0, 3);
    f->parts[0].bytes.p[70] ^= 1;
    add(0, 0);
    assert_int_equal(next(&r), -ERR_CORRUPT);
    assert_int_equal(next(&r), -1);
    close_world();
}

static int sometimes(void *u, int16_t api)
{
    int what = (int)sim_random(&f->sim, 10);
    if (api != API_FETCH)
        return FAKE_OK;
    return what == 0   ? FAKE_DROP_REQUEST
           : what == 1 ? FAKE_DROP_REPLY
           : what == 2 ? KAFKA_NOT_LEADER_OR_FOLLOWER
                       : FAKE_OK;
}

static void cuts_and_moved_leaders_lose_and_repeat_nothing(void **state)
{
    struct fetched r;

    for (uint64_t seed = 10; seed < 20; seed++) {
        int seen[FAKE_PARTS] = {0};
        open_world(seed);
        for (int p = 0; p < FAKE_PARTS; p++)
            fill(p, 0, 100);
        f->fault = sometimes;
        for (int p = 0; p < FAKE_PARTS; p++)
            add(p, 0);
        for (int i = 0; i < 100 * FAKE_PARTS; i++) {
            int n = next(&r);
            assert_int_equal(n, seen[r.partition]++);
        }
        close_world();
    }
}

static void a_new_partition_does_not_wait_for_a_parked_request(void **state)
{
    struct fetched r;
    struct fetcher_options fo = {.ready = ready, .max_wait_ms = 60000};

    open_world(20);
    fetcher_free(fetcher);
    assert_int_equal(fetcher_open(&fetcher, f->client, &fo), 0);
    fill(1, 0, 3);
    f->park = true;
    add(0, 0);
    sim_run(&f->sim, f->sim.now + ENV_MS(50), NULL, NULL);
    uint64_t began = f->sim.now;
    add(1, 0);
    assert_int_equal(next(&r), 0);
    assert_int_equal(r.partition, 1);
    assert_true(f->sim.now - began < ENV_MS(500));
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_in_order_and_the_end_is_seen),
        cmocka_unit_test(an_empty_partition_is_at_its_end_after_one_answer),
        cmocka_unit_test(a_read_may_begin_inside_a_batch),
        cmocka_unit_test(partitions_take_turns_by_batch),
        cmocka_unit_test(nothing_older_than_a_seek_is_handed_out),
        cmocka_unit_test(a_removed_partition_gives_nothing_and_can_come_back),
        cmocka_unit_test(a_pause_inside_a_batch_loses_and_repeats_nothing),
        cmocka_unit_test(an_offset_out_of_range_is_told_once_and_a_seek_heals),
        cmocka_unit_test(a_bad_checksum_is_corruption_and_no_record),
        cmocka_unit_test(cuts_and_moved_leaders_lose_and_repeat_nothing),
        cmocka_unit_test(a_new_partition_does_not_wait_for_a_parked_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
