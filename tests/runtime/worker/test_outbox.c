/* tests/runtime/worker/test_outbox.c - the outputs of one record. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/err.h"
#include "runtime/worker/outbox.h"
#include <stdio.h>

static int add(struct outbox *o, const char *key, const char *value, const char *headers, int n)
{
    return outbox_add(o, slice_str("t"), 3, 77, slice_str(key), slice_str(value),
                      slice_str(headers), n);
}

static struct slice key_of(const struct outbox *o, uint32_t i)
{
    return outbox_slice(o, o->v[i].key_at, o->v[i].key_n);
}

static struct slice value_of(const struct outbox *o, uint32_t i)
{
    return outbox_slice(o, o->v[i].value_at, o->v[i].value_n);
}

static void outputs_come_out_as_they_went_in(void **state)
{
    struct outbox o;
    char text[32];

    outbox_init(&o, 1 << 20);
    for (int i = 0; i < 1000; i++) { /* more than its first memory holds */
        snprintf(text, sizeof text, "value %d", i);
        assert_int_equal(add(&o, i % 2 ? "key" : NULL, i % 3 ? text : NULL, "h", i), 0);
    }
    assert_int_equal(o.n, 1000);
    for (uint32_t i = 0; i < o.n; i++) {
        snprintf(text, sizeof text, "value %u", i);
        assert_true(slice_eq_str(o.v[i].topic, "t"));
        assert_int_equal(o.v[i].partition, 3);
        assert_int_equal(o.v[i].time, 77);
        assert_int_equal(o.v[i].n_headers, i);
        assert_true(slice_eq_str(key_of(&o, i), i % 2 ? "key" : NULL));
        assert_true(slice_eq_str(value_of(&o, i), i % 3 ? text : NULL));
    }
    outbox_deinit(&o);
}

static void null_and_empty_are_two_things(void **state)
{
    struct outbox o;

    outbox_init(&o, 100);
    assert_int_equal(add(&o, "", NULL, NULL, 0), 0);
    assert_non_null(key_of(&o, 0).p);
    assert_int_equal(key_of(&o, 0).n, 0);
    assert_null(value_of(&o, 0).p);
    outbox_deinit(&o);
}

static void an_output_too_many_leaves_the_others(void **state)
{
    struct outbox o;
    char big[90];

    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = 0;
    outbox_init(&o, 100);
    assert_int_equal(add(&o, "k", "v", NULL, 0), 0);
    assert_int_equal(add(&o, "0123456789", big, NULL, 0), -ERR_TOO_BIG);
    assert_int_equal(o.n, 1);
    assert_int_equal(add(&o, "k", "w", NULL, 0), 0); /* and it goes on */
    assert_true(slice_eq_str(value_of(&o, 0), "v"));
    assert_true(slice_eq_str(value_of(&o, 1), "w"));
    outbox_clear(&o);
    assert_int_equal(o.n, 0);
    assert_int_equal(add(&o, "k", big, NULL, 0), 0);
    outbox_deinit(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_come_out_as_they_went_in),
        cmocka_unit_test(null_and_empty_are_two_things),
        cmocka_unit_test(an_output_too_many_leaves_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
