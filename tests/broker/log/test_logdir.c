/* tests/broker/log/test_logdir.c - the main path: append, durable, read, close, open again; on the
 * simulated node and on the real disk. */
#include "tests/broker/log/support_logdir.h"
#include <stdio.h>
#include <stdlib.h>

static void appended_is_read_back_after(struct fx *x, void (*end)(struct fx *x))
{
    struct fx_topic *t;
    struct buf before, after;
    char text[32];

    buf_init(&before, 1 << 24);
    buf_init(&after, 1 << 24);
    fx_start(x);
    assert_int_equal(logdir_epoch(x->d), 1);
    t = fx_create(x, "a", 3, 0);
    for (int i = 0; i < 300; i++) {
        snprintf(text, sizeof text, "v%d", i);
        assert_int_equal(fx_append(x, t->logs[i % 3], text, 1 + i % 2), 0);
        if (i % 7 == 0)
            fx_sync(x);
    }
    assert_true(log_durable(t->logs[0]) <= log_end(t->logs[0]));
    fx_sync(x);
    assert_int_equal(x->durable_lsn, logdir_staged(x->d));
    assert_int_equal(log_durable(t->logs[0]), log_end(t->logs[0]));
    for (int p = 0; p < 3; p++)
        fx_read(x, t->logs[p], 0, &before);
    end(x);
    fx_start(x);
    assert_int_equal(logdir_epoch(x->d), 2);
    t = fx_topic(x, "a");
    assert_non_null(t);
    for (int p = 0; p < 3; p++) {
        assert_int_equal(log_start(t->logs[p]), 0);
        fx_read(x, t->logs[p], 0, &after);
    }
    assert_int_equal(before.n, after.n);
    assert_memory_equal(before.p, after.p, before.n);
    assert_int_equal(fx_append(x, t->logs[1], "more", 1), 0);
    fx_sync(x);
    assert_string_equal(fx_value(x, t->logs[1], log_durable(t->logs[1]) - 1), "more");
    fx_close(x);
    buf_deinit(&before);
    buf_deinit(&after);
}

static void appended_is_there_after_an_orderly_stop(void **state)
{
    struct fx x;
    (void)state;
    fx_init_sim(&x, 1);
    appended_is_read_back_after(&x, fx_close);
    fx_deinit(&x);
}

static void appended_is_there_after_a_crash(void **state)
{
    struct fx x;
    (void)state;
    fx_init_sim(&x, 2);
    appended_is_read_back_after(&x, fx_crash);
    fx_deinit(&x);
}

static void appended_is_there_after_a_power_cut(void **state)
{
    struct fx x;
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        fx_init_sim(&x, seed);
        appended_is_read_back_after(&x, fx_power_cut);
        fx_deinit(&x);
    }
}

static void appended_is_there_on_a_real_disk(void **state)
{
    struct fx x;
    (void)state;
    fx_init_real(&x);
    appended_is_read_back_after(&x, fx_close);
    fx_deinit(&x);
    fx_init_real(&x);
    appended_is_read_back_after(&x, fx_crash);
    fx_deinit(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_is_there_after_an_orderly_stop),
        cmocka_unit_test(appended_is_there_after_a_crash),
        cmocka_unit_test(appended_is_there_after_a_power_cut),
        cmocka_unit_test(appended_is_there_on_a_real_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
