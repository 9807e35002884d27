/* tests/runtime/cli/test_jsonl.c - a record's JSON line, written and read. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "base/rng.h"
#include "runtime/cli/jsonl.h"
#include <stdio.h>

static struct arena arena;
static struct buf out;

static int open_all(void **state)
{
    arena_init(&arena, 64 << 20);
    buf_init(&out, 1 << 20);
    return 0;
}

static int close_all(void **state)
{
    arena_deinit(&arena);
    buf_deinit(&out);
    return 0;
}

static struct slice draw(uint64_t rng[4], unsigned char *to, size_t max)
{
    size_t n = rng_below(rng, max);
    int kind = (int)rng_below(rng, 5);

    if (kind == 0)
        return SLICE_NULL;
    for (size_t i = 0; i < n; i++)
        to[i] = kind == 1   ? (unsigned char)rng_next(rng)
                : kind == 2 ? (unsigned char)rng_below(rng, 0x80)
                            : (unsigned char)"\"\\/\n\t {}[]:,azu0\xc3\xa9"[rng_below(rng, 18)];
    return slice_of(to, n);
}

static void put_header(struct buf *b, struct slice key, struct slice value)
{
    unsigned char v[10];

    buf_put(b, v, (size_t)put_varint(v, (int64_t)key.n));
    buf_put_slice(b, key);
    buf_put(b, v, (size_t)put_varint(v, value.p ? (int64_t)value.n : -1));
    if (value.p)
        buf_put_slice(b, value);
}

static void what_is_written_is_read(void **state)
{
    unsigned char key[60], value[200], hk[20], hv[40];
    struct buf headers;
    uint64_t rng[4];

    rng_seed(rng, 6);
    buf_init(&headers, 1 << 16);
    for (int i = 0; i < 20000; i++) {
        struct fetched f = {.topic = slice_str("t"),
                            .partition = (int32_t)rng_below(rng, 100),
                            .offset = (int64_t)rng_next(rng) & INT64_MAX,
                            .timestamp = (int64_t)rng_below(rng, 1) +
                                         (int64_t)rng_below(rng, 1u << 31)};
        struct jsonl_record r;
        struct err e = {0};

        buf_reset(&headers);
        buf_reset(&out);
        arena_reset(&arena);
        f.key = draw(rng, key, sizeof key);
        f.value = draw(rng, value, sizeof value);
        f.n_headers = (int32_t)rng_below(rng, 4);
        for (int k = 0; k < f.n_headers; k++) {
            struct slice name = draw(rng, hk, sizeof hk);
            put_header(&headers, name.p ? name : slice_str(""), draw(rng, hv, sizeof hv));
        }
        f.headers = buf_slice(&headers);
        assert_int_equal(jsonl_write(&out, &f, NULL), 0);
        assert_true(utf8_valid(buf_slice(&out)));
        if (jsonl_read(slice_of(out.p, out.n - 1), &r, &arena, &e))
            fail_msg("%s: %.*s", e.text, (int)out.n, (char *)out.p);
        assert_true(slice_eq(r.key, f.key));
        assert_true(slice_eq(r.value, f.value));
        assert_int_equal(r.n_headers, f.n_headers);
        assert_true(r.headers.n == f.headers.n);
        assert_true(!r.headers.n || slice_eq(r.headers, f.headers));
        assert_int_equal(r.partition, f.partition);
        assert_true(r.time == f.timestamp);
        assert_false(r.marked);
    }
    buf_deinit(&headers);
}

static void refused(const char *line, int column)
{
    struct jsonl_record r;
    struct err e = {0};
    char want[32];

    arena_reset(&arena);
    snprintf(want, sizeof want, "column %d: ", column);
    if (jsonl_read(slice_str(line), &r, &arena, &e) != -ERR_INVALID)
        fail_msg("taken: %s", line);
    if (strncmp(e.text, want, strlen(want)) != 0)
        fail_msg("%s: '%s' instead of %s", line, e.text, want);
}

static void a_wrong_line_is_refused_where_it_is_wrong(void **state)
{
    refused("", 1);
    refused("x", 1);
    refused("[]", 1);
    refused("{", 2);
    refused("{\"value\"}", 9);
    refused("{\"value\":}", 10);
    refused("{\"value\":\"x\" \"key\":\"y\"}", 14);
    refused("{\"value\":\"x\",}", 14);
    refused("{\"value\":\"x\"}}", 14);
    refused("{\"value\":\"x", 12);
    refused("{\"value\":\"\\q\"}", 12);
    refused("{\"value\":\"\\u12g4\"}", 16);
    refused("{\"value\":\"\\ud800\"}", 17);
    refused("{\"value\":\"\\ud800\\u0041\"}", 23);
    refused("{\"value\":5}", 10);
    refused("{\"value\":{\"hex\":\"00\"}}", 16);
    refused("{\"value\":{\"base64\":\"?\"}}", 24);
    refused("{\"value\":{\"base64\":\"A\"}}", 24);
    refused("{\"partition\":-1}", 16);
    refused("{\"partition\":2147483648}", 24);
    refused("{\"partition\":1.5}", 15);
    refused("{\"time\":\"x\"}", 9);
    refused("{\"headers\":{}}", 12);
    refused("{\"headers\":[{\"value\":\"x\"}]}", 26);
    refused("{\"headers\":[{\"key\":\"x\"} {\"key\":\"y\"}]}", 25);
    refused("{\"x\":tru}", 6);
    refused("{\"x\":-}", 7);
}

static void fields_that_are_not_known_are_passed_over(void **state)
{
    struct jsonl_record r;
    struct err e = {0};

    assert_int_equal(
        jsonl_read(slice_str(" { \"a\" : [1, 2.5e3, true, {\"b\": []}], \"value\":\"v\" ,"
                             "\"c\":{\"d\":null}} \r"),
                   &r, &arena, &e),
        0);
    assert_true(slice_eq_str(r.value, "v"));
    assert_null(r.key.p);
    assert_int_equal(r.partition, -1);
    assert_int_equal(r.time, -1);
    assert_int_equal(r.n_headers, 0);
    assert_int_equal(jsonl_read(slice_str("{}"), &r, &arena, &e), 0);
}

static void nesting_has_a_limit(void **state)
{
    static char line[4096];
    size_t n = (size_t)snprintf(line, sizeof line, "{\"x\":");
    struct jsonl_record r;
    struct err e = {0};

    memset(line + n, '[', 2000);
    assert_int_equal(jsonl_read(slice_str(line), &r, &arena, &e), -ERR_INVALID);
    assert_non_null(strstr(e.text, "nested too deeply"));
}

static void marked_records_are_told(void **state)
{
    struct fetched f = {.topic = slice_str("t"), .timestamp = 1};
    struct jsonl_record r;
    struct err e = {0};

    assert_int_equal(jsonl_write(&out, &f, "\"aborted\":true"), 0);
    assert_non_null(memmem(out.p, out.n, ",\"aborted\":true}\n", 17));
    assert_int_equal(jsonl_read(slice_of(out.p, out.n - 1), &r, &arena, &e), 0);
    assert_true(r.marked);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_is_written_is_read),
        CASE(a_wrong_line_is_refused_where_it_is_wrong),
        CASE(fields_that_are_not_known_are_passed_over),
        CASE(nesting_has_a_limit),
        CASE(marked_records_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
