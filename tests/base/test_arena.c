/* tests/base/test_arena.c - memory of one request: zeroed, aligned, bounded, reused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"

static void what_it_gives_is_zeroed_aligned_and_apart(void **state)
{
    struct arena a;
    unsigned char *last = NULL;

    arena_init(&a, 1 << 20);
    for (int round = 0; round < 3; round++) {
        for (size_t n = 0; n < 3000; n += 37) {
            unsigned char *p = arena_alloc(&a, n);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % 16, 0);
            assert_ptr_not_equal(p, last);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(p[i], 0);
            memset(p, 0xee, n);
            last = n ? p : last;
        }
        arena_reset(&a);
    }
    arena_deinit(&a);
}

static void it_stops_at_its_limit(void **state)
{
    struct arena a;
    size_t got = 0;

    arena_init(&a, 10000);
    assert_null(arena_alloc(&a, 10001));
    assert_null(arena_alloc(&a, SIZE_MAX));
    while (arena_alloc(&a, 100))
        got += 100;
    assert_in_range(got, 5000, 10000);
    assert_true(a.total <= 10000);
    arena_reset(&a);
    assert_non_null(arena_alloc(&a, 3000));
    arena_deinit(&a);
}

static void the_first_chunk_is_kept_over_a_reset(void **state)
{
    struct arena a;
    void *p;

    arena_init(&a, 1 << 20);
    p = arena_alloc(&a, 100);
    assert_non_null(arena_alloc(&a, 100000));
    arena_reset(&a);
    assert_ptr_equal(arena_alloc(&a, 100), p);
    arena_deinit(&a);
}

static void a_steady_load_finds_its_chunk_again(void **state)
{
    struct arena a;
    void *p;

    arena_init(&a, 1 << 20);
    for (int i = 0; i < 2; i++) {
        assert_non_null(arena_alloc(&a, 100));
        assert_non_null(arena_alloc(&a, 16 << 10));
        arena_reset(&a);
    }
    p = arena_alloc(&a, 100);
    assert_non_null(arena_alloc(&a, 16 << 10));
    arena_reset(&a);
    assert_ptr_equal(arena_alloc(&a, 100), p);
    assert_true(a.total <= 64 << 10);
    arena_deinit(&a);
}

static void a_copy_ends_in_a_zero_byte_and_null_stays_null(void **state)
{
    struct arena a;
    struct slice s;

    arena_init(&a, 1000);
    s = arena_copy(&a, slice_str("text"));
    assert_true(slice_eq_str(s, "text"));
    assert_int_equal(s.p[4], 0);
    assert_true(slice_is_null(arena_copy(&a, SLICE_NULL)));
    assert_true(slice_is_null(arena_copy(&a, slice_of("x", 5000))));
    arena_deinit(&a);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_gives_is_zeroed_aligned_and_apart),
        cmocka_unit_test(it_stops_at_its_limit),
        cmocka_unit_test(the_first_chunk_is_kept_over_a_reset),
        cmocka_unit_test(a_steady_load_finds_its_chunk_again),
        cmocka_unit_test(a_copy_ends_in_a_zero_byte_and_null_stays_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
