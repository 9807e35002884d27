/* tests/base/test_buf.c - owned bytes keep their limit and their first failure. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/buf.h"
#include <stdlib.h>

static void puts_gather_in_order(void **state)
{
    struct buf b;

    buf_init(&b, 1000);
    assert_int_equal(buf_put(&b, "one", 3), 0);
    assert_int_equal(buf_put_u8(&b, '-'), 0);
    assert_int_equal(buf_put_slice(&b, SLICE_NULL), 0);
    assert_int_equal(buf_printf(&b, "%d %s", 42, "x"), 0);
    assert_true(slice_eq_str(buf_slice(&b), "one-42 x"));
    buf_deinit(&b);
}

static void a_put_beyond_the_limit_changes_nothing_and_sticks(void **state)
{
    struct buf b;

    buf_init(&b, 10);
    assert_int_equal(buf_put(&b, "1234567", 7), 0);
    assert_int_equal(buf_put(&b, "8901", 4), -ERR_TOO_BIG);
    assert_true(slice_eq_str(buf_slice(&b), "1234567"));
    assert_int_equal(buf_put(&b, "8", 1),
                     -ERR_TOO_BIG); /* it would fit, but the message is broken */
    assert_int_equal(b.failed, -ERR_TOO_BIG);
    buf_reset(&b);
    assert_int_equal(buf_put(&b, "1234567890", 10), 0);
    assert_int_equal(buf_put(&b, "1", 1), -ERR_TOO_BIG);
    buf_deinit(&b);
}

static void a_size_that_overflows_is_refused(void **state)
{
    struct buf b;

    buf_init(&b, SIZE_MAX / 2);
    assert_int_equal(buf_put(&b, "123", 3), 0);
    assert_int_equal(buf_reserve(&b, SIZE_MAX), -ERR_TOO_BIG);
    assert_int_equal(buf_reserve(&b, SIZE_MAX - 2), -ERR_TOO_BIG);
    buf_deinit(&b);
}

static void taken_bytes_are_the_callers(void **state)
{
    struct buf b;
    unsigned char *p;
    size_t n;

    buf_init(&b, 100);
    buf_put(&b, "abc", 3);
    p = buf_take(&b, &n);
    assert_int_equal(n, 3);
    assert_memory_equal(p, "abc", 3);
    assert_int_equal(buf_slice(&b).n, 0);
    assert_int_equal(buf_put(&b, "d", 1), 0);
    buf_deinit(&b);
    free(p);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_gather_in_order),
        cmocka_unit_test(a_put_beyond_the_limit_changes_nothing_and_sticks),
        cmocka_unit_test(a_size_that_overflows_is_refused),
        cmocka_unit_test(taken_bytes_are_the_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
