/* tests/broker/log/test_log.c - one partition's log: rolling, cold reads, edges of a read, times,
 * epochs, snapshots, deletion; and the directory when the disk is full, slow or broken. */
#include "tests/broker/log/support_logdir.h"
#include <stdio.h>
#include <stdlib.h>

static struct fx *start(uint64_t seed)
{
    struct fx *x = calloc(1, sizeof *x);
    fx_init_sim(x, seed);
    x->config.segment_bytes = 60000;
    x->config.index_interval_bytes = 1000;
    x->o.tail_bytes_max = 1;
    return x;
}

static void stop(struct fx *x)
{
    fx_deinit(x);
    free(x);
}

static void fill(struct fx *x, struct log *l, int n)
{
    for (int i = 0; i < n; i++) {
        assert_int_equal(fx_append_big(x, l, 200 + (size_t)(i * 37) % 2000, 1000 + i * 10), 0);
        if (i % 20 == 19)
            fx_sync(x);
    }
    fx_sync(x);
    fx_pass(x, ENV_S(1));
}

static void a_log_rolls_and_reads_back_from_its_segments(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 6; seed++) {
        struct fx *x = start(seed);
        struct buf all, part;
        struct log *l;
        char path[512];
        x->sim.timing.again = 500000;
        fx_start(x);
        l = fx_create(x, "a", 1, 0)->logs[0];
        fill(x, l, 300);
        buf_init(&all, 1 << 24);
        buf_init(&part, 1 << 24);
        fx_read(x, l, 0, &all);
        assert_int_equal(all.n, log_size(l));
        fx_path(x, path, "a-0/00000000000000000000.log");
        fx_get(x, path, &part);
        assert_true(part.n > 50000);
        assert_true(part.n <= 60000);
        assert_memory_equal(part.p, all.p, part.n);
        for (int64_t from = 0; from < 300; from += 17) {
            buf_reset(&part);
            fx_read(x, l, from, &part);
            assert_memory_equal(part.p, all.p + all.n - part.n, part.n);
        }
        fx_close(x);
        fx_start(x);
        l = fx_topic(x, "a")->logs[0];
        assert_int_equal(log_size(l), all.n);
        for (int64_t from = 0; from < 300; from += 17) {
            buf_reset(&part);
            fx_read(x, l, from, &part);
            assert_memory_equal(part.p, all.p + all.n - part.n, part.n);
        }
        buf_deinit(&all);
        buf_deinit(&part);
        stop(x);
    }
}

/* What Kafka's tool would make of the segment is what the running log wrote. */
static void the_running_logs_indexes_are_those_made_from_its_bytes(void **state)
{
    struct fx *x = start(3);
    struct buf log, idx, tidx, made[2];
    struct log *l;
    char path[512];
    int n = 0;

    (void)state;
    fx_start(x);
    l = fx_create(x, "a", 1, 0)->logs[0];
    fill(x, l, 120);
    fx_crash(x);
    fx_start(x);
    fill(x, fx_topic(x, "a")->logs[0], 120);
    fx_close(x);
    buf_init(&log, 1 << 24);
    buf_init(&idx, 1 << 24);
    buf_init(&tidx, 1 << 24);
    buf_init(&made[0], 1 << 24);
    buf_init(&made[1], 1 << 24);
    for (int64_t base = 0; base < 240; base++) {
        fx_path(x, path, "a-0/%020lld.log", (long long)base);
        if (!fx_exists(x, path))
            continue;
        n++;
        fx_get(x, path, &log);
        fx_path(x, path, "a-0/%020lld.index", (long long)base);
        fx_get(x, path, &idx);
        fx_path(x, path, "a-0/%020lld.timeindex", (long long)base);
        fx_get(x, path, &tidx);
        buf_reset(&made[0]);
        buf_reset(&made[1]);
        assert_int_equal(
            log_rebuild_indexes(buf_slice(&log), base, 1000, &made[0], &made[1], &x->err), 0);
        assert_true(slice_eq(buf_slice(&idx), buf_slice(&made[0])));
        assert_true(slice_eq(buf_slice(&tidx), buf_slice(&made[1])));
    }
    assert_true(n >= 4);
    buf_deinit(&log);
    buf_deinit(&idx);
    buf_deinit(&tidx);
    buf_deinit(&made[0]);
    buf_deinit(&made[1]);
    stop(x);
}

static void lost_indexes_are_made_again(void **state)
{
    struct fx *x = start(4);
    struct log *l;
    struct buf before, after;
    char path[512];

    (void)state;
    fx_start(x);
    l = fx_create(x, "a", 1, 0)->logs[0];
    fill(x, l, 100);
    buf_init(&before, 1 << 24);
    buf_init(&after, 1 << 24);
    fx_read(x, l, 90, &before);
    fx_close(x);
    for (int64_t base = 0; base < 100; base++)
        for (int i = 0; i < 2; i++) {
            fx_path(x, path, "a-0/%020lld.%s", (long long)base, i ? "timeindex" : "index");
            if (fx_exists(x, path))
                assert_int_equal(x->env->vt->remove_wait(x->env, path), 0);
        }
    fx_start(x);
    assert_true(x->report.indexes_rebuilt > 0);
    l = fx_topic(x, "a")->logs[0];
    fx_read(x, l, 90, &after);
    assert_true(slice_eq(buf_slice(&before), buf_slice(&after)));
    fx_read(x, l, 3, NULL);
    buf_deinit(&before);
    buf_deinit(&after);
    stop(x);
}

static int n_done;

static void on_done(struct log_read *r, int res)
{
    (void)r;
    (void)res;
    n_done++;
}

static void a_read_keeps_to_its_bounds(void **state)
{
    struct fx *x = start(5);
    struct fx_topic *t;
    struct log_read r;

    (void)state;
    x->o.tail_bytes_max = 1 << 20;
    fx_start(x);
    t = fx_create(x, "a", 1, 0);
    for (int i = 0; i < 10; i++)
        fx_append(x, t->logs[0], "0123456789", 1); /* 84 bytes a batch */
    fx_sync(x);
    fx_append(x, t->logs[0], "staged", 1);
    sim_enter(x->node);
#define READ(off, up, max, one)                                                                    \
    (r = (struct log_read){.log = t->logs[0],                                                      \
                           .offset = (off),                                                        \
                           .upper = (up),                                                          \
                           .max_bytes = (max),                                                     \
                           .at_least_one = (one),                                                  \
                           .done = on_done},                                                       \
     log_read(&r))
    assert_int_equal(READ(-1, 10, 1000, true), -ERR_NOT_FOUND);
    assert_int_equal(READ(12, 12, 1000, true), -ERR_NOT_FOUND);
    assert_int_equal(READ(11, 11, 1000, true), 0);
    assert_int_equal(r.n, 0);
    assert_int_equal(READ(10, 11, 1000, true), 0); /* staged is not read */
    assert_int_equal(r.n, 0);
    assert_int_equal(READ(0, 10, 10, true), 0);
    assert_int_equal(r.next, 1);
    log_read_release(&r);
    assert_int_equal(READ(0, 10, 10, false), 0);
    assert_int_equal(r.n, 0);
    assert_int_equal(r.next, 0);
    assert_int_equal(READ(3, 6, 100000, true), 0);
    assert_int_equal(r.next, 6);
    log_read_release(&r);
    assert_int_equal(READ(0, 10, 300, true), 0);
    assert_true(r.bytes <= 300);
    assert_true(r.bytes > 200);
    log_read_release(&r);
    /* Given up while it is under way: nobody is called. */
    fx_pass(x, ENV_S(10));
    x->sim.timing.again = 1000000;
    sim_enter(x->node);
    n_done = 0;
    if (READ(0, 10, 100, true) == -ERR_AGAIN)
        log_read_cancel(&r);
    else
        fail_msg("not read from the file");
    fx_pass(x, ENV_S(1));
    assert_int_equal(n_done, 0);
    stop(x);
}

/* ---- times ---- */

static int n_times;

static void on_time(struct log_time *t, int res)
{
    (void)t;
    assert_int_equal(res, 0);
    n_times++;
}

static void find(struct fx *x, struct log_time *t)
{
    int r, n = n_times;

    t->done = on_time;
    sim_enter(x->node);
    r = log_time_find(t);
    while (r == -ERR_AGAIN && n_times == n)
        fx_turn(x);
    assert_true(r == 0 || r == -ERR_AGAIN);
}

static void an_offset_is_found_by_time(void **state)
{
    enum { N = 200 };
    int64_t ts[N];

    (void)state;
    for (uint64_t seed = 1; seed < 8; seed++) {
        struct fx *x = start(seed);
        struct log *l;
        x->sim.timing.again = 300000;
        x->config.segment_ms = INT64_MAX;
        fx_start(x);
        l = fx_create(x, "a", 1, 0)->logs[0];
        for (int i = 0; i < N; i++) {
            ts[i] = 1000 + i * 5 + (int64_t)sim_random(&x->sim, 40);
            assert_int_equal(fx_append_big(x, l, 1500, ts[i]), 0);
            fx_sync(x);
        }
        fx_pass(x, ENV_S(10));
        for (int again = 0; again < 2; again++) {
            for (int k = 0; k < 60; k++) {
                int64_t want = 990 + (int64_t)sim_random(&x->sim, N * 5 + 80);
                int64_t upper = 1 + (int64_t)sim_random(&x->sim, N), best = -1;
                struct log_time t = {.log = l, .timestamp = want, .upper = upper};
                for (int i = 0; i < upper && best < 0; i++)
                    best = ts[i] >= want ? i : -1;
                find(x, &t);
                assert_int_equal(t.offset, best);
                if (best >= 0)
                    assert_int_equal(t.found_timestamp, ts[best]);
                t = (struct log_time){.log = l, .max = true, .upper = upper};
                best = 0;
                for (int i = 0; i < upper; i++)
                    best = ts[i] > ts[best] ? i : best;
                find(x, &t);
                assert_int_equal(t.offset, best);
                assert_int_equal(t.found_timestamp, ts[best]);
            }
            fx_close(x);
            fx_start(x);
            l = fx_topic(x, "a")->logs[0];
        }
        stop(x);
    }
}

static void each_start_is_an_epoch_of_its_own(void **state)
{
    struct fx *x = start(6);
    int32_t found;
    int64_t end;

    (void)state;
    fx_start(x);
    fx_append(x, fx_create(x, "a", 1, 0)->logs[0], "x", 3);
    fx_sync(x);
    for (int i = 0; i < 3; i++) {
        if (i == 1)
            fx_close(x);
        else
            fx_crash(x);
        fx_start(x);
        fx_append(x, fx_topic(x, "a")->logs[0], "x", 2);
        fx_sync(x);
    }
    assert_int_equal(logdir_epoch(x->d), 4);
    for (int again = 0; again < 2; again++) {
        struct log *l = fx_topic(x, "a")->logs[0];
        for (int32_t e = 1; e <= 4; e++) {
            log_epoch_end(l, e, &found, &end);
            assert_int_equal(found, e);
            assert_int_equal(end, 3 + 2 * (e - 1));
        }
        log_epoch_end(l, 0, &found, &end);
        assert_int_equal(found, -1);
        assert_int_equal(end, 0);
        log_epoch_end(l, 9, &found, &end);
        assert_int_equal(found, 4);
        fx_close(x);
        fx_start(x);
    }
    stop(x);
}

/* ---- snapshots ---- */

static void replay_begins_at_the_newest_snapshot(void **state)
{
    struct fx *x = start(7);
    struct log *l;
    char path[512];
    int n = 0;

    (void)state;
    x->producers = true;
    fx_start(x);
    l = fx_create(x, "a", 1, 0)->logs[0];
    for (int i = 0; i < 6; i++) {
        fx_append(x, l, "x", 10);
        fx_sync(x);
        fx_pass(x, ENV_S(12));
    }
    fx_append(x, l, "y", 10);
    fx_sync(x);
    for (int64_t o = 0; o <= 70; o++) {
        fx_path(x, path, "a-0/%020lld.snapshot", (long long)o);
        n += fx_exists(x, path);
    }
    assert_int_equal(n, 2);
    fx_crash(x);
    fx_start(x);
    assert_int_equal(x->n_snapshots_loaded, 1);
    assert_int_equal(x->first_replayed, 60);
    assert_int_equal(x->n_replayed, 1);
    fx_crash(x);
    /* A damaged one: the older is taken. */
    fx_path(x, path, "a-0/%020d.snapshot", 60);
    fx_put(x, path, slice_str("nonsense"));
    fx_start(x);
    assert_int_equal(x->first_replayed, 50);
    fx_close(x);
    fx_start(x);
    assert_int_equal(x->n_replayed, 0);
    assert_true(x->report.clean);
    stop(x);
}

/* ---- aborted transactions ---- */

static void entry_of(int64_t first, int64_t last, unsigned char e[34])
{
    memset(e, 0, 34);
    put_be64(e + 2, 77);
    put_be64(e + 10, (uint64_t)first);
    put_be64(e + 18, (uint64_t)last);
    put_be64(e + 26, (uint64_t)last + 1);
}

static bool count_entry(void *user, const unsigned char entry[34])
{
    (void)entry;
    ++*(int *)user;
    return true;
}

static void aborted_transactions_are_kept_beside_their_segment(void **state)
{
    struct fx *x = start(8);
    struct log *l;
    unsigned char e[34];
    int n = 0;

    (void)state;
    x->producers = true;
    fx_start(x);
    l = fx_create(x, "a", 1, 0)->logs[0];
    fill(x, l, 150);
    for (int64_t o = 10; o < 150; o += 10) {
        entry_of(o - 5, o, e);
        log_txnindex_add(l, o, e);
    }
    fx_append(x, l, "x", 1);
    fx_sync(x);
    fx_close(x);
    fx_start(x);
    l = fx_topic(x, "a")->logs[0];
    log_txnindex_scan(l, 0, count_entry, &n);
    assert_int_equal(n, 14);
    n = 0;
    log_txnindex_scan(l, 95, count_entry, &n);
    assert_int_equal(n, 5);
    stop(x);
}

/* Zeros would be an aborted transaction of producer 0 at offset 0: whoever reads from there would
 * pass over what that producer committed. */
static void zeros_that_a_power_cut_left_are_no_aborted_transaction(void **state)
{
    struct fx *x = start(8);
    struct buf zeros;
    char path[512];
    int n = 0;

    (void)state;
    x->producers = true;
    fx_start(x);
    fill(x, fx_create(x, "a", 1, 0)->logs[0], 50);
    fx_sync(x);
    fx_close(x);
    fx_path(x, path, "a-0/%020d.txnindex", 0);
    buf_init(&zeros, 100);
    memset(buf_more(&zeros, 68), 0, 68);
    fx_put(x, path, buf_slice(&zeros));
    buf_deinit(&zeros);
    fx_start(x);
    log_txnindex_scan(fx_topic(x, "a")->logs[0], 0, count_entry, &n);
    assert_int_equal(n, 0);
    stop(x);
}

/* ---- deletion ---- */

static void a_deleted_log_goes_and_its_namesake_is_new(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 30; seed++) {
        struct fx *x = start(seed);
        struct fx_topic *t;
        char path[512];
        fx_start(x);
        t = fx_create(x, "a", 2, 0);
        fx_append(x, t->logs[0], "old", 5);
        fx_append(x, t->logs[1], "old", 5);
        fx_sync(x);
        if (seed % 3)
            fx_pass(x, ENV_MS(sim_random(&x->sim, 400)));
        assert_int_equal(fx_delete(x, fx_topic(x, "a")), 0);
        t = fx_create(x, "a", 2, 1);
        assert_int_equal(log_end(t->logs[0]), 0);
        fx_append(x, t->logs[0], "new", 2);
        fx_sync(x);
        if (seed % 2)
            fx_pass(x, ENV_MS(sim_random(&x->sim, 400)));
        if (seed % 4 == 0)
            fx_power_cut(x);
        else
            fx_crash(x);
        fx_start(x);
        t = fx_topic(x, "a");
        assert_int_equal(log_end(t->logs[0]), 2);
        assert_int_equal(log_end(t->logs[1]), 0);
        assert_string_equal(fx_value(x, t->logs[0], 1), "new");
        assert_int_equal(fx_delete(x, t), 0);
        fx_pass(x, ENV_S(2));
        fx_path(x, path, "a-0/partition.metadata");
        assert_false(fx_exists(x, path));
        stop(x);
    }
}

/* ---- trouble ---- */

static void a_full_disk_refuses_and_recovers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 10; seed++) {
        struct fx *x = start(seed);
        struct sim_disk *disk;
        struct log *l;
        int64_t durable;
        int r = 0, n = 0;
        x->o.journal_file_bytes = 256 << 10;
        x->o.journal_bytes_max = 1 << 20;
        fx_start(x);
        l = fx_create(x, "a", 1, 0)->logs[0];
        fill(x, l, 20);
        disk = sim_node_disk(x->node);
        disk->quota = disk->used + 50000;
        while (r == 0 && n++ < 5000) {
            r = fx_append_big(x, l, 1000, 2000 + n);
            if (n % 10 == 0)
                fx_pass(x, ENV_MS(30));
        }
        assert_int_equal(r, -ERR_NO_SPACE);
        assert_int_equal(x->n_halts, 0);
        durable = log_durable(l);
        fx_pass(x, ENV_S(30));
        assert_int_equal(x->n_halts, 0);
        assert_int_equal(x->n_rooms, 0);
        fx_read(x, l, 0, NULL);
        /* Deleting is possible all the same, if the journal has room; and a crash loses nothing. */
        if (seed % 2) {
            fx_crash(x);
            if (fx_open(x) < 0) { /* it needs some bytes */
                disk->quota = UINT64_MAX;
                fx_start(x);
            }
            l = fx_topic(x, "a")->logs[0];
            assert_true(log_durable(l) >= durable);
        }
        disk->quota = UINT64_MAX;
        fx_pass(x, ENV_S(3));
        assert_int_equal(fx_append_big(x, l, 1000, 9000), 0);
        fx_sync(x);
        assert_int_equal(log_durable(l), log_end(l));
        if (seed % 2 == 0)
            assert_true(x->n_rooms > 0);
        fx_read(x, l, 0, NULL);
        fx_close(x);
        fx_start(x);
        fx_read(x, fx_topic(x, "a")->logs[0], 0, NULL);
        stop(x);
    }
}

static void too_much_in_flight_waits_for_room(void **state)
{
    struct fx *x = start(9);
    struct log *l;
    int n = 0, r;

    (void)state;
    x->o.staged_bytes_max = 100000;
    fx_start(x);
    l = fx_create(x, "a", 1, 0)->logs[0];
    while ((r = fx_append_big(x, l, 1000, 1)) == 0)
        n++;
    assert_int_equal(r, -ERR_LIMIT);
    assert_true(n > 80);
    assert_int_equal(x->n_rooms, 0);
    fx_sync(x);
    assert_int_equal(x->n_rooms, 1);
    assert_int_equal(fx_append_big(x, l, 1000, 1), 0);
    /* A bundle once begun is not refused. */
    fx_sync(x);
    logdir_bundle_begin(x->d);
    for (int i = 0; i < 200; i++)
        assert_int_equal(fx_append_big(x, l, 1000, 1), 0);
    logdir_bundle_end(x->d);
    fx_sync(x);
    assert_int_equal(log_durable(l), log_end(l));
    stop(x);
}

static void a_failed_sync_is_final(void **state)
{
    struct fx *x = start(10);
    struct log *l;

    (void)state;
    fx_start(x);
    l = fx_create(x, "a", 1, 0)->logs[0];
    fx_append(x, l, "x", 1);
    fx_sync(x);
    sim_node_disk(x->node)->fail_syncs = 1;
    fx_append(x, l, "y", 1);
    fx_sync(x);
    assert_int_equal(x->n_halts, 1);
    assert_non_null(strstr(x->halt, "journal"));
    assert_int_equal(log_durable(l), 1);
    assert_int_equal(fx_append(x, l, "z", 1), -ERR_IO);
    fx_pass(x, ENV_S(10));
    assert_int_equal(log_durable(l), 1);
    assert_int_equal(x->n_halts, 1);
    stop(x);
}

static void the_journal_is_recycled(void **state)
{
    struct fx *x = start(11);
    struct log *l;
    char path[512];
    int n = 0;

    (void)state;
    x->o.journal_file_bytes = 256 << 10;
    x->o.journal_bytes_max = 1 << 20;
    fx_start(x);
    l = fx_create(x, "a", 1, 0)->logs[0];
    for (int i = 0; i < 6000; i++) {
        assert_int_equal(fx_append_big(x, l, 1000, 1), 0);
        if (i % 50 == 0)
            fx_sync(x);
    }
    fx_sync(x);
    for (int i = 1; i < 100; i++) {
        fx_path(x, path, "journal/%08d", i);
        n += fx_exists(x, path);
    }
    assert_in_range(n, 2, 4);
    fx_crash(x);
    fx_start(x);
    assert_int_equal(log_end(fx_topic(x, "a")->logs[0]), 6000);
    stop(x);
}

static void a_directory_has_one_broker(void **state)
{
    struct fx x;
    struct logdir *other;
    struct logdir_hooks hooks = {0};
    struct err e = {0};

    (void)state;
    fx_init_real(&x);
    fx_start(&x);
    assert_int_equal(logdir_open(&other, x.env, &x.o, &hooks, NULL, &e), -ERR_BUSY);
    assert_non_null(strstr(e.text, ".lock"));
    fx_close(&x);
    fx_start(&x);
    fx_close(&x);
    fx_deinit(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_rolls_and_reads_back_from_its_segments),
        cmocka_unit_test(the_running_logs_indexes_are_those_made_from_its_bytes),
        cmocka_unit_test(lost_indexes_are_made_again),
        cmocka_unit_test(a_read_keeps_to_its_bounds),
        cmocka_unit_test(an_offset_is_found_by_time),
        cmocka_unit_test(each_start_is_an_epoch_of_its_own),
        cmocka_unit_test(replay_begins_at_the_newest_snapshot),
        cmocka_unit_test(aborted_transactions_are_kept_beside_their_segment),
        cmocka_unit_test(zeros_that_a_power_cut_left_are_no_aborted_transaction),
        cmocka_unit_test(a_deleted_log_goes_and_its_namesake_is_new),
        cmocka_unit_test(a_full_disk_refuses_and_recovers),
        cmocka_unit_test(too_much_in_flight_waits_for_room),
        cmocka_unit_test(a_failed_sync_is_final),
        cmocka_unit_test(the_journal_is_recycled),
        cmocka_unit_test(a_directory_has_one_broker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
