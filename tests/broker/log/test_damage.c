/* tests/broker/log/test_damage.c - files that are lost or changed while the broker is down: what
 * the rest tells is kept, and nothing goes in silence. */
#include "tests/broker/log/support_logdir.h"
#include <stdio.h>

/* A topic with records behind a checkpoint, and the directory closed. */
static void with_records(struct fx *x, void (*end)(struct fx *x))
{
    struct fx_topic *t;

    fx_start(x);
    t = fx_create(x, "a", 1, 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(fx_append(x, t->logs[0], "old", 1), 0);
    fx_sync(x);
    fx_pass(x, ENV_S(20));
    end(x);
}

static void expect_records(struct fx *x)
{
    struct fx_topic *t = fx_topic(x, "a");

    assert_non_null(t);
    assert_int_equal(log_durable(t->logs[0]), 20);
    assert_string_equal(fx_value(x, t->logs[0], 0), "old");
    assert_string_equal(fx_value(x, t->logs[0], 19), "old");
}

static void lost_owner_file_loses_no_record(struct fx *x, const char *name,
                                            void (*end)(struct fx *x))
{
    char path[512];

    with_records(x, end);
    fx_path(x, path, "%s/partition.metadata", name);
    assert_int_equal(x->env->vt->remove_wait(x->env, path), 0);
    for (int i = 0; i < 3; i++) {
        fx_start(x);
        expect_records(x);
        fx_pass(x, ENV_S(20));
        end(x);
    }
    fx_start(x);
    expect_records(x);
    assert_int_equal(fx_append(x, fx_topic(x, "a")->logs[0], "new", 1), 0);
    fx_sync(x);
    fx_pass(x, ENV_S(20));
    fx_close(x);
    assert_true(fx_exists(x, path) || strncmp(name, "a", 1) != 0);
    fx_start(x);
    assert_string_equal(fx_value(x, fx_topic(x, "a")->logs[0], 20), "new");
    fx_close(x);
}

static void a_lost_partition_metadata_loses_no_record(void **state)
{
    static const char *const names[] = {"a-0", "__once_metadata-0"};
    void (*const ends[])(struct fx * x) = {fx_close, fx_crash, fx_power_cut};
    struct fx x;
    (void)state;

    for (int n = 0; n < 2; n++)
        for (int i = 0; i < 3; i++) {
            fx_init_sim(&x, (uint64_t)i + 1);
            lost_owner_file_loses_no_record(&x, names[n], ends[i]);
            fx_deinit(&x);
        }
}

/* Segments of one batch each, all but the last closed, and all of it out of memory. */
static void with_segments(struct fx *x)
{
    struct fx_topic *t;

    x->config.segment_bytes = 60000;
    fx_start(x);
    t = fx_create(x, "a", 1, 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(fx_append_big(x, t->logs[0], 50000, 1000 + i), 0);
    fx_sync(x);
    fx_pass(x, ENV_S(20));
    fx_close(x);
}

/* Batches from `from` until the end or an error, which is returned. */
static int count_from(struct fx *x, int64_t from, int *n)
{
    struct log *l = fx_topic(x, "a")->logs[0];
    int ret = 0;

    *n = 0;
    while (ret == 0 && from < log_durable(l)) {
        struct log_read r = {.log = l,
                             .offset = from,
                             .upper = log_durable(l),
                             .max_bytes = 1,
                             .at_least_one = true};
        sim_enter(x->node);
        ret = log_read(&r);
        if (ret < 0)
            break;
        assert_int_equal(r.n, 1);
        ++*n;
        from = r.next;
        log_read_release(&r);
    }
    return ret;
}

static void readers_of_a_lost_segment_get_an_error(void **state)
{
    static const char *const names[] = {"a-0/00000000000000000000.log",
                                        "a-0/00000000000000000002.log"};
    static const int before[] = {0, 2}, behind[] = {4, 2};
    struct fx x;
    char path[512];
    int n;
    (void)state;

    for (int i = 0; i < 2; i++) {
        fx_init_sim(&x, 1);
        x.node->sim->timing.again = 0;
        with_segments(&x);
        fx_path(&x, path, "%s", names[i]);
        assert_int_equal(x.env->vt->remove_wait(x.env, path), 0);
        x.quiet = true;
        fx_start(&x);
        assert_int_equal(log_durable(fx_topic(&x, "a")->logs[0]), 5);
        assert_int_equal(count_from(&x, 0, &n), -ERR_CORRUPT);
        assert_int_equal(n, before[i]);
        assert_int_equal(count_from(&x, 5 - behind[i], &n), 0);
        assert_int_equal(n, behind[i]);
        fx_close(&x);
        fx_deinit(&x);
    }
}

static bool count_entry(void *user, const unsigned char entry[34])
{
    (void)entry;
    ++*(int *)user;
    return true;
}

static int entries_of(struct log *l)
{
    int n = 0;
    log_txnindex_scan(l, 0, count_entry, &n);
    return n;
}

static void lost_aborted_transactions_are_replayed(void **state)
{
    unsigned char entry[34] = {0};
    struct fx x;
    struct log *l;
    struct buf b;
    char path[512];
    (void)state;

    for (int how = 0; how < 3; how++) {
        fx_init_sim(&x, 1);
        x.producers = true;
        fx_start(&x);
        l = fx_create(&x, "a", 1, 0)->logs[0];
        for (int i = 0; i < 20; i++)
            assert_int_equal(fx_append(&x, l, "old", 1), 0);
        fx_sync(&x);
        put_be64(entry + 2, 7);
        for (int i = 3; i < 20; i += 5) {
            put_be64(entry + 18, (uint64_t)i);
            log_txnindex_add(l, i, entry);
        }
        fx_pass(&x, ENV_S(20));
        fx_close(&x);
        fx_start(&x);
        l = fx_topic(&x, "a")->logs[0];
        assert_int_equal(x.n_replayed, 0);
        assert_int_equal(entries_of(l), 4);
        fx_close(&x);
        fx_path(&x, path, "a-0/00000000000000000000.txnindex");
        buf_init(&b, 1 << 20);
        fx_get(&x, path, &b);
        assert_int_equal(b.n, 4 * 34);
        b.p[34 + 9] ^= 1; /* another producer */
        b.n = how == 1 ? 2 * 34 : b.n;
        if (how == 0)
            assert_int_equal(x.env->vt->remove_wait(x.env, path), 0);
        else
            fx_put(&x, path, buf_slice(&b));
        buf_deinit(&b);
        fx_start(&x);
        assert_int_equal(x.n_replayed, 20);
        assert_int_equal(entries_of(fx_topic(&x, "a")->logs[0]), 0); /* the owner's to add */
        fx_close(&x);
        fx_deinit(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_partition_metadata_loses_no_record),
        cmocka_unit_test(readers_of_a_lost_segment_get_an_error),
        cmocka_unit_test(lost_aborted_transactions_are_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
