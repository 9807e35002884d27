/* tests/base/test_err.c - errors: codes, names, composed texts; slices' order. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/check.h"
#include "base/err.h"
#include "base/slice.h"
#include <errno.h>

static void every_code_has_a_name_and_a_text(void **state)
{
    for (int c = 0; c < ERR_COUNT; c++) {
        assert_memory_equal(err_name(c), "ERR_", 4);
        assert_true(err_text(-c)[0] != 0);
        assert_ptr_equal(err_name(c), err_name(-c));
    }
    assert_string_equal(err_name(ERR_IO), "ERR_IO");
    assert_string_equal(err_name(10000), "ERR_?");
}

static void a_message_is_wrapped_on_its_way_up(void **state)
{
    struct err e = {0};

    assert_int_equal(err_set(&e, ERR_CORRUPT, "crc at %d", 17), -ERR_CORRUPT);
    assert_int_equal(err_wrap(&e, "segment %s", "00.log"), -ERR_CORRUPT);
    assert_string_equal(e.text, "segment 00.log: crc at 17");
    assert_int_equal(err_set(NULL, ERR_IO, "nobody listens"), -ERR_IO);
    e = (struct err){.code = ERR_NO_SPACE};
    err_wrap(&e, "journal");
    assert_string_equal(e.text, "journal: no space left on device");
}

static void a_long_message_is_cut_not_overrun(void **state)
{
    struct err e = {0};

    err_set(&e, ERR_LUA, "%2000d", 1);
    for (int i = 0; i < 5; i++)
        err_wrap(&e, "%300d", i);
    assert_true(strlen(e.text) < sizeof e.text);
    assert_int_equal(e.code, ERR_LUA);
}

static void errno_becomes_ours(void **state)
{
    assert_int_equal(err_from_errno(0), 0);
    assert_int_equal(err_from_errno(ENOENT), ERR_NOT_FOUND);
    assert_int_equal(err_from_errno(ENOSPC), ERR_NO_SPACE);
    assert_int_equal(err_from_errno(EIO), ERR_IO);
    assert_int_equal(err_from_errno(EPIPE), ERR_RESET);
    assert_int_equal(err_from_errno(12345), ERR_IO);
}

static void slices_are_ordered_bytewise_null_first(void **state)
{
    assert_true(slice_cmp(slice_str("a"), slice_str("b")) < 0);
    assert_true(slice_cmp(slice_str("\xff"), slice_str("a")) > 0);
    assert_true(slice_cmp(slice_str("a"), slice_str("ab")) < 0);
    assert_true(slice_cmp(SLICE_NULL, slice_str("")) < 0);
    assert_int_equal(slice_cmp(slice_str("x"), slice_str("x")), 0);
    assert_false(slice_eq(SLICE_NULL, slice_str("")));
    assert_true(slice_eq_str(slice_sub(slice_str("abcdef"), 2, 3), "cde"));
    assert_int_equal(slice_sub(slice_str("abc"), 7, 3).n, 0);
    assert_int_equal(slice_sub(slice_str("abc"), 1, SIZE_MAX).n, 2);
}

static void mutations_have_names(void **state)
{
    for (int m = 0; m < MUT_COUNT; m++)
        assert_int_equal(mutation_by_name(mutation_name(m)), m);
    assert_int_equal(mutation_by_name("none"), -1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_name_and_a_text),
        cmocka_unit_test(a_message_is_wrapped_on_its_way_up),
        cmocka_unit_test(a_long_message_is_cut_not_overrun),
        cmocka_unit_test(errno_becomes_ours),
        cmocka_unit_test(slices_are_ordered_bytewise_null_first),
        cmocka_unit_test(mutations_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
